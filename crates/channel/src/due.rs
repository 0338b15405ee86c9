//! When something is due: moments, and the cron expressions of Quartz that name them.

use std::fmt;
use std::time::{Duration, SystemTime};

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Zoned;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::Runtime;

/// A moment at which something is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At that point of the clock that never jumps.
    Monotonic(Duration),
    /// At that time of day.
    Clock(SystemTime),
}

impl Due {
    /// How long it is until then; a clock of the day may be set meanwhile.
    pub fn left(self, runtime: &dyn Runtime) -> Duration {
        match self {
            Due::Monotonic(due) => due.saturating_sub(runtime.monotonic()),
            Due::Clock(due) => due.duration_since(runtime.now()).unwrap_or_default(),
        }
    }
}

/// A cron expression of Quartz, by the clock of the machine in its own time zone.
#[derive(Clone, Debug)]
pub struct CronExpression(Box<Cron>);

impl CronExpression {
    /// Reads one: seconds, minutes, hours, days of the month, months, days of the week, and years if any.
    ///
    /// Errors: a sentence that says what is wrong.
    /// Source: Quartz's `CronExpression`; weekdays count from 1, which is Sunday.
    pub fn parse(expression: &str) -> Result<CronExpression, String> {
        let parser = CronParser::builder()
            .seconds(Seconds::Required)
            .year(Year::Optional)
            .dom_and_dow(true)
            .alternative_weekdays(true)
            .sloppy_ranges(true)
            .build();
        let cron = parser.parse(expression).map_err(|error| error.to_string())?;
        // Only who has a clock knows whether it is over by now.
        let always = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
        cron.find_next_occurrence(&always, true).map_err(|_| "a moment like that never comes")?;
        Ok(CronExpression(Box::new(cron)))
    }

    /// The next moment; `None` where there is none any more.
    pub fn next(&self, runtime: &dyn Runtime) -> Option<Due> {
        let now = Zoned::try_from(runtime.now()).ok()?;
        Some(Due::Clock(self.0.find_next_occurrence(&now, false).ok()?.into()))
    }

    /// A warning for the log where the time zone of the machine is unknown.
    pub fn remark(&self) -> Option<String> {
        let error = TimeZone::try_system().err()?;
        Some(format!("it runs by UTC, as the time zone of the machine is unknown: {error}"))
    }
}

/// As it was written.
impl fmt::Display for CronExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(expression: &str, after: &str) -> String {
        let cron = CronExpression::parse(expression).unwrap().0;
        let after: DateTime = after.parse().unwrap();
        cron.find_next_occurrence(&after, false).unwrap().to_string()
    }

    #[test]
    fn expressions_mean_what_they_mean_to_quartz() {
        let check = |expression, after, expected| assert_eq!(next(expression, after), expected, "{expression}");
        check("0/5 * * * * ?", "2026-11-21T10:00:01", "2026-11-21T10:00:05");
        check("0 0 12 * * ?", "2026-11-21T12:00:00", "2026-11-22T12:00:00");
        check("0 15 10 ? * MON-FRI", "2026-11-21T00:00:00", "2026-11-23T10:15:00");
        check("0 15 10 ? * 2-6", "2026-11-21T00:00:00", "2026-11-23T10:15:00");
        check("0 0 0 ? * 1", "2026-11-21T00:00:00", "2026-11-22T00:00:00");
        check("0 0 0 L * ?", "2026-11-21T00:00:00", "2026-11-30T00:00:00");
        check("0 0 0 ? * 6L", "2026-11-01T00:00:00", "2026-11-27T00:00:00");
        check("0 0 0 ? * 6#3", "2026-11-01T00:00:00", "2026-11-20T00:00:00");
        check("0 0 0 15W * ?", "2026-11-01T00:00:00", "2026-11-16T00:00:00");
        check("0 0 0 1 JAN ? 2028", "2026-11-01T00:00:00", "2028-01-01T00:00:00");
        check("0 0/30 8-9 5,20 * ?", "2026-11-05T08:30:00", "2026-11-05T09:00:00");
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for wrong in ["", "nonsense", "* * * * *", "61 * * * * ?", "0 0 0 32 * ?"] {
            assert!(CronExpression::parse(wrong).is_err(), "{wrong}");
        }
        for never in ["0 0 0 30 2 ?", "0 0 0 31 4,6,9,11 ? *", "0 0 0 29 2 ? 2027"] {
            assert!(CronExpression::parse(never).unwrap_err().contains("never comes"), "{never}");
        }
    }

    #[test]
    fn an_expression_is_of_the_time_that_clocks_show() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let check = |expression: &str, after: &str, expected: &[&str]| {
            let cron = CronExpression::parse(expression).unwrap().0;
            let mut at = after.parse::<DateTime>().unwrap().to_zoned(zone.clone()).unwrap();
            for expected in expected {
                at = cron.find_next_occurrence(&at, false).unwrap();
                assert_eq!(at.strftime("%m-%dT%H:%M%:z").to_string(), *expected, "{expression} after {after}");
            }
        };
        // There is no half past two on the day when clocks go forward, and two of them when they go back.
        let daily = "0 30 2 * * ?";
        check(daily, "2026-03-28T12:00", &["03-29T03:00+02:00", "03-30T02:30+02:00"]);
        check(daily, "2026-10-24T12:00", &["10-25T02:30+02:00", "10-26T02:30+01:00"]);
        check("0 0 * * * ?", "2026-03-29T00:30", &["03-29T01:00+01:00", "03-29T03:00+02:00"]);
        let hours = ["10-25T01:00+02:00", "10-25T02:00+02:00", "10-25T02:00+01:00", "10-25T03:00+01:00"];
        check("0 0 * * * ?", "2026-10-25T00:30", &hours);
    }
}
