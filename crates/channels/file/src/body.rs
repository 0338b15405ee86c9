//! The content of a file as the body of a message: read in pieces, as far as somebody asks.

use std::any::Any;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use myelin_channel::{LocalFuture, Runtime};
use myelin_message::{Body, BodyError, Source, Wire};

use crate::beside::{PATIENCE, beside};
use crate::claim::{PIECE_BYTES, Taken};

/// The one message that there is of a file.
const TICKET: u64 = 0;

/// A file that is read as somebody asks for it.
struct Content {
    runtime: Rc<dyn Runtime>,
    path: PathBuf,
    state: RefCell<State>,
}

struct State {
    /// What was read and not taken yet; it is away while it is read on.
    kept: Vec<u8>,
    /// How much that is, wherever it is.
    kept_bytes: u64,
    /// What is still in the file. It is read no further than it was long when it was taken: whether it grew since is
    /// found out before it is removed.
    rest: u64,
    reading: Reading,
    /// How much of `kept` the one who looks has seen.
    shown: Option<usize>,
}

enum Reading {
    Idle(File),
    UnderWay(LocalFuture<'static, io::Result<Piece>>),
    Failed(BodyError),
}

/// What comes back of a step: the file, and what was read behind what was kept.
type Piece = (File, Vec<u8>);

/// The content of a file as a body: what fits into one piece was read already.
pub(crate) fn body(taken: Taken, runtime: Rc<dyn Runtime>) -> (crate::claim::Claim, Body) {
    let Taken { claim, file, first } = taken;
    let rest = claim.identity.length.saturating_sub(first.len() as u64);
    let body = match rest {
        0 if first.is_empty() => Body::Empty,
        0 => Body::Bytes(first),
        _ => {
            let kept_bytes = first.len() as u64;
            let state = State { kept: first, kept_bytes, rest, reading: Reading::Idle(file), shown: None };
            let content = Content { runtime, path: claim.path.clone(), state: RefCell::new(state) };
            Body::Wire(Wire { source: Rc::new(content), ticket: TICKET })
        }
    };
    (claim, body)
}

impl Content {
    /// Reads one piece more behind what is kept; `false` where there is no more.
    fn poll_more(&self, state: &mut State, cx: &mut Context<'_>) -> Poll<Result<bool, BodyError>> {
        if let Reading::Failed(error) = state.reading {
            return Poll::Ready(Err(error));
        }
        if state.rest == 0 {
            return Poll::Ready(Ok(false));
        }
        if let Reading::Idle(_) = state.reading
            && let Reading::Idle(file) = std::mem::replace(&mut state.reading, Reading::Failed(BodyError::Gone))
        {
            let into = std::mem::take(&mut state.kept);
            let length = state.rest.min(PIECE_BYTES as u64);
            let runtime = Rc::clone(&self.runtime);
            let step = async move { beside(&*runtime, PATIENCE, move || read(file, into, length)).await };
            state.reading = Reading::UnderWay(Box::pin(step));
        }
        let Reading::UnderWay(step) = &mut state.reading else { return Poll::Ready(Err(BodyError::Gone)) };
        let error = match ready!(Pin::as_mut(step).poll(cx)) {
            Ok((file, kept)) => {
                let length = state.rest.min(PIECE_BYTES as u64);
                state.rest -= length;
                state.kept_bytes = kept.len() as u64;
                (state.kept, state.reading) = (kept, Reading::Idle(file));
                return Poll::Ready(Ok(true));
            }
            Err(error) => error,
        };
        tracing::error!(file = %self.path.display(), %error, "cannot read on in a file; it is left to its action after failure");
        let error = match error.kind() {
            io::ErrorKind::TimedOut => BodyError::TimedOut,
            _ => BodyError::Incomplete,
        };
        state.reading = Reading::Failed(error);
        Poll::Ready(Err(error))
    }
}

/// Reads so many bytes behind what is there.
fn read(mut file: File, mut into: Vec<u8>, length: u64) -> io::Result<Piece> {
    into.reserve(length as usize);
    let read = (&mut file).take(length).read_to_end(&mut into)?;
    if (read as u64) < length {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has become shorter"));
    }
    Ok((file, into))
}

impl Source for Content {
    fn remaining(&self, ticket: u64) -> Option<u64> {
        let state = self.state.borrow();
        (ticket == TICKET).then_some(state.kept_bytes + state.rest)
    }

    fn poll_piece(&self, ticket: u64, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        if ticket != TICKET {
            return Poll::Ready(Err(BodyError::Gone));
        }
        let state = &mut *self.state.borrow_mut();
        if state.kept.is_empty() {
            ready!(self.poll_more(state, cx))?;
        }
        if into.is_empty() {
            std::mem::swap(into, &mut state.kept);
        } else {
            into.append(&mut state.kept);
        }
        state.kept_bytes = 0;
        Poll::Ready(Ok(state.rest > 0))
    }

    fn poll_look(
        &self,
        ticket: u64,
        cx: &mut Context<'_>,
        limit_bytes: u64,
        look: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), BodyError>> {
        if ticket != TICKET {
            return Poll::Ready(Err(BodyError::Gone));
        }
        let state = &mut *self.state.borrow_mut();
        loop {
            if let Reading::Idle(_) = state.reading {
                let is_all = state.rest == 0;
                let is_new = state.shown.unwrap_or(0) < state.kept.len();
                let has_seen_enough = (is_new || is_all) && look(&state.kept, is_all);
                if has_seen_enough || is_all {
                    state.shown = None;
                    return Poll::Ready(Ok(()));
                }
                state.shown = Some(state.kept.len());
                if state.kept.len() as u64 > limit_bytes {
                    return Poll::Ready(Err(BodyError::TooLarge { limit_bytes }));
                }
            }
            ready!(self.poll_more(state, cx))?;
        }
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}
