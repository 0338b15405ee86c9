//! What the threads of a process know together of one endpoint: its state, changed and seen under a lock, which those
//! who find the endpoint active never take.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::endpoints::checks::{Checks, Turn};
use crate::endpoints::state::{Change, Condition, Rules, State};
use myelin_flow::transport::Transport;

/// The state of one endpoint, shared by all threads and by the bus that follows after a reload.
#[derive(Debug)]
pub struct Health {
    /// When it rests, and for how long.
    pub rules: Rules,
    /// Whether it is [`State::Active`] and not down, which is what nearly every request finds.
    active: AtomicBool,
    known: Mutex<Known>,
}

/// What is known of it by the messages that were sent to it, and by the checks of its monitor.
#[derive(Debug)]
struct Known {
    condition: Condition,
    checks: Checks,
    /// How many monitors it has: two while one bus takes the place of another.
    monitors: usize,
}

impl Health {
    /// One that has not failed yet.
    pub fn new(rules: Rules) -> Health {
        let known = Known { condition: Condition::new(), checks: Checks::default(), monitors: 0 };
        Health { rules, active: AtomicBool::new(true), known: Mutex::new(known) }
    }

    /// Whether a request may be sent.
    pub fn is_ready(&self, clock: &dyn Transport) -> bool {
        self.active.load(Ordering::Relaxed) || {
            let known = self.lock();
            known.checks.down.is_none() && known.condition.is_ready(clock.monotonic())
        }
    }

    /// A copy of where it stands by the messages that were sent to it.
    pub fn condition(&self) -> Condition {
        self.lock().condition.clone()
    }

    /// What its monitor saw, while that has taken it out.
    pub fn down(&self) -> Option<Arc<str>> {
        self.lock().checks.down.clone()
    }

    /// A response came.
    pub fn succeeded(&self, endpoint: &dyn Display) {
        if self.active.load(Ordering::Relaxed) {
            return;
        }
        if self.change(|known| known.condition.succeeded()) == Change::Recovered {
            tracing::info!(%endpoint, "the endpoint works again");
        }
    }

    /// A request ended in an error of the backend.
    pub fn failed(&self, endpoint: &dyn Display, code: u32, now: Duration) {
        match self.change(|known| known.condition.failed(&self.rules, code, now)) {
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
    pub fn switch(&self, on: bool) {
        let switch = if on { Condition::switch_on } else { Condition::switch_off };
        self.change(|known| switch(&mut known.condition));
    }

    /// A monitor begins to check the endpoint.
    pub fn begin_checks(&self) {
        self.change(|known| known.monitors += 1);
    }

    /// A monitor is gone; with the last one goes what they found, as nobody else would bring the endpoint back.
    pub fn end_checks(&self) {
        self.change(|known| {
            known.monitors -= 1;
            if known.monitors == 0 {
                known.checks = Checks::default();
            }
        });
    }

    /// A monitor found the endpoint well, or what it says of it; see `Checks::count`.
    pub fn checked(&self, endpoint: &dyn Display, found: Result<(), String>, fall: u32, rise: u32) {
        let (turn, down) = self.change(|known| {
            let turn = known.checks.count(found, fall, rise);
            if turn == Turn::Up {
                // It is active at once, whatever messages met before.
                known.condition.succeeded();
            }
            (turn, known.checks.down.clone())
        });
        match turn {
            Turn::Down => {
                let seen = down.unwrap_or_default();
                tracing::warn!(%endpoint, checks = fall, %seen, "the endpoint is down: its monitor takes it out");
            }
            Turn::Up => tracing::info!(%endpoint, checks = rise, "the endpoint is up: its monitor brings it back"),
            Turn::Nothing => {}
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Known) -> T) -> T {
        let mut known = self.lock();
        let changed = change(&mut known);
        let is_active = known.condition.state == State::Active && known.checks.down.is_none();
        self.active.store(is_active, Ordering::Relaxed);
        changed
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // What is known is never left half-way: each change is finished or did not begin.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
