//! Changing the tree: making nodes, linking them, giving them other names and values.
//!
//! Each change marks what it makes different from the source, and its ancestors until one is marked already.

use std::fmt;

use super::node::{Flags, Node};
use super::{Document, Kind, NodeId};
use crate::characters::{is_allowed, name_error};
use crate::{XML_NAMESPACE, XMLNS_NAMESPACE};

/// Why a change was refused: the program's error, or that of whoever chose the name or value.
///
/// What is accepted can be written: nothing gets into a tree that XML 1.0 cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Not a name, or not one without a colon.
    Name(String),
    /// A character that XML 1.0 does not allow, by its number.
    Character(u32),
    /// A comment with `--` in it or `-` at its end.
    Comment,
    /// An instruction with the target `xml`, or with `?>` in it or white space in front.
    Instruction,
    /// A binding of prefix and namespace that Namespaces in XML 1.0 forbids.
    Namespace,
    /// A node where its kind cannot be, below itself, or next to one that has no parent.
    Place,
    /// The document has as many nodes or values as it can number.
    Full,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Name(name) => write!(f, "{name:?} is not a name without a colon"),
            Refusal::Character(number) => write!(f, "character U+{number:04X} is not allowed in XML 1.0"),
            Refusal::Comment => f.write_str("a comment cannot hold -- or end in -"),
            Refusal::Instruction => {
                f.write_str("an instruction cannot have the target xml, nor data with ?> in it or white space in front")
            }
            Refusal::Namespace => f.write_str("this prefix cannot be bound to this namespace"),
            Refusal::Place => f.write_str("this node cannot be put there"),
            Refusal::Full => f.write_str("the document has more nodes or values than it can number"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Making nodes. They belong to nothing until they are put somewhere.
impl Document {
    /// Makes an element; `prefix` and `namespace` are empty for none.
    ///
    /// The prefix is a wish: writing declares it where it is not in scope, and takes another where it means another
    /// namespace on the same element.
    pub fn create_element(&mut self, prefix: &str, local: &str, namespace: &str) -> Result<NodeId, Refusal> {
        let name = self.checked_name(prefix, local, namespace)?;
        self.push(Node { name, ..Node::blank(Kind::Element, Flags::default()) })
    }

    /// Makes a text.
    pub fn create_text(&mut self, text: &str) -> Result<NodeId, Refusal> {
        self.create_valued(Kind::Text, 0, text)
    }

    /// Makes a comment.
    pub fn create_comment(&mut self, text: &str) -> Result<NodeId, Refusal> {
        self.create_valued(Kind::Comment, 0, text)
    }

    /// Makes a processing instruction.
    pub fn create_instruction(&mut self, target: &str, data: &str) -> Result<NodeId, Refusal> {
        let name = self.checked_target(target)?;
        self.create_valued(Kind::Instruction, name, data)
    }

    fn create_valued(&mut self, kind: Kind, name: u32, value: &str) -> Result<NodeId, Refusal> {
        let (first, last) = self.make_value(kind, value)?;
        self.push(Node { name, first, last, ..Node::blank(kind, Flags::VERBATIM.with(Flags::MADE)) })
    }

    /// Puts a node at the end of the array.
    pub(super) fn push(&mut self, node: Node) -> Result<NodeId, Refusal> {
        let link = u32::try_from(self.nodes.len()).ok().and_then(NodeId::from_link).ok_or(Refusal::Full)?;
        self.order.take();
        self.nodes.push(node);
        Ok(link)
    }

    /// Keeps `value` as one that a node of that kind can have.
    pub(super) fn make_value(&mut self, kind: Kind, value: &str) -> Result<(u32, u32), Refusal> {
        check_characters(value)?;
        match kind {
            Kind::Comment if value.contains("--") || value.ends_with('-') => return Err(Refusal::Comment),
            Kind::Instruction if value.contains("?>") || value.starts_with([' ', '\t', '\n', '\r']) => {
                return Err(Refusal::Instruction);
            }
            // Neither has a way to write a carriage return that is read as one again.
            Kind::Comment | Kind::Instruction if value.contains('\r') => return Err(Refusal::Character(13)),
            _ => {}
        }
        let first = self.made.len() as u32;
        let last = u32::try_from(self.made.len() + value.len()).map_err(|_| Refusal::Full)?;
        self.made.push_str(value);
        Ok((first, last))
    }

    fn checked_name(&mut self, prefix: &str, local: &str, namespace: &str) -> Result<u32, Refusal> {
        check_part(local)?;
        if !prefix.is_empty() {
            check_part(prefix)?;
        }
        let fits = match prefix {
            "" => namespace != XML_NAMESPACE && namespace != XMLNS_NAMESPACE,
            _ => is_bindable(prefix, namespace),
        };
        if !fits {
            return Err(Refusal::Namespace);
        }
        check_characters(namespace)?;
        Ok(self.names.intern(prefix, local, namespace).index() as u32)
    }

    fn checked_target(&mut self, target: &str) -> Result<u32, Refusal> {
        check_part(target)?;
        if target.eq_ignore_ascii_case("xml") {
            return Err(Refusal::Instruction);
        }
        Ok(self.names.intern("", target, "").index() as u32)
    }
}

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

fn check_part(name: &str) -> Result<(), Refusal> {
    if name_error(name).is_some() || name.contains(':') { Err(Refusal::Name(name.to_owned())) } else { Ok(()) }
}

fn check_characters(text: &str) -> Result<(), Refusal> {
    match text.chars().find(|&c| !is_allowed(c)) {
        Some(character) => Err(Refusal::Character(u32::from(character))),
        None => Ok(()),
    }
}

/// Whether a prefix may be bound to a namespace.
///
/// Source: Namespaces in XML 1.0 §3 and §5.
fn is_bindable(prefix: &str, namespace: &str) -> bool {
    match prefix {
        "xml" => namespace == XML_NAMESPACE,
        "xmlns" => false,
        "" => namespace != XML_NAMESPACE && namespace != XMLNS_NAMESPACE,
        _ => !namespace.is_empty() && namespace != XML_NAMESPACE && namespace != XMLNS_NAMESPACE,
    }
}
