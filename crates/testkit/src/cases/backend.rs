//! The backend of a case: what it answers stands in files, and what it gets is kept.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use myelin_engine::transport::{LocalFuture, Outgoing, SendError, SendErrorKind, Sender, Sent};
use myelin_message::{Body, BodyError, Head, Message};

use super::http_file;
use crate::scripted::{Pieces, ScriptedBody};

/// The same at the start of every run, so that cases which print the time have the same answer every day:
/// 2026-01-01T00:00:00Z.
pub(super) fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600)
}

/// So small that nobody can rely on getting all at once.
const PIECE_BYTES: usize = 7;

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

/// All backends of a case.
pub(super) struct Backend {
    /// By the number of the request, from 1; a number without a reply has that of the nearest one before it.
    replies: BTreeMap<usize, Reply>,
    received: RefCell<Vec<Received>>,
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
        Backend { replies, received: RefCell::default(), read: Rc::default() }
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
        ScriptedBody::watched(bytes, Pieces::Of(PIECE_BYTES), Rc::clone(&self.read))
    }

    /// Whether mediation read a body that came over the wire.
    pub(super) fn mediation_read_a_body(&self) -> bool {
        self.read.get()
    }

    async fn reply(&self, mut outgoing: Outgoing) -> Result<Message, SendError> {
        let mut body = std::mem::replace(&mut outgoing.body, Body::Empty);
        let bytes = match ScriptedBody::relayed(&mut body).await {
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

impl Sender for Backend {
    fn send<'a>(&'a self, outgoing: Outgoing) -> LocalFuture<'a, Result<Sent, SendError>> {
        Box::pin(async move { self.reply(outgoing).await.map(Sent::Response) })
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
