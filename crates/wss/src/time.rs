//! Times as messages write them: `xs:dateTime`, in UTC.

use std::time::{Duration, SystemTime};

use myelin_xpath::Moment;
use myelin_xpath::types::AtomicType;

const NANOS_PER_MILLI: i128 = 1_000_000;
const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// How exactly a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    Seconds,
    Millis,
}

/// Reads a time; one without a zone is in UTC, as the standard says that all are.
///
/// Source: WS-Security 1.1 §10.
pub(crate) fn parse(text: &str) -> Option<SystemTime> {
    let nanos = Moment::parse(text, AtomicType::DateTime)?.timeline();
    let distance = u64::try_from(nanos.unsigned_abs() / NANOS_PER_SECOND as u128).ok()?;
    let duration = Duration::new(distance, (nanos.unsigned_abs() % NANOS_PER_SECOND as u128) as u32);
    if nanos < 0 { SystemTime::UNIX_EPOCH.checked_sub(duration) } else { SystemTime::UNIX_EPOCH.checked_add(duration) }
}

/// A time, ready to be written; what is finer than the precision is cut.
pub(crate) fn written(time: SystemTime, precision: Precision) -> Moment {
    let nanos = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => nanos(after),
        Err(before) => -nanos(before.duration()),
    };
    let unit = match precision {
        Precision::Seconds => NANOS_PER_SECOND,
        Precision::Millis => NANOS_PER_MILLI,
    };
    Moment::at(nanos.div_euclid(unit) * unit, Some(0))
}

fn nanos(duration: Duration) -> i128 {
    i128::from(duration.as_secs()) * NANOS_PER_SECOND + i128::from(duration.subsec_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same_time() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_763_730_123_456);
        assert_eq!(written(time, Precision::Millis).to_string(), "2025-11-21T13:02:03.456Z");
        assert_eq!(parse("2025-11-21T13:02:03.456Z"), Some(time));
        assert_eq!(parse("2025-11-21T14:02:03.456+01:00"), Some(time));
        assert_eq!(written(time, Precision::Seconds).to_string(), "2025-11-21T13:02:03Z");
    }

    #[test]
    fn times_beyond_all_clocks_are_none() {
        assert_eq!(parse("999999999-01-01T00:00:00Z").map(|_| ()), Some(()), "a clock of 64 bits goes this far");
        assert_eq!(parse("2025-13-01T00:00:00Z"), None);
        assert_eq!(parse("yesterday"), None);
        assert!(parse("1901-01-01T00:00:00Z").is_some_and(|time| time < SystemTime::UNIX_EPOCH));
    }
}
