//! Messages that a source brings: what source, and what serves them.

use std::fmt;
use std::sync::Arc;

use myelin_channel::Source;
use myelin_flow::property::Properties;
use myelin_flow::service_state::ServiceState;

use super::InboundSource;

/// A source of messages, and what serves them.
pub struct Receiving {
    /// What brings the messages.
    pub source: Arc<dyn Source>,
    /// What serves them.
    pub receiver: ReceivingService,
    /// The properties that each exchange starts with.
    pub properties: Properties,
    /// Its switches, which an operator sets.
    pub state: Arc<ServiceState>,
}

/// What serves the messages of a source.
pub enum ReceivingService {
    /// The proxy of that name.
    Proxy(Arc<str>),
    /// The sequence of an inbound endpoint or of a task.
    Inbound(Arc<InboundSource>),
}

impl Receiving {
    /// The name of the inbound endpoint that it is for, if it is for one.
    pub fn inbound(&self) -> Option<&str> {
        match &self.receiver {
            ReceivingService::Inbound(inbound) if inbound.identity.kind == "inboundEndpoint" => {
                Some(&inbound.identity.name)
            }
            _ => None,
        }
    }
}

/// As the log names it.
impl fmt::Display for Receiving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.receiver {
            ReceivingService::Proxy(name) => write!(f, "proxy {name}"),
            ReceivingService::Inbound(inbound) => write!(f, "{} {}", inbound.identity.kind, inbound.identity.name),
        }
    }
}
