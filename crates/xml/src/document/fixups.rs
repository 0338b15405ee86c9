//! What has to be written beside the tree's own declarations, so that each name keeps its namespace.
//!
//! Programs put names into a tree and move subtrees without thinking of declarations. One walk over what was changed,
//! the first time somebody asks after a change, finds the prefixes that are not bound as the names say, and decides
//! what is declared where; writing and canonical XML use the same answer.

mod walk;

use std::collections::{HashMap, HashSet};

use super::NodeId;
use crate::Atom;

/// A prefix: one of the document's, or one made up here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// One that the document's names know.
    Known(Atom),
    /// `ns` and this number, which no name of the document uses.
    Made(usize),
}

/// The additions and replacements, by element or attribute; empty for a document that is consistent by itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fixups {
    added: HashMap<NodeId, Vec<(Prefix, Atom)>>,
    renamed: HashMap<NodeId, Prefix>,
    /// Elements without namespace on which a default namespace is declared: the declaration is not written.
    dropped: HashSet<NodeId>,
}

impl Fixups {
    /// The declarations to be written on the element beside its own.
    #[inline]
    pub(crate) fn added(&self, element: NodeId) -> &[(Prefix, Atom)] {
        if self.added.is_empty() { &[] } else { self.added.get(&element).map_or(&[], Vec::as_slice) }
    }

    /// The prefix that takes the place of the one in the name of an element or attribute.
    #[inline]
    pub(crate) fn renamed(&self, node: NodeId) -> Option<Prefix> {
        if self.renamed.is_empty() { None } else { self.renamed.get(&node).copied() }
    }

    /// Whether the element's own declaration of a default namespace is left out.
    #[inline]
    pub(crate) fn drops_default(&self, element: NodeId) -> bool {
        !self.dropped.is_empty() && self.dropped.contains(&element)
    }
}
