//! Deadlines for many connections on one thread at the cost of one timer.
//!
//! A timer per request would cost more than the request; instead all deadlines of a thread are looked at every
//! 100 ms, which is exact enough for waits of seconds.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

/// How often deadlines are looked at.
pub(crate) const SWEEP: Duration = Duration::from_millis(100);

/// All deadlines of one thread.
#[derive(Default)]
pub(crate) struct Deadlines {
    /// Sweeps so far: the clock of this type.
    sweeps: Rc<Cell<u64>>,
    entries: RefCell<Vec<Rc<Entry>>>,
}

/// One deadline, set anew for each wait; ends with its owner.
pub(crate) struct Deadline {
    sweeps: Rc<Cell<u64>>,
    entry: Rc<Entry>,
}

struct Entry {
    /// The sweep at which the wait is over; `u64::MAX` while nothing is waited for.
    due: Cell<u64>,
    expired: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Deadlines {
    /// A deadline that is not set.
    pub(crate) fn register(&self) -> Deadline {
        let entry = Rc::new(Entry { due: Cell::new(u64::MAX), expired: Cell::new(false), waker: RefCell::new(None) });
        self.entries.borrow_mut().push(entry.clone());
        Deadline { sweeps: self.sweeps.clone(), entry }
    }

    /// Looks at all deadlines every 100 ms; never returns.
    pub(crate) async fn sweep_forever(&self) {
        let mut interval = tokio::time::interval(SWEEP);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            self.sweep(false);
        }
    }

    /// Ends every wait that is due, or all of them at once.
    pub(crate) fn sweep(&self, all: bool) {
        let now = self.sweeps.get() + 1;
        self.sweeps.set(now);
        self.entries.borrow_mut().retain(|entry| {
            let due = entry.due.get();
            if due <= now || (all && due != u64::MAX) {
                entry.due.set(u64::MAX);
                entry.expired.set(true);
                if let Some(waker) = entry.waker.borrow_mut().take() {
                    waker.wake();
                }
            }
            // The list holds one count; a second one is the owner's.
            Rc::strong_count(entry) > 1
        });
    }
}

impl Deadline {
    /// Starts a wait that may take `duration`, rounded up to whole sweeps and one more.
    pub(crate) fn arm(&self, duration: Duration) {
        let sweeps = duration.as_millis().div_ceil(SWEEP.as_millis());
        self.entry.expired.set(false);
        self.entry
            .due
            .set(self.sweeps.get().saturating_add(u64::try_from(sweeps).unwrap_or(u64::MAX)).saturating_add(1));
    }

    /// The wait ended well.
    pub(crate) fn disarm(&self) {
        self.entry.due.set(u64::MAX);
    }

    /// Whether the wait is over; if not, the task is woken when it is.
    pub(crate) fn poll_expired(&self, context: &mut Context<'_>) -> bool {
        if self.entry.expired.get() {
            return true;
        }
        let mut waker = self.entry.waker.borrow_mut();
        match &*waker {
            Some(known) if known.will_wake(context.waker()) => {}
            _ => *waker = Some(context.waker().clone()),
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_after_its_time_and_not_before() {
        let deadlines = Deadlines::default();
        let deadline = deadlines.register();
        let mut context = Context::from_waker(Waker::noop());
        deadline.arm(Duration::from_millis(250));
        for _ in 0..3 {
            deadlines.sweep(false);
            assert!(!deadline.poll_expired(&mut context));
        }
        deadlines.sweep(false);
        assert!(deadline.poll_expired(&mut context));
        deadline.arm(Duration::from_secs(1));
        assert!(!deadline.poll_expired(&mut context));
    }

    #[test]
    fn a_dropped_deadline_is_forgotten() {
        let deadlines = Deadlines::default();
        drop(deadlines.register());
        let kept = deadlines.register();
        deadlines.sweep(false);
        assert_eq!(deadlines.entries.borrow().len(), 1);
        kept.arm(Duration::from_secs(1));
        deadlines.sweep(true);
        assert!(kept.poll_expired(&mut Context::from_waker(Waker::noop())));
    }
}
