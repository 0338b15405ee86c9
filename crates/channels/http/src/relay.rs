//! Moves one message from connection to connection: head first, body behind it in the same send.
//!
//! While the target has unsent bytes the source is not read, so at most one read is ever waiting in a direction,
//! save for clients that do not read before they have sent ([`held`]).
//! A body leaves as it came, chunk framing and all, wherever the target understands that.

mod ends;
mod foreign;
mod held;
mod source;

use std::io::{self, IoSlice};
use std::task::{Context, Poll};
use std::time::Duration;

use myelin_message::BodyError;

use crate::buffer::{Charge, READ_BYTES, Staging};
use crate::h1::{FramingError, Piece};
use crate::options::Pace;
use crate::pacer::Pacer;
use crate::splice::{self, Splice};
use crate::timer::Tick;

pub(crate) use ends::{Bytes, Ends};
use held::Held;
pub(crate) use held::PATIENCE;
pub(crate) use source::{BodySource, Upload};

/// A body up to this size is copied behind its head: one send of one piece is cheaper than a vectored one.
pub(crate) const MERGE_BYTES: usize = 4 * 1024;
/// Room for a usual head.
pub(crate) const HEAD_BYTES: usize = 512;

/// The room that a body of this length takes behind its head.
pub(crate) fn merged(length: u64) -> usize {
    usize::try_from(length).ok().filter(|length| *length <= MERGE_BYTES).unwrap_or(0)
}

/// How the body's bytes are to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// As they came, framing included.
    AsCame,
    /// The content alone: the target ends it by closing.
    Plain,
    /// In chunks of our own: the source ended it by closing, the target need not.
    Chunked,
}

/// The side a relay waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    Source,
    Target,
}

/// Why a relay ended early.
#[derive(Debug)]
pub(crate) enum Broken {
    Source(BodyError),
    Target(io::Error),
    TimedOut(Waits),
}

impl From<FramingError> for Broken {
    fn from(error: FramingError) -> Broken {
        Broken::Source(error.into())
    }
}

/// A message on its way out.
pub(crate) struct Relay {
    /// Head, and small or recoded bodies behind it.
    staged: Staging,
    staged_sent: usize,
    /// A large body that is all here.
    tail: Bytes,
    tail_sent: usize,
    coding: Coding,
    /// How much of `staged` is the head.
    head_bytes: usize,
    /// What is staged, and the tail, count as memory of the thread.
    charge: Charge,
    /// Nothing more comes from the source.
    complete: bool,
    splice: Option<Splice>,
    /// What the target does not take yet and leaves before anything else.
    held: Option<Box<Held>>,
    /// The target takes nothing at the moment.
    blocked: bool,
    merge_bytes: usize,
    /// Body bytes that left without a copy being kept: then the message cannot be sent again.
    unrepeatable: bool,
    /// Bytes that reached the target.
    pub(crate) sent: u64,
    last_progress: Tick,
    /// When the target last sent something while it took nothing.
    last_heard: Tick,
    /// The client, where one of the sides is one.
    client: Option<(Waits, Pacer)>,
}

impl Relay {
    /// A message whose body, if it has one, comes from a connection.
    pub(crate) fn new(head: Staging, coding: Coding) -> Relay {
        Relay {
            head_bytes: head.len(),
            staged: head,
            staged_sent: 0,
            tail: Bytes::default(),
            tail_sent: 0,
            coding,
            charge: Charge::default(),
            complete: false,
            splice: None,
            held: None,
            blocked: false,
            merge_bytes: MERGE_BYTES,
            unrepeatable: false,
            sent: 0,
            last_progress: Tick::now(),
            last_heard: Tick::now(),
            client: None,
        }
    }

    /// A message that is all here.
    pub(crate) fn whole(mut head: Staging, body: Bytes) -> Relay {
        let mut tail = Bytes::default();
        if body.len() <= MERGE_BYTES {
            head.extend_from_slice(&body);
        } else {
            tail = body;
        }
        let mut relay = Relay::new(head, Coding::AsCame);
        relay.charge.set(tail.charged());
        (relay.tail, relay.complete) = (tail, true);
        relay
    }

    /// Keeps bodies up to `bytes` at hand to send them again, where all of one arrived with its head.
    pub(crate) fn keep(&mut self, bytes: usize) {
        self.merge_bytes = bytes;
    }

    /// Holds the client on that side to a least rate.
    pub(crate) fn pace(&mut self, client: Waits, pace: Pace) {
        self.client = Some((client, Pacer::new(pace)));
    }

    /// Starts again from the first byte; `false` where part of the message is gone.
    pub(crate) fn rewind(&mut self) -> bool {
        (self.staged_sent, self.tail_sent, self.sent) = (0, 0, 0);
        self.last_progress = Tick::now();
        !self.unrepeatable
    }

    /// When the relay will have stood still for `idle`, or a slow client is looked at again.
    pub(crate) fn deadline(&self, idle: Duration) -> Tick {
        let look = self.client.as_ref().map_or(Tick::NEVER, |(_, pacer)| pacer.next_look());
        Tick::after(idle).min(look)
    }

    /// When the last byte reached the target.
    pub(crate) fn last_progress(&self) -> Tick {
        self.last_progress
    }

    /// Whether nothing has to come from a source any more.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Moves what can be moved.
    ///
    /// Errors: [`Broken`], with the side that broke it.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, mut ends: Ends<'_>) -> Poll<Result<(), Broken>> {
        let mut source_is_dry = false;
        self.blocked = false;
        loop {
            self.take_input(&mut ends)?;
            let staged = self.staged_sent < self.staged.len();
            // A head waits for the first bytes of its body, if they come at once; nothing else waits.
            let only_head = self.staged_sent == 0 && self.staged.len() == self.head_bytes;
            let head_is_due = self.complete || source_is_dry || !only_head;
            let passed = ends.source().is_some_and(|from| from.passed > 0);
            if passed || (staged && head_is_due) || self.tail_sent < self.tail.len() || self.held.is_some() {
                if self.poll_send(cx, &mut ends)?.is_pending() {
                    if let Some(from) = ends.source() {
                        from.input.compact();
                    }
                    let idle = ends.target().idle;
                    return self.waits(Waits::Target, idle);
                }
                continue;
            }
            if let Some(splice) = &mut self.splice {
                let (moved, side) = poll_splice(cx, splice, &mut ends)?;
                if moved > 0 {
                    self.progressed(moved);
                }
                if let Some(side) = side {
                    let idle = ends.target().idle;
                    return self.waits(side, idle);
                }
                self.splice = None;
                continue;
            }
            if self.complete {
                // TLS may hold the last bytes still.
                let to = ends.target();
                return match to.stream.poll_flush(cx) {
                    Poll::Ready(flushed) => Poll::Ready(flushed.map_err(Broken::Target)),
                    Poll::Pending => self.waits(Waits::Target, to.idle),
                };
            }
            if source_is_dry {
                let to = ends.target();
                let idle = to.idle;
                if to.stream.poll_flush(cx).map_err(Broken::Target)?.is_pending() {
                    return self.waits(Waits::Target, idle);
                }
                if ends.source().is_some_and(|from| from.awaits_continue()) {
                    // It is the backend that keeps everybody waiting; the response's deadline is its limit.
                    if let Some((_, pacer)) = &mut self.client {
                        pacer.reset();
                    }
                    return Poll::Pending;
                }
                return self.waits(Waits::Source, idle);
            }
            if !staged && self.begin_splice(&mut ends) {
                continue;
            }
            let Some(from) = ends.source() else {
                self.complete = true;
                continue;
            };
            match from.input.poll_fill(&mut from.stream, cx) {
                Poll::Ready(Ok(0)) if from.decoder.end_of_stream() => {}
                Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(Err(Broken::Source(BodyError::Incomplete))),
                Poll::Ready(Ok(_)) => from.last_read = Tick::now(),
                Poll::Pending => source_is_dry = true,
            }
        }
    }

    /// Checks what the source has at hand, and stages what is small or must be recoded.
    fn take_input(&mut self, ends: &mut Ends<'_>) -> Result<(), Broken> {
        let staged_all = self.staged_sent == self.staged.len();
        let Some(from) = ends.source() else { return Ok(()) };
        if self.complete || from.passed > 0 {
            return Ok(());
        }
        from.ahead = None;
        if self.coding == Coding::AsCame {
            let passed = from.pass()?;
            self.complete = from.decoder.is_done();
            let behind_head = self.staged_sent == 0 && self.staged.len() == self.head_bytes && !staged_all;
            if passed > 0 && behind_head && passed <= self.merge_bytes {
                self.staged.extend_from_slice(&from.input.bytes()[..passed]);
                from.input.consume(passed);
            } else {
                from.passed = passed;
                self.unrepeatable |= passed > 0;
            }
            return Ok(());
        }
        if staged_all {
            self.staged.clear();
            (self.staged_sent, self.head_bytes) = (0, 0);
            // What was staged cannot be sent again.
            self.unrepeatable = true;
        }
        while self.staged.len() < 2 * READ_BYTES
            && let Some(piece) = from.decoder.next(from.input.bytes())?
        {
            let length = piece.length();
            if let Piece::Data(_) = piece {
                let data = &from.input.bytes()[..length];
                if self.coding == Coding::Chunked {
                    self.staged.extend_from_slice(format!("{length:x}\r\n").as_bytes());
                    self.staged.extend_from_slice(data);
                    self.staged.extend_from_slice(b"\r\n");
                } else {
                    self.staged.extend_from_slice(data);
                }
                self.unrepeatable = true;
            }
            from.input.consume(length);
        }
        if from.decoder.is_done() {
            self.complete = true;
            if self.coding == Coding::Chunked {
                self.staged.extend_from_slice(b"0\r\n\r\n");
            }
        }
        self.charge.set(self.staged.capacity());
        Ok(())
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, ends: &mut Ends<'_>) -> Result<Poll<()>, Broken> {
        if self.held.is_some() {
            return self.poll_send_held(cx, ends);
        }
        let (input, stream) = ends.passed_and_stream();
        let (staged, tail) = (&self.staged[self.staged_sent..], &self.tail[self.tail_sent..]);
        let sent = match (staged.is_empty(), input.is_empty() && tail.is_empty()) {
            (false, true) => stream.poll_write(cx, staged),
            (true, _) if tail.is_empty() => stream.poll_write(cx, input),
            (true, _) => stream.poll_write(cx, tail),
            (false, false) => {
                let body = if tail.is_empty() { input } else { tail };
                stream.poll_write_vectored(cx, &[IoSlice::new(staged), IoSlice::new(body)])
            }
        };
        let Poll::Ready(sent) = written(sent)? else { return Ok(Poll::Pending) };
        let of_staged = sent.min(staged.len());
        self.progressed(sent as u64);
        self.staged_sent += of_staged;
        let of_body = sent - of_staged;
        if self.tail.is_empty() {
            if let Some(from) = ends.source() {
                from.passed -= of_body;
                from.input.consume(of_body);
            }
        } else {
            self.tail_sent += of_body;
        }
        Ok(Poll::Ready(()))
    }

    fn progressed(&mut self, bytes: u64) {
        self.sent += bytes;
        if let Some((_, pacer)) = &mut self.client {
            pacer.moved(bytes);
        }
        self.last_progress = Tick::now();
    }

    /// Nothing moves: a deadline may have passed, or a client may be below the least rate.
    fn waits(&mut self, side: Waits, idle: Duration) -> Poll<Result<(), Broken>> {
        self.blocked = side == Waits::Target;
        if Tick::since(self.last_progress.max(self.last_heard)) >= idle {
            return Poll::Ready(Err(Broken::TimedOut(side)));
        }
        if let Some((client, pacer)) = &mut self.client {
            if side != *client {
                pacer.reset();
            } else if pacer.is_too_slow() {
                return Poll::Ready(Err(Broken::TimedOut(side)));
            }
        }
        Poll::Pending
    }

    fn begin_splice(&mut self, ends: &mut Ends<'_>) -> bool {
        let Ends::Across { from, to } = ends else { return false };
        let eligible = self.coding == Coding::AsCame
            && from.input.is_empty()
            && from.stream.plain().is_some()
            && to.stream.plain().is_some()
            && from.decoder.remaining().is_some_and(|remaining| remaining >= splice::LEAST_BYTES);
        if eligible {
            self.splice = Splice::new();
            self.unrepeatable = true;
        }
        self.splice.is_some()
    }
}

/// What a write brought about; one that writes nothing is a failure.
fn written(sent: Poll<io::Result<usize>>) -> Result<Poll<usize>, Broken> {
    match sent {
        Poll::Pending => Ok(Poll::Pending),
        Poll::Ready(Ok(0)) => Err(Broken::Target(io::ErrorKind::WriteZero.into())),
        Poll::Ready(Ok(sent)) => Ok(Poll::Ready(sent)),
        Poll::Ready(Err(error)) => Err(Broken::Target(error)),
    }
}

/// Moves bytes through the pipe until the body is through or a side has to be waited for.
fn poll_splice(cx: &mut Context<'_>, splice: &mut Splice, ends: &mut Ends<'_>) -> Result<(u64, Option<Waits>), Broken> {
    let Ends::Across { from, to } = ends else { return Ok((0, None)) };
    let (Some(source), Some(target)) = (from.stream.plain(), to.stream.plain()) else { return Ok((0, None)) };
    let mut moved = 0;
    loop {
        if splice.is_empty() {
            if from.decoder.is_done() {
                return Ok((moved, None));
            }
            match splice.poll_in(cx, source, from.decoder.remaining().unwrap_or(0)) {
                Poll::Pending => return Ok((moved, Some(Waits::Source))),
                Poll::Ready(Ok(length @ 1..)) => {
                    from.decoder.step_over(length as u64);
                    from.last_read = Tick::now();
                }
                Poll::Ready(Ok(0) | Err(_)) => return Err(Broken::Source(BodyError::Incomplete)),
            }
        }
        let Poll::Ready(length) = written(splice.poll_out(cx, target))? else {
            return Ok((moved, Some(Waits::Target)));
        };
        moved += length as u64;
    }
}
