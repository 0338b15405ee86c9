//! When the next request may leave.
//!
//! In a closed loop that is at once. In an open loop requests have times at which they are meant to leave, whether or
//! not a connection is free: what has to wait for one waits in its own latency, so a stalled service cannot hide its
//! stall by keeping the client from asking (coordinated omission).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use super::schedule::{Ramp, Schedule};

/// What the connections of one thread may still send.
pub(super) struct Tickets {
    /// Requests left for all threads together; `None` without a limit.
    budget: Option<Arc<AtomicU64>>,
    pace: Option<Pace>,
    /// When the run began; nothing is due before it has.
    start: Cell<Option<Instant>>,
    /// Nothing is meant to leave from then on.
    end: Cell<Option<Instant>>,
    /// Connections that become free from then on send nothing more.
    closing: Cell<Option<Instant>>,
}

/// In an open loop, connections send what was due so long after the end: a machine that held this process up for a moment
/// would else make failures of it.
const GRACE: Duration = Duration::from_millis(100);

/// The times at which the requests of one thread are meant to leave; threads take turns.
struct Pace {
    schedule: Schedule,
    threads: u64,
    index: u64,
    /// Requests this thread sends in all.
    limit: Cell<u64>,
    issued: Cell<u64>,
    idle: RefCell<VecDeque<Waker>>,
}

impl Tickets {
    /// The tickets of thread `index` of `threads`, which all together send as `rate` says.
    pub(super) fn new(budget: Option<Arc<AtomicU64>>, rate: Option<Ramp>, index: usize, threads: usize) -> Tickets {
        let pace = rate.map(|rate| {
            let pace = Pace {
                schedule: Schedule::new(rate),
                threads: threads as u64,
                index: index as u64,
                limit: Cell::new(u64::MAX),
                issued: Cell::new(0),
                idle: RefCell::default(),
            };
            if let Some(budget) = &budget {
                pace.limit.set(pace.share(budget.load(Ordering::Relaxed)));
            }
            pace
        });
        Tickets { budget, pace, start: Cell::new(None), end: Cell::new(None), closing: Cell::new(None) }
    }

    /// Sets the clock: requests leave from `start` on and, if `duration` says so, only so long.
    pub(super) fn open(&self, start: Instant, duration: Option<Duration>) {
        self.start.set(Some(start));
        if let Some(duration) = duration {
            let grace = if self.pace.is_some() { GRACE } else { Duration::ZERO };
            self.end_at(start + duration, grace);
        }
    }

    /// Ends the run now, unless it has ended.
    pub(super) fn close(&self) {
        self.end_at(Instant::now(), Duration::ZERO);
        if let Some(pace) = &self.pace {
            pace.wake(usize::MAX);
        }
    }

    /// When the last request may leave; `None` where only their number ends the run.
    pub(super) fn end(&self) -> Option<Instant> {
        self.end.get()
    }

    fn end_at(&self, end: Instant, grace: Duration) {
        if self.end.get().is_some_and(|earlier| earlier <= end) {
            return;
        }
        self.end.set(Some(end));
        self.closing.set(Some(end + grace));
        if let Some(pace) = &self.pace {
            let due = self.start.get().map_or(0, |start| pace.due_before(end.saturating_duration_since(start)));
            pace.limit.set(pace.limit.get().min(due));
        }
    }

    /// Requests that were meant to leave and were not given out; to be asked when the run is over.
    pub(super) fn unsent(&self) -> u64 {
        self.pace.as_ref().map_or(0, |pace| pace.limit.get().saturating_sub(pace.issued.get()))
    }

    /// The time the next request of a connection is meant to leave: in an open loop in the past, in a closed loop
    /// `free`, which is when the connection became free.
    ///
    /// A connection that was free before the end sends what was due by then, however late its thread wakes; one that
    /// becomes free later than [`GRACE`] sends no more, so that a backlog does not prolong the run.
    /// `None` when nothing is left to send.
    pub(super) async fn next(&self, free: Instant) -> Option<Instant> {
        if self.closing.get().is_some_and(|closing| free >= closing) {
            return None;
        }
        let Some(pace) = &self.pace else { return self.take(free) };
        poll_fn(|context| {
            let Some(start) = self.start.get().filter(|_| pace.issued.get() < pace.limit.get()) else {
                return Poll::Ready(None);
            };
            if pace.issued.get() < pace.due(start, Instant::now()) {
                let intended = pace.intended(start, pace.issued.get());
                pace.issued.set(pace.issued.get() + 1);
                if pace.issued.get() == pace.limit.get() {
                    // Those that still wait wait for nothing.
                    pace.wake(usize::MAX);
                }
                return Poll::Ready(Some(intended));
            }
            pace.idle.borrow_mut().push_back(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    fn take(&self, now: Instant) -> Option<Instant> {
        if let Some(budget) = &self.budget {
            budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
        }
        Some(now)
    }

    /// Wakes idle connections when a request is meant to leave; returns when all are given out.
    ///
    /// Errors: the system has no timer for us; the system's.
    pub(super) async fn keep_pace(&self) -> io::Result<()> {
        let (Some(pace), Some(start)) = (&self.pace, self.start.get()) else { return Ok(()) };
        let timer = Timer::new()?;
        while pace.issued.get() < pace.limit.get() {
            let now = Instant::now();
            let due = pace.due(start, now).min(pace.limit.get());
            let waiting = due.saturating_sub(pace.issued.get());
            pace.wake(usize::try_from(waiting).unwrap_or(usize::MAX));
            if due == pace.limit.get() {
                // Nothing becomes due any more: connections take the rest as they become free.
                return Ok(());
            }
            // Connections that become free take what is due themselves, so only the next time matters here.
            let next = pace.intended(start, due.max(pace.issued.get()));
            timer.wait(next.saturating_duration_since(now)).await?;
        }
        Ok(())
    }
}

impl Pace {
    /// How many of the first `all` requests of the run are this thread's.
    fn share(&self, all: u64) -> u64 {
        all / self.threads + u64::from(self.index < all % self.threads)
    }

    /// How many requests are meant to have left by `now`.
    fn due(&self, start: Instant, now: Instant) -> u64 {
        self.share(now.checked_duration_since(start).map_or(0, |elapsed| self.schedule.due(elapsed)))
    }

    /// How many requests are meant to leave in less than `duration` from the start.
    fn due_before(&self, duration: Duration) -> u64 {
        self.share(self.schedule.before(duration))
    }

    fn intended(&self, start: Instant, index: u64) -> Instant {
        start + self.schedule.at(index.saturating_mul(self.threads).saturating_add(self.index))
    }

    fn wake(&self, count: usize) {
        let mut idle = self.idle.borrow_mut();
        let count = count.min(idle.len());
        idle.drain(..count).for_each(Waker::wake);
    }
}

/// A timer that is exact to some microseconds; tokio's own are exact to a millisecond, and the difference would stand
/// in every latency.
struct Timer {
    // Tokio lets only sockets into its event loop without `unsafe`, so the timer's descriptor goes in as one: nothing
    // but readiness is asked of it, which means for a timer what it means for a socket.
    descriptor: UdpSocket,
}

impl Timer {
    fn new() -> io::Result<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let descriptor = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Timer { descriptor: UdpSocket::from_std(descriptor.into())? })
    }

    async fn wait(&self, duration: Duration) -> io::Result<()> {
        // All zero would switch the timer off. Waits are cut so that an end from outside is seen in time.
        let duration = duration.clamp(Duration::from_nanos(1), Duration::from_millis(100));
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let value = Timespec { tv_sec: 0, tv_nsec: i64::from(duration.subsec_nanos()) };
        let setting = Itimerspec { it_interval: none, it_value: value };
        // To set the timer resets its count, so nothing has to be read: tokio only has to forget that it was ready.
        let forgotten = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
        let _ = self.descriptor.try_io(Interest::READABLE, forgotten);
        rustix::time::timerfd_settime(&self.descriptor, TimerfdTimerFlags::empty(), &setting)?;
        self.descriptor.readable().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_the_requests_of_an_open_loop_fairly() {
        let budget = Arc::new(AtomicU64::new(10));
        let limits: Vec<u64> = (0..3)
            .map(|index| {
                Tickets::new(Some(budget.clone()), Some(Ramp::constant(100.0)), index, 3).pace.unwrap().limit.get()
            })
            .collect();
        assert_eq!(limits, [4, 3, 3]);
    }

    #[test]
    fn a_duration_at_a_rate_is_a_number_of_requests() {
        let tickets = Tickets::new(None, Some(Ramp::constant(1000.0)), 0, 1);
        tickets.open(Instant::now(), Some(Duration::from_millis(500)));
        assert_eq!(tickets.pace.unwrap().limit.get(), 500);
    }

    #[test]
    fn what_was_due_when_the_run_was_ended_and_was_not_sent_is_counted() {
        let tickets = Tickets::new(None, Some(Ramp::constant(1000.0)), 0, 1);
        tickets.close();
        assert_eq!(tickets.unsent(), 0, "nothing is due before the start");
        let tickets = Tickets::new(None, Some(Ramp::constant(1000.0)), 0, 1);
        let start = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
        tickets.open(start, Some(Duration::from_secs(60)));
        tickets.close();
        assert!((1000..60_000).contains(&tickets.unsent()), "{}", tickets.unsent());
    }

    #[tokio::test]
    async fn only_connections_that_were_free_before_the_end_send_what_was_due_by_then() {
        let tickets = Tickets::new(None, Some(Ramp::constant(10.0)), 0, 1);
        let start = Instant::now().checked_sub(Duration::from_secs(5)).unwrap();
        tickets.open(start, Some(Duration::from_secs(1)));
        let end = start + Duration::from_secs(1);
        assert_eq!(tickets.next(end + GRACE).await, None);
        assert_eq!(tickets.next(start).await, Some(start));
        assert_eq!(tickets.next(end).await, Some(start + Duration::from_millis(100)));
        assert_eq!(tickets.unsent(), 8);
    }

    #[test]
    fn what_is_due_and_when_it_was_meant_agree() {
        let start = Instant::now();
        let pace = Tickets::new(None, Some(Ramp::constant(100.0)), 1, 2).pace.unwrap();
        assert_eq!(pace.due(start, start), 0);
        for index in [0, 1, 7, 1000] {
            let intended = pace.intended(start, index);
            assert_eq!(pace.due(start, intended + Duration::from_micros(1)), index + 1);
            assert_eq!(pace.due(start, intended - Duration::from_micros(1)), index);
        }
    }

    #[tokio::test]
    async fn a_closed_loop_ends_with_its_budget_or_its_time() {
        let tickets = Tickets::new(Some(Arc::new(AtomicU64::new(2))), None, 0, 1);
        let now = Instant::now();
        tickets.open(now, Some(Duration::from_secs(1)));
        assert_eq!(tickets.next(now + Duration::from_secs(1)).await, None);
        assert_eq!(tickets.next(now).await, Some(now));
        assert_eq!(tickets.next(now).await, Some(now));
        assert_eq!(tickets.next(now).await, None);
    }
}
