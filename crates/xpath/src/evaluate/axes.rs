//! The axes from one node (XPath 1.0 §2.2); nothing here recurses, however deep a document is.

use myelin_xml::{Document, Kind, NodeId};

use crate::ast::Axis;
use crate::run::{Flow, Run};
use crate::value::{Node, NodeRef};

impl<'a> Run<'_, 'a> {
    /// All nodes of an axis in the order of the axis, which for some goes backwards through the document.
    pub(super) fn axis(&self, axis: Axis, from: NodeRef<'a>, mut found: impl FnMut(Node) -> Flow) -> Flow {
        let document = from.document;
        let mut found = |node: Node| {
            self.step(1)?;
            found(node)
        };
        let mut tree = |node: NodeId| found(Node::Tree(node));
        match (axis, from.node) {
            (Axis::Self_, node) => found(node),
            (Axis::Child, Node::Tree(node)) => document.children(node).try_for_each(tree),
            (Axis::Descendant, Node::Tree(node)) => document.descendants(node).try_for_each(tree),
            (Axis::DescendantOrSelf, Node::Tree(node)) => {
                tree(node)?;
                document.descendants(node).try_for_each(tree)
            }
            (Axis::Attribute, Node::Tree(node)) if document.kind(node) == Kind::Element => {
                document.attributes(node).try_for_each(tree)
            }
            (Axis::Namespace, Node::Tree(node)) if document.kind(node) == Kind::Element => {
                let count = document.namespaces_in_scope(node).len() as u32;
                (0..count).try_for_each(|index| found(Node::Namespace { element: node, index }))
            }
            (Axis::Parent, _) => from.parent().into_iter().try_for_each(|parent| found(parent.node)),
            (Axis::Ancestor, _) => ancestors(from).try_for_each(|ancestor| found(ancestor.node)),
            (Axis::AncestorOrSelf, node) => {
                found(node)?;
                ancestors(from).try_for_each(|ancestor| found(ancestor.node))
            }
            (Axis::FollowingSibling, Node::Tree(node)) => following_siblings(document, node).try_for_each(tree),
            (Axis::PrecedingSibling, Node::Tree(node)) => preceding_siblings(document, node).try_for_each(tree),
            (Axis::Following, _) => {
                let first = first_following(from, None);
                std::iter::successors(first, |&node| next(document, node)).try_for_each(tree)
            }
            (Axis::Preceding, node) => preceding(document, element_or_self(node, document), tree),
            // Only an element has attributes, and a namespace node has neither children nor siblings.
            (
                Axis::Attribute
                | Axis::Namespace
                | Axis::Child
                | Axis::Descendant
                | Axis::FollowingSibling
                | Axis::PrecedingSibling,
                _,
            ) => Ok(()),
            (Axis::DescendantOrSelf, node) => found(node),
        }
    }
}

fn ancestors(from: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
    std::iter::successors(from.parent(), |node| node.parent())
}

pub(super) fn following_siblings(document: &Document, node: NodeId) -> impl Iterator<Item = NodeId> {
    std::iter::successors(document.next_sibling(node), |&node| document.next_sibling(node))
}

pub(super) fn preceding_siblings(document: &Document, node: NodeId) -> impl Iterator<Item = NodeId> {
    std::iter::successors(document.previous_sibling(node), |&node| document.previous_sibling(node))
}

/// An attribute or namespace node stands where its element does.
pub(super) fn element_or_self(node: Node, document: &Document) -> NodeId {
    match node {
        Node::Namespace { element, .. } => element,
        Node::Tree(node) if document.kind(node) == Kind::Attribute => document.parent(node).unwrap_or(node),
        Node::Tree(node) => node,
    }
}

/// The first node behind a subtree, not looked for outside of the node `around`.
pub(super) fn behind(document: &Document, mut node: NodeId, around: Option<NodeId>) -> Option<NodeId> {
    loop {
        if Some(node) == around {
            return None;
        }
        if let Some(next) = document.next_sibling(node) {
            return Some(next);
        }
        node = document.parent(node)?;
    }
}

fn next(document: &Document, node: NodeId) -> Option<NodeId> {
    document.first_child(node).or_else(|| behind(document, node, None))
}

/// Where the following axis begins: behind an attribute come the children of its element.
pub(super) fn first_following(from: NodeRef<'_>, around: Option<NodeId>) -> Option<NodeId> {
    let document = from.document;
    let owner = element_or_self(from.node, document);
    let inside = if Node::Tree(owner) == from.node { None } else { document.first_child(owner) };
    inside.or_else(|| behind(document, owner, around))
}

/// All that ends before a node, backwards.
fn preceding(document: &Document, from: NodeId, mut found: impl FnMut(NodeId) -> Flow) -> Flow {
    let deepest =
        |top: NodeId| std::iter::successors(Some(top), |&node| document.last_child(node)).last().unwrap_or(top);
    let mut at = from;
    loop {
        let Some(sibling) = document.previous_sibling(at) else {
            // The parent is an ancestor of `from`, which does not precede it.
            match document.parent(at) {
                Some(parent) => at = parent,
                None => return Ok(()),
            }
            continue;
        };
        let mut node = deepest(sibling);
        loop {
            found(node)?;
            if node == sibling {
                break;
            }
            node = match document.previous_sibling(node) {
                Some(before) => deepest(before),
                None => document.parent(node).unwrap_or(sibling),
            };
        }
        at = sibling;
    }
}
