//! What a flow knows of endpoints: who they are, and that something waits to be sent to one.

use std::any::Any;

use crate::extensions::Extension;
use crate::ids::SequenceId;

/// An endpoint, as the exchange remembers the one it was sent to last.
pub trait EndpointIdentity: Send + Sync {
    /// Its name; empty where it has none.
    fn name(&self) -> &str;

    /// Its fixed address, where it has one: Synapse's `ENDPOINT_PREFIX`.
    fn prefix(&self) -> Option<&str>;
}

/// What `send` or `call` lets leave: taken there, carried out when the flow has ended.
pub struct PendingSend {
    /// The request or message; whoever carries it out knows its type.
    pub what: Box<dyn Any>,
    /// The sequences that handle a failure, where any stand around the `send`.
    pub handlers: Vec<SequenceId>,
    /// The sequence that its response runs through, where that is not the service's own.
    pub receive: Option<SequenceId>,
}

/// What an operation is called that no description names.
pub const ANY_OPERATION: &str = "mediate";

/// The operation of the service's description that the request means.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// The namespace of its description.
    pub namespace: String,
}

impl Extension for Operation {}
