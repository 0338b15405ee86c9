//! Times as names: by patterns of Java's `SimpleDateFormat`, by the clock of the machine in its own time zone.

use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use myelin_java_text::date::{DateTime, Pattern, Zone};

/// Writes a time by a pattern.
pub(crate) fn stamp(time: SystemTime, pattern: &str) -> String {
    // Times that nobody can name are those of 1970.
    let moment = Timestamp::try_from(time).unwrap_or_default();
    let seconds = TimeZone::system().to_offset(moment).seconds();
    let zone = match seconds / 60 {
        0 => Zone::Utc,
        minutes => Zone::Offset(minutes as i16),
    };
    let local = DateTime::of_millis(moment.as_millisecond() + i64::from(seconds) * 1000);
    Pattern::lenient(pattern).write(&DateTime { zone: Some(zone), ..local }).unwrap_or_default()
}
