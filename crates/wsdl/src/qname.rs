//! Names with their namespaces.

/// A name with its namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct QName {
    /// Empty where there is none.
    pub namespace: String,
    /// The local name.
    pub local: String,
}
