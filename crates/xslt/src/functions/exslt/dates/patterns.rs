//! Dates written and read by the patterns of Java's `SimpleDateFormat`.

use myelin_xpath::Moment;
use myelin_xpath::calendar::MONTHS;
use myelin_xpath::types::AtomicType as T;

use super::{DATE, DAY, MONTH, TIME, YEAR, day, function, month, read, show, week_in_month, written_year};
use crate::functions::Function;
use crate::functions::format_date::Calendar;

pub(in crate::functions) const FUNCTIONS: &[Function] = &[
    function("format-date", 2, 2, |call| {
        let formatted = read(&call.any_text(0)).map(|moment| write(&moment, &call.any_text(1)));
        call.built(formatted.unwrap_or_default())
    }),
    function("parse-date", 2, 2, |call| {
        call.built(parse(&call.any_text(0), &call.any_text(1)).map(|moment| show(&moment)).unwrap_or_default())
    }),
];

/// A piece of a pattern.
#[derive(Debug, PartialEq)]
enum Piece {
    Text(String),
    /// A letter, and how often it stands there.
    Field(char, usize),
}

/// Letters are fields; what stands between apostrophes is a text, and two of them are one.
fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut letters = pattern.chars().peekable();
    let text = |letter: char, pieces: &mut Vec<Piece>| match pieces.last_mut() {
        Some(Piece::Text(text)) => text.push(letter),
        _ => pieces.push(Piece::Text(letter.to_string())),
    };
    let mut quoted = false;
    while let Some(letter) = letters.next() {
        if letter == '\'' {
            if letters.next_if_eq(&'\'').is_some() {
                text('\'', &mut pieces);
            } else {
                quoted = !quoted;
            }
        } else if letter.is_ascii_alphabetic() && !quoted {
            let mut count = 1;
            while letters.next_if_eq(&letter).is_some() {
                count += 1;
            }
            pieces.push(Piece::Field(letter, count));
        } else {
            text(letter, &mut pieces);
        }
    }
    pieces
}

/// Numbers are padded to no more than this.
const WIDEST: usize = 20;

/// Writes what the moment has of the fields, and nothing for the others.
fn write(moment: &Moment, pattern: &str) -> String {
    let mut text = String::new();
    for piece in pieces(pattern) {
        match piece {
            Piece::Text(literal) => text.push_str(&literal),
            Piece::Field(field, count) => write_field(moment, field, count, &mut text),
        }
    }
    text
}

fn write_field(moment: &Moment, field: char, count: usize, text: &mut String) {
    let has = |kinds: &[T]| kinds.contains(&moment.kind);
    let (hour, minute, nanos) = moment.clock();
    let hour = hour.unsigned_abs();
    let number = match field {
        'y' if has(YEAR) && count == 2 => moment.year.unsigned_abs() % 100,
        'y' if has(YEAR) => written_year(moment.year).unsigned_abs(),
        'M' if has(MONTH) && count > 3 => return text.push_str(month(moment)),
        'M' if has(MONTH) && count == 3 => return text.push_str(&month(moment)[..3]),
        'M' if has(MONTH) => u64::from(moment.month),
        'd' if has(DAY) => u64::from(moment.day),
        'G' if has(YEAR) => return text.push_str(if moment.year > 0 { "AD" } else { "BC" }),
        'E' if has(DATE) && count > 3 => return text.push_str(day(moment)),
        'E' if has(DATE) => return text.push_str(&day(moment)[..3]),
        'D' if has(DATE) => moment.day_in_year(),
        'F' if has(DATE) => u64::from((moment.day - 1) / 7 + 1),
        'w' if has(DATE) => moment.week_in_year(),
        'W' if has(DATE) => week_in_month(moment) as u64,
        'a' if has(TIME) => return text.push_str(if hour < 12 { "AM" } else { "PM" }),
        'H' if has(TIME) => hour,
        'k' if has(TIME) => (hour + 23) % 24 + 1,
        'K' if has(TIME) => hour % 12,
        'h' if has(TIME) => (hour + 11) % 12 + 1,
        'm' if has(TIME) => minute.unsigned_abs(),
        's' if has(TIME) => (nanos / 1_000_000_000) as u64,
        'S' if has(TIME) => (nanos / 1_000_000 % 1_000) as u64,
        'z' | 'Z' => {
            if let Some(zone) = moment.zone {
                let (sign, minutes) = (if zone < 0 { '-' } else { '+' }, zone.unsigned_abs());
                let (name, colon) = if field == 'z' { ("GMT", ":") } else { ("", "") };
                text.push_str(&format!("{name}{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60));
            }
            return;
        }
        _ => return,
    };
    text.push_str(&format!("{number:0width$}", width = count.min(WIDEST)));
}

/// Fields that were read.
#[derive(Default)]
struct Fields {
    year: Option<i64>,
    month: Option<u8>,
    day: Option<u8>,
    hour: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    milliseconds: Option<i64>,
    afternoon: Option<bool>,
    zone: Option<i16>,
}

/// Reads a date; what was read says of which type it is.
fn parse(text: &str, pattern: &str) -> Option<Moment> {
    let mut rest = text;
    let mut fields = Fields::default();
    let pieces = pieces(pattern);
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(literal) => rest = rest.strip_prefix(literal.as_str())?,
            Piece::Field(field, count) => {
                // Numbers that touch each other have as many digits as letters; others as many as there are.
                let touching = matches!(pieces.get(index + 1), Some(Piece::Field(..)));
                fields.read(*field, *count, touching, &mut rest)?;
            }
        }
    }
    if rest.is_empty() { fields.moment() } else { None }
}

/// The number at the beginning of a text.
fn leading(rest: &mut &str, most: usize) -> Option<i64> {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count().min(most);
    let number = rest[..digits].parse().ok()?;
    *rest = &rest[digits..];
    Some(number)
}

/// Which of some names a text begins with, whole or by its first three letters.
fn named(rest: &mut &str, names: &[&str]) -> Option<usize> {
    for (index, name) in names.iter().enumerate() {
        for form in [name, &name[..3.min(name.len())]] {
            let begins = rest.get(..form.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(form));
            if begins {
                *rest = &rest[form.len()..];
                return Some(index);
            }
        }
    }
    None
}

impl Fields {
    fn read(&mut self, field: char, count: usize, touching: bool, rest: &mut &str) -> Option<()> {
        let most = if touching { count } else { 9 };
        let small = |rest: &mut &str| u8::try_from(leading(rest, most)?).ok();
        match field {
            'y' => {
                let digits = rest.len();
                let year = leading(rest, most)?;
                // Two digits are a year of this century.
                self.year = Some(if count == 2 && digits - rest.len() == 2 { 2000 + year } else { year });
            }
            'M' if count > 2 => self.month = Some(named(rest, &MONTHS)? as u8 + 1),
            'M' => self.month = Some(small(rest)?),
            'd' => self.day = Some(small(rest)?),
            'H' => self.hour = Some(leading(rest, most)?),
            'k' => self.hour = Some(leading(rest, most)? % 24),
            'h' | 'K' => self.hour = Some(leading(rest, most)? % 12),
            'm' => self.minute = Some(leading(rest, most)?),
            's' => self.second = Some(leading(rest, most)?),
            'S' => self.milliseconds = Some(leading(rest, most)?),
            'a' => self.afternoon = Some(named(rest, &["AM", "PM"])? == 1),
            'E' => drop(named(rest, &super::DAYS)?),
            'G' => drop(named(rest, &["AD", "BC"])?),
            'z' | 'Z' => {
                let zone = rest.strip_prefix("GMT").unwrap_or(rest);
                let sign = match zone.chars().next() {
                    Some('+') => 1,
                    Some('-') => -1,
                    _ if zone.is_empty() || zone == "Z" => {
                        (self.zone, *rest) = (Some(0), "");
                        return Some(());
                    }
                    _ => return None,
                };
                let mut digits = &zone[1..];
                let hours = leading(&mut digits, 2)?;
                digits = digits.strip_prefix(':').unwrap_or(digits);
                let minutes = leading(&mut digits, 2)?;
                self.zone = Some(sign * i16::try_from(hours * 60 + minutes).ok().filter(|zone| *zone <= 14 * 60)?);
                *rest = digits;
            }
            // Week and day of a year say nothing that the other fields do not.
            'D' | 'F' | 'w' | 'W' => drop(leading(rest, most)?),
            _ => return None,
        }
        Some(())
    }

    fn moment(&self) -> Option<Moment> {
        let time = self.hour.is_some() || self.minute.is_some() || self.second.is_some();
        let kind = match (self.year, self.month, self.day, time) {
            (Some(_), _, _, true) => T::DateTime,
            (Some(_), _, Some(_), false) => T::Date,
            (Some(_), Some(_), None, false) => T::GYearMonth,
            (Some(_), None, None, false) => T::GYear,
            (None, None, None, true) => T::Time,
            (None, Some(_), Some(_), false) => T::GMonthDay,
            (None, Some(_), None, false) => T::GMonth,
            (None, None, Some(_), false) => T::GDay,
            _ => return None,
        };
        let afternoon = if self.afternoon == Some(true) { 12 } else { 0 };
        let hour = self.hour.unwrap_or(0) + if self.hour.is_some_and(|hour| hour < 12) { afternoon } else { 0 };
        let (minute, second) = (self.minute.unwrap_or(0), self.second.unwrap_or(0));
        let milliseconds = self.milliseconds.unwrap_or(0);
        // Written and read again, so that what is no date is refused in one place.
        let text = format!(
            "{:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}",
            self.year.unwrap_or(1972),
            self.month.unwrap_or(1),
            self.day.unwrap_or(1),
        );
        let whole = Moment::parse(&text, T::DateTime)?;
        Some(Moment { zone: self.zone, ..whole.to_kind(kind) })
    }
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::check;

    #[test]
    fn dates_are_written_by_patterns() {
        let date = "2003-07-09T15:04:05.123+02:00";
        let check =
            |pattern: &str, expected: &str| check(&format!("date:format-date('{date}', \"{pattern}\")"), expected);
        check("yyyy.MM.dd G 'at' HH:mm:ss", "2003.07.09 AD at 15:04:05");
        check("EEE, MMM d, ''yy", "Wed, Jul 9, '03");
        check("h:mm a, z", "3:04 PM, GMT+02:00");
        check("EEEE d MMMM, K k S Z", "Wednesday 9 July, 3 15 123 +0200");
        check("D F w W", "190 2 28 2");
    }

    #[test]
    fn what_a_date_does_not_have_is_left_out() {
        check("date:format-date('2003-07', 'yyyy/MM/dd HH')", "2003/07/ ");
        check("date:format-date('rain', 'yyyy')", "");
    }

    #[test]
    fn dates_are_read_by_patterns() {
        let check = |text: &str, pattern: &str, expected: &str| {
            check(&format!("date:parse-date('{text}', '{pattern}')"), expected);
        };
        check("09.07.2003", "dd.MM.yyyy", "2003-07-09");
        check("Jul 9, 2003 3:04 PM", "MMM d, yyyy h:mm a", "2003-07-09T15:04:00");
        check("20030709150405", "yyyyMMddHHmmss", "2003-07-09T15:04:05");
        check("15:04 GMT+02:00", "HH:mm z", "15:04:00+02:00");
        check("July 2003", "MMMM yyyy", "2003-07");
        check("7/9", "M/d", "--07-09");
        check("31.02.2003", "dd.MM.yyyy", "");
        check("2003-07-09", "dd.MM.yyyy", "");
    }
}
