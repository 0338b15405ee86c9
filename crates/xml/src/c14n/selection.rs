//! Which nodes a canonical form is of.

use std::collections::HashSet;

use crate::{Document, Kind, NodeId};

/// A node that a set can hold or not: one of the tree, or a namespace node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRef<'a> {
    /// An element, attribute, text, comment or instruction.
    Node(NodeId),
    /// What a prefix means at an element, declared there or above.
    Namespace {
        /// The element.
        element: NodeId,
        /// The prefix, empty for the default namespace.
        prefix: &'a str,
    },
}

/// Which nodes are in the set.
pub(super) enum Selection<'a> {
    Subtree { excluded: HashSet<NodeId> },
    Nodes(&'a dyn Fn(NodeRef<'_>) -> bool),
}

impl Selection<'_> {
    /// Whether the node and all below it are left out without a further look.
    #[inline]
    pub(super) fn skips(&self, node: NodeId) -> bool {
        match self {
            Selection::Subtree { excluded } => !excluded.is_empty() && excluded.contains(&node),
            Selection::Nodes(_) => false,
        }
    }

    /// Whether all below the apex is in the set.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Selection::Subtree { excluded } if excluded.is_empty())
    }

    /// Whether the node is in the set; that a node is not below a skipped one is known.
    #[inline]
    pub(super) fn holds(&self, node: NodeId) -> bool {
        match self {
            Selection::Subtree { .. } => !self.skips(node),
            Selection::Nodes(include) => include(NodeRef::Node(node)),
        }
    }

    /// Whether an element above the apex, or above an element in the set, is in the set itself.
    pub(super) fn holds_ancestor(&self, ancestor: NodeId) -> bool {
        match self {
            Selection::Subtree { .. } => false,
            Selection::Nodes(include) => include(NodeRef::Node(ancestor)),
        }
    }
}

/// Whether the node stands at the top of its document.
pub(super) fn is_top_level(document: &Document, node: NodeId) -> bool {
    document.parent(node).is_some_and(|parent| document.kind(parent) == Kind::Document)
}
