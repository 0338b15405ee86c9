//! Canonical XML: the one form in which documents that say the same have the same bytes, for signatures.
//!
//! Canonical XML 1.0 and 1.1 and Exclusive Canonical XML 1.0, each with or without comments, of a document, of a
//! subtree with others taken out of it ([`canonicalize`]), or of any set of nodes ([`canonicalize_nodes`]).
//! The bytes go to a [`Sink`], piece by piece, so that a digest needs no buffer for the whole.
//! A tree that programs changed has the canonical form of what would be written of it.

mod attributes;
mod base;
mod canonical;
mod copy;
mod namespaces;
mod selection;
mod walk;

#[cfg(test)]
mod tests;

pub use crate::sink::Sink;
pub use crate::writer::{escape_attribute, escape_text};
use crate::{Document, NodeId};
pub use canonical::{Canonical, Method, RelativeNamespace};
pub use selection::NodeRef;
use selection::Selection;
use walk::Walk;

/// A node and all below it, without some of the subtrees in it: what most signatures cover.
#[derive(Clone, Copy, Debug)]
pub struct Subset<'a> {
    /// The document node, or the node that is signed.
    pub apex: NodeId,
    /// Nodes that are left out with all below them, such as the signature itself; attributes too.
    pub excluded: &'a [NodeId],
}

/// Writes the canonical form of a subset.
///
/// Errors: a namespace to be shown is relative; what was written until then is of no use.
/// Source: Canonical XML 1.0, Canonical XML 1.1, Exclusive XML Canonicalization 1.0.
pub fn canonicalize(
    document: &Document,
    subset: Subset<'_>,
    how: &Canonical,
    sink: &mut dyn Sink,
) -> Result<(), RelativeNamespace> {
    let excluded = subset.excluded.iter().copied().collect();
    Walk::run(document, subset.apex, &Selection::Subtree { excluded }, how, sink)
}

/// Writes the canonical form of the nodes that `include` says are in the set.
///
/// `include` is asked for each node of the document that holds `any`, and for each namespace in scope of each of its
/// elements: what it costs grows with the product of both.
/// Errors: as for [`canonicalize`].
pub fn canonicalize_nodes(
    document: &Document,
    any: NodeId,
    include: &dyn Fn(NodeRef<'_>) -> bool,
    how: &Canonical,
    sink: &mut dyn Sink,
) -> Result<(), RelativeNamespace> {
    let top = std::iter::successors(Some(any), |&node| document.parent(node)).last().unwrap_or(any);
    Walk::run(document, top, &Selection::Nodes(include), how, sink)
}
