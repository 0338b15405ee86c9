//! Copies of subtrees, within a document and from another one.

use super::node::{Flags, Node};
use super::{Document, Kind, NodeId, Refusal};
use crate::{Name, NameId};

/// Names of another document met lately, each with the one here, in the place that its number gives: as good as all of
/// them for most documents, and small ones can be taken out of a large one at no more than their own cost.
pub(super) struct Known([Option<(NameId, NameId)>; KNOWN]);
const KNOWN: usize = 64;

impl Default for Known {
    fn default() -> Known {
        Known([None; KNOWN])
    }
}

impl Document {
    /// A copy of the node with all below it, which belongs to nothing yet. What was not changed is still written by
    /// copying its range of the source.
    ///
    /// Errors: `Place` for the document node.
    pub fn copy(&mut self, node: NodeId) -> Result<NodeId, Refusal> {
        let subtree: Vec<NodeId> = std::iter::once(node).chain(self.descendants(node)).collect();
        let mut copies = Copies::new(self);
        for &original in &subtree {
            let entry = *copies.document.at(original);
            copies.add(original, entry.parent, entry)?;
            let mut next = if entry.is_parent() { NodeId::from_link(entry.attributes) } else { None };
            while let Some(attribute) = next {
                let entry = *copies.document.at(attribute);
                copies.add_attribute(entry)?;
                next = NodeId::from_link(entry.next);
            }
        }
        copies.top()
    }

    /// A copy of a node of another document with all below it, which belongs to nothing yet. What was not changed is
    /// still written by copying its range of that source, which this document holds from then on.
    ///
    /// A copied element declares all namespaces that are in scope where it comes from, so that names within values
    /// keep their meaning too.
    /// Errors: `Place` for the document node.
    pub fn import(&mut self, other: &Document, node: NodeId) -> Result<NodeId, Refusal> {
        let mut declared = other.namespaces_in_scope(node);
        declared.retain(|&(prefix, _)| prefix != "xml");
        self.import_declaring(other, node, &declared)
    }

    /// As [`import`](Document::import), of an element that declares these namespaces, as pairs of prefix and name, and
    /// no others.
    ///
    /// Errors: `Place` for the document node.
    pub fn import_declaring(
        &mut self,
        other: &Document,
        node: NodeId,
        declared: &[(&str, &str)],
    ) -> Result<NodeId, Refusal> {
        let mut names = Known::default();
        if let Some(entries) = other.entries_as_read(node) {
            let copy = self.transplant(other, entries, &mut names)?;
            if self.kind(copy) == Kind::Element {
                self.declare_only(copy, declared)?;
            }
            return Ok(copy);
        }
        let mut copies = Copies::new(self);
        let mut next = Some(node);
        while let Some(original) = next {
            let parent = other.at(original).parent;
            if let Some(entries) = other.entries_as_read(original) {
                let copy = copies.document.transplant(other, entries, &mut names)?;
                copies.link(parent, copy);
                next = other.following(original, node);
                continue;
            }
            let entry = copies.document.imported(other, original, &mut names)?;
            copies.add(original, parent, entry)?;
            if entry.kind == Kind::Element {
                if original == node {
                    declared.iter().try_for_each(|&declaration| copies.declare(declaration))?;
                } else {
                    other.declarations(original).try_for_each(|declaration| copies.declare(declaration))?;
                }
                for attribute in other.attributes(original) {
                    let copy = copies.document.imported_attribute(other, attribute, &mut names)?;
                    copies.link_attribute(copy)?;
                }
            }
            next = other.first_child(original).or_else(|| other.following(original, node));
        }
        copies.top()
    }

    /// The copy of an attribute of another document, as it was read if it can be.
    fn imported_attribute(
        &mut self,
        other: &Document,
        attribute: NodeId,
        names: &mut Known,
    ) -> Result<NodeId, Refusal> {
        match other.entries_as_read(attribute) {
            Some(entry) => self.transplant(other, entry, names),
            None => {
                let entry = self.imported(other, attribute, names)?;
                self.push(entry)
            }
        }
    }

    /// An entry with the kind, name and value of a node of another document; `names` are those met before.
    fn imported(&mut self, other: &Document, original: NodeId, names: &mut Known) -> Result<Node, Refusal> {
        let kind = other.kind(original);
        let mut entry = Node::blank(kind, Flags::default());
        if let Some(id) = other.name(original) {
            entry.name = self.known_name(other, id, names).index() as u32;
        }
        if !entry.is_parent() {
            (entry.first, entry.last) = self.make_value(kind, &other.value(original))?;
            entry.flags = Flags::VERBATIM.with(Flags::MADE);
        }
        Ok(entry)
    }

    /// The name here of a name of another document; `names` are those met before.
    #[inline]
    pub(super) fn known_name(&mut self, other: &Document, id: NameId, names: &mut Known) -> NameId {
        let known = &mut names.0[id.index() % KNOWN];
        match *known {
            Some((theirs, name)) if theirs == id => name,
            _ => {
                let Name { prefix, local, namespace } = other.names.get(id);
                let name = self.names.intern(prefix, local, namespace);
                *known = Some((id, name));
                name
            }
        }
    }
}

/// Entries that come in document order and are linked as the originals are.
struct Copies<'a> {
    document: &'a mut Document,
    top: Option<NodeId>,
    /// The open elements: the original's link and the copy.
    open: Vec<(u32, NodeId)>,
    /// The last of the chain of declarations and attributes; 0 for none yet.
    chain: u32,
}

impl Copies<'_> {
    fn new(document: &mut Document) -> Copies<'_> {
        Copies { document, top: None, open: Vec::new(), chain: 0 }
    }

    /// Adds the copy of a node whose original has that parent; `entry` is linked anew.
    fn add(&mut self, original: NodeId, parent: u32, entry: Node) -> Result<(), Refusal> {
        if entry.kind == Kind::Document {
            return Err(Refusal::Place);
        }
        let mut entry = Node { parent: 0, previous: 0, next: 0, attributes: 0, ..entry };
        if entry.is_parent() {
            (entry.first, entry.last) = (0, 0);
        }
        let copy = self.document.push(entry)?;
        self.link(parent, copy);
        if entry.is_parent() {
            self.open.push((original.link(), copy));
            self.chain = 0;
        }
        Ok(())
    }

    /// Links a copy that belongs to nothing yet, whose original has that parent.
    fn link(&mut self, parent: u32, copy: NodeId) {
        while self.open.pop_if(|&mut (open, _)| open != parent).is_some() {}
        self.top.get_or_insert(copy);
        let Some(&(_, parent)) = self.open.last() else {
            self.document.at_mut(copy).flags.set(Flags::MOVED);
            return;
        };
        let previous = self.document.at(parent).last;
        let entry = self.document.at_mut(copy);
        (entry.parent, entry.previous) = (parent.link(), previous);
        if let Some(previous) = NodeId::from_link(previous) {
            self.document.at_mut(previous).next = copy.link();
        }
        let parent = self.document.at_mut(parent);
        parent.last = copy.link();
        if previous == 0 {
            parent.first = copy.link();
        }
    }

    /// Declares a namespace on the element added last.
    fn declare(&mut self, (prefix, namespace): (&str, &str)) -> Result<(), Refusal> {
        let binding = (self.document.names.atom(prefix), self.document.names.atom(namespace));
        self.add_attribute(Node::declaration(binding))
    }

    /// Adds a declaration or attribute of the element added last.
    fn add_attribute(&mut self, entry: Node) -> Result<(), Refusal> {
        let copy = self.document.push(entry)?;
        self.link_attribute(copy)
    }

    /// Links the copy of a declaration or attribute of the element added last.
    fn link_attribute(&mut self, copy: NodeId) -> Result<(), Refusal> {
        let &(_, element) = self.open.last().ok_or(Refusal::Place)?;
        let entry = self.document.at_mut(copy);
        (entry.parent, entry.previous, entry.next) = (element.link(), self.chain, 0);
        match NodeId::from_link(self.chain) {
            Some(previous) => self.document.at_mut(previous).next = copy.link(),
            None => self.document.at_mut(element).attributes = copy.link(),
        }
        self.chain = copy.link();
        Ok(())
    }

    fn top(self) -> Result<NodeId, Refusal> {
        self.top.ok_or(Refusal::Place)
    }
}
