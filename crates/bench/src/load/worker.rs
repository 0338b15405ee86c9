//! One thread of a run: its connections, its clock, and what it reports.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Context;
use hdrhistogram::Histogram;
use rustix::time::ClockId;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::LocalSet;

use super::connection::{Connection, Cut, Shared};
use super::counters::Counters;
use super::crew::Part;
use super::failure::Failure;
use super::interval_log::INTERVAL;
use super::mix::Mix;
use super::outcome::Tally;
use super::plan::Plan;
use super::stream::Dialer;
use super::tickets::Tickets;
use crate::deadlines::{Deadlines, SWEEP};
use crate::listening::read_buffer;

/// Connections in the making at a time, over all threads: fewer than any backlog holds.
const RAMP: usize = 128;

/// What a thread is given.
pub(super) struct Order {
    pub(super) index: usize,
    pub(super) part: Part,
    pub(super) plan: Plan,
    pub(super) dialers: Vec<Dialer>,
    /// Which dialer each kind of request needs.
    pub(super) origins: Vec<usize>,
    pub(super) budget: Option<Arc<AtomicU64>>,
    pub(super) counters: Arc<Counters>,
    pub(super) interrupt: Arc<AtomicBool>,
    pub(super) events: mpsc::Sender<Event>,
    pub(super) start: oneshot::Receiver<Instant>,
    /// Connections stay open until this ends, so that the service can be looked at with all of them.
    pub(super) release: mpsc::Receiver<()>,
}

/// What a thread reports.
pub(super) enum Event {
    Ready,
    /// The latencies of one interval, where they are logged.
    Interval {
        index: u32,
        latencies: Histogram<u64>,
    },
    Done {
        tally: Box<Tally>,
        end: Instant,
    },
}

impl Order {
    pub(super) fn carry_out(self) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (events, release) = (self.events.clone(), self.release);
        let local = LocalSet::new();
        let index = self.part.first + self.index;
        let mix = Mix::new(&self.plan, &self.origins, index, self.part.of)?;
        let shared = Rc::new(Shared {
            dialers: self.dialers,
            tickets: Tickets::new(self.budget, self.plan.pace(), index, self.part.of),
            deadlines: Deadlines::default(),
            buffer: read_buffer(),
            tally: RefCell::new(Tally::new(self.origins.len())),
            counters: self.counters,
            ramp: Semaphore::new(RAMP.div_ceil(self.plan.threads_used())),
            ready_by: Instant::now() + self.plan.timeout,
            cut: Cell::new(None),
            mix,
            plan: self.plan.clone(),
        });
        local.spawn_local(sweep(shared.clone(), self.plan.drain, self.interrupt));
        let (intervals, start) = (self.part.intervals, self.start);
        let held = local.block_on(&runtime, work(shared.clone(), self.index, intervals, events.clone(), start))?;
        // Ends when the other side is dropped, which happens also when the run fails.
        let _ = release.recv();
        drop(held);
        Ok(())
    }
}

/// The work of one thread; gives back its connections, which are still open.
async fn work(
    shared: Rc<Shared>,
    index: usize,
    intervals: bool,
    events: mpsc::Sender<Event>,
    start: oneshot::Receiver<Instant>,
) -> anyhow::Result<Vec<Connection>> {
    let plan = &shared.plan;
    let (threads, keep_alive) = (plan.threads_used(), plan.keep_alive);
    let share = |all: usize| all / threads + usize::from(index < all % threads);
    let preparing: Vec<_> = (0..share(plan.connections))
        .map(|_| {
            let mut connection = Connection::new(shared.clone());
            tokio::task::spawn_local(async move {
                if keep_alive {
                    connection.prepare().await;
                }
                connection
            })
        })
        .collect();
    let silencing: Vec<_> = (0..share(plan.idle_connections))
        .map(|_| {
            let mut connection = Connection::new(shared.clone());
            tokio::task::spawn_local(async move {
                let outcome = connection.prepare_idle().await;
                (connection, outcome)
            })
        })
        .collect();
    let (mut senders, mut silent) = (Vec::new(), Vec::new());
    for task in preparing {
        senders.push(task.await?);
    }
    for task in silencing {
        let (connection, outcome) = task.await?;
        match outcome {
            Ok(()) => silent.push(connection),
            Err(failure) => shared.failed(None, failure),
        }
    }

    events.send(Event::Ready)?;
    // The other side ends only when the run has failed.
    let start = start.await?;
    let cpu = thread_time();
    shared.tickets.open(start, plan.duration);
    let pace = tokio::task::spawn_local({
        let shared = shared.clone();
        async move {
            let outcome = shared.tickets.keep_pace().await;
            if outcome.is_err() {
                shared.tickets.close();
            }
            outcome
        }
    });
    if intervals {
        shared.tally.borrow_mut().next_interval();
        tokio::task::spawn_local(log_intervals(shared.clone(), start, events.clone()));
    }
    let sending: Vec<_> = senders
        .into_iter()
        .map(|mut connection| {
            tokio::task::spawn_local(async move {
                connection.run().await;
                connection
            })
        })
        .collect();
    let mut open = Vec::new();
    for task in sending {
        open.push(task.await?);
    }
    let now = Instant::now();
    let failed: io::Result<()> = if pace.is_finished() { pace.await? } else { Ok(()) };
    failed.context("cannot keep the rate")?;

    let mut tally = shared.tally.replace(Tally::new(plan.mix.len()));
    if intervals && let Some((index, latencies)) = tally.next_interval() {
        events.send(Event::Interval { index, latencies })?;
    }
    tally.cpu = thread_time().saturating_sub(cpu);
    let unsent = shared.tickets.unsent();
    if unsent > 0 {
        tally.failed(None, &Failure::NotSent("no connection was free before the run ended".to_owned()), unsent);
    }
    // A last wait that was in vain is no time in which the service could have been asked more.
    let end = shared.tickets.end().map_or(now, |end| now.min(tally.last.map_or(end, |last| last.max(end))));
    tally.idle = silent.len() as u64;
    tally.idle_lost = silent.iter().filter(|connection| connection.is_lost()).count() as u64;
    events.send(Event::Done { tally: Box::new(tally), end })?;
    open.append(&mut silent);
    Ok(open)
}

/// Reports the latencies of each interval when it is over, for ever.
async fn log_intervals(shared: Rc<Shared>, start: Instant, events: mpsc::Sender<Event>) {
    let mut ticks = tokio::time::interval_at((start + INTERVAL).into(), INTERVAL);
    loop {
        ticks.tick().await;
        let Some((index, latencies)) = shared.tally.borrow_mut().next_interval() else { return };
        // The other side ends only when the run has failed.
        if events.send(Event::Interval { index, latencies }).is_err() {
            return;
        }
    }
}

/// Looks at all deadlines, the end of the run and the interrupt, for ever; waits end `drain` after the run.
async fn sweep(shared: Rc<Shared>, drain: Duration, interrupt: Arc<AtomicBool>) {
    let mut interval = tokio::time::interval(SWEEP);
    loop {
        interval.tick().await;
        if interrupt.load(Ordering::Relaxed) && shared.cut.get().is_none() {
            shared.cut.set(Some(Cut::Interrupt));
            shared.tickets.close();
        } else if shared.tickets.end().is_some_and(|end| end.elapsed() >= drain) && shared.cut.get().is_none() {
            shared.cut.set(Some(Cut::Drained));
        }
        shared.deadlines.sweep(shared.cut.get().is_some());
    }
}

/// CPU time of the calling thread.
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
