//! When a task runs.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Zoned;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use myelin_channel::Runtime;

/// When a task runs.
#[derive(Debug)]
pub enum Trigger {
    /// At once, and again after each interval, so many times; without a number for ever.
    Every {
        /// From one run to the next.
        interval: Duration,
        /// How many runs there are; `None` for no end.
        count: Option<u64>,
    },
    /// When an expression of Quartz says, by the clock of the machine in its own time zone.
    Cron(Box<Cron>),
}

/// How far a task is.
#[derive(Debug, Default)]
pub struct Progress {
    /// How many runs were due, and when the last of them was, by the clock that never jumps.
    past: Mutex<(u64, Option<Duration>)>,
    /// Whether a run goes on.
    pub busy: AtomicBool,
}

/// When a run is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At that point of the clock that never jumps.
    Monotonic(Duration),
    /// At that time of day.
    Clock(SystemTime),
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Every { count: Some(1), .. } => f.write_str("once, at the start"),
            Trigger::Every { interval, count } => {
                write!(f, "every {} ms from the start on", interval.as_millis())?;
                count.map_or(Ok(()), |count| write!(f, ", {count} times"))
            }
            Trigger::Cron(cron) => write!(f, "{}", cron.pattern),
        }
    }
}

impl Due {
    /// How long it is until then.
    pub fn left(self, runtime: &dyn Runtime) -> Duration {
        match self {
            Due::Monotonic(due) => due.saturating_sub(runtime.monotonic()),
            Due::Clock(due) => due.duration_since(runtime.now()).unwrap_or_default(),
        }
    }
}

impl Trigger {
    /// An expression of Quartz: seconds, minutes, hours, days of the month, months, days of the week, and years if any.
    ///
    /// Errors: a sentence that says what is wrong.
    /// Source: Quartz's `CronExpression`; weekdays count from 1, which is Sunday.
    pub fn cron(expression: &str) -> Result<Trigger, String> {
        let parser = CronParser::builder()
            .seconds(Seconds::Required)
            .year(Year::Optional)
            .dom_and_dow(true)
            .alternative_weekdays(true)
            .sloppy_ranges(true)
            .build();
        let cron = parser.parse(expression).map_err(|error| error.to_string())?;
        // Whether it is over by now is for those to know who have a clock.
        let always = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
        cron.find_next_occurrence(&always, true).map_err(|_| "a moment like that never comes")?;
        Ok(Trigger::Cron(Box::new(cron)))
    }

    /// What whoever runs it should know: whose time it goes by where nobody knows that of the machine.
    pub fn remark(&self) -> Option<String> {
        let Trigger::Cron(_) = self else { return None };
        let error = TimeZone::try_system().err()?;
        Some(format!("it runs by UTC, as the time zone of the machine is unknown: {error}"))
    }

    /// When the next run is due; `None` where there is none any more.
    pub fn next(&self, progress: &Progress, runtime: &dyn Runtime) -> Option<Due> {
        match self {
            Trigger::Every { interval, count } => {
                let (runs, last) = *progress.past.lock().unwrap_or_else(PoisonError::into_inner);
                let is_over = count.is_some_and(|count| runs >= count);
                let next = last.map_or_else(|| runtime.monotonic(), |last| last.saturating_add(*interval));
                (!is_over).then_some(Due::Monotonic(next))
            }
            Trigger::Cron(cron) => {
                let now = Zoned::try_from(runtime.now()).ok()?;
                let next = cron.find_next_occurrence(&now, false).ok()?;
                Some(Due::Clock(next.into()))
            }
        }
    }

    /// Takes what is due now; the number of runs that were due behind it and are past.
    pub fn take(&self, progress: &Progress, due: Due, runtime: &dyn Runtime) -> u64 {
        let (Trigger::Every { interval, .. }, Due::Monotonic(due)) = (self, due) else { return 0 };
        let late = runtime.monotonic().saturating_sub(due).as_nanos();
        let missed = late.checked_div(interval.as_nanos()).and_then(|missed| u32::try_from(missed).ok()).unwrap_or(0);
        let mut past = progress.past.lock().unwrap_or_else(PoisonError::into_inner);
        *past = (past.0 + 1, Some(due.saturating_add(interval.saturating_mul(missed))));
        u64::from(missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(expression: &str, after: &str) -> String {
        let Ok(Trigger::Cron(cron)) = Trigger::cron(expression) else { panic!("{expression}") };
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
            assert!(Trigger::cron(wrong).is_err(), "{wrong}");
        }
        for never in ["0 0 0 30 2 ?", "0 0 0 31 4,6,9,11 ? *", "0 0 0 29 2 ? 2027"] {
            assert!(Trigger::cron(never).unwrap_err().contains("never comes"), "{never}");
        }
    }

    #[test]
    fn an_expression_is_of_the_time_that_clocks_show() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let check = |expression: &str, after: &str, expected: &[&str]| {
            let Ok(Trigger::Cron(cron)) = Trigger::cron(expression) else { panic!("{expression}") };
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
