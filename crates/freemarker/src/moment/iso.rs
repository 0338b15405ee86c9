//! Dates as ISO 8601 has them.

use std::fmt::Write;

use myelin_java_text::calendar::civil;
use myelin_java_text::date::{Fields, zone};

use super::{DAY, Digits, Moment, Part};

/// Writes a point in time, in UTC.
pub(super) fn write(moment: Moment, zone: bool, digits: Digits) -> String {
    let (year, month, day) = civil(moment.millis.div_euclid(DAY));
    let of_day = moment.millis.rem_euclid(DAY);
    let (hour, minute, second) = (of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60);
    // Writing into a string cannot fail.
    let mut out = String::new();
    if moment.part != Part::Time {
        let _ = write!(out, "{year:04}-{month:02}-{day:02}");
    }
    if moment.part == Part::Both {
        out.push('T');
    }
    if moment.part != Part::Date {
        let _ = write!(out, "{hour:02}:{minute:02}:{second:02}");
        let millis = format!(".{:03}", of_day % 1000);
        match digits {
            Digits::None => {}
            Digits::Some => out.push_str(millis.trim_end_matches('0').trim_end_matches('.')),
            Digits::All => out.push_str(&millis),
        }
        if zone {
            out.push('Z');
        }
    }
    out
}

/// Reads a date, a time, or both with a `T` or a blank between; gives milliseconds since 1970 in UTC.
pub(super) fn read(text: &str) -> Option<i64> {
    Reader { rest: text }.date()
}

/// Reads a date from front to back.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// A date, a time, or both with a `T` or a blank between.
    fn date(mut self) -> Option<i64> {
        let mut found = Fields::default();
        if self.rest.as_bytes().get(2) != Some(&b':') {
            let sign = if self.take('-') { -1 } else { 1 };
            found.year = Some(self.number(4)? * sign);
            let dashes = self.take('-');
            found.month = Some(self.number(2)?);
            if dashes && !self.take('-') {
                return None;
            }
            found.day = Some(self.number(2)?);
            if self.rest.is_empty() {
                return found.lenient_millis();
            }
            if !self.take('T') && !self.take(' ') {
                return None;
            }
        }
        found.hour = Some(self.number(2)?);
        let colons = self.take(':');
        found.minute = Some(self.number(2)?);
        found.second = if !colons || self.take(':') { self.number(2) } else { None };
        if self.take('.') || self.take(',') {
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            found.nano = format!("{:0<9}", &self.rest[..digits])[..9].parse().ok();
            self.rest = &self.rest[digits..];
        }
        if !self.rest.is_empty() {
            found.zone = Some(zone(&mut self.rest)?);
        }
        if self.rest.is_empty() { found.lenient_millis() } else { None }
    }

    fn take(&mut self, letter: char) -> bool {
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// A number of at most so many digits.
    fn number(&mut self, most: usize) -> Option<i64> {
        let digits = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let number = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        Some(number)
    }
}
