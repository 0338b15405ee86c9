//! Durations: so many months, and so many nanoseconds.

use std::fmt;

use super::{DAY, SECOND, fraction, write_fraction};
use crate::types::AtomicType as T;
use crate::value::number::is_space;

/// A duration; both parts have the same sign.
#[derive(Clone, Copy, Debug)]
pub struct Duration {
    /// `xs:duration`, `xs:yearMonthDuration` or `xs:dayTimeDuration`.
    pub kind: T,
    /// Years and months, in months.
    pub months: i64,
    /// Days to seconds, in nanoseconds.
    pub nanos: i128,
}

impl Duration {
    /// Reads `P1Y2M3DT4H5M6.7S` with what the type `kind` allows of it; `None`: it is none.
    pub fn parse(text: &str, kind: T) -> Option<Duration> {
        let text = text.trim_matches(is_space);
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let rest = rest.strip_prefix('P')?;
        let (date, time) = match rest.split_once('T') {
            Some((_, "")) => return None,
            Some((date, time)) => (date, time),
            None => (rest, ""),
        };
        if rest.is_empty() {
            return None;
        }
        let (mut months, mut nanos) = (0_i64, 0_i128);
        parts(date, "YMD", |unit, number, behind| {
            let number = i64::try_from(number).ok().filter(|_| behind.is_none())?;
            match unit {
                'Y' => months = months.checked_add(number.checked_mul(12)?)?,
                'M' => months = months.checked_add(number)?,
                _ => nanos = nanos.checked_add(i128::from(number).checked_mul(DAY)?)?,
            }
            (kind == T::Duration || (unit == 'D') == (kind == T::DayTimeDuration)).then_some(())
        })?;
        parts(time, "HMS", |unit, number, behind| {
            let seconds = match unit {
                'H' => 3600,
                'M' => 60,
                _ => 1,
            };
            if behind.is_some() && unit != 'S' {
                return None;
            }
            let whole = number.checked_mul(seconds)?.checked_mul(SECOND)?;
            nanos = nanos.checked_add(whole)?.checked_add(behind.map_or(0, fraction))?;
            (kind != T::YearMonthDuration).then_some(())
        })?;
        let sign = if negative { -1 } else { 1 };
        Some(Duration { kind, months: months * sign, nanos: nanos * i128::from(sign) })
    }

    /// The same as another type, without what that type does not have.
    pub fn to_kind(self, kind: T) -> Duration {
        Duration {
            kind,
            months: if kind == T::DayTimeDuration { 0 } else { self.months },
            nanos: if kind == T::YearMonthDuration { 0 } else { self.nanos },
        }
    }
}

/// Reads numbers with a unit behind each, in the order of `units`, each at most once.
fn parts(mut text: &str, mut units: &str, mut found: impl FnMut(char, i128, Option<&str>) -> Option<()>) -> Option<()> {
    while !text.is_empty() {
        let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
        let (number, behind) = text.split_at(end);
        let unit = behind.chars().next()?;
        units = &units[units.find(unit)? + 1..];
        text = &behind[1..];
        let (whole, fraction) = match number.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (number, None),
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || fraction.is_some_and(|fraction| !digits(fraction)) {
            return None;
        }
        found(unit, whole.parse().ok()?, fraction)?;
    }
    Some(())
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.months == 0 && self.nanos == 0 {
            return f.write_str(if self.kind == T::YearMonthDuration { "P0M" } else { "PT0S" });
        }
        if self.months < 0 || self.nanos < 0 {
            f.write_str("-")?;
        }
        f.write_str("P")?;
        let (months, nanos) = (self.months.unsigned_abs(), self.nanos.abs());
        let mut part = |number: i128, unit: char| if number == 0 { Ok(()) } else { write!(f, "{number}{unit}") };
        part(i128::from(months / 12), 'Y')?;
        part(i128::from(months % 12), 'M')?;
        part(nanos / DAY, 'D')?;
        let time = nanos % DAY;
        if time == 0 {
            return Ok(());
        }
        f.write_str("T")?;
        let mut part = |number: i128, unit: char| if number == 0 { Ok(()) } else { write!(f, "{number}{unit}") };
        part(time / (3600 * SECOND), 'H')?;
        part(time / (60 * SECOND) % 60, 'M')?;
        let seconds = time % (60 * SECOND);
        if seconds != 0 {
            write!(f, "{}", seconds / SECOND)?;
            write_fraction(seconds % SECOND, f)?;
            f.write_str("S")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_in_their_canonical_form() {
        let check = |text: &str, kind: T, expected: &str| {
            assert_eq!(Duration::parse(text, kind).expect(text).to_string(), expected, "{text}");
        };
        check("P1Y14M", T::YearMonthDuration, "P2Y2M");
        check("PT36H", T::DayTimeDuration, "P1DT12H");
        check("-PT0.50S", T::DayTimeDuration, "-PT0.5S");
        check("P1Y2M3DT4H5M6.7S", T::Duration, "P1Y2M3DT4H5M6.7S");
        check("P0Y", T::YearMonthDuration, "P0M");
        check("-P0D", T::DayTimeDuration, "PT0S");
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "P", "PT", "P1", "P1H", "PT1Y", "P1M1Y", "P1.5D", "P-1D", "1Y", "P1YT", "PT1.S", "PT.5S"] {
            assert!(Duration::parse(text, T::Duration).is_none(), "{text}");
        }
        assert!(Duration::parse("P1D", T::YearMonthDuration).is_none());
        assert!(Duration::parse("P1Y", T::DayTimeDuration).is_none());
        assert!(Duration::parse("PT1S", T::YearMonthDuration).is_none());
    }
}
