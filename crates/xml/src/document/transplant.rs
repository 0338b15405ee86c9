//! What another document holds as it was read comes over as it is: its entries, and its part of the source.

use std::collections::HashMap;
use std::ops::Range;

use super::copy::Known;
use super::node::{Flags, Node};
use super::{Document, Kind, NodeId, Refusal};
use crate::Atom;

impl Document {
    /// The entries of a node with all below it, if those stand together and its part of the source says the same.
    pub(super) fn entries_as_read(&self, node: NodeId) -> Option<Range<usize>> {
        let entry = self.at(node);
        if !entry.is_as_read() || entry.kind == Kind::Document || self.hides_space {
            return None;
        }
        let end = if entry.kind == Kind::Element { self.end_of_subtree(node) } else { node.index() + 1 };
        Some(node.index()..end)
    }

    /// Takes over entries as they were read; the first of them belongs to nothing yet.
    ///
    /// Their part of the source goes behind all source there is, so that they are written by copying it. `names` are
    /// those met before.
    pub(super) fn transplant(
        &mut self,
        other: &Document,
        entries: Range<usize>,
        names: &mut Known,
    ) -> Result<NodeId, Refusal> {
        let Node { start, end, .. } = other.nodes[entries.start];
        let place = u32::try_from(self.nodes.len()).ok().and_then(NodeId::from_link).ok_or(Refusal::Full)?;
        let fits = |used: usize, more: usize| u32::try_from(used + more).is_ok();
        if !fits(self.nodes.len(), entries.len()) || !fits(self.source.len(), (end - start) as usize) {
            return Err(Refusal::Full);
        }
        let moved = Moved {
            links: place.link().wrapping_sub(entries.start as u32),
            bytes: (self.source.len() as u32).wrapping_sub(start),
        };
        self.source.push_str(&other.source[start as usize..end as usize]);
        self.nodes.reserve(entries.len());
        for entry in &other.nodes[entries] {
            let mut entry = moved.entry(*entry);
            if entry.is_declaration() {
                let (prefix, namespace) = entry.binding();
                let mut atom = |theirs: Atom| self.names.atom(other.names.text(theirs)).index() as u32;
                (entry.name, entry.first) = (atom(prefix), atom(namespace));
            } else if matches!(entry.kind, Kind::Element | Kind::Attribute | Kind::Instruction) {
                entry.name = self.known_name(other, entry.name(), names).index() as u32;
            }
            self.nodes.push(entry);
        }
        self.order.take();
        let top = self.at_mut(place);
        (top.parent, top.previous, top.next) = (0, 0, 0);
        top.flags.set(Flags::MOVED);
        Ok(place)
    }

    /// Lets an element declare these namespaces and no others.
    pub(super) fn declare_only(&mut self, element: NodeId, declared: &[(&str, &str)]) -> Result<(), Refusal> {
        if self.declarations(element).eq(declared.iter().copied()) {
            return Ok(());
        }
        let attributes: Vec<NodeId> = self.attributes(element).collect();
        let mut own: HashMap<(Atom, Atom), NodeId> =
            self.declaration_nodes(element).map(|node| (self.at(node).binding(), node)).collect();
        let mut chain = Vec::with_capacity(declared.len() + attributes.len());
        for (prefix, namespace) in declared {
            let binding = (self.names.atom(prefix), self.names.atom(namespace));
            chain.push(match own.remove(&binding) {
                Some(node) => node,
                None => self.push(Node { parent: element.link(), ..Node::declaration(binding) })?,
            });
        }
        for left in own.into_values() {
            let entry = self.at_mut(left);
            (entry.parent, entry.previous, entry.next) = (0, 0, 0);
        }
        chain.extend(attributes);
        let links = |at: Option<usize>| at.and_then(|at| chain.get(at)).map_or(0, |node: &NodeId| node.link());
        for (at, &node) in chain.iter().enumerate() {
            let entry = self.at_mut(node);
            (entry.previous, entry.next) = (links(at.checked_sub(1)), links(Some(at + 1)));
        }
        let entry = self.at_mut(element);
        entry.attributes = links(Some(0));
        entry.flags.set(Flags::EDITED.with(Flags::REDECLARED));
        self.relinked = true;
        Ok(())
    }
}

/// How far entries, and what they say of the source, are from where they were.
struct Moved {
    links: u32,
    bytes: u32,
}

impl Moved {
    fn entry(&self, mut entry: Node) -> Node {
        let link = |link: u32| if link == 0 { 0 } else { link.wrapping_add(self.links) };
        let byte = |byte: u32| byte.wrapping_add(self.bytes);
        (entry.parent, entry.previous, entry.next) = (link(entry.parent), link(entry.previous), link(entry.next));
        (entry.start, entry.end) = (byte(entry.start), byte(entry.end));
        if entry.is_parent() {
            (entry.first, entry.last, entry.attributes) = (link(entry.first), link(entry.last), link(entry.attributes));
        } else if !entry.is_declaration() {
            (entry.first, entry.last) = (byte(entry.first), byte(entry.last));
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::tests::{read, shape};
    use crate::{WriteOptions, write};

    /// What an import of the first child of a document's root is in an empty document.
    fn check(text: &str, declared: &[(&str, &str)], expected: &str) {
        let other = read(text);
        let original = other.first_child(other.root_element().unwrap()).unwrap();
        let mut document = Document::new();
        let import = document.import_declaring(&other, original, declared).unwrap();
        document.append(document.document_node(), import).unwrap();
        assert_eq!(shape(&document, import), shape(&other, original), "{text}");
        let mut written = Vec::new();
        write(&document, document.document_node(), &WriteOptions::default(), &mut written);
        assert_eq!(String::from_utf8(written).unwrap(), expected, "{text}");
    }

    #[test]
    fn an_element_declares_what_it_is_told_and_keeps_what_it_has_of_that() {
        let p = ("p", "1");
        check("<r><a  x='1' >t</a></r>", &[], "<a  x='1' >t</a>");
        check("<r><a xmlns:p='1' x='1' >t</a></r>", &[p], "<a xmlns:p='1' x='1' >t</a>");
        check("<r><a xmlns:p='1' x='1' >t</a></r>", &[], "<a x='1'>t</a>");
        check("<r><a xmlns:p='1'>t</a></r>", &[("q", "2"), p], "<a xmlns:q=\"2\" xmlns:p='1'>t</a>");
        check("<r><a xmlns:q='1'/></r>", &[("q", "2")], "<a xmlns:q=\"2\"/>");
        check(
            "<r xmlns:p='1'><a><p:b p:x='&gt;'/><?t d?></a></r>",
            &[p],
            "<a xmlns:p=\"1\"><p:b p:x='&gt;'/><?t d?></a>",
        );
    }

    #[test]
    fn prefixes_that_nobody_declares_at_the_new_place_are_declared_by_the_writer() {
        check("<r xmlns:p='1'><a><p:b/></a></r>", &[], "<a xmlns:p=\"1\"><p:b/></a>");
        check("<r xmlns='1'><a><b/></a></r>", &[], "<a xmlns=\"1\"><b/></a>");
    }

    #[test]
    fn imports_of_imports_come_over_as_they_were_read() {
        let mut before = read("<r><a  x='1'>t<!--c--></a></r>");
        for _ in 0..3 {
            let mut document = read("<d>u</d>");
            let original = before.descendants(before.document_node()).find(|&node| before.qname(node).local == "a");
            let import = document.import(&before, original.unwrap()).unwrap();
            document.append(document.root_element().unwrap(), import).unwrap();
            before = document;
        }
        let mut written = Vec::new();
        write(&before, before.document_node(), &WriteOptions::default(), &mut written);
        assert_eq!(String::from_utf8(written).unwrap(), "<d>u<a  x='1'>t<!--c--></a></d>");
    }

    #[test]
    fn what_is_no_element_keeps_its_form_and_declares_nothing() {
        let other = read("<r xmlns:p='1'><![CDATA[<t>]]><?p  d ?></r>");
        let mut document = read("<d/>");
        for original in other.children(other.root_element().unwrap()) {
            let import = document.import(&other, original).unwrap();
            document.append(document.root_element().unwrap(), import).unwrap();
        }
        let mut written = Vec::new();
        write(&document, document.document_node(), &WriteOptions::default(), &mut written);
        assert_eq!(String::from_utf8(written).unwrap(), "<d><![CDATA[<t>]]><?p  d ?></d>");
    }

    #[test]
    fn what_is_put_nowhere_yet_is_not_where_its_prefixes_mean_what_they_meant() {
        let other = read("<r xmlns:p='1'><p:a/></r>");
        let mut document = read("<d/>");
        let original = other.first_child(other.root_element().unwrap()).unwrap();
        let import = document.import_declaring(&other, original, &[]).unwrap();
        assert_eq!((document.is_as_read(), document.as_read(import)), (true, None));
    }

    #[test]
    fn of_an_element_that_was_changed_the_rest_comes_over_as_it_was_read() {
        let mut other = read("<r xmlns:p='1'><a  x='1' y='2'><![CDATA[t]]><p:b z = '3'/><c><d e='4'/></c></a></r>");
        let all: Vec<NodeId> = other.descendants(other.document_node()).collect();
        let node = |name: &str| *all.iter().find(|&&node| other.qname(node).local == name).unwrap();
        let (a, d) = (node("a"), node("d"));
        other.set_attribute(a, "", "y", "", "5").unwrap();
        other.set_attribute(d, "", "f", "", "6").unwrap();
        let mut document = Document::new();
        let import = document.import_declaring(&other, a, &[("p", "1")]).unwrap();
        document.append(document.document_node(), import).unwrap();
        assert_eq!(shape(&document, import), shape(&other, a));
        let mut written = Vec::new();
        write(&document, document.document_node(), &WriteOptions::default(), &mut written);
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "<a xmlns:p=\"1\" x='1' y=\"5\"><![CDATA[t]]><p:b z = '3'/><c><d e='4' f=\"6\"/></c></a>"
        );
    }
}
