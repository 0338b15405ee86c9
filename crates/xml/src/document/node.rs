//! One node of the tree: what it is, what it is linked to, and where it stands in the source.

use std::num::NonZeroU32;

use crate::{Atom, NameId};

/// A node of one [`Document`](super::Document).
///
/// Nodes are never removed from the arrays, so an id stays good as long as its document; that of another document
/// gives some other node, or panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(NonZeroU32);

impl NodeId {
    /// The document node: always the first of the array.
    pub(super) const DOCUMENT: NodeId = NodeId(NonZeroU32::MIN);

    /// Where the node stands in the arrays of its document: from 1 to [`Document::node_count`].
    ///
    /// For tables with a place for each node; it is the document order only while the document is as it was read.
    ///
    /// [`Document::node_count`]: super::Document::node_count
    #[inline]
    pub fn index(self) -> usize {
        self.0.get() as usize
    }

    /// The node that a link leads to; 0 leads nowhere.
    #[inline]
    pub(super) fn from_link(link: u32) -> Option<NodeId> {
        NonZeroU32::new(link).map(NodeId)
    }

    #[inline]
    pub(super) fn link(self) -> u32 {
        self.0.get()
    }
}

/// What a node is.
///
/// Source: XPath 1.0 §5, without namespace nodes: those are pairs of an element and a prefix; see
/// [`Document::namespaces_in_scope`](super::Document::namespaces_in_scope).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The node above the root element.
    Document,
    /// An element.
    Element,
    /// An attribute that is not a namespace declaration.
    Attribute,
    /// A longest run of characters, CDATA sections included.
    Text,
    /// A comment.
    Comment,
    /// A processing instruction.
    Instruction,
}

/// What is true of a node beside its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags(u8);

impl Flags {
    /// `start..end` is where the node stands in the source.
    pub(super) const SOURCE: Flags = Flags(1);
    /// `first..last` is the value as it is, without references or line ends to replace.
    pub(super) const VERBATIM: Flags = Flags(2);
    /// `first..last` is a range of the values made by programs, not of the source.
    pub(super) const MADE: Flags = Flags(4);
    /// The node's own tag, target or value is not the one in the source any more.
    pub(super) const EDITED: Flags = Flags(8);
    /// Something below the node is not as it was in the source; set on all its ancestors too.
    pub(super) const CHANGED: Flags = Flags(16);
    /// The node stood at another place in the source, below another parent.
    pub(super) const MOVED: Flags = Flags(32);
    /// The namespace declarations of the element are not those of its tag in the source.
    pub(super) const REDECLARED: Flags = Flags(64);
    /// The attribute is a namespace declaration.
    pub(super) const DECLARATION: Flags = Flags(128);

    #[inline]
    pub(super) const fn with(self, more: Flags) -> Flags {
        Flags(self.0 | more.0)
    }

    /// Whether any of `flags` is set.
    #[inline]
    pub(super) const fn any(self, flags: Flags) -> bool {
        self.0 & flags.0 != 0
    }

    #[inline]
    pub(super) fn set(&mut self, flags: Flags) {
        self.0 |= flags.0;
    }

    #[inline]
    pub(super) fn clear(&mut self, flags: Flags) {
        self.0 &= !flags.0;
    }
}

/// The entry of a node. Links are indices into the same array, 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) flags: Flags,
    /// The number of a name: that of an element or attribute, the target of an instruction as local name.
    /// Of declarations the atom of the prefix.
    pub(super) name: u32,
    pub(super) parent: u32,
    pub(super) previous: u32,
    pub(super) next: u32,
    /// Of elements and the document the first child, of declarations the atom of the namespace; of all others where
    /// the value begins.
    pub(super) first: u32,
    /// Of elements and the document the last child; of all others where the value ends.
    pub(super) last: u32,
    /// Of elements the first of the chain of declarations and then attributes.
    pub(super) attributes: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Node {
    /// A node without links, name and value.
    pub(super) fn blank(kind: Kind, flags: Flags) -> Node {
        Node {
            kind,
            flags,
            name: 0,
            parent: 0,
            previous: 0,
            next: 0,
            first: 0,
            last: 0,
            attributes: 0,
            start: 0,
            end: 0,
        }
    }

    /// A declaration that a program made.
    pub(super) fn declaration((prefix, namespace): (Atom, Atom)) -> Node {
        let (name, first) = (prefix.index() as u32, namespace.index() as u32);
        Node { name, first, ..Node::blank(Kind::Attribute, Flags::DECLARATION) }
    }

    /// The name of an element or attribute, or the target of an instruction.
    #[inline]
    pub(super) fn name(&self) -> NameId {
        NameId::from_index(self.name)
    }

    /// Prefix and namespace of a declaration.
    #[inline]
    pub(super) fn binding(&self) -> (Atom, Atom) {
        (Atom::from_index(self.name), Atom::from_index(self.first))
    }

    #[inline]
    pub(super) fn is_declaration(&self) -> bool {
        self.flags.any(Flags::DECLARATION)
    }

    /// Whether the node has children: links in `first` and `last` instead of a value.
    #[inline]
    pub(super) fn is_parent(&self) -> bool {
        matches!(self.kind, Kind::Document | Kind::Element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_at_most_40_bytes() {
        assert!(size_of::<Node>() <= 40, "{}", size_of::<Node>());
    }
}
