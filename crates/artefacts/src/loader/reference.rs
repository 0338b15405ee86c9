//! What artefacts refer to, by number.

use myelin_config::element::Element;
use myelin_flow::sequence::SequenceId;
use myelin_flow::template::TemplateId;

/// Which of the bus's endpoints.
pub type EndpointId = usize;

/// One artefact of another, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// A sequence.
    Sequence(SequenceId),
    /// An endpoint.
    Endpoint(EndpointId),
    /// A sequence template.
    Template(TemplateId),
    /// A proxy by the number it was declared with.
    Proxy(usize),
}

/// An artefact of the registry or of a connector that something refers to; it is built behind those of the configuration.
pub struct Fetched {
    /// The key it is referred to by.
    pub key: String,
    /// What the resource holds.
    pub element: Element,
    /// The number that it got when it was referred to.
    pub id: Reference,
}
