//! What patterns write: a date, a time, or parts of them.

use crate::calendar::{civil, days_from_civil};

/// A date, a time, both, or parts of a date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DateTime {
    /// The year; 0 is the one before year 1.
    pub year: Option<i64>,
    /// 1 to 12.
    pub month: Option<u8>,
    /// 1 to 31.
    pub day: Option<u8>,
    /// The time of the day.
    pub time: Option<Time>,
    /// Where the time is this.
    pub zone: Option<Zone>,
}

/// A time of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// Nanoseconds of the second.
    pub nano: u32,
}

/// A time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// That of Greenwich, under the name UTC.
    Utc,
    /// Minutes ahead of UTC.
    Offset(i16),
}

const DAY_MILLIS: i64 = 86_400_000;

impl DateTime {
    /// The moment so many milliseconds after the beginning of 1970 in UTC, without a zone.
    pub fn of_millis(millis: i64) -> DateTime {
        let (year, month, day) = civil(millis.div_euclid(DAY_MILLIS));
        let of_day = millis.rem_euclid(DAY_MILLIS);
        let time = Time {
            hour: (of_day / 3_600_000) as u8,
            minute: (of_day / 60_000 % 60) as u8,
            second: (of_day / 1000 % 60) as u8,
            nano: (of_day % 1000) as u32 * 1_000_000,
        };
        DateTime { year: Some(year), month: Some(month), day: Some(day), time: Some(time), zone: None }
    }

    /// A date without a time.
    pub(super) fn of_date((year, month, day): (i64, u8, u8)) -> DateTime {
        DateTime { year: Some(year), month: Some(month), day: Some(day), ..DateTime::default() }
    }

    /// The whole date, and how many days it lies behind the first of January of 1970.
    pub(super) fn date(&self) -> Option<((i64, u8, u8), i64)> {
        let date @ (year, month, day) = (self.year?, self.month?, self.day?);
        Some((date, days_from_civil(year, month, day)))
    }
}
