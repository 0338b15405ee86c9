//! What was read of a text, and the date that it makes.

use super::Class;
use super::date_time::{DateTime, Time};
use crate::calendar::{civil, days_from_civil, days_in, weekday};

/// The fields that were read of a text, as they stand there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The year, of its era.
    pub year: Option<i64>,
    /// Whether the year is one before Christ.
    pub is_before: bool,
    /// From 1 for January.
    pub month: Option<i64>,
    /// The day of the month.
    pub day: Option<i64>,
    /// The day of the year.
    pub day_of_year: Option<i64>,
    /// From 0 for Sunday.
    pub weekday: Option<u8>,
    /// From 0 to 23.
    pub hour: Option<i64>,
    /// From 0 to 11, or 12 for 0.
    pub half_hour: Option<i64>,
    /// Whether the hour is one of the afternoon.
    pub is_afternoon: Option<bool>,
    /// The minute of the hour.
    pub minute: Option<i64>,
    /// The second of the minute.
    pub second: Option<i64>,
    /// Nanoseconds of the second.
    pub nano: Option<i64>,
    /// Minutes ahead of UTC.
    pub zone: Option<i64>,
}

/// The last year that there is in `java.time`.
const YEARS: i64 = 999_999_999;

impl Fields {
    /// Puts a number where its letter says; `None` where it can be none of these.
    pub(super) fn put(&mut self, class: Class, letter: char, number: i64) -> Option<()> {
        let within = |least: i64, most: i64| (least..=most).contains(&number).then_some(number);
        match (class, letter) {
            (_, 'y') | (Class::Formatter, 'u') => self.year = Some(number),
            (_, 'M' | 'L') => self.month = Some(number),
            (_, 'd') => self.day = Some(number),
            (_, 'D') => self.day_of_year = Some(number),
            (_, 'H') => self.hour = Some(number),
            (Class::Simple, 'k') => self.hour = Some(if number == 24 { 0 } else { number }),
            (Class::Simple, 'h' | 'K') => self.half_hour = Some(number),
            (Class::Formatter, 'k') => self.hour = Some(within(1, 24)? % 24),
            (Class::Formatter, 'h') => self.half_hour = Some(within(1, 12)?),
            (Class::Formatter, 'K') => self.half_hour = Some(within(0, 11)?),
            (_, 'm') => self.minute = Some(number),
            (_, 's') => self.second = Some(number),
            (Class::Simple, 'S') => self.nano = Some(number * 1_000_000),
            (Class::Formatter, 'S' | 'n') => self.nano = Some(within(0, 999_999_999)?),
            // The others say nothing that the date does not say.
            _ => {}
        }
        Some(())
    }

    /// The hour of the day: of two that were read, the whole one; `None`: none was read.
    pub fn hour_of_day(&self) -> Option<i64> {
        let half = |hour: i64| if hour == 12 { 0 } else { hour } + if self.is_afternoon == Some(true) { 12 } else { 0 };
        self.hour.or_else(|| self.half_hour.map(half))
    }

    /// The year, where 0 is the one before year 1.
    pub fn proleptic_year(&self) -> Option<i64> {
        self.year.map(|year| if self.is_before { 1 - year } else { year })
    }

    /// The moment in milliseconds since 1970 in UTC, as `SimpleDateFormat` makes it: fields that are missing are those
    /// of the first of January of 1970 in UTC, and what is too large goes on into the next larger field.
    ///
    /// `None` where the year is not one of -9999 to 9999.
    pub fn lenient_millis(&self) -> Option<i64> {
        let year = self.proleptic_year().unwrap_or(1970);
        if !(-9999..=9999).contains(&year) {
            return None;
        }
        let (month, day) = match (self.month, self.day, self.day_of_year) {
            (None, None, Some(day)) => (1, day),
            (month, day, _) => (month.unwrap_or(1), day.unwrap_or(1)),
        };
        let year = year + (month - 1).div_euclid(12);
        let days = days_from_civil(year, ((month - 1).rem_euclid(12) + 1) as u8, 1) + day - 1;
        let minutes = self.hour_of_day().unwrap_or(0) * 60 + self.minute.unwrap_or(0) - self.zone.unwrap_or(0);
        let seconds = days * 86_400 + minutes * 60 + self.second.unwrap_or(0);
        Some(seconds * 1000 + self.nano.unwrap_or(0) / 1_000_000)
    }

    /// The date, the time or both that the fields make, as `DateTimeFormatter` makes them of what it read: a day behind
    /// the end of its month is its last one; the zone is not looked at.
    ///
    /// `None` where they make none, or contradict each other.
    /// Source: `java.time.format.ResolverStyle.SMART`.
    pub fn smart(&self) -> Option<DateTime> {
        let year = self.year.filter(|year| *year <= YEARS);
        let mut date = match (year, self.month, self.day, self.day_of_year) {
            (Some(year), Some(month @ 1..=12), Some(day @ 1..=31), _) => {
                Some((year, month as u8, (day as u8).min(days_in(year, month as u8))))
            }
            (Some(year), None, None, Some(day @ 1..=366)) => {
                let date = civil(days_from_civil(year, 1, 1) + day - 1);
                (date.0 == year).then_some(date)
            }
            (_, Some(month), ..) if !(1..=12).contains(&month) => return None,
            (_, _, Some(day), _) if !(1..=31).contains(&day) => return None,
            _ => None,
        };
        // Half an hour of the day without its half is none.
        let hour = if self.hour.is_none() && self.is_afternoon.is_none() { None } else { self.hour_of_day() };
        let day_of = |(year, month, day): (i64, u8, u8)| days_from_civil(year, month, day);
        if date.is_some_and(|date| self.weekday.is_some_and(|named| named != weekday(day_of(date)))) {
            return None;
        }
        let (minute, second, nano) = (self.minute.unwrap_or(0), self.second.unwrap_or(0), self.nano.unwrap_or(0));
        // The end of a day is the beginning of the next.
        let is_end = hour == Some(24) && (minute, second, nano) == (0, 0, 0);
        if is_end {
            date = date.map(|date| civil(day_of(date) + 1));
        }
        let hour = if is_end { Some(0) } else { hour };
        if hour.is_some_and(|hour| hour > 23) || minute > 59 || second > 59 {
            return None;
        }
        let has_gap =
            (self.minute.is_none() && self.second.is_some()) || (self.second.is_none() && self.nano.is_some());
        let time = hour.filter(|_| !has_gap).map(|hour| Time {
            hour: hour as u8,
            minute: minute as u8,
            second: second as u8,
            nano: nano as u32,
        });
        let stamp = DateTime { time, ..date.map_or_else(DateTime::default, DateTime::of_date) };
        (date.is_some() || time.is_some()).then_some(stamp)
    }
}
