//! A message that leaves the bus, and why it could not.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;

use crate::{Body, BodyError, Head};

/// A message as it leaves the engine. What only one protocol knows, such as the framing of HTTP, is its channel's.
#[derive(Debug)]
pub struct Outgoing {
    /// The method to send, any token; channels without methods ignore it.
    pub method: Method,
    /// Where to.
    pub address: Address,
    /// The header lines to send.
    pub head: Head,
    /// The body to send.
    pub body: Body,
    /// How long the response's head may take; `None` leaves it to the channel's own limit.
    pub timeout: Option<Duration>,
    /// The `Host` to send instead of the one the address names.
    pub host: Option<String>,
    /// What is unusual in how it is sent.
    pub manner: Manner,
}

/// Where a message goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An absolute URI with an authority (RFC 3986 §3): `http://host/path`, `local://localhost/services/Proxy`.
    Uri(Uri),
    /// Any other address, which only its channel can read: `vfs:file:///var/orders`.
    Other(Arc<str>),
}

impl Address {
    /// What stands before the first colon, in lower case or not, as it was written.
    pub fn scheme(&self) -> &str {
        match self {
            Address::Uri(uri) => uri.scheme_str().unwrap_or_default(),
            Address::Other(text) => text.split(':').next().unwrap_or_default(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Uri(uri) => uri.fmt(f),
            Address::Other(text) => f.write_str(text),
        }
    }
}

/// What a backend may need to be sent otherwise than usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Whether the connection is to end with the answer (`NO_KEEPALIVE`).
    pub close: bool,
    /// Whether it leaves as HTTP/1.0 (`FORCE_HTTP_1.0`); its body was read then.
    pub http10: bool,
    /// Whether the request target is the absolute URI (`POST_TO_URI`, `FULL_URI`).
    pub absolute: bool,
}

/// The method of an outgoing message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// The one the head came with.
    AsCame,
    /// Another one.
    Named(String),
}

/// Why a message could not be sent, or got no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendError {
    /// What happened, as far as the flow can tell it apart.
    pub kind: SendErrorKind,
    /// A sentence for the log, with the address.
    pub message: String,
}

/// What kept a response from coming, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendErrorKind {
    /// The address is none that the channel can send to. The configuration's; a flow sees it as a failed connection.
    Address,
    /// Name unknown, connection refused, TLS handshake failed, folder not there (101503). The backend's.
    ConnectFailed,
    /// No connection within the connect deadline (101508). The backend's.
    ConnectTimeout,
    /// No response head within the deadline (101504). The backend's.
    ResponseTimeout,
    /// The backend closed the connection before answering (101505). The backend's.
    Closed,
    /// What the backend sent is not of its protocol (101506). The backend's.
    Protocol,
    /// Writing to the backend failed (101500). The backend's.
    Sending,
    /// This message cannot be written there, though others may be: its file has no valid name, or somebody has its lock
    /// (101500). It says nothing about the backend.
    Refused,
    /// The body that was to be sent broke off, came too slowly, or was malformed or too large. Its sender's.
    Request(BodyError),
    /// A limit of this bus was reached: connections to that backend, memory (answered 503). The bus's.
    Overloaded,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SendError {}
