//! Nodes as values: which document they belong to, and the namespace nodes no tree holds.

use std::borrow::Cow;
use std::cmp::Ordering;

use myelin_xml::{Document, Kind, NodeId};

/// A node of some document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A node of the tree.
    Tree(NodeId),
    /// The namespace node of an element: the `index`th of [`Document::namespaces_in_scope`].
    Namespace {
        /// The element.
        element: NodeId,
        /// Counts from 0.
        index: u32,
    },
}

impl From<NodeId> for Node {
    fn from(node: NodeId) -> Node {
        Node::Tree(node)
    }
}

impl Node {
    /// The node, if the tree holds it.
    pub fn tree(self) -> Option<NodeId> {
        match self {
            Node::Tree(node) => Some(node),
            Node::Namespace { .. } => None,
        }
    }

    /// Where it stands: a namespace node behind its element and before that one's attributes.
    pub(crate) fn order(self, other: Node, document: &Document) -> Ordering {
        match (self, other) {
            (Node::Tree(one), Node::Tree(other)) => document.order(one, other),
            (Node::Namespace { element, index }, Node::Namespace { element: another, index: last }) => {
                document.order(element, another).then(index.cmp(&last))
            }
            (Node::Namespace { element, .. }, Node::Tree(other)) => {
                document.order(element, other).then(Ordering::Greater)
            }
            (Node::Tree(one), Node::Namespace { element, .. }) => document.order(one, element).then(Ordering::Less),
        }
    }
}

/// A node with its document.
#[derive(Clone, Copy)]
pub struct NodeRef<'a> {
    /// The document it belongs to.
    pub document: &'a Document,
    /// Which of its nodes.
    pub node: Node,
}

impl<'a> NodeRef<'a> {
    /// A node of a document.
    pub fn new(document: &'a Document, node: impl Into<Node>) -> NodeRef<'a> {
        NodeRef { document, node: node.into() }
    }

    /// The text of the node and all below it.
    ///
    /// Source: XPath 1.0 §5.
    pub fn string_value(self) -> Cow<'a, str> {
        match self.node {
            Node::Tree(node) => self.document.string_value(node),
            Node::Namespace { .. } => Cow::Borrowed(self.namespace().map_or("", |(_, uri)| uri)),
        }
    }

    /// What it is; `None` for a namespace node.
    pub fn kind(self) -> Option<Kind> {
        self.node.tree().map(|node| self.document.kind(node))
    }

    /// Prefix and namespace of a namespace node.
    pub fn namespace(self) -> Option<(&'a str, &'a str)> {
        match self.node {
            Node::Tree(_) => None,
            Node::Namespace { element, index } => {
                self.document.namespaces_in_scope(element).get(index as usize).copied()
            }
        }
    }

    /// The parent; of a namespace node its element.
    pub fn parent(self) -> Option<NodeRef<'a>> {
        let parent = match self.node {
            Node::Tree(node) => self.document.parent(node),
            Node::Namespace { element, .. } => Some(element),
        };
        parent.map(|parent| NodeRef::new(self.document, parent))
    }

    /// The top of the tree it is in: the document node, or whatever is detached.
    pub fn root(self) -> NodeRef<'a> {
        std::iter::successors(Some(self), |node| node.parent()).last().unwrap_or(self)
    }

    /// Document order; of two documents the one that was begun before the other comes first.
    pub fn order(self, other: NodeRef<'_>) -> Ordering {
        if std::ptr::eq(self.document, other.document) {
            return self.node.order(other.node, self.document);
        }
        self.document.serial().cmp(&other.document.serial())
    }
}

impl PartialEq for NodeRef<'_> {
    fn eq(&self, other: &NodeRef<'_>) -> bool {
        self.node == other.node && std::ptr::eq(self.document, other.document)
    }
}

impl std::fmt::Debug for NodeRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the document, which may be megabytes.
        self.node.fmt(f)
    }
}

/// Puts nodes into document order, each once.
pub(crate) fn sort(nodes: &mut Vec<NodeRef<'_>>) {
    // Most lists are in order already, and seeing that costs one pass.
    if nodes.windows(2).all(|pair| pair[0].order(pair[1]).is_lt()) {
        return;
    }
    nodes.sort_unstable_by(|one, other| one.order(*other));
    nodes.dedup();
}
