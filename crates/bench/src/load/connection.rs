//! One connection: takes tickets, sends, checks, reconnects.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::ReadBuf;
use tokio::sync::Semaphore;

use super::answer::Answer;
use super::counters::Counters;
use super::failure::Failure;
use super::mix::{Mix, Ready};
use super::outcome::Tally;
use super::plan::Plan;
use super::stream::{Dialer, Stream};
use super::tickets::Tickets;
use crate::deadlines::{Deadline, Deadlines};
use crate::listening::ReadBuffer;

/// What the connections of one thread share.
pub(super) struct Shared {
    pub(super) plan: Plan,
    /// The hosts that are called.
    pub(super) dialers: Vec<Dialer>,
    pub(super) mix: Mix,
    pub(super) tickets: Tickets,
    pub(super) deadlines: Deadlines,
    pub(super) buffer: ReadBuffer,
    pub(super) tally: RefCell<Tally>,
    pub(super) counters: Arc<Counters>,
    /// How many connections may be in the making at a time before the run.
    pub(super) ramp: Semaphore,
    /// Connections that are not open by then, before the run, are not waited for.
    pub(super) ready_by: Instant,
    /// Set when all waits are cut short.
    pub(super) cut: Cell<Option<Cut>>,
}

/// Why waits end before their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// The run was ended from outside.
    Interrupt,
    /// The run has ended, and the last wait for answers is over.
    Drained,
}

impl Shared {
    /// Whether there is time left to open connections before the run.
    fn may_prepare(&self) -> bool {
        self.cut.get().is_none() && Instant::now() < self.ready_by
    }

    /// Counts a request that failed, or that was cut short; `kind` is which of the mix it is.
    pub(super) fn failed(&self, kind: Option<usize>, failure: Failure) {
        let failure = match (failure, self.cut.get()) {
            // A wait that was ended from outside says nothing about the service.
            (Failure::Timeout, Some(Cut::Interrupt)) => {
                self.tally.borrow_mut().abandoned += 1;
                return;
            }
            (Failure::Timeout, Some(Cut::Drained)) => Failure::Unanswered,
            (failure, _) => failure,
        };
        self.tally.borrow_mut().failed(kind, &failure, 1);
        self.counters.failed();
    }
}

/// After the first failure to connect; doubles with each that follows.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// A connection silent for so long is looked at before it is used: its peer may have closed it.
const SILENCE: Duration = Duration::from_millis(100);

/// A client connection over its whole life, with all its reconnects.
pub(super) struct Connection {
    shared: Rc<Shared>,
    /// One for each host.
    streams: Vec<Option<Stream>>,
    /// When each was last used.
    used: Vec<Instant>,
    /// The request under way, or the next.
    ready: Option<Rc<Ready>>,
    answer: Answer,
    deadline: Deadline,
    /// Bytes of the request that have left.
    sent: u64,
    /// The peer takes no more of the request; it may have answered all the same.
    broken: bool,
    received: u64,
    pause: Duration,
}

impl Connection {
    pub(super) fn new(shared: Rc<Shared>) -> Connection {
        let deadline = shared.deadlines.register();
        Connection {
            streams: shared.dialers.iter().map(|_| None).collect(),
            used: vec![Instant::now(); shared.dialers.len()],
            ready: None,
            answer: Answer::new(),
            deadline,
            sent: 0,
            broken: false,
            received: 0,
            pause: PAUSE,
            shared,
        }
    }

    /// Connects before the run begins; what fails here is tried again, and counted, with the first request.
    pub(super) async fn prepare(&mut self) {
        let shared = self.shared.clone();
        // Never closed, so there is always a permit in the end.
        let _permit = shared.ramp.acquire().await;
        for origin in 0..shared.dialers.len() {
            if shared.may_prepare()
                && let Ok(stream) = self.connect(origin).await
            {
                self.streams[origin] = Some(stream);
                self.used[origin] = Instant::now();
            }
        }
    }

    /// Connects, sends one request that is not counted, and stays open.
    pub(super) async fn prepare_idle(&mut self) -> Result<(), Failure> {
        let shared = self.shared.clone();
        let _permit = shared.ramp.acquire().await;
        if !shared.may_prepare() {
            return Err(Failure::Timeout);
        }
        self.choose()?;
        let origin = self.origin();
        self.streams[origin] = Some(self.connect(origin).await?);
        self.exchange(shared.plan.timeout).await
    }

    /// Whether the peer has closed the connection.
    pub(super) fn is_lost(&self) -> bool {
        self.streams[self.origin()].as_ref().is_none_or(Stream::is_stale)
    }

    /// Sends until the tickets are used up.
    pub(super) async fn run(&mut self) {
        let shared = self.shared.clone();
        let secured = shared.mix.sealing().is_some();
        // To secure a request takes long enough to be done before it is meant to leave.
        let mut chosen = if secured { self.choose() } else { Ok(()) };
        let mut free = Instant::now();
        while let Some(intended) = shared.tickets.next(free).await {
            if !secured {
                chosen = self.choose();
            }
            let outcome = match chosen {
                Ok(()) => self.transact(intended, free).await,
                Err(failure) => Err(failure),
            };
            free = Instant::now();
            let origin = self.origin();
            self.used[origin] = free;
            let latency = free.saturating_duration_since(intended);
            let unconnected = matches!(outcome, Err(Failure::Connect(_)));
            let outcome = outcome.and_then(|()| self.open());
            self.count(outcome, latency, free);
            chosen = Ok(());
            if secured {
                chosen = self.choose();
                // Our own work on the messages is no part of the service's latency.
                free = Instant::now();
            }
            if unconnected {
                tokio::time::sleep(self.pause).await;
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            }
            if let Some(time) = shared.mix.think(self.kind()) {
                self.think(time).await;
                free = Instant::now();
            }
        }
    }

    /// Makes or finds the next request.
    #[inline]
    fn choose(&mut self) -> Result<(), Failure> {
        if self.ready.is_none() || !self.shared.mix.is_fixed() {
            self.ready = Some(self.shared.mix.next(&self.shared.plan)?);
        }
        Ok(())
    }

    /// Which host the request goes to.
    fn origin(&self) -> usize {
        self.ready.as_ref().map_or(0, |ready| ready.origin)
    }

    /// Which of the mix the request is.
    fn kind(&self) -> usize {
        self.ready.as_ref().map_or(0, |ready| ready.kind)
    }

    /// Waits, but not longer than the run.
    async fn think(&mut self, time: Duration) {
        let until = Instant::now() + time;
        let until = self.shared.tickets.end().map_or(until, |end| until.min(end));
        let mut sleep = pin!(tokio::time::sleep_until(until.into()));
        // The deadline is there for an end from outside only.
        self.deadline.arm(time * 2);
        poll_fn(|context| match self.deadline.poll_expired(context) {
            true => Poll::Ready(()),
            false => sleep.as_mut().poll(context),
        })
        .await;
        self.deadline.disarm();
    }

    /// Verifies an answer that is to be verified.
    fn open(&self) -> Result<(), Failure> {
        match (self.shared.mix.sealing(), &self.ready) {
            (Some(sealing), Some(ready)) => sealing.open(self.answer.whole(), &ready.conversation),
            _ => Ok(()),
        }
    }

    fn count(&self, outcome: Result<(), Failure>, latency: Duration, now: Instant) {
        let mut tally = self.shared.tally.borrow_mut();
        tally.sent_bytes += self.sent;
        tally.received_bytes += self.received;
        match outcome {
            Ok(()) => {
                tally.good(self.kind(), latency, now);
                self.shared.counters.good();
            }
            Err(failure) => {
                drop(tally);
                self.shared.failed(Some(self.kind()), failure);
            }
        }
    }

    /// One request and its answer.
    async fn transact(&mut self, intended: Instant, free: Instant) -> Result<(), Failure> {
        self.sent = 0;
        self.received = 0;
        // In an open loop part of the time may be gone before a connection was free.
        let left = self.shared.plan.timeout.saturating_sub(free.saturating_duration_since(intended));
        if left.is_zero() {
            return Err(Failure::NotSent("no connection was free before its time-out".to_owned()));
        }
        let origin = self.origin();
        if intended.max(free).saturating_duration_since(self.used[origin]) > SILENCE && self.is_lost() {
            self.streams[origin] = None;
        }
        if self.streams[origin].is_none() {
            self.streams[origin] = Some(self.connect(origin).await?);
        }
        let outcome = self.exchange(left).await;
        let whole = self.ready.as_ref().is_some_and(|ready| self.sent == ready.bytes.length());
        let kept = match &outcome {
            Ok(()) => true,
            Err(failure) => matches!(failure, Failure::Status(_) | Failure::Mismatch(_)),
        };
        if !(kept && whole && self.shared.plan.keep_alive && self.answer.keep_alive()) {
            self.streams[origin] = None;
        }
        outcome
    }

    async fn connect(&mut self, origin: usize) -> Result<Stream, Failure> {
        self.deadline.arm(self.shared.plan.timeout);
        let mut dialing = pin!(self.shared.dialers[origin].dial());
        let stream = poll_fn(|context| match dialing.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(outcome.map_err(|error| Failure::Connect(error.to_string()))),
            Poll::Pending if self.deadline.poll_expired(context) => Poll::Ready(Err(match self.shared.cut.get() {
                Some(_) => Failure::Timeout,
                None => Failure::Connect("no connection in time".to_owned()),
            })),
            Poll::Pending => Poll::Pending,
        })
        .await?;
        self.deadline.disarm();
        self.pause = PAUSE;
        let mut tally = self.shared.tally.borrow_mut();
        tally.connects += 1;
        tally.resumed += u64::from(stream.is_resumed());
        drop(tally);
        Ok(stream)
    }

    /// Sends the request over the open connection and reads the answer.
    async fn exchange(&mut self, timeout: Duration) -> Result<(), Failure> {
        self.sent = 0;
        self.received = 0;
        self.broken = false;
        self.answer.begin();
        self.deadline.arm(timeout);
        let outcome = poll_fn(|context| self.poll(context)).await;
        self.deadline.disarm();
        outcome
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let Connection { shared, streams, ready, answer, deadline, sent, broken, received, .. } = self;
        if deadline.poll_expired(context) {
            return Poll::Ready(Err(Failure::Timeout));
        }
        let Some(ready) = ready else { return Poll::Ready(Err(Failure::NotSent("there is no request".to_owned()))) };
        let Some(stream) = &mut streams[ready.origin] else {
            return Poll::Ready(Err(Failure::Connect("there is no connection".to_owned())));
        };
        let (request, expected) = (&ready.bytes, &ready.expected);
        loop {
            while *sent < request.length() && !*broken {
                match stream.poll_write(context, request.at(*sent)) {
                    Poll::Ready(Ok(count)) if count > 0 => *sent += count as u64,
                    // A service may answer and close before it has read all: what it said is still to be read.
                    Poll::Ready(_) => *broken = true,
                    Poll::Pending => break,
                }
            }
            if let Poll::Ready(Err(_)) = stream.poll_flush(context) {
                *broken = true;
            }
            let mut buffer = shared.buffer.borrow_mut();
            let mut read = ReadBuf::new(&mut buffer);
            match stream.poll_read(context, &mut read) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(Failure::broken(&error))),
                Poll::Ready(Ok(())) => {}
            }
            let bytes = read.filled();
            *received += bytes.len() as u64;
            if bytes.is_empty() {
                answer.close()?;
            } else if !answer.feed(bytes, expected)? {
                continue;
            }
            return Poll::Ready(answer.judge(expected));
        }
    }
}
