//! Where the result of a transformation goes.

mod properties;

pub use properties::{Method, OutputProperties};

/// Namespaces that have to be in scope on an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamespaceSet {
    /// Prefix and namespace.
    pub(crate) bindings: Vec<(String, String)>,
}
