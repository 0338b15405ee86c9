//! Relays a body that comes from elsewhere than a connection of ours: a file, a queue, whatever implements [`Source`].
//!
//! It leaves with `Content-Length` where its source knows the length, else in chunks. One piece at a time is taken from
//! the source, and only when the one before has left, so that a slow target slows the source down.

use std::ops::DerefMut;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use myelin_message::{BodyError, Source, Wire};

use super::{Broken, Bytes, Coding, Ends, Relay, Waits};
use crate::connection::{Connection, Shared};
use crate::h1::Framing;

/// How often a source may say that there is more without giving any before others on the thread have their turn.
const EMPTY_PIECES: usize = 16;

/// The rest of a body whose source is no connection of ours.
pub(crate) struct ForeignBody {
    source: Rc<dyn Source>,
    ticket: u64,
    /// What was promised and has not been taken yet; `None` where no length was promised.
    remaining: Option<u64>,
    /// Whether a chunk was begun, whose end has to be written before the next.
    in_chunk: bool,
    /// Whether the source has nothing more.
    ended: bool,
    /// An empty buffer for the next piece.
    spare: Vec<u8>,
}

impl ForeignBody {
    pub(crate) fn new(wire: &Wire) -> ForeignBody {
        let (source, ticket) = (Rc::clone(&wire.source), wire.ticket);
        let remaining = source.remaining(ticket);
        ForeignBody { source, ticket, remaining, in_chunk: false, ended: false, spare: Vec::new() }
    }

    /// How its end is to be shown to who understands chunks.
    pub(crate) fn framing(&self) -> Framing {
        self.remaining.map_or(Framing::Chunked, Framing::Length)
    }

    /// Whether all of it was taken, and as much as had been promised.
    fn is_complete(&self) -> bool {
        self.ended && self.remaining.is_none_or(|remaining| remaining == 0)
    }

    /// The next piece; empty at the end of the body.
    ///
    /// Errors: the source's; `Incomplete` and `Malformed` where it gives less or more than it had promised.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Vec<u8>, BodyError>> {
        for _ in 0..EMPTY_PIECES {
            if self.ended {
                return Poll::Ready(if self.is_complete() { Ok(Vec::new()) } else { Err(BodyError::Incomplete) });
            }
            self.ended = !ready!(self.source.poll_piece(self.ticket, cx, &mut self.spare))?;
            if self.spare.is_empty() {
                continue;
            }
            let piece = std::mem::take(&mut self.spare);
            if let Some(remaining) = &mut self.remaining {
                *remaining = remaining
                    .checked_sub(piece.len() as u64)
                    .ok_or(BodyError::Malformed("it is longer than its source had said"))?;
            }
            return Poll::Ready(Ok(piece));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// A connection that is borrowed only while it is written to: a source may use the same one to read from.
pub(crate) trait Target {
    /// The connection.
    fn borrow(&mut self) -> impl DerefMut<Target = Connection>;
}

impl Target for &mut Connection {
    fn borrow(&mut self) -> impl DerefMut<Target = Connection> {
        &mut **self
    }
}

impl Target for &Shared {
    fn borrow(&mut self) -> impl DerefMut<Target = Connection> {
        self.borrow_mut()
    }
}

impl Relay {
    /// Moves what can be moved of a body from elsewhere.
    ///
    /// Errors: [`Broken`], with the side that broke it.
    pub(crate) fn poll_foreign(
        &mut self,
        cx: &mut Context<'_>,
        from: &mut ForeignBody,
        mut to: impl Target,
    ) -> Poll<Result<(), Broken>> {
        let mut source_is_dry = false;
        self.blocked = false;
        loop {
            let all_sent = self.staged_sent == self.staged.len() && self.tail_sent == self.tail.len();
            // A head waits for the first bytes of its body, if they come at once.
            let only_head = self.staged_sent == 0 && self.staged.len() == self.head_bytes && self.tail.is_empty();
            if (all_sent || only_head) && !self.complete && !source_is_dry {
                match from.poll_piece(cx).map_err(Broken::Source)? {
                    Poll::Ready(piece) => self.stage(piece, from, all_sent),
                    Poll::Pending => source_is_dry = true,
                }
                continue;
            }
            let to = &mut *to.borrow();
            let sent = if all_sent {
                // TLS may hold the last bytes still.
                to.stream.poll_flush(cx).map_err(Broken::Target)?
            } else {
                self.poll_send(cx, &mut Ends::Out(to))?
            };
            match sent {
                Poll::Pending => return self.waits(Waits::Target, to.idle),
                Poll::Ready(()) if !all_sent => {}
                Poll::Ready(()) if self.complete => return Poll::Ready(Ok(())),
                Poll::Ready(()) => return self.waits(Waits::Source, to.idle),
            }
        }
    }

    /// Puts a piece behind what is staged, or in the place of what has left.
    fn stage(&mut self, piece: Vec<u8>, from: &mut ForeignBody, all_sent: bool) {
        let sent = std::mem::take(&mut self.tail);
        if all_sent {
            // What is forgotten cannot be sent again.
            self.unrepeatable |= !self.staged.is_empty() || !sent.is_empty();
            self.staged.clear();
            (self.staged_sent, self.head_bytes) = (0, 0);
        }
        if let Bytes::Own(mut buffer) = sent {
            buffer.clear();
            from.spare = buffer;
        }
        self.tail_sent = 0;
        let is_chunked = self.coding == Coding::Chunked;
        if is_chunked && !piece.is_empty() {
            let end = if std::mem::replace(&mut from.in_chunk, true) { "\r\n" } else { "" };
            self.staged.extend_from_slice(format!("{end}{:x}\r\n", piece.len()).as_bytes());
        }
        let is_small = piece.len() <= self.merge_bytes;
        // The last chunk has to stand behind what is sent from where it is.
        self.complete = from.is_complete() && (is_small || !is_chunked);
        if is_small {
            self.staged.extend_from_slice(&piece);
        } else {
            self.tail = Bytes::Own(piece);
        }
        if self.complete && is_chunked {
            let end = if from.in_chunk { "\r\n" } else { "" };
            self.staged.extend_from_slice(format!("{end}0\r\n\r\n").as_bytes());
        }
        self.charge.set(self.staged.capacity() + self.tail.charged() + from.spare.capacity());
    }
}
