//! The address of a backend, and errors that name it.

use std::fmt;

use http::Uri;
use myelin_message::{Address, SendError, SendErrorKind};

use crate::h1::{HOST_FORM, host_and_port};

/// Where a request goes, taken from its address.
pub(crate) struct BackendAddress {
    pub(crate) tls: bool,
    pub(crate) port: u16,
    uri: Uri,
    /// How much of the authority is the host.
    host_length: usize,
}

impl BackendAddress {
    /// Errors: an address that HTTP cannot be sent to.
    pub(crate) fn of(address: Address) -> Result<BackendAddress, SendError> {
        let refuse = |address: &dyn fmt::Display, detail: &str| Err(error(SendErrorKind::Address, address, detail));
        let uri = match address {
            Address::Uri(uri) => uri,
            address => return refuse(&address, "it starts with http:// or https://"),
        };
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return refuse(&uri, "it starts with http:// or https://"),
        };
        let Some(authority) = uri.authority().map(|authority| authority.as_str()) else {
            return refuse(&uri, "it names a host");
        };
        match host_and_port(authority.as_bytes()) {
            Some((host_length @ 1.., port)) => {
                let port = port.unwrap_or(if tls { 443 } else { 80 });
                Ok(BackendAddress { tls, port, uri, host_length })
            }
            Some(_) => refuse(&uri, "it names a host, and no user"),
            None if authority.contains('@') => refuse(&uri, "it names a host, and no user"),
            None => refuse(&uri, HOST_FORM),
        }
    }

    /// Host and perhaps port, as they are written.
    pub(crate) fn authority(&self) -> &str {
        self.uri.authority().map_or("", |authority| authority.as_str())
    }

    pub(crate) fn host(&self) -> &str {
        &self.authority()[..self.host_length]
    }

    /// Path and query.
    pub(crate) fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", |path| path.as_str())
    }

    pub(crate) fn error(&self, kind: SendErrorKind, detail: &str) -> SendError {
        let scheme = if self.tls { "https" } else { "http" };
        error(kind, &format_args!("{scheme}://{}", self.authority()), detail)
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
