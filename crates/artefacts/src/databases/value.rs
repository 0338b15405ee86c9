//! Values of parameters from text, and text from what a database found: both as Java has them.

use myelin_flow::database::{Cell, Kind, Value};
use myelin_java_text::number;

/// What a type's name means; `None` for what no parameter can have.
///
/// Source: Synapse's `Statement.Parameter`, whose names are those of `java.sql.Types`.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "CHAR" | "VARCHAR" | "LONGVARCHAR" => Kind::Text,
        "NUMERIC" | "DECIMAL" => Kind::Decimal,
        "BIT" => Kind::Boolean,
        "TINYINT" | "SMALLINT" => Kind::Short,
        "INTEGER" => Kind::Integer,
        "BIGINT" => Kind::Long,
        "REAL" => Kind::Real,
        "FLOAT" | "DOUBLE" => Kind::Double,
        "DATE" => Kind::Date,
        "TIME" => Kind::Time,
        "TIMESTAMP" => Kind::Timestamp,
        _ => return None,
    })
}

/// A value of that type; nothing and an empty text are null, whatever the type.
///
/// Errors: a sentence where the text is none of that type.
/// Source: Synapse's `AbstractDBMediator.getPreparedStatement`, which reads texts with Java's own functions.
pub(crate) fn parse(kind: Kind, text: Option<&str>) -> Result<Value, String> {
    let text = text.filter(|text| !text.is_empty());
    let checked = |what: &str, is: fn(&str) -> bool| match text {
        Some(text) if !is(text) => Err(format!("{text:?} is no {what}")),
        text => Ok(text.map(str::to_owned)),
    };
    Ok(match kind {
        Kind::Text => Value::Text(text.map(str::to_owned)),
        Kind::Decimal => Value::Decimal(checked("decimal number", is_decimal)?),
        Kind::Boolean => Value::Boolean(text.map(|text| text.eq_ignore_ascii_case("true"))),
        Kind::Short => Value::Short(number(text, "whole number of two bytes")?),
        Kind::Integer => Value::Integer(number(text, "whole number of four bytes")?),
        Kind::Long => Value::Long(number(text, "whole number of eight bytes")?),
        Kind::Real => Value::Real(text.map(float).transpose()?.map(|number| number as f32)),
        Kind::Double => Value::Double(text.map(float).transpose()?),
        Kind::Date => Value::Date(checked("date like 2026-11-21", is_date)?),
        Kind::Time => Value::Time(checked("time like 19:30:00", is_time)?),
        Kind::Timestamp => Value::Timestamp(checked("time like 2026-11-21 19:30:00.5", is_timestamp)?),
    })
}

/// The text that a property gets.
pub(crate) fn text(cell: Cell) -> String {
    match cell {
        Cell::Text(text) => text,
        Cell::Float(number) => number::java_float(number),
        Cell::Double(number) => number::java(number),
    }
}

fn number<T: std::str::FromStr>(text: Option<&str>, what: &str) -> Result<Option<T>, String> {
    text.map(|text| text.parse().map_err(|_| format!("{text:?} is no {what}"))).transpose()
}

/// A number as Java's `Double.parseDouble` reads it, hexadecimal ones left out.
fn float(text: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let digits = trimmed.trim_start_matches(['+', '-']);
    // Rust has other words for these.
    let word = digits.starts_with(|first: char| first.is_ascii_alphabetic());
    match trimmed.parse() {
        Ok(number) if !word || matches!(digits, "NaN" | "Infinity") => Ok(number),
        _ => Err(format!("{text:?} is no number")),
    }
}

/// `[+-]digits[.digits][e[+-]digits]`, with a digit before or behind the point (Java's `BigDecimal`).
fn is_decimal(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && digits(fraction)
        && whole.len() + fraction.len() > 0
        && exponent.is_none_or(|exponent| digits(exponent) && !exponent.is_empty())
}

/// `year-month-day` (Java's `java.sql.Date`).
fn is_date(text: &str) -> bool {
    let Some([year, month, day]) = parts(text, '-') else { return false };
    let in_month = match in_range(month, 1..=12) {
        Some(2) if (year.len() == 4) => match year.parse::<u32>() {
            Ok(year) if (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 => 29,
            _ => 28,
        },
        Some(4 | 6 | 9 | 11) => 30,
        Some(_) => 31,
        None => return false,
    };
    year.len() == 4 && in_range(year, 1..=9999).is_some() && in_range(day, 1..=in_month).is_some()
}

/// `hours:minutes:seconds` (Java's `java.sql.Time`).
fn is_time(text: &str) -> bool {
    let Some([hours, minutes, seconds]) = parts(text, ':') else { return false };
    in_range(hours, 0..=23).is_some() && in_range(minutes, 0..=59).is_some() && in_range(seconds, 0..=59).is_some()
}

/// A date, a blank, and a time with up to nine digits of a second (Java's `java.sql.Timestamp`).
fn is_timestamp(text: &str) -> bool {
    let Some((date, time)) = text.split_once(' ') else { return false };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_fraction = (1..=9).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    is_date(date) && is_time(time) && is_fraction
}

fn parts(text: &str, separator: char) -> Option<[&str; 3]> {
    let mut parts = text.split(separator);
    let three = [parts.next()?, parts.next()?, parts.next()?];
    parts.next().is_none().then_some(three)
}

fn in_range(text: &str, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
    let digits = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && range.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_values_as_java_reads_them() {
        let check = |name: &str, text: &str, expected: Value| {
            assert_eq!(parse(kind(name).unwrap(), Some(text)), Ok(expected), "{name} {text:?}");
        };
        let owned = |text: &str| Some(text.to_owned());
        check("VARCHAR", " o'neil; --", Value::Text(owned(" o'neil; --")));
        check("CHAR", "", Value::Text(None));
        check("NUMERIC", "-12.50e-3", Value::Decimal(owned("-12.50e-3")));
        check("DECIMAL", ".5", Value::Decimal(owned(".5")));
        check("BIT", "TRUE", Value::Boolean(Some(true)));
        check("BIT", "1", Value::Boolean(Some(false)));
        check("TINYINT", "-7", Value::Short(Some(-7)));
        check("INTEGER", "+2147483647", Value::Integer(Some(i32::MAX)));
        check("INTEGER", "", Value::Integer(None));
        check("BIGINT", "-9223372036854775808", Value::Long(Some(i64::MIN)));
        check("REAL", "1.5", Value::Real(Some(1.5)));
        check("DOUBLE", " 1e3 ", Value::Double(Some(1000.0)));
        check("FLOAT", "-Infinity", Value::Double(Some(f64::NEG_INFINITY)));
        check("DATE", "2024-2-29", Value::Date(owned("2024-2-29")));
        check("TIME", "19:30:00", Value::Time(owned("19:30:00")));
        check("TIMESTAMP", "2026-11-21 19:30:00.123456789", Value::Timestamp(owned("2026-11-21 19:30:00.123456789")));
    }

    #[test]
    fn a_text_that_is_none_of_its_type_is_refused() {
        let check = |name: &str, texts: &[&str]| {
            for text in texts {
                assert!(parse(kind(name).unwrap(), Some(text)).is_err(), "{name} {text:?}");
            }
        };
        check("INTEGER", &["1.0", " 1", "2147483648", "0x10", "1; drop table company"]);
        check("SMALLINT", &["32768"]);
        check("DECIMAL", &["", ".", "1e", "e1", "1.2.3", "- 1", "1_000", "NaN"][1..]);
        check("DOUBLE", &["inf", "nan", "infinity", "one", "1,5"]);
        check("DATE", &["2026-11-31", "2026-02-29", "21.11.2026", "2026-11", "02026-11-21", "2026-11-21 "]);
        check("TIME", &["24:00:00", "19:30", "+9:30:00"]);
        check(
            "TIMESTAMP",
            &["2026-11-21", "2026-11-21T19:30:00", "2026-11-21 19:30:00.", "2026-11-21 19:30:00.1234567890"],
        );
        assert_eq!(kind("varchar"), None);
        assert_eq!(kind("BLOB"), None);
    }
}
