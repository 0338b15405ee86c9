//! What the threads of a process know together of one endpoint: its state, changed and seen under a lock, which those
//! who find the endpoint active never take.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::state::{Change, Condition, Rules, State};
use crate::transport::Transport;

/// The state of one endpoint, shared by all threads and by the bus that follows after a reload.
#[derive(Debug)]
pub(crate) struct Health {
    pub(crate) rules: Rules,
    /// Whether it is [`State::Active`], which is what nearly every request finds.
    active: AtomicBool,
    condition: Mutex<Condition>,
}

impl Health {
    pub(crate) fn new(rules: Rules) -> Health {
        Health { rules, active: AtomicBool::new(true), condition: Mutex::new(Condition::new()) }
    }

    /// Whether a request may be sent.
    pub(crate) fn is_ready(&self, clock: &dyn Transport) -> bool {
        self.active.load(Ordering::Relaxed) || self.lock().is_ready(clock.monotonic())
    }

    /// A copy of where it stands.
    pub(crate) fn condition(&self) -> Condition {
        self.lock().clone()
    }

    /// A response came.
    pub(crate) fn succeeded(&self, endpoint: &dyn Display) {
        if self.active.load(Ordering::Relaxed) {
            return;
        }
        if self.change(Condition::succeeded) == Change::Recovered {
            tracing::info!(%endpoint, "the endpoint works again");
        }
    }

    /// A request ended in an error of the backend.
    pub(crate) fn failed(&self, endpoint: &dyn Display, code: u32, now: Duration) {
        match self.change(|condition| condition.failed(&self.rules, code, now)) {
            Change::TimedOut { retries } => tracing::warn!(
                %endpoint,
                code,
                retries,
                delay_ms = self.rules.retry_delay_ms,
                "the endpoint timed out and will be suspended after so many more retries"
            ),
            Change::Suspended { milliseconds } => {
                tracing::warn!(%endpoint, code, duration_ms = milliseconds, "the endpoint is suspended");
            }
            Change::Nothing | Change::Recovered => {}
        }
    }

    /// The operator takes the endpoint out, or brings it back.
    pub(crate) fn switch(&self, on: bool) {
        self.change(if on { Condition::switch_on } else { Condition::switch_off });
    }

    fn change<T>(&self, change: impl FnOnce(&mut Condition) -> T) -> T {
        let mut condition = self.lock();
        let changed = change(&mut condition);
        self.active.store(condition.state == State::Active, Ordering::Relaxed);
        changed
    }

    fn lock(&self) -> MutexGuard<'_, Condition> {
        // A condition is never left half-way: each change is finished or did not begin.
        self.condition.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
