//! Numbers by which the parts of a program refer to each other.

/// An index in [`Program::scopes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScopeId(pub(crate) u32);

/// An index in [`Program::parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParameterId(pub(crate) u32);
