//! What answers requests, and what is told of each.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use myelin_channel::LocalFuture;
use myelin_message::{Arrival, CorrelationId, Message};

/// Answers requests.
pub trait Service {
    /// Gives the answer to a request; there is always one.
    fn serve<'a>(&'a self, request: Message, arrival: Arrival<'a>) -> LocalFuture<'a, Message>;

    /// Whether [`Service::finished`] is to be called.
    fn records(&self) -> bool {
        false
    }

    /// Hears of an answer that was sent, or of one whose client went away.
    fn finished(&self, _record: &Record) {}
}

/// One line of an access log.
#[derive(Clone, Debug)]
pub struct Record {
    /// The client's address.
    pub peer: SocketAddr,
    /// The method; empty where the head was refused.
    pub method: String,
    /// The target as it came; empty where the head was refused.
    pub target: String,
    /// The status answered with.
    pub status: u16,
    /// Bytes sent, head included.
    pub sent_bytes: u64,
    /// From the request's head to the answer's last byte.
    pub duration: Duration,
    /// The value of `activityid`, where the answer carries one.
    pub correlation: Option<String>,
    /// Whether the answer was sent to its end.
    pub complete: bool,
}

/// What stays the same for all requests of a connection.
pub(crate) struct ConnectionInfo {
    pub(crate) peer: SocketAddr,
    pub(crate) local: SocketAddr,
    pub(crate) secure: bool,
    pub(crate) inbound: Option<Arc<str>>,
}

impl ConnectionInfo {
    /// How a request came by it; its correlation is nobody's yet.
    pub(crate) fn arrival(&self) -> Arrival<'_> {
        Arrival {
            transport: if self.secure { "https" } else { "http" },
            peer: Some(self.peer),
            local: Some(self.local),
            inbound: self.inbound.as_deref(),
            correlation: CorrelationId::NONE,
        }
    }
}
