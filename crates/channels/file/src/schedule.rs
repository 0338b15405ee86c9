//! When a folder is looked into.

use std::fmt;
use std::time::Duration;

use myelin_channel::{CronExpression, Due, Runtime};

/// Whoever writes a shorter interval gets this one.
const SHORTEST: Duration = Duration::from_millis(10);

/// When a folder is looked into.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// At once, and again so long after the last time it began.
    Every(Duration),
    /// At each moment of an expression.
    Cron(CronExpression),
}

impl Schedule {
    pub(crate) fn every(interval: Duration) -> Schedule {
        Schedule::Every(interval.max(SHORTEST))
    }

    /// The next time after the one that began at `last`; `None` where there is none any more.
    pub(crate) fn next(&self, last: Option<Duration>, runtime: &dyn Runtime) -> Option<Due> {
        match self {
            Schedule::Every(interval) => {
                let next = last.map_or_else(|| runtime.monotonic(), |last| last.saturating_add(*interval));
                Some(Due::Monotonic(next))
            }
            Schedule::Cron(cron) => cron.next(runtime),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::Every(interval) if interval.subsec_millis() == 0 => write!(f, "every {} s", interval.as_secs()),
            Schedule::Every(interval) => write!(f, "every {} ms", interval.as_millis()),
            Schedule::Cron(cron) => write!(f, "at {cron}"),
        }
    }
}
