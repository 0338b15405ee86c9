//! Changing the tree: giving nodes other names, values and places.
//!
//! Each change marks what it makes different from the source, and its ancestors until one is marked already.

use super::create::{check_characters, check_part, is_bindable};
use super::node::{Flags, Node};
use super::{Document, Kind, NodeId, Refusal};
use crate::XML_NAMESPACE;

/// Names and values.
impl Document {
    /// Gives the element an attribute, or the one it has of that expanded name another value.
    ///
    /// As for elements the prefix is a wish; an attribute in a namespace is written with some prefix in any case.
    pub fn set_attribute(
        &mut self,
        element: NodeId,
        prefix: &str,
        local: &str,
        namespace: &str,
        value: &str,
    ) -> Result<NodeId, Refusal> {
        if self.kind(element) != Kind::Element {
            return Err(Refusal::Place);
        }
        if let Some(attribute) = self.attribute_node(element, namespace, local) {
            self.set_value(attribute, value)?;
            return Ok(attribute);
        }
        let name = self.checked_name(prefix, local, namespace)?;
        let attribute = self.create_valued(Kind::Attribute, name, value)?;
        self.link_attribute(element, attribute);
        Ok(attribute)
    }

    /// Takes the attribute of that expanded name away; whether there was one.
    pub fn remove_attribute(&mut self, element: NodeId, namespace: &str, local: &str) -> bool {
        let attribute = self.attribute_node(element, namespace, local);
        if let Some(attribute) = attribute {
            self.detach(attribute);
        }
        attribute.is_some()
    }

    /// Declares a namespace on the element, or binds the prefix that it declares already to another one.
    ///
    /// The empty prefix is the default namespace, and an empty `namespace` ends its scope. Names keep their meaning:
    /// an element without namespace wins over a default namespace declared on it, which is then not written.
    pub fn declare(&mut self, element: NodeId, prefix: &str, namespace: &str) -> Result<(), Refusal> {
        if self.kind(element) != Kind::Element {
            return Err(Refusal::Place);
        }
        if !prefix.is_empty() {
            check_part(prefix)?;
        }
        if prefix == "xml" && namespace == XML_NAMESPACE {
            return Ok(());
        }
        if !is_bindable(prefix, namespace) {
            return Err(Refusal::Namespace);
        }
        check_characters(namespace)?;
        let binding = (self.names.atom(prefix), self.names.atom(namespace));
        let existing = self.declaration_nodes(element).find(|&node| self.at(node).binding().0 == binding.0);
        match existing {
            Some(declaration) if self.at(declaration).binding() == binding => {}
            Some(declaration) => {
                self.at_mut(declaration).first = binding.1.index() as u32;
                self.mark_edited(declaration);
            }
            None => {
                let declaration = self.push(Node::declaration(binding))?;
                self.link_attribute(element, declaration);
            }
        }
        Ok(())
    }

    /// Gives a text, attribute, comment or instruction another value; an element gets the text as its
    /// only child, or no child for an empty one.
    pub fn set_value(&mut self, node: NodeId, value: &str) -> Result<(), Refusal> {
        match self.kind(node) {
            Kind::Document => return Err(Refusal::Place),
            Kind::Element => {
                let text = if value.is_empty() { None } else { Some(self.create_text(value)?) };
                while let Some(child) = self.first_child(node) {
                    self.detach(child);
                }
                return text.map_or(Ok(()), |text| self.append(node, text));
            }
            kind => {
                let (first, last) = self.make_value(kind, value)?;
                let node = self.at_mut(node);
                (node.first, node.last) = (first, last);
                node.flags.set(Flags::VERBATIM.with(Flags::MADE));
            }
        }
        self.mark_edited(node);
        Ok(())
    }

    /// Gives an element or attribute another name, or an instruction another target (as local name).
    pub fn rename(&mut self, node: NodeId, prefix: &str, local: &str, namespace: &str) -> Result<(), Refusal> {
        let name = match self.kind(node) {
            Kind::Element => self.checked_name(prefix, local, namespace)?,
            Kind::Attribute => {
                let taken = self.parent(node).and_then(|element| self.attribute_node(element, namespace, local));
                if taken.is_some_and(|taken| taken != node) {
                    return Err(Refusal::Place);
                }
                self.checked_name(prefix, local, namespace)?
            }
            Kind::Instruction if prefix.is_empty() && namespace.is_empty() => self.checked_target(local)?,
            _ => return Err(Refusal::Place),
        };
        self.at_mut(node).name = name;
        self.mark_edited(node);
        Ok(())
    }
}

/// Places.
impl Document {
    /// Puts the node behind the last child of `parent`, from wherever it was; an attribute joins those of the element
    /// and replaces the one of its name.
    pub fn append(&mut self, parent: NodeId, node: NodeId) -> Result<(), Refusal> {
        if self.kind(node) == Kind::Attribute && self.kind(parent) == Kind::Element {
            let name = self.qname(node);
            let replaced = self.attribute_node(parent, name.namespace, name.local);
            if replaced != Some(node) {
                self.detach(node);
                replaced.inspect(|&replaced| self.detach(replaced));
                self.link_attribute(parent, node);
            }
            return Ok(());
        }
        self.check_place(parent, node)?;
        self.detach(node);
        let last = self.at(parent).last;
        self.link(parent, last, node, 0);
        Ok(())
    }

    /// Puts the node in front of `reference`, from wherever it was.
    pub fn insert_before(&mut self, reference: NodeId, node: NodeId) -> Result<(), Refusal> {
        let parent = self.parent_of_child(reference)?;
        self.check_place(parent, node)?;
        if reference != node {
            self.detach(node);
            let previous = self.at(reference).previous;
            self.link(parent, previous, node, reference.link());
        }
        Ok(())
    }

    /// Puts the node behind `reference`, from wherever it was.
    pub fn insert_after(&mut self, reference: NodeId, node: NodeId) -> Result<(), Refusal> {
        let parent = self.parent_of_child(reference)?;
        self.check_place(parent, node)?;
        if reference != node {
            self.detach(node);
            let next = self.at(reference).next;
            self.link(parent, reference.link(), node, next);
        }
        Ok(())
    }

    /// Puts `new` where `old` is, and takes `old` out.
    pub fn replace(&mut self, old: NodeId, new: NodeId) -> Result<(), Refusal> {
        if old != new {
            self.insert_before(old, new)?;
            self.detach(old);
        }
        Ok(())
    }

    /// Takes the node with all below it out of the tree; it can be put elsewhere. The document node stays where it is.
    pub fn detach(&mut self, node: NodeId) {
        let Node { kind, parent, previous, next, .. } = *self.at(node);
        let Some(parent) = NodeId::from_link(parent) else { return };
        let attribute = kind == Kind::Attribute;
        match NodeId::from_link(previous) {
            Some(previous) => self.at_mut(previous).next = next,
            None if attribute => self.at_mut(parent).attributes = next,
            None => self.at_mut(parent).first = next,
        }
        match NodeId::from_link(next) {
            Some(next) => self.at_mut(next).previous = previous,
            None if attribute => {}
            None => self.at_mut(parent).last = previous,
        }
        if attribute {
            self.mark_edited(node);
        } else {
            self.mark_changed(parent);
        }
        self.relink(node, 0, 0, 0);
    }

    fn parent_of_child(&self, reference: NodeId) -> Result<NodeId, Refusal> {
        let child = self.kind(reference) != Kind::Attribute;
        self.parent(reference).filter(|_| child).ok_or(Refusal::Place)
    }

    fn check_place(&self, parent: NodeId, node: NodeId) -> Result<(), Refusal> {
        let fits = match self.kind(node) {
            Kind::Document | Kind::Attribute => false,
            Kind::Element | Kind::Text | Kind::Comment | Kind::Instruction => self.at(parent).is_parent(),
        };
        // Only what has children can be above its new parent, so that growing a tree downwards costs no walk each time.
        let mut above = if self.first_child(node).is_some() || parent == node { Some(parent) } else { None };
        while let Some(ancestor) = above {
            if ancestor == node {
                return Err(Refusal::Place);
            }
            above = self.parent(ancestor);
        }
        if fits { Ok(()) } else { Err(Refusal::Place) }
    }

    /// Links a detached node between two children, of which either may be missing.
    fn link(&mut self, parent: NodeId, previous: u32, node: NodeId, next: u32) {
        match NodeId::from_link(previous) {
            Some(previous) => self.at_mut(previous).next = node.link(),
            None => self.at_mut(parent).first = node.link(),
        }
        match NodeId::from_link(next) {
            Some(next) => self.at_mut(next).previous = node.link(),
            None => self.at_mut(parent).last = node.link(),
        }
        self.relink(node, parent.link(), previous, next);
        self.mark_changed(parent);
    }

    /// Links a detached attribute behind the others, or a declaration behind the other declarations.
    pub(super) fn link_attribute(&mut self, element: NodeId, node: NodeId) {
        let declaration = self.at(node).is_declaration();
        let mut previous = 0;
        let mut next = self.at(element).attributes;
        while let Some(entry) = NodeId::from_link(next) {
            if declaration && !self.at(entry).is_declaration() {
                self.at_mut(entry).previous = node.link();
                break;
            }
            previous = next;
            next = self.at(entry).next;
        }
        match NodeId::from_link(previous) {
            Some(previous) => self.at_mut(previous).next = node.link(),
            None => self.at_mut(element).attributes = node.link(),
        }
        self.relink(node, element.link(), previous, next);
        self.mark_edited(node);
    }

    fn relink(&mut self, node: NodeId, parent: u32, previous: u32, next: u32) {
        let entry = self.at_mut(node);
        (entry.parent, entry.previous, entry.next) = (parent, previous, next);
        entry.flags.set(Flags::MOVED);
        self.relinked = true;
        self.order.take();
    }

    /// Marks a node whose own form changed; an attribute's is part of its element's.
    fn mark_edited(&mut self, node: NodeId) {
        self.fixups.take();
        self.at_mut(node).flags.set(Flags::EDITED);
        let Node { kind, flags, parent, .. } = *self.at(node);
        let Some(mut parent) = NodeId::from_link(parent) else { return };
        if kind == Kind::Attribute {
            let redeclared = if flags.any(Flags::DECLARATION) { Flags::REDECLARED } else { Flags::default() };
            self.at_mut(parent).flags.set(Flags::EDITED.with(redeclared));
            match self.parent(parent) {
                Some(above) => parent = above,
                None => return,
            }
        }
        self.mark_changed(parent);
    }

    /// Marks a node below which something changed, and all above it.
    fn mark_changed(&mut self, node: NodeId) {
        self.fixups.take();
        let mut next = Some(node);
        while let Some(node) = next.filter(|&node| !self.at(node).flags.any(Flags::CHANGED)) {
            self.at_mut(node).flags.set(Flags::CHANGED);
            next = self.parent(node);
        }
    }

    #[inline]
    pub(super) fn at_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }
}
