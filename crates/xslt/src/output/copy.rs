//! Nodes of a document that become nodes of the result as they are.

use myelin_xml::{Document, Kind, NodeId};

use super::error::OutputError;
use super::{Output, Target};

impl<'o> Output<'o> {
    /// Starts an element like one of a document, without its attributes.
    ///
    /// Shape: `namespaces` says whether it gets the namespaces that are in scope there too.
    #[inline]
    pub(crate) fn start_copy(
        &mut self,
        document: &'o Document,
        element: NodeId,
        namespaces: bool,
    ) -> Result<(), OutputError> {
        self.grow()?;
        self.atomic = false;
        let Some(name) = document.name(element) else { return Ok(()) };
        match &mut self.target {
            Target::Bytes(bytes) => bytes.start_copy(document, element, name, namespaces),
            Target::Tree(tree) => tree.start_copy(document, element, name, namespaces),
            Target::Text(text) | Target::Fragment(text) => text.start(),
        }
    }

    /// Copies a node that is no element and no document node.
    #[inline]
    pub(crate) fn copy_leaf(&mut self, document: &Document, node: NodeId) -> Result<(), OutputError> {
        if let (Target::Bytes(bytes), Kind::Attribute) = (&mut self.target, document.kind(node)) {
            self.atomic = false;
            return bytes.copy_attribute(document, node);
        }
        let value = document.value(node);
        match document.kind(node) {
            Kind::Document | Kind::Element => Ok(()),
            Kind::Attribute => self.attribute(document.qname(node), &value),
            Kind::Text => self.text(&value),
            Kind::Comment => self.comment(&value),
            Kind::Instruction => self.instruction(document.qname(node).local, &value),
        }
    }

    /// Copies a node with all below it; of a document node what it holds.
    ///
    /// Shape: `namespaces` says whether elements get the namespaces that are in scope where they come from.
    pub(crate) fn copy(&mut self, document: &'o Document, top: NodeId, namespaces: bool) -> Result<(), OutputError> {
        let mut node = top;
        // Without their namespaces, elements have what is in scope around the copy and what their names need.
        let around = match &self.target {
            Target::Tree(tree) if !namespaces => Some(tree.changes()),
            _ => None,
        };
        loop {
            let next = self.copy_node(document, node, namespaces)?;
            if let (Some(around), Target::Tree(tree), Some(_)) = (around, &mut self.target, next)
                && document.kind(node) == Kind::Element
            {
                tree.keep_namespaces(around);
            }
            if let Some(child) = next {
                node = child;
                continue;
            }
            while node != top {
                if let Some(next) = document.next_sibling(node) {
                    node = next;
                    break;
                }
                let Some(parent) = document.parent(node) else { return Ok(()) };
                node = parent;
                if document.kind(node) == Kind::Element {
                    self.end_element()?;
                }
            }
            if node == top {
                return Ok(());
            }
        }
    }

    /// Copies a node; the first child that is still to be copied, of an element that is then open.
    fn copy_node(
        &mut self,
        document: &'o Document,
        node: NodeId,
        namespaces: bool,
    ) -> Result<Option<NodeId>, OutputError> {
        match document.kind(node) {
            Kind::Document => {
                self.separate();
                return Ok(document.first_child(node));
            }
            Kind::Element => {}
            _ => {
                self.copy_leaf(document, node)?;
                return Ok(None);
            }
        }
        if let Target::Bytes(bytes) = &mut self.target
            && namespaces
            && bytes.copy_as_read(document, node)?
        {
            self.atomic = false;
            return Ok(None);
        }
        self.start_copy(document, node, namespaces)?;
        for attribute in document.attributes(node) {
            self.copy_leaf(document, attribute)?;
        }
        let child = document.first_child(node);
        if child.is_none() {
            self.end_element()?;
        }
        Ok(child)
    }
}
