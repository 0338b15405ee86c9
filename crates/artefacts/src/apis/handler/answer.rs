//! The answers of handlers to requests that do not pass.

use myelin_message::{Body, Message, StatusCode};

/// An answer without a body.
pub(in crate::apis) fn empty(status: StatusCode) -> Message {
    Message::answer(status, Body::Empty)
}

/// The same with a challenge to authenticate (RFC 9110 §11.6.1).
pub(super) fn challenge(value: &str) -> Message {
    let mut answer = empty(StatusCode::UNAUTHORIZED);
    answer.head.set("WWW-Authenticate", value.as_bytes()).expect("our own challenges are valid header values");
    answer
}
