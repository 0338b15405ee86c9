//! Proxy services.

mod build;
mod description;
mod publishing;
pub use build::proxy;
pub use description::{MetadataQuery, ProxyDescription, answer, find_operation};

use std::sync::Arc;

use myelin_channel::Source;

use crate::endpoints::EndpointRef;
use crate::guards::ProxySecurity;
use myelin_flow::cost::ServiceCost;
use myelin_flow::counters::ServiceCounters;
use myelin_flow::position::ServiceIdentity;
use myelin_flow::sequence::SequenceRef;
use myelin_flow::service_state::ServiceState;

/// A proxy service.
pub struct Proxy {
    /// Its name, which is the last part of its path, and where it is defined.
    pub identity: ServiceIdentity,
    /// Whether it is reached over plain HTTP.
    pub http: bool,
    /// Whether it is reached over HTTPS.
    pub https: bool,
    /// What requests run through.
    pub in_sequence: Option<SequenceRef>,
    /// What responses run through.
    pub out_sequence: Option<SequenceRef>,
    /// What faults run through.
    pub fault_sequence: Option<SequenceRef>,
    /// Where requests go that no sequence sent.
    pub endpoint: Option<EndpointRef>,
    /// What protects its messages.
    pub security: Option<ProxySecurity>,
    /// What brings messages to it besides HTTP.
    pub sources: Vec<Arc<dyn Source>>,
    /// What it says about itself.
    pub description: ProxyDescription,
    /// How much processor time its exchanges take.
    pub cost: ServiceCost,
    /// What is counted of its exchanges.
    pub counters: Arc<ServiceCounters>,
    /// Its switches, which an operator sets.
    pub state: Arc<ServiceState>,
}
