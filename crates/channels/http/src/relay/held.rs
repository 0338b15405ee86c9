//! What a client does not take of its answer because it is still busy with sending its request.
//!
//! Many clients send all of a request before they read anything.
//! Where the answer comes while they send, as with a body that goes back where it came from or with a backend that
//! answers as it reads, everybody would wait for everybody: nobody reads the answer, so nobody makes room for more of
//! the request.
//! The bus then goes on reading and keeps the answer for the client, in memory that counts as the thread's.
//! A client that takes its answer as it comes, or that has sent its request, never comes here.

use std::collections::VecDeque;
use std::task::{Context, Poll};
use std::time::Duration;

use myelin_message::BodyError;

use super::{Broken, Ends, Relay, written};
use crate::buffer::{Charge, is_short};
use crate::timer::{TICK, Tick};

/// How long a client takes nothing before it is thought to be busy with sending.
pub(crate) const PATIENCE: Duration = TICK.saturating_mul(2);
/// What is kept lies in pieces of this size, which are free again one by one.
const PIECE_BYTES: usize = 64 * 1024;

/// Bytes that wait for their target.
#[derive(Default)]
pub(super) struct Held {
    /// Full all but the last; none is empty.
    pieces: VecDeque<Vec<u8>>,
    /// How much of the first has left.
    sent: usize,
    charge: Charge,
}

impl Held {
    fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let last = match self.pieces.back_mut() {
                Some(last) if last.len() < PIECE_BYTES => last,
                _ => self.pieces.push_back_mut(Vec::with_capacity(PIECE_BYTES)),
            };
            let (fits, rest) = bytes.split_at(bytes.len().min(PIECE_BYTES - last.len()));
            last.extend_from_slice(fits);
            bytes = rest;
        }
        self.charge.set(self.pieces.len() * PIECE_BYTES);
    }

    /// The bytes to leave next; none where nothing is held.
    fn first(&self) -> &[u8] {
        self.pieces.front().map_or(&[], |piece| &piece[self.sent..])
    }

    fn consume(&mut self, length: usize) {
        self.sent += length;
        if self.first().is_empty() {
            self.pieces.pop_front();
            self.sent = 0;
            self.charge.set(self.pieces.len() * PIECE_BYTES);
        }
    }
}

impl Relay {
    /// Whether the target takes nothing at the moment.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Whether it has taken nothing for so long that it seems to be busy with sending.
    pub(crate) fn is_stuck(&self) -> bool {
        self.blocked && Tick::since(self.last_progress) >= PATIENCE
    }

    /// Counts what came from a client that takes nothing: it is busy, not idle.
    pub(crate) fn heard(&mut self, bytes: u64) {
        if bytes > 0 {
            self.last_heard = Tick::now();
            if let Some((_, pacer)) = &mut self.client {
                pacer.moved(bytes);
            }
        }
    }

    /// The same of a client whose request goes on to a backend, at a rate that its own relay watches over: when it last
    /// sent something.
    pub(crate) fn heard_at(&mut self, last: Tick) {
        if last > self.last_heard {
            self.last_heard = last;
            if let Some((_, pacer)) = &mut self.client {
                pacer.reset();
            }
        }
    }

    /// Takes on from the source and keeps it, as long as the thread's memory is not short.
    ///
    /// Errors: [`Broken`], with the side that broke it.
    pub(crate) fn poll_hold(&mut self, cx: &mut Context<'_>, mut ends: Ends<'_>) -> Result<(), Broken> {
        let mut taken = 0;
        loop {
            self.take_input(&mut ends)?;
            let kept = self.set_aside(&mut ends)?;
            self.heard(kept);
            taken += kept;
            let Some(from) = ends.source() else { return Ok(()) };
            if self.complete || is_short() {
                from.input.compact();
                return Ok(());
            }
            match from.poll_more(cx, taken) {
                Poll::Pending => return Ok(()),
                Poll::Ready(received) => {
                    if !received.map_err(Broken::Source)? && !from.decoder.end_of_stream() {
                        return Err(Broken::Source(BodyError::Incomplete));
                    }
                }
            }
        }
    }

    /// Sets aside all that is at hand; gives how much that is.
    fn set_aside(&mut self, ends: &mut Ends<'_>) -> Result<u64, Broken> {
        let mut held = self.held.take().unwrap_or_default();
        let mut kept = 0;
        let mut push = |bytes: &[u8]| {
            held.push(bytes);
            kept += bytes.len() as u64;
        };
        if let Some(mut splice) = self.splice.take() {
            splice.take_out(&mut push).map_err(Broken::Target)?;
        }
        push(&self.staged[self.staged_sent..]);
        self.staged.clear();
        (self.staged_sent, self.head_bytes) = (0, 0);
        if let Some(from) = ends.source() {
            push(&from.input.bytes()[..from.passed]);
            from.drop_passed();
        }
        self.held = Some(held).filter(|held| !held.pieces.is_empty());
        Ok(kept)
    }

    /// Sends of what is held as much as goes at once.
    pub(super) fn poll_send_held(&mut self, cx: &mut Context<'_>, ends: &mut Ends<'_>) -> Result<Poll<()>, Broken> {
        let Some(held) = &mut self.held else { return Ok(Poll::Ready(())) };
        let sent = ends.target().stream.poll_write(cx, held.first());
        let Poll::Ready(sent) = written(sent)? else { return Ok(Poll::Pending) };
        held.consume(sent);
        if held.pieces.is_empty() {
            self.held = None;
        }
        self.progressed(sent as u64);
        Ok(Poll::Ready(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::kept_bytes;

    #[test]
    fn what_is_held_leaves_in_order_and_its_memory_is_free_piece_by_piece() {
        let all: Vec<u8> = (0..3 * PIECE_BYTES + 5).map(|number| (number % 251) as u8).collect();
        let (mut held, before) = (Held::default(), kept_bytes());
        // Small and large, so that some fill up what is there and some take several pieces.
        let mut rest = &all[..];
        for length in [1, 10, PIECE_BYTES, 2 * PIECE_BYTES - 6, 0] {
            let (bytes, later) = rest.split_at(length);
            held.push(bytes);
            rest = later;
        }
        assert_eq!((rest.len(), held.pieces.len(), kept_bytes() - before), (0, 4, 4 * PIECE_BYTES));
        let mut left = Vec::new();
        while !held.first().is_empty() {
            let length = held.first().len().min(50_000);
            left.extend_from_slice(&held.first()[..length]);
            held.consume(length);
            // Only the first and the last piece are not full.
            assert!(kept_bytes() - before <= all.len() - left.len() + 2 * PIECE_BYTES);
        }
        assert!(left == all && kept_bytes() == before);
    }
}
