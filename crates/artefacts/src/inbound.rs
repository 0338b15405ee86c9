//! Where messages come in by another way than a path: a task, and a port of its own.

mod build;
mod parameters;
mod receiving;
pub use build::{InboundEndpoint, inbound};
pub use parameters::{Unread, by_protocol, by_transport, source};
pub use receiving::{Receiving, ReceivingService};

use std::sync::Arc;

use myelin_flow::cost::ServiceCost;
use myelin_flow::counters::ServiceCounters;
use myelin_flow::position::ServiceIdentity;
use myelin_flow::property::{Properties, Scope, Slot, Value};
use myelin_flow::sequence::SequenceId;
use myelin_flow::service_state::ServiceState;
use myelin_java_text::pattern::Pattern;

pub use myelin_channel::{ClientCertificates, PortTls};

/// What serves messages that come in so.
pub struct InboundSource {
    /// Its name, and the element that defines it.
    pub identity: ServiceIdentity,
    /// How messages get here, for people.
    pub way: String,
    /// The property that holds the name.
    pub slot: Slot,
    /// What they run through; `main` where unset.
    pub sequence: Option<SequenceId>,
    /// What their faults run through; the sequence for all where unset.
    pub fault: Option<SequenceId>,
    /// How much processor time its exchanges take.
    pub cost: ServiceCost,
    /// What is counted of its exchanges.
    pub counters: Arc<ServiceCounters>,
    /// Its switches, which an operator sets.
    pub state: Arc<ServiceState>,
}

impl InboundSource {
    /// The properties that its messages start with.
    pub fn properties(&self) -> Properties {
        let mut properties = Properties::default();
        properties.put(Scope::Default, self.slot, Some(Value::Text(Arc::clone(&self.identity.name))));
        properties
    }
}

/// An inbound endpoint for HTTP or HTTPS.
pub struct Inbound {
    /// What serves requests that no service gets.
    pub source: Arc<InboundSource>,
    /// The port that is opened.
    pub port: u16,
    /// The paths at which the services of the bus are reached; without it none is.
    pub filter: Option<Pattern>,
    /// How it speaks TLS; `None` for plain HTTP.
    pub tls: Option<Arc<PortTls>>,
}

/// A port on which a bus is to be reached besides those of the server.
#[derive(Clone, Copy, Debug)]
pub struct Port<'a> {
    /// The inbound endpoint that it is for.
    pub name: &'a Arc<str>,
    /// How it speaks TLS; `None` for plain HTTP.
    pub tls: Option<&'a Arc<PortTls>>,
}
