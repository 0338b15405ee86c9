//! Where nodes stand in the source.

use std::ops::Range;

use super::node::{Flags, Node};
use super::{Document, Kind, NodeId};
use crate::Atom;
use crate::parser::place::Place;

impl Document {
    /// Where the node stands in the source, in bytes: from `<` to behind the end tag, from the name of an attribute to
    /// behind its value's quote; `None` for a node that a program made, edited, or took from another document.
    ///
    /// A text's range holds its CDATA sections whole; that of the document node is all of the source.
    pub fn range(&self, node: NodeId) -> Option<Range<usize>> {
        self.span(node).filter(|span| span.end <= self.read_bytes())
    }

    /// The bytes that a node which no program edited stands in, of all source: this document's and that of others.
    pub(crate) fn span(&self, node: NodeId) -> Option<Range<usize>> {
        let node = self.at(node);
        let as_read = node.flags.any(Flags::SOURCE) && !node.flags.any(Flags::EDITED);
        as_read.then_some(node.start as usize..node.end as usize)
    }

    /// A part of all source.
    #[inline]
    pub(crate) fn text(&self, span: Range<usize>) -> &str {
        &self.source[span]
    }

    /// Where the value of an attribute stands in the source, without its quotes; `None` as for [`Document::range`].
    pub fn value_range(&self, attribute: NodeId) -> Option<Range<usize>> {
        self.range(attribute)?;
        let node = self.at(attribute);
        (node.kind == Kind::Attribute).then_some(node.first as usize..node.last as usize)
    }

    /// Line and column of the node in the source; `None` for a node that a program made or took from another document.
    ///
    /// Units: both count from 1, columns in characters. Counts through the source: for messages to people.
    pub fn location(&self, node: NodeId) -> Option<(u64, u64)> {
        let node = self.at(node);
        if !node.flags.any(Flags::SOURCE) || node.end as usize > self.read_bytes() {
            return None;
        }
        let mut place = Place::default();
        place.pass(&self.source.as_bytes()[..node.start as usize], true);
        Some((place.line, place.column))
    }

    /// The node that begins at a byte of the source, attributes aside; `None` too for a document that is not as it was
    /// read.
    pub fn node_at(&self, offset: usize) -> Option<NodeId> {
        let index = self.first_from(offset)?;
        let node = self.nodes.get(index)?;
        (node.start as usize == offset && node.kind != Kind::Attribute).then(|| NodeId::from_link(index as u32))?
    }

    /// The text that begins before a byte of the source and ends behind it; `None` as for [`Document::node_at`].
    pub fn text_around(&self, offset: usize) -> Option<NodeId> {
        let index = self.first_from(offset)? - 1;
        let node = self.nodes.get(index)?;
        (node.kind == Kind::Text && node.end as usize > offset).then(|| NodeId::from_link(index as u32))?
    }

    /// The index of the first node below the document that begins at a byte of the source or behind it.
    ///
    /// Nodes of a document as it was read stand in the order of the source, save for the attributes of one tag among
    /// each other, which begin behind their element and before all that follows it.
    fn first_from(&self, offset: usize) -> Option<usize> {
        let first = NodeId::DOCUMENT.index() + 1;
        let before = |node: &Node| (node.start as usize) < offset;
        self.is_as_read().then(|| first + self.nodes[first..].partition_point(before))
    }

    /// The node with all below it as it stands in the source, if that still says what is to be seen: nothing of it was
    /// changed or hidden, and prefixes mean around it what they meant.
    ///
    /// Where the document was changed elsewhere, a walk to the root.
    pub fn as_read(&self, node: NodeId) -> Option<&str> {
        let entry = self.at(node);
        let says_it = entry.is_as_read() && !self.hides_space && self.is_in_place(node);
        says_it.then(|| &self.source[entry.start as usize..entry.end as usize])
    }

    /// Whether neither the node nor one above it was moved or got other namespace declarations.
    pub(super) fn is_in_place(&self, node: NodeId) -> bool {
        if self.is_as_read() {
            // What was taken over from another document is put nowhere yet.
            return self.at(node).end as usize <= self.read_bytes();
        }
        let elsewhere = Flags::MOVED.with(Flags::REDECLARED);
        let mut above = std::iter::successors(Some(node), |&node| self.parent(node));
        !self.seen_elsewhere && above.all(|node| !self.at(node).flags.any(elsewhere))
    }

    /// Whether the node with all below it is as it was read, wherever it is now.
    pub(crate) fn is_subtree_as_read(&self, node: NodeId) -> bool {
        self.at(node).is_as_read()
    }

    /// Where a node begins that is still below the parent it was read below.
    pub(crate) fn place_in_source(&self, node: NodeId) -> Option<usize> {
        let node = self.at(node);
        (node.flags.any(Flags::SOURCE) && !node.flags.any(Flags::MOVED)).then_some(node.start as usize)
    }

    /// Where the start tag of an element stands, if it is as it was read.
    ///
    /// The tag is scanned for its end: only elements below which something changed are asked.
    pub(crate) fn start_tag_range(&self, element: NodeId) -> Option<Range<usize>> {
        let Range { start, end } = self.span(element)?;
        let bytes = self.source.as_bytes();
        let mut at = start;
        while let Some(found) = memchr::memchr3(b'>', b'"', b'\'', &bytes[at..end]) {
            at += found + 1;
            match bytes[at - 1] {
                b'>' => return Some(start..at),
                quote => at += memchr::memchr(quote, &bytes[at..end])? + 1,
            }
        }
        None
    }

    /// Where the end tag of an element stands, if its tags are as they were read and it is not an empty-element tag.
    pub(crate) fn end_tag_range(&self, element: NodeId) -> Option<Range<usize>> {
        let Range { start, end } = self.span(element)?;
        let text = &self.source[start..end];
        // No name ends in a slash, so this tells `<a/>` from `<a></a>`.
        if text.ends_with("/>") {
            return None;
        }
        text.rfind("</").map(|at| start + at..end)
    }

    /// The declarations of an element, each with where it stands in the source if it is as it was read.
    pub(crate) fn declarations_with_places(
        &self,
        element: NodeId,
    ) -> impl Iterator<Item = (Option<Range<usize>>, (Atom, Atom))> {
        self.declaration_nodes(element).map(|node| (self.span(node), self.at(node).binding()))
    }
}

impl Node {
    /// Whether the node and all below it are as they were read; the node itself may be elsewhere.
    #[inline]
    pub(super) fn is_as_read(&self) -> bool {
        self.flags.any(Flags::SOURCE) && !self.flags.any(Flags::EDITED.with(Flags::CHANGED))
    }
}
