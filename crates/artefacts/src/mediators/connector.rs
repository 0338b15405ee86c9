//! Operations of connectors: elements with a dot in their names, such as `<http.get>`.
//!
//! The http connector is built in, others come in archives; see docs/connectors.md.

mod connection;
mod headers;
mod library;
mod operation;
mod parameter;

pub use connection::{connection_of, endpoint, endpoint_name, warn_of_unknown};

use crate::spec::Spec;

/// The operations that are built in.
pub(super) const OPERATIONS: &[Spec] = operation::OPERATIONS;

/// Every operation of a connector that came in an archive.
pub(super) const ARCHIVED_OPERATION: Spec = library::OPERATION;

#[cfg(test)]
mod tests;
