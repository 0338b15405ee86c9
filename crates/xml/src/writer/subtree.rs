//! A subtree: copied where it is as it was read, with its own tags as far as those are.

use std::ops::Range;

use super::document::Writer;
use super::escape::{escape_attribute, escape_text};
use super::replace::Place;
use crate::Atom;
use crate::document::{Kind, NodeId};

impl Writer<'_> {
    /// Writes a node with all below it.
    pub(super) fn subtree(&mut self, top: NodeId) {
        let document = self.document;
        let mut node = top;
        loop {
            if self.node(node)
                && let Some(child) = document.first_child(node)
            {
                node = child;
                continue;
            }
            // What has no children is complete; so is each element whose last child this is.
            while node != top {
                if let Some(next) = document.next_sibling(node) {
                    node = next;
                    break;
                }
                let Some(parent) = document.parent(node) else { return };
                node = parent;
                self.end_tag(node);
            }
            if node == top {
                return;
            }
        }
    }

    /// Writes a node, of an element with children the start tag only; whether the children are still to be written.
    fn node(&mut self, node: NodeId) -> bool {
        if let Some(inside) = self.replaced(node) {
            return inside;
        }
        let document = self.document;
        if document.kind(node) == Kind::Element && !document.is_subtree_as_read(node) {
            let open = document.first_child(node).is_some();
            self.start_tag(node, open);
            return open;
        }
        let copied = document.kind(node) != Kind::Attribute && !self.touches_text(node);
        if let Some(range) = document.span(node).filter(|_| copied) {
            let added = self.fixups.added(node);
            if added.is_empty() {
                self.copy(range);
            } else {
                let tag = self.copy_with_additions(node, range.clone());
                self.copy(tag..range.end);
            }
            return false;
        }
        self.own_form(node);
        false
    }

    /// Writes what is not an element, from its value.
    pub(super) fn own_form(&mut self, node: NodeId) {
        let document = self.document;
        let value = document.value(node);
        match document.kind(node) {
            Kind::Document | Kind::Element => {}
            Kind::Attribute => escape_attribute(&value, self.out),
            Kind::Text => escape_text(&value, self.out),
            Kind::Comment => {
                self.put("<!--");
                self.put(&value);
                self.put("-->");
            }
            Kind::Instruction => {
                self.put("<?");
                self.put(document.qname(node).local);
                self.put(if value.is_empty() { "" } else { " " });
                self.put(&value);
                self.put("?>");
            }
        }
    }

    /// Whether the node is a text that stands next to another: their forms could join to a `]]>` or a line end.
    fn touches_text(&self, node: NodeId) -> bool {
        let document = self.document;
        let text = |node: NodeId| document.kind(node) == Kind::Text;
        text(node)
            && (document.previous_sibling(node).is_some_and(text) || document.next_sibling(node).is_some_and(text))
    }

    /// Writes a start tag, from the source where it is the same.
    pub(super) fn start_tag(&mut self, element: NodeId, open: bool) {
        let Some(range) = self.tag_range(element) else {
            return self.made_tag(element, open);
        };
        let tag = self.document.text(range.clone());
        let empty = tag.ends_with("/>");
        let closer = if empty { range.end - 2 } else { range.end - 1 };
        self.copy(range.start..closer);
        self.additions(element);
        match (empty, open) {
            // `<a></a>` that lost its children still is written with both its tags.
            (false, _) => {
                self.put(">");
                if !open {
                    self.end_tag(element);
                }
            }
            (true, false) => self.put("/>"),
            (true, true) => self.put(">"),
        }
    }

    /// Writes a start tag attribute by attribute.
    pub(super) fn made_tag(&mut self, element: NodeId, open: bool) {
        let document = self.document;
        self.put("<");
        self.name(element);
        for (declaration, (prefix, namespace)) in document.declarations_with_places(element) {
            if prefix == Atom::EMPTY && self.fixups.drops_default(element) {
                continue;
            }
            match declaration {
                Some(range) => {
                    self.put(" ");
                    self.copy(range);
                }
                None => self.declare(document.names().text(prefix), document.names().text(namespace)),
            }
        }
        self.additions(element);
        for attribute in document.attributes(element) {
            self.put(" ");
            match document.span(attribute).filter(|_| self.fixups.renamed(attribute).is_none()) {
                Some(range) => self.copy(range),
                None => {
                    self.name(attribute);
                    self.put("=\"");
                    self.own_form(attribute);
                    self.put("\"");
                }
            }
        }
        self.put(if open { ">" } else { "/>" });
    }

    /// Writes the end tag of an element that was not copied as a whole.
    pub(super) fn end_tag(&mut self, element: NodeId) {
        let range = self.tag_range(element).and_then(|_| self.document.end_tag_range(element));
        match range {
            Some(range) => self.copy(range),
            None => {
                self.put("</");
                self.name(element);
                self.put(">");
            }
        }
    }

    /// Where the start tag stands in the source, if that is still what has to be written, additions aside.
    fn tag_range(&self, element: NodeId) -> Option<Range<usize>> {
        let as_read = self.fixups.renamed(element).is_none() && !self.fixups.drops_default(element);
        self.document.start_tag_range(element).filter(|_| as_read)
    }

    /// Copies the start tag in front of `range` with the additions of the element; gives the place where it stopped.
    fn copy_with_additions(&mut self, element: NodeId, range: Range<usize>) -> usize {
        let tag = self.document.start_tag_range(element).unwrap_or(range);
        let empty = self.document.text(tag.clone()).ends_with("/>");
        let closer = if empty { tag.end - 2 } else { tag.end - 1 };
        self.copy(tag.start..closer);
        self.additions(element);
        closer
    }

    fn additions(&mut self, element: NodeId) {
        for &(prefix, namespace) in self.fixups.added(element) {
            self.declare(&self.document.prefix_text(prefix), self.document.names().text(namespace));
        }
    }

    fn declare(&mut self, prefix: &str, namespace: &str) {
        self.put(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
        self.put(prefix);
        self.put("=\"");
        escape_attribute(namespace, self.out);
        self.put("\"");
    }

    /// Writes the name of an element or attribute.
    fn name(&mut self, node: NodeId) {
        let name = self.document.qname(node);
        let made = self.fixups.renamed(node).map(|prefix| self.document.prefix_text(prefix));
        let prefix = made.as_deref().unwrap_or(name.prefix);
        if !prefix.is_empty() {
            self.put(prefix);
            self.put(":");
        }
        self.put(name.local);
    }

    /// Writes what takes the node's place; `None` where nothing does, otherwise whether its children come next.
    #[inline]
    fn replaced(&mut self, node: NodeId) -> Option<bool> {
        let replacements = self.replacements?;
        match replacements.places.get(&node) {
            Some(Place::Node(bytes)) => self.out.extend_from_slice(bytes),
            Some(Place::Content(bytes)) => {
                self.start_tag(node, true);
                self.out.extend_from_slice(bytes);
                self.end_tag(node);
            }
            None if replacements.above.contains(&node) => {
                self.start_tag(node, true);
                return Some(true);
            }
            None => return None,
        }
        Some(false)
    }
}
