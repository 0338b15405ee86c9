//! The answers of handlers to requests that do not pass, and the credentials with which they would.

use myelin_message::{Body, Head, Message, StatusCode};

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

/// The credentials of a scheme in a header like `Authorization`, where there are some.
pub(super) fn credentials<'a>(head: &'a Head, header: &str, scheme: &str) -> Option<&'a str> {
    let value = std::str::from_utf8(head.first(header)?).ok()?;
    let (name, rest) = value.trim().split_once(' ')?;
    name.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}
