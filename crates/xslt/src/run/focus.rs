//! What instructions work on: an item, as one of several.

use std::borrow::Cow;

use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::{Item, Node, NodeRef, Start, Version};

/// What instructions work on.
#[derive(Clone)]
pub(crate) struct Focus<'a> {
    pub(crate) item: Option<Item<'a>>,
    /// Counts from 1.
    pub(crate) position: u64,
    pub(crate) size: u64,
}

impl<'a> Focus<'a> {
    /// A node as one of several.
    #[inline]
    pub(super) fn on(node: NodeRef<'a>, position: u64, size: u64) -> Focus<'a> {
        Focus { item: Some(Item::Node(node)), position, size }
    }

    /// What an expression starts from.
    #[inline]
    pub(super) fn start(&self) -> Start<'_, 'a> {
        Start { item: self.item.as_ref(), position: self.position, size: self.size, current: None }
    }

    pub(super) fn nothing() -> Focus<'a> {
        Focus { item: None, position: 1, size: 1 }
    }

    /// The context node, if it is one that a tree holds.
    #[inline]
    pub(super) fn tree(&self) -> Option<(&'a Document, NodeId)> {
        match &self.item {
            Some(Item::Node(NodeRef { document, node: Node::Tree(node) })) => Some((document, *node)),
            _ => None,
        }
    }

    pub(super) fn node(&self) -> Option<NodeRef<'a>> {
        self.item.as_ref().and_then(Item::node)
    }

    /// A path to the context node, for people.
    pub(super) fn path(&self) -> Option<String> {
        self.node().map(path)
    }
}

/// How many steps of a path are told.
const PATH: usize = 32;

/// A path to a node: `/a/b[2]/@c`.
pub(super) fn path(node: NodeRef<'_>) -> String {
    let mut parts = Vec::new();
    let mut next = Some(node);
    while let Some(node) = next {
        next = node.parent();
        let (document, Some(tree)) = (node.document, node.node.tree()) else {
            parts.push("namespace::*".to_owned());
            continue;
        };
        let name = document.qname(tree);
        let name =
            if name.prefix.is_empty() { name.local.to_owned() } else { format!("{}:{}", name.prefix, name.local) };
        let test = match document.kind(tree) {
            Kind::Document => continue,
            Kind::Attribute => {
                parts.push(format!("@{name}"));
                continue;
            }
            Kind::Element => name,
            Kind::Text => "text()".to_owned(),
            Kind::Comment => "comment()".to_owned(),
            Kind::Instruction => format!("processing-instruction({name})"),
        };
        let alike = |other: NodeId| {
            document.kind(other) == document.kind(tree) && document.expanded(other) == document.expanded(tree)
        };
        let before = std::iter::successors(document.previous_sibling(tree), |&node| document.previous_sibling(node));
        let after = std::iter::successors(document.next_sibling(tree), |&node| document.next_sibling(node));
        let position = before.into_iter().filter(|&other| alike(other)).count() + 1;
        let alone = position == 1 && !after.into_iter().any(alike);
        parts.push(if alone { test } else { format!("{test}[{position}]") });
    }
    // Of a deep document its top and the node's surroundings tell enough.
    if parts.len() > PATH {
        parts.splice(PATH / 2..parts.len() - PATH / 2, ["…".to_owned()]);
    }
    parts.reverse();
    format!("/{}", parts.join("/"))
}

/// The text of an item.
pub(super) fn text_of<'a>(item: Item<'a>, version: Version) -> Cow<'a, str> {
    item.into_text(version)
}

/// A node of a tree as an item.
pub(super) fn item<'a>(document: &'a Document, node: NodeId) -> Item<'a> {
    Item::Node(NodeRef::new(document, node))
}
