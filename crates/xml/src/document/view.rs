//! A document seen from one of its elements, and without some of its white space: what a stylesheet sees.
//!
//! Nodes are taken out of the chains of their siblings and later put back; nothing is marked as changed, and indices
//! go on telling the document order.

use super::{Document, Kind, NodeId};
use crate::{Atom, XML_NAMESPACE};

/// What [`Document::see`] changed, to be undone by [`Document::restore`].
#[derive(Debug, Default)]
#[must_use]
pub struct View {
    /// In the order they were hidden.
    hidden: Vec<NodeId>,
    top: Option<Top>,
}

/// The links that were bent to make an element the only child of the document node.
#[derive(Debug)]
struct Top {
    element: NodeId,
    parent: u32,
    previous: u32,
    next: u32,
    first: u32,
    last: u32,
}

impl Document {
    /// Makes `source` the only child of the document node, unless it is that node itself.
    ///
    /// What the ancestors of the element declare stays in scope. Attributes, texts and the like cannot be seen from;
    /// the view is then the whole document.
    pub fn see(&mut self, source: NodeId) -> View {
        if self.kind(source) != Kind::Element {
            return View::default();
        }
        self.order.take();
        let document = *self.at(NodeId::DOCUMENT);
        let element = *self.at(source);
        self.inherited = self.bindings_above(source);
        self.seen_elsewhere = !self.is_in_place(source);
        let entry = self.at_mut(source);
        (entry.parent, entry.previous, entry.next) = (NodeId::DOCUMENT.link(), 0, 0);
        let entry = self.at_mut(NodeId::DOCUMENT);
        (entry.first, entry.last) = (source.link(), source.link());
        let top = Top {
            element: source,
            parent: element.parent,
            previous: element.previous,
            next: element.next,
            first: document.first,
            last: document.last,
        };
        View { hidden: Vec::new(), top: Some(top) }
    }

    /// Hides the texts of white space alone below the elements that `strips` names; `xml:space` has its say.
    ///
    /// Source: XSLT 1.0 §3.4.
    pub fn hide_space(&mut self, view: &mut View, mut strips: impl FnMut(&Document, NodeId) -> bool) {
        let top = NodeId::DOCUMENT;
        let mut next = self.first_child(top);
        while let Some(node) = next {
            // The links of a hidden node go on leading where they led.
            next = self.first_child(node).or_else(|| self.following(node, top));
            if self.kind(node) == Kind::Text
                && let Some(parent) = self.parent(node).filter(|&parent| parent != top)
                && self.value(node).bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
                && strips(self, parent)
                && !self.preserves_space(parent)
            {
                self.hide(node);
                view.hidden.push(node);
                self.hides_space = true;
            }
        }
    }

    /// Whether texts are hidden, so that what stands in the source is not what is seen.
    pub fn hides_space(&self) -> bool {
        self.hides_space
    }

    /// Undoes a view; the document is as it was before.
    pub fn restore(&mut self, view: View) {
        // Backwards, so that each finds the neighbours it had.
        for node in view.hidden.into_iter().rev() {
            let (parent, previous, next) = self.links(node);
            match NodeId::from_link(previous) {
                Some(previous) => self.at_mut(previous).next = node.link(),
                None => self.at_mut(parent).first = node.link(),
            }
            match NodeId::from_link(next) {
                Some(next) => self.at_mut(next).previous = node.link(),
                None => self.at_mut(parent).last = node.link(),
            }
        }
        if let Some(Top { element, parent, previous, next, first, last }) = view.top {
            let entry = self.at_mut(element);
            (entry.parent, entry.previous, entry.next) = (parent, previous, next);
            let entry = self.at_mut(NodeId::DOCUMENT);
            (entry.first, entry.last) = (first, last);
            self.inherited = Vec::new();
            self.seen_elsewhere = false;
        }
        self.hides_space = false;
        // Places that were counted meanwhile are those of the view.
        self.order.take();
    }

    fn hide(&mut self, node: NodeId) {
        let (parent, previous, next) = self.links(node);
        match NodeId::from_link(previous) {
            Some(previous) => self.at_mut(previous).next = next,
            None => self.at_mut(parent).first = next,
        }
        match NodeId::from_link(next) {
            Some(next) => self.at_mut(next).previous = previous,
            None => self.at_mut(parent).last = previous,
        }
    }

    /// Parent, previous and next of a child.
    fn links(&self, node: NodeId) -> (NodeId, u32, u32) {
        let entry = self.at(node);
        let parent = NodeId::from_link(entry.parent).expect("a text that is hidden stands in an element");
        (parent, entry.previous, entry.next)
    }

    /// What `xml:space` says at an element.
    fn preserves_space(&self, element: NodeId) -> bool {
        let mut next = Some(element);
        while let Some(element) = next {
            if let Some(space) = self.attribute(element, XML_NAMESPACE, "space") {
                return space == "preserve";
            }
            next = self.parent(element).filter(|&parent| self.kind(parent) == Kind::Element);
        }
        false
    }

    /// What the ancestors of an element declare, the nearest first.
    fn bindings_above(&self, element: NodeId) -> Vec<(Atom, Atom)> {
        let mut found: Vec<(Atom, Atom)> = Vec::new();
        let mut next = self.parent(element);
        while let Some(above) = next {
            for (prefix, namespace) in self.declared(above) {
                if found.iter().all(|(known, _)| *known != prefix) {
                    found.push((prefix, namespace));
                }
            }
            next = self.parent(above);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, WriteOptions, write};

    const SOURCE: &str = "<e xmlns='u' xmlns:p='v'> <b> <x/> <p:y xml:space='preserve'> </p:y> t </b> <c/> </e>";

    fn document() -> Document {
        Document::parse(SOURCE.as_bytes().to_vec(), &Options::default()).expect("it is well-formed")
    }

    fn nth(document: &Document, local: &str) -> NodeId {
        let all = document.descendants(document.document_node());
        all.into_iter().find(|&node| document.qname(node).local == local).expect("it is there")
    }

    #[test]
    fn an_element_is_seen_alone_with_what_its_ancestors_declare() {
        let mut document = document();
        let element = nth(&document, "b");
        let view = document.see(element);
        assert_eq!(document.children(document.document_node()).collect::<Vec<_>>(), [element]);
        assert_eq!((document.next_sibling(element), document.previous_sibling(element)), (None, None));
        assert_eq!(document.lookup_namespace(element, "p"), Some("v"));
        assert!(document.namespaces_in_scope(element).contains(&("", "u")));
        document.restore(view);
        assert_eq!(document.parent(element), document.root_element());
    }

    #[test]
    fn what_is_seen_is_as_read_unless_it_was_moved_or_something_is_hidden() {
        let mut document = document();
        let (b, c) = (nth(&document, "b"), nth(&document, "c"));
        let seen = |document: &mut Document, hide: bool| {
            let mut view = document.see(b);
            if hide {
                document.hide_space(&mut view, |_, _| true);
            }
            let as_read = document.as_read(b).map(str::to_owned);
            document.restore(view);
            as_read
        };
        let whole = Some("<b> <x/> <p:y xml:space='preserve'> </p:y> t </b>".to_owned());
        assert_eq!((seen(&mut document, false), seen(&mut document, true)), (whole.clone(), None));
        document.append(c, b).expect("an element may stand there");
        assert_eq!(seen(&mut document, false), None);
        let mut document = self::document();
        let (root, c) = (document.root_element().expect("e is there"), nth(&document, "c"));
        document.detach(c);
        assert_eq!(seen(&mut document, false), whole);
        document.declare(root, "p", "w").expect("it may be declared");
        assert_eq!(seen(&mut document, false), None);
    }

    #[test]
    fn space_is_hidden_and_comes_back() {
        let mut document = document();
        let before = format!("{document:?}");
        let mut view = document.see(nth(&document, "b"));
        document.hide_space(&mut view, |_, _| true);
        assert!(document.hides_space());
        let root = document.root_element().expect("b is there");
        let kinds: Vec<Kind> = document.descendants(root).map(|node| document.kind(node)).collect();
        assert_eq!(kinds, [Kind::Element, Kind::Element, Kind::Text, Kind::Text]);
        document.restore(view);
        assert_eq!(format!("{document:?}"), before);
        let mut written = Vec::new();
        write(&document, document.document_node(), &WriteOptions::default(), &mut written);
        assert_eq!(String::from_utf8(written).expect("it is text"), SOURCE);
    }
}
