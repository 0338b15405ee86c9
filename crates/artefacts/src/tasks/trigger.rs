//! When a task runs.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use myelin_channel::{CronExpression, Due, Runtime};

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
    /// At each moment of an expression.
    Cron(CronExpression),
}

/// How far a task is.
#[derive(Debug, Default)]
pub struct Progress {
    /// How many runs were due, and when the last of them was, by the clock that never jumps.
    past: Mutex<(u64, Option<Duration>)>,
    /// Whether a run goes on.
    pub busy: AtomicBool,
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Every { count: Some(1), .. } => f.write_str("once, at the start"),
            Trigger::Every { interval, count } => {
                write!(f, "every {} ms from the start on", interval.as_millis())?;
                count.map_or(Ok(()), |count| write!(f, ", {count} times"))
            }
            Trigger::Cron(cron) => cron.fmt(f),
        }
    }
}

impl Trigger {
    /// A warning for the log where the trigger does not run by the time that its author had in mind.
    pub fn remark(&self) -> Option<String> {
        let Trigger::Cron(cron) = self else { return None };
        cron.remark()
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
            Trigger::Cron(cron) => cron.next(runtime),
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
