//! How a body is read from its connection, looked at in it, or read and forgotten.

use std::any::Any;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use myelin_message::{BodyError, Source};

use super::{CONTINUE, Connection, Link, Side};
use crate::ahead::Ahead;
use crate::buffer::has_no_room;
use crate::h1::Piece;
use crate::timer::Tick;

/// How much of a body is looked at, kept or forgotten before others on the thread have their turn, however fast its
/// sender is.
const TURN_BYTES: u64 = 64 * 1024;

impl Source for Link {
    fn remaining(&self, ticket: u64) -> Option<u64> {
        let connection = self.borrow();
        if connection.ticket == ticket { connection.decoder.remaining() } else { None }
    }

    fn poll_piece(&self, ticket: u64, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        let connection = &mut *self.borrow_mut();
        if connection.ticket != ticket {
            return Poll::Ready(Err(BodyError::Gone));
        }
        connection.poll_upload(cx);
        match connection.poll_decoded(cx, into) {
            Poll::Ready(Ok(false)) => {
                // A client's charge lasts as long as its exchange; a backend's connection goes on to the next.
                if let Side::Backend { .. } = connection.side {
                    connection.retire();
                }
                Poll::Ready(Ok(false))
            }
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => connection.poll_patience(cx).map(Err),
        }
    }

    fn poll_look(
        &self,
        ticket: u64,
        cx: &mut Context<'_>,
        limit_bytes: u64,
        look: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), BodyError>> {
        let connection = &mut *self.borrow_mut();
        if connection.ticket != ticket {
            return Poll::Ready(Err(BodyError::Gone));
        }
        connection.poll_upload(cx);
        connection.poll_look(cx, limit_bytes, look)
    }

    fn has_closed(&self, ticket: u64) -> bool {
        let connection = self.borrow();
        connection.ticket == ticket && connection.stream.has_peer_closed()
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}

impl Connection {
    /// Reads on in a body that nobody wants any more and forgets it, counting the bytes; `false` where it breaks off.
    pub(crate) fn poll_skip(&mut self, cx: &mut Context<'_>, skipped: &mut u64) -> Poll<bool> {
        self.drop_passed();
        self.ahead = None;
        let before = *skipped;
        loop {
            let Ok(scanned) = self.decoder.scan(self.input.bytes()) else { return Poll::Ready(false) };
            self.input.consume(scanned);
            *skipped += scanned as u64;
            if self.decoder.is_done() {
                return Poll::Ready(true);
            }
            match ready!(self.poll_more(cx, *skipped - before)) {
                Ok(true) => {}
                _ => return Poll::Ready(false),
            }
        }
    }

    /// Reads on whatever comes and forgets it, counting the bytes, until the stream ends.
    pub(crate) fn poll_forget(&mut self, cx: &mut Context<'_>, forgotten: &mut u64) -> Poll<()> {
        let before = *forgotten;
        loop {
            let unread = self.input.bytes().len();
            self.input.consume(unread);
            *forgotten += unread as u64;
            match ready!(self.poll_more(cx, *forgotten - before)) {
                Ok(true) => {}
                _ => return Poll::Ready(()),
            }
        }
    }

    /// Lets a client go on that waits for `100 Continue`.
    fn welcome(&mut self, cx: &mut Context<'_>) {
        if let Side::Client { awaits_continue: awaits @ true, .. } = &mut self.side {
            // So few bytes always fit an otherwise empty socket; a client that is gone shows when it is read.
            let _ = self.stream.poll_write(cx, CONTINUE);
            let _ = self.stream.poll_flush(cx);
            *awaits = false;
        }
    }

    /// Receives more of a body that is read or looked at here; `false` at the end of the stream.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, BodyError>> {
        match ready!(self.input.poll_fill(&mut self.stream, cx)) {
            Ok(0) => Poll::Ready(Ok(false)),
            Err(_) => Poll::Ready(Err(BodyError::Incomplete)),
            Ok(length) => {
                self.last_read = Tick::now();
                if let Side::Client { pacer, .. } = &mut self.side {
                    pacer.moved(length as u64);
                }
                Poll::Ready(Ok(true))
            }
        }
    }

    /// The same, but others have their turn first where so much was taken in this one already.
    pub(crate) fn poll_more(&mut self, cx: &mut Context<'_>, taken: u64) -> Poll<Result<bool, BodyError>> {
        if taken > TURN_BYTES {
            // Its first poll has the task woken once the sockets of others were looked at.
            ready!(pin!(tokio::task::yield_now()).poll(cx));
        }
        self.poll_receive(cx)
    }

    /// Nothing has come: the sender may be too slow, or is looked at again in time.
    fn poll_patience(&mut self, cx: &mut Context<'_>) -> Poll<BodyError> {
        let mut deadline = Tick::after(self.idle);
        let mut late = Tick::since(self.last_read) >= self.idle;
        if let Side::Client { pacer, .. } = &mut self.side {
            late |= pacer.is_too_slow();
            deadline = deadline.min(pacer.next_look());
        }
        if late {
            return Poll::Ready(BodyError::TimedOut);
        }
        self.timer.wake_at(deadline, cx);
        Poll::Pending
    }

    fn poll_decoded(&mut self, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        self.welcome(cx);
        self.ahead = None;
        self.drop_passed();
        let before = into.len();
        loop {
            while let Some(piece) = self.decoder.next(self.input.bytes())? {
                let length = piece.length();
                if let Piece::Data(_) = piece {
                    into.extend_from_slice(&self.input.bytes()[..length]);
                }
                self.input.consume(length);
            }
            if into.len() > before {
                self.charge.set(into.capacity());
                return Poll::Ready(if has_no_room() { Err(BodyError::OverBudget) } else { Ok(true) });
            }
            if self.decoder.is_done() {
                return Poll::Ready(Ok(false));
            }
            if !ready!(self.poll_receive(cx))? && !self.decoder.end_of_stream() {
                return Poll::Ready(Err(BodyError::Incomplete));
            }
        }
    }

    /// Shows the body as far as it has come, and leaves every byte where it is.
    fn poll_look(
        &mut self,
        cx: &mut Context<'_>,
        limit_bytes: u64,
        look: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), BodyError>> {
        self.welcome(cx);
        self.drop_passed();
        // Most looks are over at once, with what came behind the head.
        if let Some(body) = self.decoder.whole(self.input.bytes()) {
            self.ahead = None;
            look(body, true);
            return Poll::Ready(Ok(()));
        }
        let mut ahead = self.ahead.take().map_or_else(|| Ahead::of(&self.decoder), |ahead| *ahead);
        let seen = ahead.length();
        loop {
            ahead.advance(self.input.bytes())?;
            if ahead.shows(self.input.bytes(), look) {
                return Poll::Ready(Ok(()));
            }
            if ahead.length() as u64 > limit_bytes {
                return Poll::Ready(Err(BodyError::TooLarge { limit_bytes }));
            }
            if has_no_room() {
                return Poll::Ready(Err(BodyError::OverBudget));
            }
            match self.poll_more(cx, (ahead.length() - seen) as u64)? {
                Poll::Ready(true) => {}
                Poll::Ready(false) if ahead.end_of_stream() => {}
                Poll::Ready(false) => return Poll::Ready(Err(BodyError::Incomplete)),
                Poll::Pending => {
                    self.input.compact();
                    self.ahead = Some(Box::new(ahead));
                    return self.poll_patience(cx).map(Err);
                }
            }
        }
    }
}
