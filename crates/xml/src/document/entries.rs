//! The entries of a subtree that is as it was read: which of them are as Canonical XML writes them.

use std::ops::Range;

use super::node::{Flags, Node};
use super::{Document, Kind, NodeId};
use crate::NameId;

/// A node of a subtree that is as it was read, and where it is in all source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) node: NodeId,
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Of an element what is in it; without children its end.
    pub(crate) content: Content,
    /// Where what comes before it in the same element ends; where nothing does, where it begins.
    pub(crate) follows: usize,
}

/// The place of an element's children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Entry {
    /// Whether an element has an end tag, directly behind its last child and without white space.
    pub(crate) fn ends_canonically(&self, document: &Document) -> bool {
        self.content.end < self.end && has_canonical_end(document.all_source(), self.content.end, self.end)
    }
}

impl Document {
    /// The links of an element and of all below it, where it is as it was read: they follow each other.
    pub(crate) fn links_of(&self, top: NodeId) -> Range<usize> {
        top.index()..self.end_of_subtree(top)
    }

    /// The entry of a node that is as it was read.
    pub(crate) fn entry(&self, node: NodeId) -> Entry {
        let entry = self.at(node);
        let end = entry.end as usize;
        let children = if entry.kind == Kind::Element { [entry.first, entry.last] } else { [0; 2] };
        let [first, last] = children.map(|link| NodeId::from_link(link).map(|child| self.at(child)));
        let content = Content {
            start: first.map_or(end, |child| child.start as usize),
            end: last.map_or(end, |child| child.end as usize),
        };
        let before = NodeId::from_link(entry.previous).map(|before| self.at(before).end as usize);
        let start = entry.start as usize;
        Entry { node, kind: entry.kind, start, end, content, follows: before.unwrap_or(start) }
    }

    /// The entry of a node by its link, which [`find_not_canonical`](Document::find_not_canonical) gave.
    pub(crate) fn entry_at(&self, link: usize) -> Entry {
        self.entry(NodeId::from_link(link as u32).expect("links of nodes begin with 1"))
    }

    /// Finds the first of some entries that does not stand in the source as Canonical XML writes it, apart from `>` in
    /// texts.
    ///
    /// Shape: entries of a subtree that is as it was read; the first that begins at `stop` or behind it is found too.
    /// What begins at `joined` may have a gap in front of it. `is_known` says whether an element of that name needs no
    /// declaration where it has none.
    pub(crate) fn find_not_canonical(
        &self,
        links: Range<usize>,
        (joined, stop): (usize, usize),
        mut is_known: impl FnMut(NameId) -> bool,
    ) -> Option<usize> {
        let source = self.all_source();
        let mut canonical = |node: &Node| {
            if node.kind == Kind::Attribute {
                return true;
            }
            let start = node.start as usize;
            let joins = node.previous == 0 || self.nodes[node.previous as usize].end == node.start || start == joined;
            if !joins || start >= stop {
                return false;
            }
            match node.kind {
                Kind::Text => node.flags.any(Flags::VERBATIM) && (node.first, node.last) == (node.start, node.end),
                Kind::Element if node.attributes == 0 && node.first != 0 => {
                    let content = self.nodes[node.first as usize].start as usize;
                    let end = self.nodes[node.last as usize].end as usize;
                    // In front of the first child is the tag, or a CDATA section without content.
                    let tag = source[content - 2];
                    tag > b' '
                        && tag != b']'
                        && has_canonical_end(source, end, node.end as usize)
                        && is_known(node.name())
                }
                _ => false,
            }
        };
        let first = links.start;
        let mut entries = self.nodes[links].iter();
        entries.position(|node| !canonical(node)).map(|place| first + place)
    }

    /// All source: that of this document, and behind it what was taken over from others.
    #[inline]
    pub(crate) fn all_source(&self) -> &[u8] {
        self.source.as_bytes()
    }
}

/// Whether an end tag follows its element's last child directly, and has no white space behind its name.
#[inline]
fn has_canonical_end(source: &[u8], last_child: usize, end: usize) -> bool {
    source[last_child + 1] == b'/' && source[end - 2] > b' '
}
