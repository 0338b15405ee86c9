//! The message on its way through the bus.
//!
//! [`Head`] keeps the header lines as they came and an overlay of edits;
//! [`Body`] is not read before somebody asks; [`Message`] is the two together.
//! [`Arrival`] says how a message came, [`Outgoing`] is one that leaves, [`SendError`] says why it could not.
//! Nothing here opens a socket, prefers a protocol or knows a mediator: channels fill these types, the engine reads and
//! changes them.

mod arrival;
mod body;
pub mod budget;
mod head;
mod header;
mod outgoing;
mod uuid;

pub use arrival::{Arrival, CorrelationId, TraceMark};
pub use body::{Body, Built, Error as BodyError, Source, Wire};
pub use head::{Head, Line, Malformed, Start, Version};
pub use header::{FieldValue, HeaderId, is_credential, is_token, is_value, token_length, value_length};
pub use http::{StatusCode, Uri};
pub use outgoing::{Address, Manner, Method, Outgoing, SendError, SendErrorKind};
pub use uuid::Uuid;

/// One request or one response.
#[derive(Debug)]
pub struct Message {
    /// Start line and header lines.
    pub head: Head,
    /// The status to answer with; means nothing on a request.
    pub status: StatusCode,
    /// The reason phrase to answer with, where it is not the status's own.
    pub reason: Option<String>,
    /// What follows the head.
    pub body: Body,
    /// Whether the connection ends with it, as an answer.
    pub close: bool,
}

impl Message {
    /// A message from a head as it came; the status is the head's own, 200 on a request.
    pub fn new(head: Head, body: Body) -> Message {
        let status = head.status().unwrap_or(StatusCode::OK);
        let reason = match head.reason() {
            Some(reason) if Some(reason) != status.canonical_reason() => Some(reason.to_owned()),
            _ => None,
        };
        Message { head, status, reason, body, close: false }
    }

    /// A response made here, with an empty head.
    pub fn answer(status: StatusCode, body: Body) -> Message {
        Message { head: Head::default(), status, reason: None, body, close: false }
    }
}
