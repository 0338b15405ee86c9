//! `format-date()` and its like (Functions and Operators §9.8).

mod part;
mod picture;
#[cfg(test)]
mod tests;

use myelin_xpath::types::AtomicType as T;
use myelin_xpath::{Atomic, Error, Moment, Value, Version};

use super::{Call, Function};
use crate::numbering::Language;
use picture::{Marker, Piece};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::own("format-dateTime", 2, 5, |call| format(call, T::DateTime)),
    Function::own("format-date", 2, 5, |call| format(call, T::Date)),
    Function::own("format-time", 2, 5, |call| format(call, T::Time)),
];

/// Calendars that count years, months and days as the Gregorian one does.
const GREGORIAN: [&str; 4] = ["AD", "CE", "ISO", "NS"];

/// Designators of calendars that the standard lists (§9.8.4.3): asked for, the Gregorian one takes their place.
const OTHER_CALENDARS: [&str; 21] = [
    "AH", "AME", "AM", "AP", "AS", "BE", "CB", "CL", "CS", "EE", "FE", "JE", "KE", "KY", "ME", "MS", "OS", "RS", "SE",
    "SH", "SS",
];

fn format<'a>(call: &Call<'_, 'a>, kind: T) -> Result<Value<'a>, Error> {
    if matches!(call.count(), 3 | 4) {
        return Err(Error::value("XPST0017", "a date is formatted with 2 arguments or with 5"));
    }
    let Some(Atomic::Moment(moment)) = call.typed(0, kind)? else { return Ok(Value::EMPTY) };
    let text = call.text(1)?;
    let optional = |index: usize| if call.count() > index { call.optional_text(index) } else { Ok(None) };
    let (language, calendar) = (optional(2)?, optional(3)?);
    // The place would choose a zone, and zones by names need tables that change with the laws of countries.
    optional(4)?;
    let refused = |what: String| picture_error(call, &text, &what);
    let pieces = picture::parse(&text).map_err(refused)?;
    let mut result = String::new();
    if let Some(calendar) = calendar {
        match is_gregorian(&calendar) {
            Some(true) => {}
            Some(false) => result.push_str("[Calendar: AD]"),
            None => return Err(refused(format!("{calendar:?} is no calendar"))),
        }
    }
    let known = Language::find(language.as_deref().unwrap_or("").trim());
    let words = |piece: &Piece<'_>| matches!(piece, Piece::Marker(marker) if marker.has_words());
    if known.is_none() && pieces.iter().any(words) {
        result.push_str("[Language: en]");
    }
    let language = known.unwrap_or_default();
    for piece in &pieces {
        match piece {
            Piece::Text(text) => result.push_str(text),
            Piece::Marker(marker) => {
                check(call, marker, kind)?;
                marker.write(&moment, language, &mut result);
            }
        }
    }
    call.built(result)
}

/// Whether a calendar's dates are those of the Gregorian one; `None`: it is no name of a calendar.
fn is_gregorian(calendar: &str) -> Option<bool> {
    let (namespace, local) = match calendar.strip_prefix("Q{") {
        Some(rest) => rest.split_once('}')?,
        None => calendar.split_once(':').unwrap_or(("", calendar)),
    };
    if !myelin_xml::is_ncname(local) || calendar.starts_with(':') {
        return None;
    }
    match namespace.is_empty() {
        true if GREGORIAN.contains(&local) => Some(true),
        true => OTHER_CALENDARS.contains(&local).then_some(false),
        false => Some(false),
    }
}

fn picture_error(call: &Call<'_, '_>, picture: &str, what: &str) -> Error {
    let code = if call.version() == Version::V3 { "FOFD1340" } else { "XTDE1340" };
    Error::value(code, format!("the picture {picture:?} of a date: {what}"))
}

/// Whether a value of that type has the component.
fn check(call: &Call<'_, '_>, marker: &Marker, kind: T) -> Result<(), Error> {
    let absent = match kind {
        T::Date => "HhPmsf",
        T::Time => "YMDdFWwCE",
        _ => "",
    };
    if !absent.contains(marker.component) {
        return Ok(());
    }
    let code = if call.version() == Version::V3 { "FOFD1350" } else { "XTDE1350" };
    Err(Error::value(code, format!("{kind} has nothing that [{}] could stand for", marker.component)))
}

/// What is asked of dates beside what they hold.
pub(super) trait Calendar {
    /// 1 is Monday.
    fn weekday(&self) -> u8;
    /// Counts from 1.
    fn day_in_year(&self) -> u64;
    /// By ISO 8601: a week belongs to the year that its Thursday is in.
    fn week_in_year(&self) -> u64;
    /// By the same rule for months, but that the last days of a month belong to it in any case.
    fn week_in_month(&self) -> u64;
}

const NANOS_A_DAY: i128 = 86_400_000_000_000;

/// Days since 1970 began.
fn days(year: i64, month: u8, day: u8) -> i64 {
    let date = Moment { kind: T::Date, year, month, day, nanos: 0, zone: None };
    (date.timeline() / NANOS_A_DAY) as i64
}

/// 1970 began on a Thursday.
fn weekday(days: i64) -> u8 {
    ((days + 3).rem_euclid(7) + 1) as u8
}

/// In which week a date is of the span that its Thursday is in; the spans are given by their first months, the last
/// one first.
fn week(date: &Moment, spans: &[(i64, u8)]) -> u64 {
    let today = days(date.year, date.month, date.day);
    let thursday = today + 4 - i64::from(weekday(today));
    let mut starts = spans.iter().map(|(year, month)| days(*year, *month, 1));
    let start = starts.find(|start| *start <= thursday).unwrap_or(thursday);
    ((thursday - start) / 7 + 1).unsigned_abs()
}

impl Calendar for Moment {
    fn weekday(&self) -> u8 {
        weekday(days(self.year, self.month, self.day))
    }

    fn day_in_year(&self) -> u64 {
        (days(self.year, self.month, self.day) - days(self.year, 1, 1) + 1).unsigned_abs()
    }

    fn week_in_year(&self) -> u64 {
        week(self, &[(self.year + 1, 1), (self.year, 1), (self.year - 1, 1)])
    }

    fn week_in_month(&self) -> u64 {
        let previous = if self.month == 1 { (self.year - 1, 12) } else { (self.year, self.month - 1) };
        week(self, &[(self.year, self.month), previous])
    }
}
