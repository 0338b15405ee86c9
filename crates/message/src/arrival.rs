//! How a message came to the bus.

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
    /// What ties the log lines of this exchange together; may be empty.
    pub correlation: &'a str,
}

impl Arrival<'_> {
    /// Whether it came over TLS.
    pub fn is_secure(&self) -> bool {
        self.transport == "https"
    }
}
