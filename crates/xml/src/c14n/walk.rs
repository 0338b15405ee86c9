//! The walk over the nodes in document order that writes the canonical form.

use super::attributes::{self, Item};
use super::canonical::{Canonical, RelativeNamespace};
use super::namespaces::{Mark, Namespaces};
use super::selection::{Selection, is_top_level};
use crate::document::{Entry, Fixups};
use crate::sink::Sink;
use crate::writer::{escape_attribute, escape_text};
use crate::{Document, Kind, NodeId};

/// How many bytes are gathered before the sink gets them: a digest is slow with single names.
pub(super) const GATHERED: usize = 8 << 10;

pub(super) struct Walk<'a> {
    pub(super) document: &'a Document,
    fixups: &'a Fixups,
    pub(super) selection: &'a Selection<'a>,
    how: &'a Canonical,
    pub(super) namespaces: Namespaces<'a>,
    /// The elements that the walk is inside of, without those whose tags it copies.
    pub(super) open: Vec<Open>,
    /// Those of them in a subtree that it copies: kept for its memory.
    pub(super) levels: Vec<Entry>,
    /// Whether the root element has been met: what comes behind it at the top begins a line.
    behind_root: bool,
    attributes: Vec<Item<'a>>,
    pub(super) gathered: Vec<u8>,
    pub(super) sink: &'a mut dyn Sink,
}

pub(super) struct Open {
    element: NodeId,
    /// Whether it is in the set, so that it has tags.
    included: bool,
    pub(super) mark: Mark,
}

impl Walk<'_> {
    /// Writes what the selection holds of `top` and all below it.
    pub(super) fn run(
        document: &Document,
        top: NodeId,
        selection: &Selection<'_>,
        how: &Canonical,
        sink: &mut dyn Sink,
    ) -> Result<(), RelativeNamespace> {
        let root = std::iter::successors(Some(top), |&node| document.parent(node)).last().unwrap_or(top);
        let detached;
        let fixups = if root == document.document_node() {
            document.fixups()
        } else {
            detached = document.fixups_alone(root);
            &detached
        };
        let mut walk = Walk {
            document,
            fixups,
            selection,
            how,
            namespaces: Namespaces::new(document, fixups, how),
            open: Vec::new(),
            levels: Vec::new(),
            behind_root: false,
            attributes: Vec::new(),
            gathered: Vec::with_capacity(2 * GATHERED),
            sink,
        };
        walk.namespaces.surround(top);
        walk.subtree(top);
        walk.give_gathered(1);
        match walk.namespaces.relative {
            Some(namespace) => Err(RelativeNamespace(document.names().text(namespace).to_owned())),
            None => Ok(()),
        }
    }

    fn subtree(&mut self, top: NodeId) {
        let mut next = Some(top);
        while let Some(node) = next {
            next = if self.enter(node) { self.document.first_child(node) } else { None };
            let mut ended = node;
            while next.is_none() {
                self.leave(ended);
                if ended == top {
                    return;
                }
                next = self.document.next_sibling(ended);
                match self.document.parent(ended) {
                    Some(parent) => ended = parent,
                    None => return,
                }
            }
        }
    }

    /// Writes a node, of an element the start tag; whether its children come next.
    fn enter(&mut self, node: NodeId) -> bool {
        if self.selection.skips(node) {
            return false;
        }
        self.give_gathered(GATHERED);
        match self.document.kind(node) {
            Kind::Document => return true,
            Kind::Element if self.copies(node) => {
                self.copy_subtree(node);
                self.behind_root |= is_top_level(self.document, node);
            }
            Kind::Element => {
                self.start_tag(node);
                return true;
            }
            _ => self.leaf(node),
        }
        false
    }

    /// Writes a node that has no children.
    pub(super) fn leaf(&mut self, node: NodeId) {
        match self.document.kind(node) {
            Kind::Document | Kind::Element | Kind::Attribute => {}
            Kind::Text => {
                if self.selection.holds(node) {
                    escape_text(&self.document.value(node), &mut self.gathered);
                }
            }
            Kind::Comment => {
                if self.how.comments && self.selection.holds(node) {
                    self.aside(node, "<!--", "-->");
                }
            }
            Kind::Instruction => {
                if self.selection.holds(node) {
                    self.aside(node, "<?", "?>");
                }
            }
        }
    }

    /// Ends a node; only elements that were entered have something to be done.
    fn leave(&mut self, node: NodeId) {
        let Some(open) = self.open.pop_if(|open| open.element == node) else { return };
        self.namespaces.leave(open.mark);
        if open.included {
            self.end_tag(node);
        }
        self.behind_root |= is_top_level(self.document, node);
    }

    pub(super) fn end_tag(&mut self, element: NodeId) {
        self.put("</");
        self.name(element);
        self.put(">");
    }

    pub(super) fn start_tag(&mut self, element: NodeId) {
        let included = self.selection.holds(element);
        let orphan = self.open.last().is_none_or(|parent| !parent.included);
        let mark = self.namespaces.enter(element, (included, orphan), self.selection, self.how.method);
        self.open.push(Open { element, included, mark });
        if included {
            self.put("<");
            self.name(element);
        }
        for at in 0..self.namespaces.shows.len() {
            let (prefix, namespace) = self.namespaces.shows[at];
            let prefix = self.namespaces.text(prefix);
            self.put(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
            self.put(&prefix);
            self.put("=\"");
            escape_attribute(self.document.names().text(namespace), &mut self.gathered);
            self.put("\"");
        }
        let mut items = std::mem::take(&mut self.attributes);
        attributes::collect(self.document, element, included && orphan, self.selection, self.how.method, &mut items);
        for item in &items {
            self.put(" ");
            self.name(item.node);
            self.put("=\"");
            match &item.value {
                Some(value) => escape_attribute(value, &mut self.gathered),
                None => escape_attribute(&self.document.value(item.node), &mut self.gathered),
            }
            self.put("\"");
        }
        self.attributes = items;
        if included {
            self.put(">");
        }
    }

    /// Writes a comment or instruction, at the top of the document on a line of its own.
    fn aside(&mut self, node: NodeId, start: &str, end: &str) {
        let top_level = is_top_level(self.document, node);
        if top_level && self.behind_root {
            self.put("\n");
        }
        self.put(start);
        if self.document.kind(node) == Kind::Instruction {
            self.name(node);
        }
        let value = self.document.value(node);
        if !value.is_empty() && self.document.kind(node) == Kind::Instruction {
            self.put(" ");
        }
        self.put(&value);
        self.put(end);
        if top_level && !self.behind_root {
            self.put("\n");
        }
    }

    fn name(&mut self, node: NodeId) {
        let Some(name) = self.document.name(node) else { return };
        let names = self.document.names();
        let (prefix, local, _) = names.atoms(name);
        match self.fixups.renamed(node) {
            Some(prefix) => self.prefixed(&self.document.prefix_text(prefix), names.text(local)),
            None => self.prefixed(names.text(prefix), names.text(local)),
        }
    }

    fn prefixed(&mut self, prefix: &str, local: &str) {
        if !prefix.is_empty() {
            self.put(prefix);
            self.put(":");
        }
        self.put(local);
    }

    #[inline]
    fn put(&mut self, text: &str) {
        self.gathered.extend_from_slice(text.as_bytes());
    }
}
