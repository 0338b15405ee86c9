//! A body that is decoded as it is read.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use myelin_message::budget::{self, Reservation};
use myelin_message::{Body, BodyError, Source};

use super::{Codings, Decoding};

/// What is decoded of a body that was read already, before whoever reads it may do something else.
const PIECE_BYTES: usize = 16 << 10;

/// A source that decodes what another one gives. It serves one body alone, whatever the ticket.
pub(super) struct DecodedSource(RefCell<State>);

struct State {
    encoded: Body,
    /// How much of a body that was read already is decoded.
    at: usize,
    decoding: Decoding,
    piece: Vec<u8>,
    /// What was decoded because somebody looked, and nobody has taken.
    ahead: Vec<u8>,
    has_ended: bool,
    /// What was decoded, and as much again for the windows of the decoders, until the body has all come.
    memory: Reservation,
}

impl DecodedSource {
    pub(super) fn new(encoded: Body, codings: &Codings, limit_bytes: u64) -> DecodedSource {
        DecodedSource(RefCell::new(State {
            encoded,
            at: 0,
            decoding: Decoding::new(codings, limit_bytes),
            piece: Vec::new(),
            ahead: Vec::new(),
            has_ended: false,
            memory: Reservation::default(),
        }))
    }
}

impl Source for DecodedSource {
    fn remaining(&self, _: u64) -> Option<u64> {
        None
    }

    fn poll_piece(&self, _: u64, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        let state = &mut *self.0.borrow_mut();
        if !state.ahead.is_empty() {
            into.append(&mut state.ahead);
            return Poll::Ready(Ok(!state.has_ended));
        }
        state.poll_decoded(cx, into)
    }

    fn poll_look(
        &self,
        _: u64,
        cx: &mut Context<'_>,
        limit_bytes: u64,
        look: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), BodyError>> {
        let state = &mut *self.0.borrow_mut();
        let mut ahead = std::mem::take(&mut state.ahead);
        let seen = loop {
            if look(&ahead, state.has_ended) || state.has_ended {
                break Poll::Ready(Ok(()));
            }
            if ahead.len() as u64 > limit_bytes {
                break Poll::Ready(Err(BodyError::TooLarge { limit_bytes }));
            }
            match state.poll_decoded(cx, &mut ahead) {
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => break Poll::Ready(Err(error)),
                Poll::Pending => break Poll::Pending,
            }
        };
        state.ahead = ahead;
        seen
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}

impl State {
    /// Decodes the next piece; `false` when the body is complete.
    fn poll_decoded(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        if self.has_ended {
            return Poll::Ready(Ok(false));
        }
        let (piece, is_last) = match &self.encoded {
            Body::Wire(wire) => {
                self.piece.clear();
                let has_more = ready!(wire.source.poll_piece(wire.ticket, cx, &mut self.piece))?;
                (&*self.piece, !has_more)
            }
            Body::Bytes(bytes) => next_piece(bytes, &mut self.at),
            Body::Shared(bytes) => next_piece(bytes, &mut self.at),
            _ => return Poll::Ready(Err(BodyError::Gone)),
        };
        self.has_ended = is_last;
        self.decoding.push(piece, into)?;
        if self.has_ended {
            self.decoding.finish()?;
        }
        self.memory.set(into.capacity().saturating_mul(2));
        Poll::Ready(if budget::is_full_of_bodies() { Err(BodyError::OverBudget) } else { Ok(!self.has_ended) })
    }
}

/// The piece that begins `at` a place, which moves behind it, and whether it is the last.
fn next_piece<'a>(bytes: &'a [u8], at: &mut usize) -> (&'a [u8], bool) {
    let start = *at;
    *at = bytes.len().min(start + PIECE_BYTES);
    (&bytes[start..*at], *at == bytes.len())
}
