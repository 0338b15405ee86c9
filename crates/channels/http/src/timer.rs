//! Time on one thread: a coarse clock and one queue of wake-ups for all its connections.
//!
//! A deadline is a tick kept by whoever waits; the timer only promises to wake the task at that tick or soon after.
//! Moving a deadline later, which happens several times a request, is one store: the queue is touched when the
//! earlier wake-up comes round, once in a deadline's length.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::task::{Context, Waker};
use std::time::Duration;

use slab::Slab;
use tokio::time::{Instant, sleep_until};

/// The length of a tick. A deadline passes up to two ticks late, never early.
pub(crate) const TICK: Duration = Duration::from_millis(100);
const TICKS_A_SECOND: u64 = 1000 / TICK.as_millis() as u64;

/// A point in time on this thread's coarse clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick(u32);

impl Tick {
    /// A deadline that never passes.
    pub(crate) const NEVER: Tick = Tick(u32::MAX);

    /// The current tick.
    #[inline]
    pub(crate) fn now() -> Tick {
        Tick(TICKS.get())
    }

    /// The tick at which `duration` will have passed for certain.
    pub(crate) fn after(duration: Duration) -> Tick {
        Tick::now().plus(duration)
    }

    /// The tick at which `duration` will have passed for certain since this one.
    pub(crate) fn plus(self, duration: Duration) -> Tick {
        let begun = duration.subsec_millis().div_ceil(TICK.subsec_millis());
        let ticks = duration.as_secs().saturating_mul(TICKS_A_SECOND).saturating_add(u64::from(begun) + 1);
        Tick(self.0.saturating_add(u32::try_from(ticks).unwrap_or(u32::MAX)))
    }

    #[inline]
    pub(crate) fn passed(self) -> bool {
        self <= Tick::now()
    }

    /// Ticks from `earlier` to now, as a duration.
    #[inline]
    pub(crate) fn since(earlier: Tick) -> Duration {
        TICK * Tick::now().0.saturating_sub(earlier.0)
    }
}

struct Queue {
    timers: Slab<Entry>,
    due: BTreeSet<(Tick, usize)>,
}

struct Entry {
    /// When the task wants to be woken.
    wanted: Tick,
    /// Where the entry stands in the queue; not later than `wanted`.
    queued: Tick,
    waker: Option<Waker>,
}

thread_local! {
    static TICKS: Cell<u32> = const { Cell::new(1) };
    static QUEUE: RefCell<Queue> = const { RefCell::new(Queue { timers: Slab::new(), due: BTreeSet::new() }) };
}

/// One task's place in the queue.
pub(crate) struct Timer(usize);

impl Timer {
    pub(crate) fn new() -> Timer {
        let entry = Entry { wanted: Tick::NEVER, queued: Tick::NEVER, waker: None };
        Timer(QUEUE.with_borrow_mut(|queue| queue.timers.insert(entry)))
    }

    /// Asks for the task of `cx` to be polled once `deadline` has passed; replaces what was asked before.
    pub(crate) fn wake_at(&self, deadline: Tick, cx: &Context<'_>) {
        QUEUE.with_borrow_mut(|queue| {
            let Some(entry) = queue.timers.get_mut(self.0) else { return };
            match &mut entry.waker {
                Some(waker) => waker.clone_from(cx.waker()),
                None => entry.waker = Some(cx.waker().clone()),
            }
            entry.wanted = deadline;
            if deadline < entry.queued {
                queue.due.remove(&(entry.queued, self.0));
                entry.queued = deadline;
                queue.due.insert((deadline, self.0));
            }
        });
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // At thread end the clock may be gone before a connection is: then there is nothing to take back.
        let _ = QUEUE.try_with(|queue| {
            let waker = {
                let queue = &mut *queue.borrow_mut();
                let entry = queue.timers.remove(self.0);
                queue.due.remove(&(entry.queued, self.0));
                entry.waker
            };
            drop(waker);
        });
    }
}

/// Wakes every task that waits with a timer, so that each looks again at what it waits for.
pub(crate) fn wake_all() {
    let wakers: Vec<Waker> =
        QUEUE.with_borrow_mut(|queue| queue.timers.iter_mut().filter_map(|(_, entry)| entry.waker.take()).collect());
    wakers.into_iter().for_each(Waker::wake);
}

/// Runs this thread's clock; ends with the runtime. Spawned once a thread by whoever serves or sends.
pub(crate) async fn run() {
    let start = Instant::now();
    loop {
        let now = (start.elapsed().as_millis() / TICK.as_millis()) as u32;
        for waker in advance(Tick(now + 1)) {
            waker.wake();
        }
        sleep_until(start + TICK * (now + 1)).await;
    }
}

/// Sets the clock and takes the wakers of those whose time has come.
fn advance(now: Tick) -> Vec<Waker> {
    TICKS.set(now.0);
    QUEUE.with_borrow_mut(|queue| {
        let mut wakers = Vec::new();
        while let Some(&(tick, index)) = queue.due.first() {
            if tick > now {
                break;
            }
            queue.due.pop_first();
            let entry = &mut queue.timers[index];
            // A deadline that was moved while it stood in the queue is queued again, and nobody is woken.
            entry.queued = entry.wanted;
            if entry.wanted > now {
                if entry.wanted != Tick::NEVER {
                    queue.due.insert((entry.wanted, index));
                }
            } else {
                entry.wanted = Tick::NEVER;
                entry.queued = Tick::NEVER;
                wakers.extend(entry.waker.take());
            }
        }
        wakers
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::task::Poll;

    async fn wait(timer: &Timer, deadline: Tick) {
        poll_fn(|cx| {
            if deadline.passed() {
                return Poll::Ready(());
            }
            timer.wake_at(deadline, cx);
            Poll::Pending
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_passes_late_by_two_ticks_at_most_and_never_early() {
        tokio::task::LocalSet::new()
            .run_until(async {
                tokio::task::spawn_local(run());
                tokio::task::yield_now().await;
                let timer = Timer::new();
                for millis in [1, 99, 100, 101, 250, 5000] {
                    let wanted = Duration::from_millis(millis);
                    let start = Instant::now();
                    wait(&timer, Tick::after(wanted)).await;
                    let waited = start.elapsed();
                    assert!(waited >= wanted && waited <= wanted + 2 * TICK, "{waited:?} for {wanted:?}");
                }
            })
            .await;
    }

    #[tokio::test(start_paused = true)]
    async fn moving_a_deadline_wakes_nobody_early() {
        tokio::task::LocalSet::new()
            .run_until(async {
                tokio::task::spawn_local(run());
                tokio::task::yield_now().await;
                let start = Instant::now();
                // A task of its own, for the set polls what it runs until at every turn.
                let polls = tokio::task::spawn_local(async {
                    let timer = Timer::new();
                    let (first, moved) = (Tick::after(Duration::from_secs(1)), Tick::after(Duration::from_secs(3)));
                    let mut polls = 0;
                    poll_fn(|cx| {
                        polls += 1;
                        if polls == 1 {
                            timer.wake_at(first, cx);
                        }
                        if moved.passed() {
                            return Poll::Ready(());
                        }
                        timer.wake_at(moved, cx);
                        Poll::Pending
                    })
                    .await;
                    polls
                });
                assert_eq!(polls.await.unwrap(), 2);
                assert!(start.elapsed() >= Duration::from_secs(3));
            })
            .await;
    }
}
