//! The address of a backend, and errors that name it.

use std::fmt;

use myelin_message::{Address, SendError, SendErrorKind};

use crate::h1::{HOST_FORM, is_host};

/// Where a request goes, taken from its address.
pub(crate) struct BackendAddress<'a> {
    pub(crate) tls: bool,
    pub(crate) authority: &'a str,
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    /// Path and query.
    pub(crate) path: &'a str,
}

impl<'a> BackendAddress<'a> {
    pub(crate) fn of(address: &'a Address) -> Result<BackendAddress<'a>, SendError> {
        let refuse = |detail: &str| error(SendErrorKind::Address, address, detail);
        let Address::Uri(uri) = address else { return Err(refuse("it starts with http:// or https://")) };
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(refuse("it starts with http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| refuse("it names a host"))?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(refuse("it names a host, and no user"));
        }
        if !is_host(authority.as_str().as_bytes()) {
            return Err(refuse(HOST_FORM));
        }
        let port = match (authority.port_u16(), tls) {
            (Some(port), _) => port,
            (None, false) => 80,
            (None, true) => 443,
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(BackendAddress { tls, authority: authority.as_str(), host: authority.host(), port, path })
    }

    pub(crate) fn error(&self, kind: SendErrorKind, detail: &str) -> SendError {
        let scheme = if self.tls { "https" } else { "http" };
        error(kind, &format_args!("{scheme}://{}", self.authority), detail)
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
