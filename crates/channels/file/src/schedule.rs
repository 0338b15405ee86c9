//! When a folder is looked into.

use std::fmt;
use std::time::{Duration, SystemTime};

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Zoned;
use jiff::civil::DateTime;
use myelin_channel::Runtime;

/// Whoever writes a shorter interval gets this one.
const SHORTEST: Duration = Duration::from_millis(10);

/// A clock may be set: a moment that is further away is looked at again after so long.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// When a folder is looked into.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// At once, and again so long after the last time it began.
    Every(Duration),
    /// When an expression of Quartz says, by the clock of the machine in its own time zone.
    Cron(Box<Cron>),
}

/// The next time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Monotonic(Duration),
    Clock(SystemTime),
}

impl Schedule {
    pub(crate) fn every(interval: Duration) -> Schedule {
        Schedule::Every(interval.max(SHORTEST))
    }

    /// An expression of Quartz: seconds, minutes, hours, days of the month, months, days of the week, and years if any.
    ///
    /// Errors: a sentence that says what is wrong.
    pub(crate) fn cron(expression: &str) -> Result<Schedule, String> {
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
        Ok(Schedule::Cron(Box::new(cron)))
    }

    /// The next time after the one that began at `last`; `None` where there is none any more.
    pub(crate) fn next(&self, last: Option<Duration>, runtime: &dyn Runtime) -> Option<Due> {
        match self {
            Schedule::Every(interval) => {
                let next = last.map_or_else(|| runtime.monotonic(), |last| last.saturating_add(*interval));
                Some(Due::Monotonic(next))
            }
            Schedule::Cron(cron) => {
                let now = Zoned::try_from(runtime.now()).ok()?;
                Some(Due::Clock(cron.find_next_occurrence(&now, false).ok()?.into()))
            }
        }
    }
}

impl Due {
    /// How long to sleep before asking again; `None` where it is time.
    pub(crate) fn wait(self, runtime: &dyn Runtime) -> Option<Duration> {
        let left = match self {
            Due::Monotonic(due) => due.saturating_sub(runtime.monotonic()),
            Due::Clock(due) => due.duration_since(runtime.now()).unwrap_or_default(),
        };
        (!left.is_zero()).then_some(left.min(LONGEST_WAIT))
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Every(interval) if interval.subsec_millis() == 0 => write!(f, "every {} s", interval.as_secs()),
            Schedule::Every(interval) => write!(f, "every {} ms", interval.as_millis()),
            Schedule::Cron(cron) => write!(f, "at {}", cron.pattern),
        }
    }
}
