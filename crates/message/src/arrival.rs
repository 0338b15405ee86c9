//! How a message came to the bus.

use std::borrow::Cow;
use std::fmt;
use std::net::SocketAddr;

/// What a channel knows of a message apart from the message.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The transport that it came by, as a proxy's `transports` attribute names it: `http`, `https`, `local`, `vfs`.
    pub transport: &'static str,
    /// The sender's address; `None` where no connection brought it.
    pub peer: Option<SocketAddr>,
    /// The address that the sender connected to; `None` where no connection brought it.
    pub local: Option<SocketAddr>,
    /// The name of the inbound endpoint that received it, if one did.
    pub inbound: Option<&'a str>,
    /// What ties the log lines of this exchange together.
    pub correlation: &'a CorrelationId,
}

/// What ties the log lines of an exchange together; empty where nobody gave one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorrelationId(Cow<'static, str>);

impl CorrelationId {
    /// That of an exchange that nobody gave one.
    pub const NONE: &CorrelationId = &CorrelationId::fixed("");

    /// One that is known when the program is built.
    pub const fn fixed(text: &'static str) -> CorrelationId {
        CorrelationId(Cow::Borrowed(text))
    }

    /// The text of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for CorrelationId {
    fn from(text: String) -> CorrelationId {
        CorrelationId(Cow::Owned(text))
    }
}

impl fmt::Display for CorrelationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Arrival<'_> {
    /// Whether it came over TLS.
    pub fn is_secure(&self) -> bool {
        self.transport == "https"
    }
}
