//! Writing with other bytes in the place of some nodes: what is encrypted, or made as text, never becomes a tree.

use std::collections::{HashMap, HashSet};

use crate::document::{Document, NodeId};

/// The bytes that take the place of nodes, or of all that is in an element.
///
/// They are written as they are: that they are well-formed there is the caller's promise.
/// A replacement below another one has no effect.
#[derive(Debug, Default)]
pub struct Replacements<'a> {
    pub(super) places: HashMap<NodeId, Place<'a>>,
    /// Elements with a replacement somewhere below them, which cannot be copied as a whole.
    pub(super) above: HashSet<NodeId>,
}

#[derive(Debug)]
pub(super) enum Place<'a> {
    Node(&'a [u8]),
    Content(&'a [u8]),
}

impl<'a> Replacements<'a> {
    /// Writes `bytes` where the node with all below it would be; not for attributes.
    pub fn node(&mut self, document: &Document, node: NodeId, bytes: &'a [u8]) {
        self.add(document, node, Place::Node(bytes));
    }

    /// Writes `bytes` between the tags of an element; there may have been nothing between them.
    pub fn content(&mut self, document: &Document, element: NodeId, bytes: &'a [u8]) {
        self.add(document, element, Place::Content(bytes));
    }

    fn add(&mut self, document: &Document, node: NodeId, place: Place<'a>) {
        self.places.insert(node, place);
        let mut above = document.parent(node);
        while let Some(element) = above.filter(|&element| self.above.insert(element)) {
            above = document.parent(element);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::find;
    use super::super::write_replacing;
    use super::*;
    use crate::document::tests::read;

    fn check(text: &str, change: impl FnOnce(&mut Document), replaced: &[(&str, bool, &str)], expected: &str) {
        let mut document = read(text);
        change(&mut document);
        let mut replacements = Replacements::default();
        for &(local, whole, bytes) in replaced {
            let node = find(&document, local);
            if whole {
                replacements.node(&document, node, bytes.as_bytes());
            } else {
                replacements.content(&document, node, bytes.as_bytes());
            }
        }
        let mut out = Vec::new();
        write_replacing(&document, document.document_node(), &replacements, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn bytes_take_the_place_of_elements_and_of_content_and_the_rest_is_copied() {
        let text = "<?xml version='1.0'?>\n<a  x='1'><b><c>t</c ></b  ><d /><e>u<f/></e></a >\n";
        let expected = "<?xml version='1.0'?>\n<a  x='1'><b><X/></b  ><d ><Y/></d><e></e></a >\n";
        check(text, |_| {}, &[("c", true, "<X/>"), ("d", false, "<Y/>"), ("e", false, "")], expected);
        check(text, |_| {}, &[], text);
    }

    #[test]
    fn a_replacement_below_another_has_no_effect() {
        check("<a><b><c/></b></a>", |_| {}, &[("c", true, "<X/>"), ("b", true, "<Y/>")], "<a><Y/></a>");
    }

    #[test]
    fn what_programs_changed_is_written_around_replacements() {
        let change = |document: &mut Document| {
            let b = find(document, "b");
            document.set_attribute(b, "w", "Id", "urn:w", "1").unwrap();
        };
        check("<a><b><c/></b></a>", change, &[("c", true, "<X/>")], "<a><b xmlns:w=\"urn:w\" w:Id=\"1\"><X/></b></a>");
    }

    #[test]
    fn a_node_is_written_as_it_stands_in_its_document() {
        let document = read("<p:a xmlns:p='u'><p:b><p:c/></p:b></p:a>");
        let mut out = Vec::new();
        write_replacing(&document, find(&document, "b"), &Replacements::default(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "<p:b><p:c/></p:b>");
    }
}
