//! Ways through the tree: to parent, children, siblings, descendants and attributes.

use std::borrow::Cow;

use super::{Document, Kind, NodeId};

impl Document {
    /// The parent; of attributes and declarations their element. `None` for the document node and for what is detached.
    #[inline]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        NodeId::from_link(self.at(node).parent)
    }

    /// The first child of an element or of the document node.
    #[inline]
    pub fn first_child(&self, node: NodeId) -> Option<NodeId> {
        let node = self.at(node);
        if node.is_parent() { NodeId::from_link(node.first) } else { None }
    }

    /// The last child of an element or of the document node.
    #[inline]
    pub fn last_child(&self, node: NodeId) -> Option<NodeId> {
        let node = self.at(node);
        if node.is_parent() { NodeId::from_link(node.last) } else { None }
    }

    /// The next child of the same parent; attributes have no siblings.
    #[inline]
    pub fn next_sibling(&self, node: NodeId) -> Option<NodeId> {
        let node = self.at(node);
        if node.kind == Kind::Attribute { None } else { NodeId::from_link(node.next) }
    }

    /// The previous child of the same parent; attributes have no siblings.
    #[inline]
    pub fn previous_sibling(&self, node: NodeId) -> Option<NodeId> {
        let node = self.at(node);
        if node.kind == Kind::Attribute { None } else { NodeId::from_link(node.previous) }
    }

    /// The children in order.
    pub fn children(&self, node: NodeId) -> Siblings<'_> {
        Siblings { document: self, next: self.first_child(node) }
    }

    /// All below the node in document order, without the node itself and without attributes.
    pub fn descendants(&self, node: NodeId) -> Descendants<'_> {
        Descendants { document: self, top: node, next: self.first_child(node) }
    }

    /// The attributes of an element in the order they are written, without namespace declarations.
    pub fn attributes(&self, element: NodeId) -> Siblings<'_> {
        let mut next = self.first_in_chain(element);
        while let Some(node) = next.filter(|&node| self.at(node).is_declaration()) {
            next = NodeId::from_link(self.at(node).next);
        }
        Siblings { document: self, next }
    }

    /// All attributes below the document node, without namespace declarations, each behind its element; in document
    /// order.
    pub fn all_attributes(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        // The entries of a document that was only read are in document order, and nothing else is among them.
        let top = self.at(NodeId::DOCUMENT);
        let first = NodeId::DOCUMENT.link() + 1;
        let as_read = top.is_as_read()
            && !self.relinked
            && top.first == first
            && self.end_of_subtree(NodeId::DOCUMENT) == self.nodes.len();
        let entries = if as_read { &self.nodes[..] } else { &[] };
        let at_once = entries.iter().zip(0..).filter(|(entry, _)| entry.kind == Kind::Attribute);
        let at_once = at_once.filter(|(entry, _)| !entry.is_declaration());
        let at_once =
            at_once.filter_map(|(entry, link)| Some((NodeId::from_link(entry.parent)?, NodeId::from_link(link)?)));
        let walked = (!as_read).then(|| self.descendants(NodeId::DOCUMENT)).into_iter().flatten();
        let walked = walked.filter(|&node| self.kind(node) == Kind::Element);
        at_once.chain(walked.flat_map(|element| self.attributes(element).map(move |attribute| (element, attribute))))
    }

    /// The attribute of that expanded name; `namespace` is empty for none.
    pub fn attribute_node(&self, element: NodeId, namespace: &str, local: &str) -> Option<NodeId> {
        let first = self.attributes(element).next()?;
        let wanted = self.names.find(namespace, local)?;
        Siblings { document: self, next: Some(first) }
            .find(|&attribute| self.names.expanded(self.at(attribute).name()) == wanted)
    }

    /// The value of the attribute of that expanded name; `namespace` is empty for none.
    pub fn attribute(&self, element: NodeId, namespace: &str, local: &str) -> Option<Cow<'_, str>> {
        self.attribute_node(element, namespace, local).map(|attribute| self.value(attribute))
    }

    /// What comes behind all of the node's subtree in document order, within the subtree of `top`.
    #[inline]
    pub(crate) fn following(&self, mut node: NodeId, top: NodeId) -> Option<NodeId> {
        while node != top {
            if let Some(next) = NodeId::from_link(self.at(node).next) {
                return Some(next);
            }
            node = NodeId::from_link(self.at(node).parent)?;
        }
        None
    }

    /// The index behind the last entry of a subtree whose entries stand together: one as it was read or copied.
    pub(super) fn end_of_subtree(&self, top: NodeId) -> usize {
        let mut last = top;
        while let Some(child) = self.last_child(last) {
            last = child;
        }
        let mut next = if self.kind(last) == Kind::Element { self.first_in_chain(last) } else { None };
        while let Some(entry) = next {
            last = entry;
            next = NodeId::from_link(self.at(entry).next);
        }
        last.index() + 1
    }

    /// The first declaration or attribute of an element.
    #[inline]
    pub(super) fn first_in_chain(&self, element: NodeId) -> Option<NodeId> {
        NodeId::from_link(self.at(element).attributes)
    }
}

/// Nodes that follow each other: see [`Document::children`] and [`Document::attributes`].
#[derive(Clone, Debug)]
pub struct Siblings<'a> {
    document: &'a Document,
    next: Option<NodeId>,
}

impl Iterator for Siblings<'_> {
    type Item = NodeId;

    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        let node = self.next?;
        self.next = NodeId::from_link(self.document.at(node).next);
        Some(node)
    }
}

/// All below a node; see [`Document::descendants`].
#[derive(Clone, Debug)]
pub struct Descendants<'a> {
    document: &'a Document,
    top: NodeId,
    next: Option<NodeId>,
}

impl Iterator for Descendants<'_> {
    type Item = NodeId;

    #[inline]
    fn next(&mut self) -> Option<NodeId> {
        let node = self.next?;
        self.next = self.document.first_child(node).or_else(|| self.document.following(node, self.top));
        Some(node)
    }
}
