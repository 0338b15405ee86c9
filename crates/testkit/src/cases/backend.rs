//! The backend of a case: what it answers stands in files, and what it gets is kept.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use myelin_mediation::transport::{LocalFuture, Outgoing, SendError, SendErrorKind, Transport};
use myelin_message::{Body, BodyError, Head, Message, Source, Wire};

use super::http_file;
use crate::clock::Clock;

/// What the backend does with one request.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Response(Head, Vec<u8>),
    Error(SendErrorKind, String),
}

/// One request as it arrived.
pub(super) struct Received {
    /// As an `.http` file.
    pub(super) text: Vec<u8>,
}

/// The transport of a case.
pub(super) struct Backend {
    /// By the number of the request, from 1; a number without a reply has that of the nearest one before it.
    replies: BTreeMap<usize, Reply>,
    received: RefCell<Vec<Received>>,
    pub(super) clock: Clock,
    /// Whether mediation read a body that the case left on the wire.
    read: Rc<Cell<bool>>,
}

/// The names that `backend.error` files use.
const ERRORS: &[(&str, SendErrorKind)] = &[
    ("connect-failed", SendErrorKind::ConnectFailed),
    ("connect-timeout", SendErrorKind::ConnectTimeout),
    ("response-timeout", SendErrorKind::ResponseTimeout),
    ("closed", SendErrorKind::Closed),
    ("protocol", SendErrorKind::Protocol),
    ("sending", SendErrorKind::Sending),
    ("request", SendErrorKind::Request(BodyError::Incomplete)),
    ("overloaded", SendErrorKind::Overloaded),
];

/// Reads a `backend.error` file: one of the names above, and behind it the sentence of the error if it matters.
///
/// Errors: a sentence that lists the names; the file's.
pub(super) fn error_reply(text: &str) -> Result<Reply, String> {
    let (name, message) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), "as the case says"));
    match ERRORS.iter().find(|(known, _)| *known == name) {
        Some((_, kind)) => Ok(Reply::Error(*kind, message.trim().to_owned())),
        None => {
            let names: Vec<&str> = ERRORS.iter().map(|(name, _)| *name).collect();
            Err(format!("{name:?} is no error a backend can have; there are {}", names.join(", ")))
        }
    }
}

impl Backend {
    pub(super) fn new(replies: BTreeMap<usize, Reply>) -> Backend {
        Backend { replies, received: RefCell::default(), clock: Clock::default(), read: Rc::default() }
    }

    /// What it got so far, as files.
    pub(super) fn received(&self) -> Vec<Vec<u8>> {
        self.received.borrow().iter().map(|received| received.text.clone()).collect()
    }

    /// A body that is still on the wire, and tells when mediation reads it.
    pub(super) fn on_the_wire(&self, bytes: Vec<u8>) -> Body {
        if bytes.is_empty() {
            return Body::Empty;
        }
        let source = Rc::new(Pieces { bytes: RefCell::new(bytes), read: Rc::clone(&self.read) });
        Body::Wire(Wire { source, ticket: 1 })
    }

    /// Whether mediation read a body that came over the wire.
    pub(super) fn mediation_read_a_body(&self) -> bool {
        self.read.get()
    }

    async fn answer(&self, mut outgoing: Outgoing) -> Result<Message, SendError> {
        let mut body = std::mem::replace(&mut outgoing.body, Body::Empty);
        let bytes = match relayed(&mut body).await {
            Ok(bytes) => bytes,
            Err(error) => return Err(SendError { kind: SendErrorKind::Request(error), message: error.to_string() }),
        };
        let text = http_file::write_request(&outgoing, &bytes);
        let number = {
            let mut received = self.received.borrow_mut();
            received.push(Received { text });
            received.len()
        };
        match self.replies.range(..=number).next_back() {
            Some((_, Reply::Response(head, body))) => Ok(Message::new(head.clone(), self.on_the_wire(body.clone()))),
            Some((_, Reply::Error(kind, message))) => Err(SendError { kind: *kind, message: message.clone() }),
            None => {
                let message = "the case holds neither backend.response.http nor backend.error".to_owned();
                Err(SendError { kind: SendErrorKind::ConnectFailed, message })
            }
        }
    }
}

impl Transport for Backend {
    fn send<'a>(&'a self, request: Outgoing) -> LocalFuture<'a, Result<Message, SendError>> {
        Box::pin(self.answer(request))
    }

    /// The same at the start of every run, so that cases which print the time have the same answer every day:
    /// 2026-01-01T00:00:00Z.
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600) + self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        self.clock.now()
    }

    fn sleep(&self, time: Duration) -> LocalFuture<'static, ()> {
        self.clock.sleep(time)
    }

    fn spawn(&self, task: LocalFuture<'static, ()>) {
        self.clock.spawn(task);
    }
}

/// The bytes of a body, whatever its form; a body from the wire is taken as the transport would relay it.
///
/// Errors: the body's own.
pub(super) async fn relayed(body: &mut Body) -> Result<Vec<u8>, BodyError> {
    if let Body::Wire(wire) = body
        && let Ok(pieces) = Rc::clone(&wire.source).as_any().downcast::<Pieces>()
    {
        let bytes = pieces.bytes.take();
        *body = Body::Gone;
        return Ok(bytes);
    }
    Ok(body.bytes(u64::MAX).await?.to_vec())
}

/// A body that comes in small pieces, so that nobody can rely on getting all at once.
struct Pieces {
    bytes: RefCell<Vec<u8>>,
    read: Rc<Cell<bool>>,
}

const PIECE_BYTES: usize = 7;

impl Source for Pieces {
    fn remaining(&self, _ticket: u64) -> Option<u64> {
        Some(self.bytes.borrow().len() as u64)
    }

    fn poll_piece(&self, _ticket: u64, _cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        self.read.set(true);
        let mut bytes = self.bytes.borrow_mut();
        let count = bytes.len().min(PIECE_BYTES);
        into.extend(bytes.drain(..count));
        Poll::Ready(Ok(!bytes.is_empty()))
    }

    fn poll_look(
        &self,
        _ticket: u64,
        _cx: &mut Context<'_>,
        _limit_bytes: u64,
        look: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), BodyError>> {
        let bytes = self.bytes.borrow();
        let ends = (PIECE_BYTES..bytes.len()).step_by(PIECE_BYTES).chain([bytes.len()]);
        let _ = ends.into_iter().any(|end| look(&bytes[..end], end == bytes.len()));
        Poll::Ready(Ok(()))
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_names_and_may_have_a_sentence() {
        let Reply::Error(kind, message) = error_reply("closed 10.0.0.1:80 went away\n").unwrap() else {
            panic!("an error was asked for");
        };
        assert_eq!((kind, message.as_str()), (SendErrorKind::Closed, "10.0.0.1:80 went away"));
        assert!(error_reply("broken").unwrap_err().contains("response-timeout"));
    }
}
