//! What is asked of an expression.

/// What a mediator asks of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// Whether it holds.
    Boolean,
    /// The text that Synapse stores and prints.
    Text,
    /// Nodes, which only the built body has.
    Nodes,
}
