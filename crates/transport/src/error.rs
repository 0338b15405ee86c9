//! Why a backend gave no response.

use std::fmt;

use myelin_message::BodyError;

/// Why [`crate::Client::send`] has no response to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What happened, as far as a caller can act on it.
    pub kind: ErrorKind,
    /// Scheme, host and port of the backend.
    pub address: String,
    /// What exactly, for the log.
    pub detail: String,
}

/// The kinds of [`Error`], and whose they are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The address is none this transport can send to. The configuration's.
    Address,
    /// The name is unknown, the connection was refused, or the TLS handshake failed. The backend's.
    Connect,
    /// No connection in time. The backend's.
    ConnectTimeout,
    /// No response head in time. The backend's.
    ResponseTimeout,
    /// The connection ended before a response. The backend's.
    Closed,
    /// What came is no HTTP/1.1 response. The backend's.
    Protocol,
    /// Writing the request failed. The backend's.
    Sending,
    /// The request's body could not be read to its end. The client's.
    Request(BodyError),
    /// A limit of connections, waiters or memory was reached. The bus's.
    Overloaded,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            ErrorKind::Address => "not an address to send to",
            ErrorKind::Connect => "connection failed",
            ErrorKind::ConnectTimeout => "no connection in time",
            ErrorKind::ResponseTimeout => "no response in time",
            ErrorKind::Closed => "connection closed before a response",
            ErrorKind::Protocol => "not an HTTP/1.1 response",
            ErrorKind::Sending => "sending failed",
            ErrorKind::Request(_) => "the request could not be read to its end",
            ErrorKind::Overloaded => "too many requests at once",
        };
        write!(f, "{}: {what}", self.address)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

impl std::error::Error for Error {}
