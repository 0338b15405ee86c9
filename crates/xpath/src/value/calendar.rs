//! Dates, times and durations (XML Schema part 2, §3.2.6–§3.2.14): reading, writing, calculating.

mod duration;

use std::cmp::Ordering;
use std::fmt;

use super::number::is_space;
use crate::types::AtomicType as T;
pub use duration::Duration;
use myelin_java_text::calendar::{civil, days_from_civil, days_in};

/// Nanoseconds in one second and in one day.
pub(crate) const SECOND: i128 = 1_000_000_000;
pub(crate) const DAY: i128 = 86_400 * SECOND;

/// Years further away than this are refused: no date of a message is, and the sums below stay exact.
const YEARS: i64 = 999_999_999;

/// A date, a time, or a part of them, as its type has it.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// `xs:dateTime`, `xs:date`, `xs:time`, `xs:gYear` …
    pub kind: T,
    /// The year; 0 is the one before year 1. 1972 where the type has none.
    pub year: i64,
    /// 1 to 12; 1 where the type has none.
    pub month: u8,
    /// 1 to 31; 1 where the type has none.
    pub day: u8,
    /// Nanoseconds since midnight; 0 where the type has none.
    pub nanos: i128,
    /// Minutes east of Greenwich, if it is known.
    pub zone: Option<i16>,
}

impl Moment {
    /// Reads the lexical form of the type `kind`; `None`: it is none.
    pub fn parse(text: &str, kind: T) -> Option<Moment> {
        let mut rest = text.trim_matches(is_space);
        let mut moment = Moment { kind, year: 1972, month: 1, day: 1, nanos: 0, zone: None };
        let mut days = 0;
        match kind {
            T::DateTime | T::DateTimeStamp => {
                moment.date(&mut rest)?;
                literal(&mut rest, "T")?;
                days = moment.time(&mut rest)?;
            }
            T::Date => moment.date(&mut rest)?,
            T::Time => {
                moment.time(&mut rest)?;
            }
            T::GYear => moment.year = year(&mut rest)?,
            T::GYearMonth => {
                moment.year = year(&mut rest)?;
                literal(&mut rest, "-")?;
                moment.month = two(&mut rest)?;
            }
            T::GMonth => {
                literal(&mut rest, "--")?;
                moment.month = two(&mut rest)?;
            }
            T::GMonthDay => {
                literal(&mut rest, "--")?;
                moment.month = two(&mut rest)?;
                literal(&mut rest, "-")?;
                moment.day = two(&mut rest)?;
            }
            T::GDay => {
                literal(&mut rest, "---")?;
                moment.day = two(&mut rest)?;
            }
            _ => return None,
        }
        moment.zone = zone(rest)?;
        let valid = (1..=12).contains(&moment.month) && (1..=days_in(moment.year, moment.month)).contains(&moment.day);
        if !valid || (kind == T::DateTimeStamp && moment.zone.is_none()) {
            return None;
        }
        if days != 0 {
            moment = moment.plus(&Duration { kind: T::DayTimeDuration, months: 0, nanos: DAY })?;
        }
        Some(moment)
    }

    fn date(&mut self, rest: &mut &str) -> Option<()> {
        self.year = year(rest)?;
        literal(rest, "-")?;
        self.month = two(rest)?;
        literal(rest, "-")?;
        self.day = two(rest)?;
        Some(())
    }

    /// Reads `hh:mm:ss.fff`; gives 1 for `24:00:00`, which is the start of the next day.
    fn time(&mut self, rest: &mut &str) -> Option<i64> {
        let hour = two(rest)?;
        literal(rest, ":")?;
        let minute = two(rest)?;
        literal(rest, ":")?;
        let second = two(rest)?;
        let mut nanos = 0;
        if let Some(behind) = rest.strip_prefix('.') {
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                return None;
            }
            nanos = fraction(&behind[..digits]);
            *rest = &behind[digits..];
        }
        let midnight = hour == 24 && minute == 0 && second == 0 && nanos == 0;
        if minute > 59 || second > 59 || (hour > 23 && !midnight) {
            return None;
        }
        let seconds = i128::from(hour % 24) * 3600 + i128::from(minute) * 60 + i128::from(second);
        self.nanos = seconds * SECOND + nanos;
        Some(i64::from(midnight))
    }

    /// A dateTime, so many nanoseconds after 1970 began in Greenwich, written with an offset of `zone` minutes.
    pub fn at(nanos: i128, zone: Option<i16>) -> Moment {
        let local = nanos + i128::from(zone.unwrap_or(0)) * 60 * SECOND;
        let (year, month, day) = civil(local.div_euclid(DAY) as i64);
        Moment { kind: T::DateTime, year, month, day, nanos: local.rem_euclid(DAY), zone }
    }

    /// Nanoseconds since 1970 began in Greenwich; a time without zone is taken to be there.
    pub fn timeline(&self) -> i128 {
        let days = i128::from(days_from_civil(self.year, self.month, self.day));
        days * DAY + self.nanos - i128::from(self.zone.unwrap_or(0)) * 60 * SECOND
    }

    /// The same moment as another type: a dateTime as a date, and so on.
    pub fn to_kind(mut self, kind: T) -> Moment {
        let (year, month, day, time) = match kind {
            T::DateTime | T::DateTimeStamp => (true, true, true, true),
            T::Date => (true, true, true, false),
            T::Time => (false, false, false, true),
            T::GYear => (true, false, false, false),
            T::GYearMonth => (true, true, false, false),
            T::GMonth => (false, true, false, false),
            T::GMonthDay => (false, true, true, false),
            _ => (false, false, true, false),
        };
        self.kind = kind;
        self.year = if year { self.year } else { 1972 };
        self.month = if month { self.month } else { 1 };
        self.day = if day { self.day } else { 1 };
        self.nanos = if time { self.nanos } else { 0 };
        self
    }

    /// This much later; the day is the month's last where the month is too short. `None`: out of range.
    pub fn plus(&self, duration: &Duration) -> Option<Moment> {
        let months = self.year.checked_mul(12)?.checked_add(i64::from(self.month) - 1)?.checked_add(duration.months)?;
        let (year, month) = (months.div_euclid(12), (months.rem_euclid(12) + 1) as u8);
        if year.abs() > YEARS {
            return None;
        }
        let day = self.day.min(days_in(year, month));
        let nanos = self.nanos.checked_add(duration.nanos)?;
        let days = i64::try_from(nanos.div_euclid(DAY)).ok()?;
        let (year, month, day) = civil(days_from_civil(year, month, day).checked_add(days)?);
        if year.abs() > YEARS {
            return None;
        }
        Some(
            Moment { kind: T::DateTime, year, month, day, nanos: nanos.rem_euclid(DAY), zone: self.zone }
                .to_kind(self.kind),
        )
    }

    /// The same moment as it is written in another zone; without a zone before or after, only the zone changes.
    pub fn in_zone(&self, zone: Option<i16>) -> Option<Moment> {
        let (Some(from), Some(to)) = (self.zone, zone) else { return Some(Moment { zone, ..*self }) };
        let minutes = i128::from(to) - i128::from(from);
        let shift = Duration { kind: T::DayTimeDuration, months: 0, nanos: minutes * 60 * SECOND };
        // A date is its first moment, which may lie in another day elsewhere.
        let whole = Moment { kind: T::DateTime, ..*self }.plus(&shift)?;
        Some(Moment { zone, ..whole.to_kind(self.kind) })
    }

    /// Hours, minutes, and nanoseconds behind the minute.
    pub fn clock(&self) -> (i64, i64, i128) {
        let minutes = (self.nanos / (60 * SECOND)) as i64;
        (minutes / 60, minutes % 60, self.nanos % (60 * SECOND))
    }

    /// Before, at the same time, or after.
    pub fn compare(&self, other: &Moment) -> Ordering {
        self.timeline().cmp(&other.timeline())
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.year < 0 { "-" } else { "" };
        let (year, month, day) = (self.year.unsigned_abs(), self.month, self.day);
        match self.kind {
            T::DateTime | T::DateTimeStamp => write!(f, "{sign}{year:04}-{month:02}-{day:02}T")?,
            T::Date => write!(f, "{sign}{year:04}-{month:02}-{day:02}")?,
            T::GYear => write!(f, "{sign}{year:04}")?,
            T::GYearMonth => write!(f, "{sign}{year:04}-{month:02}")?,
            T::GMonth => write!(f, "--{month:02}")?,
            T::GMonthDay => write!(f, "--{month:02}-{day:02}")?,
            T::GDay => write!(f, "---{day:02}")?,
            _ => {}
        }
        if matches!(self.kind, T::DateTime | T::DateTimeStamp | T::Time) {
            let (hour, minute, nanos) = self.clock();
            write!(f, "{hour:02}:{minute:02}:{:02}", nanos / SECOND)?;
            write_fraction(nanos % SECOND, f)?;
        }
        match self.zone {
            None => Ok(()),
            Some(0) => f.write_str("Z"),
            Some(zone) => {
                let sign = if zone < 0 { '-' } else { '+' };
                write!(f, "{sign}{:02}:{:02}", zone.abs() / 60, zone.abs() % 60)
            }
        }
    }
}

/// Writes `.5` for half a second, and nothing for none.
fn write_fraction(nanos: i128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if nanos == 0 {
        return Ok(());
    }
    write!(f, ".{}", format!("{nanos:09}").trim_end_matches('0'))
}

fn literal(rest: &mut &str, text: &str) -> Option<()> {
    *rest = rest.strip_prefix(text)?;
    Some(())
}

fn two(rest: &mut &str) -> Option<u8> {
    let digits = rest.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    *rest = &rest[2..];
    digits.parse().ok()
}

/// At least four digits, no leading zero where there are more.
fn year(rest: &mut &str) -> Option<i64> {
    let unsigned = rest.strip_prefix('-').unwrap_or(rest);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    if digits < 4 || (digits > 4 && unsigned.starts_with('0')) {
        return None;
    }
    let size: i64 = unsigned[..digits].parse().ok().filter(|year| *year <= YEARS)?;
    let year = if rest.starts_with('-') { -size } else { size };
    *rest = &unsigned[digits..];
    Some(year)
}

/// `Z`, `+01:00`, or nothing; the outer `None`: something else.
fn zone(text: &str) -> Option<Option<i16>> {
    if text.is_empty() {
        return Some(None);
    }
    if text == "Z" {
        return Some(Some(0));
    }
    let mut rest = text.strip_prefix(['+', '-'])?;
    let hours = i16::from(two(&mut rest)?);
    literal(&mut rest, ":")?;
    let minutes = i16::from(two(&mut rest)?);
    if !rest.is_empty() || minutes > 59 || hours * 60 + minutes > 14 * 60 {
        return None;
    }
    let offset = hours * 60 + minutes;
    Some(Some(if text.starts_with('-') { -offset } else { offset }))
}

/// Nanoseconds of the digits behind a point; digits behind the ninth are cut.
fn fraction(digits: &str) -> i128 {
    digits.bytes().chain(std::iter::repeat(b'0')).take(9).fold(0, |sum, digit| sum * 10 + i128::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_the_same() {
        let check = |text: &str, kind: T| assert_eq!(Moment::parse(text, kind).expect(text).to_string(), text);
        check("2004-02-29T23:59:59.125Z", T::DateTime);
        check("-0044-03-15T00:00:00", T::DateTime);
        check("12004-02-28+14:00", T::Date);
        check("10:00:00-05:30", T::Time);
        check("1999", T::GYear);
        check("1999-05Z", T::GYearMonth);
        check("--05", T::GMonth);
        check("--02-29", T::GMonthDay);
        check("---31", T::GDay);
        assert_eq!(
            Moment::parse("1999-12-31T24:00:00", T::DateTime).expect("midnight").to_string(),
            "2000-01-01T00:00:00"
        );
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2003-02-29",
            "99-01-01",
            "2000-1-01",
            "2000-13-01",
            "2000-01-01+15:00",
            "2000-01-01T00:00:00",
            "02000-01-01",
        ] {
            assert!(Moment::parse(text, T::Date).is_none(), "{text}");
        }
        for text in ["24:00:01", "23:60:00", "23:59:60", "1:00:00", "10:00:00."] {
            assert!(Moment::parse(text, T::Time).is_none(), "{text}");
        }
    }

    #[test]
    fn durations_move_dates() {
        let check = |text: &str, kind: T, by: &str, expected: &str| {
            let duration = Duration::parse(by, T::Duration).expect(by);
            assert_eq!(Moment::parse(text, kind).expect(text).plus(&duration).expect(by).to_string(), expected);
        };
        check("2000-01-31", T::Date, "P1M", "2000-02-29");
        check("2000-01-12T12:13:14Z", T::DateTime, "P1Y3M5DT7H10M3.3S", "2001-04-17T19:23:17.3Z");
        check("23:00:00", T::Time, "PT2H", "01:00:00");
        check("2000-01-01", T::Date, "-P1D", "1999-12-31");
    }
}
