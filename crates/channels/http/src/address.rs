//! Whom an address of a backend names, and errors that name it.

use std::fmt;

use http::Uri;
use myelin_message::{Address, SendError, SendErrorKind};

use crate::h1::{HOST_FORM, host_and_port};

/// Whom a request is sent to: the scheme, the host and the port of its address.
pub(crate) struct Origin {
    pub(crate) tls: bool,
    pub(crate) port: u16,
    authority: String,
    /// How much of the authority is the host.
    host_length: usize,
}

impl Origin {
    /// That of an address.
    ///
    /// Errors: an address that HTTP cannot be sent to.
    pub(crate) fn of(uri: &Uri) -> Result<Origin, SendError> {
        let refuse = |detail| Err(error(SendErrorKind::Address, uri, detail));
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return refuse(NO_SCHEME),
        };
        let Some(authority) = uri.authority().map(|authority| authority.as_str()) else {
            return refuse("it names a host");
        };
        match host_and_port(authority.as_bytes()) {
            Some((host_length @ 1.., port)) => {
                let port = port.unwrap_or(if tls { 443 } else { 80 });
                Ok(Origin { tls, port, authority: authority.to_owned(), host_length })
            }
            Some(_) => refuse("it names a host, and no user"),
            None if authority.contains('@') => refuse("it names a host, and no user"),
            None => refuse(HOST_FORM),
        }
    }

    /// Whether it is that of an address.
    pub(crate) fn is_of(&self, uri: &Uri) -> bool {
        let scheme = uri.scheme_str();
        uri.authority().is_some_and(|authority| authority.as_str() == self.authority) && scheme == Some(self.scheme())
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }

    /// Host and perhaps port, as they are written.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    pub(crate) fn host(&self) -> &str {
        &self.authority[..self.host_length]
    }

    pub(crate) fn error(&self, kind: SendErrorKind, detail: &str) -> SendError {
        error(kind, &format_args!("{}://{}", self.scheme(), self.authority), detail)
    }
}

const NO_SCHEME: &str = "it starts with http:// or https://";

/// The URI that an address is.
///
/// Errors: an address of another channel.
pub(crate) fn uri_of(address: Address) -> Result<Uri, SendError> {
    match address {
        Address::Uri(uri) => Ok(uri),
        address => Err(error(SendErrorKind::Address, &address, NO_SCHEME)),
    }
}

/// An error with its sentence: where, what, and what exactly.
fn error(kind: SendErrorKind, address: &dyn fmt::Display, detail: &str) -> SendError {
    let what = match kind {
        SendErrorKind::Address => "not an address to send to",
        SendErrorKind::ConnectFailed => "connection failed",
        SendErrorKind::ConnectTimeout => "no connection in time",
        SendErrorKind::ResponseTimeout => "no response in time",
        SendErrorKind::Closed => "connection closed before a response",
        SendErrorKind::Protocol => "not an HTTP/1.1 response",
        SendErrorKind::Sending => "sending failed",
        SendErrorKind::Request(_) => "the request could not be read to its end",
        SendErrorKind::Refused => "the message is refused",
        SendErrorKind::Overloaded => "too many requests at once",
    };
    let separator = if detail.is_empty() { "" } else { ": " };
    SendError { kind, message: format!("{address}: {what}{separator}{detail}") }
}
