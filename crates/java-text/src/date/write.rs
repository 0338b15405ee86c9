//! Writing by patterns.

use std::fmt::Write;

use super::date_time::{DateTime, Time, Zone};
use super::{Class, Part, Pattern};
use crate::calendar::{MONTHS, WEEKDAYS, days_from_civil, week, weekday};

/// Numbers are padded to no more than this.
const WIDEST: usize = 32;

impl Pattern {
    /// Writes a date or time.
    ///
    /// Shape: where it lacks a field, `DateTimeFormatter` writes nothing at all: `None`; `SimpleDateFormat`, whose dates
    /// lack nothing, leaves the field out.
    pub fn write(&self, stamp: &DateTime) -> Option<String> {
        let mut out = String::new();
        self.put(&self.parts, stamp, &mut out)?;
        Some(out)
    }

    fn put(&self, parts: &[Part], stamp: &DateTime, out: &mut String) -> Option<()> {
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            at += 1;
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Field(letter, count) => {
                    let written = field(self.class, stamp, *letter, *count, out);
                    if self.class == Class::Formatter {
                        written?;
                    }
                }
                // An optional part of which something is missing is left out.
                Part::Optional(length) => {
                    let before = out.len();
                    if self.put(&parts[at..at + length], stamp, out).is_none() {
                        out.truncate(before);
                    }
                    at += length;
                }
            }
        }
        Some(())
    }
}

/// Writes what a letter stands for; `None` and nothing written where that is missing.
fn field(class: Class, stamp: &DateTime, letter: char, count: usize, out: &mut String) -> Option<()> {
    let width = count.min(WIDEST);
    let is_simple = class == Class::Simple;
    let name = |name: &'static str| match (count, class) {
        (4, _) | (_, Class::Simple) if count >= 4 => name,
        (5, Class::Formatter) => &name[..1],
        _ => &name[..3],
    };
    let number = match letter {
        'G' => {
            let is_after = stamp.year? > 0;
            out.push_str(match (if is_simple { 1 } else { count }, is_after) {
                (4, true) => "Anno Domini",
                (4, false) => "Before Christ",
                (5, true) => "A",
                (5, false) => "B",
                (_, true) => "AD",
                (_, false) => "BC",
            });
            return Some(());
        }
        'u' if !is_simple => return year(class, stamp.year?, width, out),
        'y' => return year(class, of_era(stamp.year?), width, out),
        'Y' => {
            let ((of_date, month, day), _) = stamp.date()?;
            return year(class, week(of_date, month, day).0, width, out);
        }
        'M' | 'L' if count >= 3 => {
            out.push_str(name(MONTHS[usize::from(stamp.month?) - 1]));
            return Some(());
        }
        'M' | 'L' => stamp.month?.into(),
        'd' => stamp.day?.into(),
        'D' => {
            let ((year, ..), days) = stamp.date()?;
            days - days_from_civil(year, 1, 1) + 1
        }
        'E' => {
            out.push_str(name(WEEKDAYS[usize::from(weekday(stamp.date()?.1))]));
            return Some(());
        }
        'w' => {
            let ((year, month, day), _) = stamp.date()?;
            week(year, month, day).1
        }
        'W' => {
            let ((year, month, day), _) = stamp.date()?;
            let first = i64::from(weekday(days_from_civil(year, month, 1)));
            (i64::from(day) - 1 + first) / 7 + 1
        }
        // The one counts weeks, the other days of the week from the month's first.
        'F' if is_simple => i64::from((stamp.day? - 1) / 7 + 1),
        'F' => i64::from((stamp.day? - 1) % 7 + 1),
        // From 1 for Monday.
        'u' => i64::from((weekday(stamp.date()?.1) + 6) % 7 + 1),
        'Q' | 'q' => {
            let quarter = (stamp.month? - 1) / 3 + 1;
            match count {
                3 => write!(out, "Q{quarter}").ok()?,
                4 => {
                    out.push_str(["1st", "2nd", "3rd", "4th"][usize::from(quarter) - 1]);
                    out.push_str(" quarter");
                }
                5 => write!(out, "{quarter}").ok()?,
                _ => write!(out, "{quarter:0width$}").ok()?,
            }
            return Some(());
        }
        // From 1 for Sunday.
        'e' | 'c' if count <= 2 => i64::from(weekday(stamp.date()?.1)) + 1,
        'e' | 'c' => {
            out.push_str(name(WEEKDAYS[usize::from(weekday(stamp.date()?.1))]));
            return Some(());
        }
        'z' | 'Z' | 'X' => return zone(stamp.zone?, letter, count, out),
        _ => return time(class, stamp.time?, letter, count, out),
    };
    write!(out, "{number:0width$}").ok()
}

fn time(class: Class, time: Time, letter: char, count: usize, out: &mut String) -> Option<()> {
    let Time { hour, minute, second, nano } = time;
    let of_day = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
    let number = match letter {
        'a' => {
            out.push_str(if hour < 12 { "AM" } else { "PM" });
            return Some(());
        }
        'H' => hour.into(),
        'k' => i64::from((hour + 23) % 24 + 1),
        'K' => i64::from(hour % 12),
        'h' => i64::from((hour + 11) % 12 + 1),
        'm' => minute.into(),
        's' => second.into(),
        // The one writes milliseconds, the other so many digits of the second's fraction.
        'S' if class == Class::Simple => i64::from(nano / 1_000_000),
        'S' => {
            out.push_str(&format!("{nano:09}")[..count.min(9)]);
            return Some(());
        }
        'A' => of_day * 1000 + i64::from(nano / 1_000_000),
        'n' => nano.into(),
        'N' => of_day * 1_000_000_000 + i64::from(nano),
        // A time zone that nobody knows.
        _ => return None,
    };
    write!(out, "{number:0width$}", width = count.min(WIDEST)).ok()
}

/// A year as the years of its era are counted: there is none that is 0.
fn of_era(year: i64) -> i64 {
    if year > 0 { year } else { 1 - year }
}

fn year(class: Class, year: i64, width: usize, out: &mut String) -> Option<()> {
    if width == 2 {
        return write!(out, "{:02}", year.rem_euclid(100)).ok();
    }
    let is_long = || year >= 10_i64.checked_pow(width as u32).unwrap_or(i64::MAX);
    if class == Class::Formatter && width >= 4 && is_long() {
        out.push('+');
    }
    write!(out, "{year:0width$}").ok()
}

/// `UTC` and `GMT+02:00`, `+0200`, or `Z` and `+02`, `+0200`, `+02:00`.
fn zone(zone: Zone, letter: char, count: usize, out: &mut String) -> Option<()> {
    let minutes = match zone {
        Zone::Utc if letter == 'z' => {
            out.push_str("UTC");
            return Some(());
        }
        Zone::Utc | Zone::Offset(0) if letter == 'X' => {
            out.push('Z');
            return Some(());
        }
        Zone::Utc => 0,
        Zone::Offset(minutes) => minutes,
    };
    let (sign, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.unsigned_abs());
    let (name, colon) = match (letter, count) {
        ('z', _) => ("GMT", ":"),
        ('X', 3) => ("", ":"),
        _ => ("", ""),
    };
    write!(out, "{name}{sign}{:02}", minutes / 60).ok()?;
    if letter == 'X' && count == 1 {
        return Some(());
    }
    write!(out, "{colon}{:02}", minutes % 60).ok()
}
