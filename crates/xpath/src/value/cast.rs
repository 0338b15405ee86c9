//! Casts between atomic types (Functions and Operators §19).

use std::borrow::Cow;

use super::atomic::Atomic;
use super::calendar::{Duration, Moment};
use super::decimal::Decimal;
use super::{QName, binary, number};
use crate::environment::Version;
use crate::error::Error;
use crate::lexer::name_length;
use crate::types::AtomicType as T;

impl<'a> Atomic<'a> {
    /// The value as one of another type.
    ///
    /// Errors: `XPTY0004` where the types have nothing to do with each other, `FORG0001` and others where this value
    /// does not fit.
    /// Source: Functions and Operators §19.
    pub fn cast(self, target: T, version: Version) -> Result<Atomic<'a>, Error> {
        cast(self, target, version)
    }
}

/// A value as another type.
///
/// Errors: `XPTY0004` where the types have nothing to do with each other, `FORG0001` and others where this value does
/// not fit.
pub(crate) fn cast<'a>(value: Atomic<'a>, target: T, version: Version) -> Result<Atomic<'a>, Error> {
    let from = value.atomic_type();
    if from == target {
        return Ok(value);
    }
    let impossible = || Error::value("XPTY0004", format!("{from} cannot be cast to {target}"));
    let text = matches!(from.primitive(), T::String | T::Untyped);
    match target.primitive() {
        T::AnyAtomic => Ok(value),
        T::Untyped => Ok(Atomic::Text(value.into_text(version), T::Untyped)),
        T::String => to_text(value.into_text(version), target),
        T::AnyUri if text => {
            let uri = collapse(&value.text(version)).into_owned();
            if uri.contains("##")
                || uri.split('%').skip(1).any(|rest| {
                    !rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
                })
            {
                return Err(invalid(&uri, target));
            }
            Ok(Atomic::Text(Cow::Owned(uri), T::AnyUri))
        }
        T::Boolean => match &value {
            Atomic::Text(text, atomic) if *atomic != T::AnyUri => match text.trim_matches(number::is_space) {
                "true" | "1" => Ok(true.into()),
                "false" | "0" => Ok(false.into()),
                _ => Err(invalid(text, target)),
            },
            other if other.is_numeric() => Ok(other.condition().unwrap_or(false).into()),
            _ => Err(impossible()),
        },
        T::Numeric if value.is_numeric() => Ok(value),
        T::Numeric | T::Double => match &value {
            Atomic::Text(text, atomic) if *atomic != T::AnyUri => {
                number::parse_double(text).map(Atomic::Double).ok_or_else(|| invalid(text, target))
            }
            Atomic::Boolean(boolean) => Ok(f64::from(u8::from(*boolean)).into()),
            Atomic::Float(number) if version != Version::V1 => Ok(f64::from(*number).into()),
            other => other.as_double().map(Atomic::Double).ok_or_else(impossible),
        },
        T::Float => match &value {
            Atomic::Text(text, atomic) if *atomic != T::AnyUri => {
                number::parse_float(text).map(Atomic::Float).ok_or_else(|| invalid(text, target))
            }
            Atomic::Boolean(boolean) => Ok(Atomic::Float(f32::from(u8::from(*boolean)))),
            Atomic::Decimal(number) => {
                number::parse_float(&number.to_string()).map(Atomic::Float).ok_or_else(impossible)
            }
            Atomic::Integer(number, _) => Ok(Atomic::Float(*number as f32)),
            other => other.as_double().map(|number| Atomic::Float(number as f32)).ok_or_else(impossible),
        },
        T::Decimal => to_decimal(&value, target).map(Atomic::from),
        T::Integer => to_integer(&value, target),
        T::DateTime | T::Date | T::Time | T::GYear | T::GYearMonth | T::GMonth | T::GMonthDay | T::GDay => match &value
        {
            Atomic::Moment(moment) if converts(moment.kind, target) => Ok(moment.to_kind(target).into()),
            Atomic::Text(source, _) if text => {
                Moment::parse(source, target).map(Atomic::from).ok_or_else(|| invalid(source, target))
            }
            _ => Err(impossible()),
        },
        T::Duration => match &value {
            Atomic::Duration(duration) => Ok(duration.to_kind(target).into()),
            Atomic::Text(source, _) if text => {
                Duration::parse(source, target).map(Atomic::from).ok_or_else(|| invalid(source, target))
            }
            _ => Err(impossible()),
        },
        T::HexBinary | T::Base64Binary => match value {
            Atomic::Binary(bytes, _) => Ok(Atomic::Binary(bytes, target)),
            Atomic::Text(source, _) if text => {
                let trimmed = source.trim_matches(number::is_space);
                let bytes =
                    if target == T::HexBinary { binary::from_hex(trimmed) } else { binary::from_base64(trimmed) };
                bytes.map(|bytes| Atomic::Binary(bytes, target)).ok_or_else(|| invalid(&source, target))
            }
            _ => Err(impossible()),
        },
        // A prefix means something only where the expression stands: the parser makes such a name from a literal.
        T::QName if text => match value {
            Atomic::Text(source, _) => {
                let name = source.trim_matches(number::is_space);
                match name.split_once(':') {
                    None if myelin_xml::is_ncname(name) => Ok(Atomic::QName(Box::new(QName {
                        prefix: String::new(),
                        namespace: String::new(),
                        local: name.to_owned(),
                    }))),
                    Some((prefix, local)) if myelin_xml::is_ncname(prefix) && myelin_xml::is_ncname(local) => Err(
                        Error::value("FONS0004", format!("nobody knows here what the prefix {prefix:?} stands for")),
                    ),
                    _ => Err(invalid(&source, target)),
                }
            }
            _ => Err(impossible()),
        },
        _ => Err(impossible()),
    }
}

fn invalid(text: &str, target: T) -> Error {
    let shown: String = text.chars().take(60).collect();
    Error::value("FORG0001", format!("{shown:?} is no {target}"))
}

/// Whether a moment has all that the other type asks for.
fn converts(from: T, to: T) -> bool {
    match from {
        T::DateTime | T::DateTimeStamp => true,
        T::Date => !matches!(to, T::Time | T::DateTimeStamp),
        _ => from == to,
    }
}

fn to_decimal(value: &Atomic<'_>, target: T) -> Result<Decimal, Error> {
    let too_large = || Error::value("FOCA0002", format!("the number is too large for {target}, or none"));
    match value {
        Atomic::Text(text, atomic) if *atomic != T::AnyUri => {
            let digits = text.trim_matches(number::is_space);
            match Decimal::parse(digits) {
                Some(decimal) => Ok(decimal),
                // All digits, yet no decimal: there are too many.
                None if digits.len() > 30
                    && digits.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte)) =>
                {
                    Err(Error::value("FOCA0006", format!("{target} has not so many digits here")))
                }
                None => Err(invalid(text, target)),
            }
        }
        Atomic::Boolean(boolean) => Ok(Decimal::from(i64::from(*boolean))),
        Atomic::Float(number) if number.is_finite() => Decimal::from_double(f64::from(*number)).ok_or_else(too_large),
        Atomic::Double(number) => Decimal::from_double(*number).ok_or_else(too_large),
        Atomic::Float(_) => Err(too_large()),
        other => other
            .as_decimal()
            .ok_or_else(|| Error::value("XPTY0004", format!("{} cannot be cast to {target}", other.atomic_type()))),
    }
}

fn to_integer(value: &Atomic<'_>, target: T) -> Result<Atomic<'static>, Error> {
    let text = match value {
        Atomic::Text(text, _) => Some(text),
        _ => None,
    };
    if let Some(text) = text.filter(|text| text.contains('.')) {
        return Err(invalid(text, target));
    }
    let decimal = to_decimal(value, target)?;
    let whole = decimal.truncated();
    let (least, most) = match target {
        T::NonPositiveInteger => (None, Some(0)),
        T::NegativeInteger => (None, Some(-1)),
        T::Long => (Some(i64::MIN.into()), Some(i64::MAX.into())),
        T::Int => (Some(i32::MIN.into()), Some(i32::MAX.into())),
        T::Short => (Some(i16::MIN.into()), Some(i16::MAX.into())),
        T::Byte => (Some(i8::MIN.into()), Some(i8::MAX.into())),
        T::NonNegativeInteger => (Some(0), None),
        T::UnsignedLong => (Some(0), Some(i128::from(u64::MAX))),
        T::UnsignedInt => (Some(0), Some(u32::MAX.into())),
        T::UnsignedShort => (Some(0), Some(u16::MAX.into())),
        T::UnsignedByte => (Some(0), Some(u8::MAX.into())),
        T::PositiveInteger => (Some(1), None),
        _ => (None, None),
    };
    let bound = |bound: i128| Decimal::new(bound, 0);
    if least.is_some_and(|least| whole < bound(least)) || most.is_some_and(|most| whole > bound(most)) {
        return Err(Error::value("FORG0001", format!("{whole} is no {target}")));
    }
    Ok(Atomic::whole(whole, target))
}

/// Without white space around, and one space wherever there is some inside.
pub(crate) fn collapse(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let space = |byte: &u8| b" \t\r\n".contains(byte);
    let tidy = !bytes.first().is_some_and(space)
        && !bytes.last().is_some_and(space)
        && !bytes.windows(2).any(|pair| space(&pair[1]) && (pair[1] != b' ' || space(&pair[0])));
    if tidy {
        return Cow::Borrowed(text);
    }
    let mut collapsed = String::with_capacity(text.len());
    for word in text.split(number::is_space).filter(|word| !word.is_empty()) {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    Cow::Owned(collapsed)
}

fn to_text(text: Cow<'_, str>, target: T) -> Result<Atomic<'_>, Error> {
    if target == T::String {
        return Ok(Atomic::Text(text, target));
    }
    if target == T::NormalizedString {
        return Ok(Atomic::Text(text.replace(['\t', '\r', '\n'], " ").into(), target));
    }
    let token = collapse(&text).into_owned();
    let name = |text: &str| !text.is_empty() && name_length(text) == text.len();
    // An NMTOKEN is what may follow the first letter of a name.
    let token_letters = |text: &str| name_length(&format!("a{text}")) == text.len() + 1;
    let fits = match target {
        T::Token => true,
        T::Language => {
            let mut parts = token.split('-');
            let sized = |part: &str| (1..=8).contains(&part.len());
            parts.next().is_some_and(|first| sized(first) && first.bytes().all(|byte| byte.is_ascii_alphabetic()))
                && parts.all(|part| sized(part) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        }
        T::Nmtoken => !token.is_empty() && token.split(':').all(token_letters),
        T::Name => {
            let first = token.split(':').next().unwrap_or("");
            (first.is_empty() || name(first)) && !token.is_empty() && token.split(':').all(token_letters)
        }
        _ => name(&token),
    };
    if fits { Ok(Atomic::Text(token.into(), target)) } else { Err(invalid(&token, target)) }
}

/// A whole number; a text of a type unknown is read as one, and version 1 rounds no number to make one.
pub(crate) fn whole(atomic: &Atomic<'_>, version: Version) -> Result<i64, Error> {
    let refused =
        || Error::value("XPTY0004", format!("a whole number is wanted here, and there is {}", atomic.text(version)));
    match atomic {
        Atomic::Integer(number, _) => Ok(*number),
        Atomic::Large(number, _) => {
            Err(Error::value("FOCA0003", format!("{number} is too large for a number that counts something")))
        }
        Atomic::Text(_, T::Untyped) if version != Version::V1 => match cast(atomic.clone(), T::Integer, version)? {
            Atomic::Integer(number, _) => Ok(number),
            _ => Err(refused()),
        },
        other if version == Version::V1 => {
            let number = other.number();
            if number.fract() == 0.0 && number.abs() < 1e18 { Ok(number as i64) } else { Err(refused()) }
        }
        _ => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_give_what_the_table_of_the_standard_says() {
        let check = |text: &'static str, through: T, target: T, expected: &str| {
            let value = cast(Atomic::from(text), through, Version::V2).expect(text);
            let result = match cast(value, target, Version::V2) {
                Ok(value) => value.text(Version::V2).into_owned(),
                Err(error) => error.code().unwrap_or("?").to_owned(),
            };
            assert_eq!(result, expected, "{text} as {target}");
        };
        check("1.5", T::Double, T::Integer, "1");
        check("-1.9", T::Decimal, T::Integer, "-1");
        check("1e0", T::Double, T::Decimal, "1");
        check("INF", T::Double, T::Integer, "FOCA0002");
        check("1.5", T::Untyped, T::Integer, "FORG0001");
        check("256", T::Integer, T::UnsignedByte, "FORG0001");
        check("true", T::Boolean, T::Double, "1");
        check("0", T::Untyped, T::Boolean, "false");
        check("yes", T::String, T::Boolean, "FORG0001");
        check("2004-02-29T10:00:00", T::DateTime, T::Date, "2004-02-29");
        check("2004-02-29", T::Date, T::Time, "XPTY0004");
        check("P1Y2DT3H", T::Duration, T::DayTimeDuration, "P2DT3H");
        check("0aff", T::HexBinary, T::Base64Binary, "Cv8=");
        check(" a  b ", T::String, T::Token, "a b");
        check("a:b", T::String, T::NcName, "FORG0001");
        check("en-GB", T::String, T::Language, "en-GB");
    }
}
