//! Parts of the envelope that have to be there, to be signed or to be encrypted: each at its place.

use myelin_xml::{Kind, NodeId};
use myelin_xpath::{Context, NoHost, Node, NodeRef};

use super::super::found::{Extent, Signed};
use super::Requirements;
use crate::incoming::inspection::Inspection;
use crate::policy::{HeaderPart, Parts};
use crate::structure::is_space;
use crate::{Refusal, Rule};

/// A node of the envelope that a policy asks something of.
pub(super) struct Required {
    pub(super) node: NodeId,
    /// Whether what is in it is meant.
    pub(super) content: bool,
}

impl Requirements<'_> {
    /// The nodes that parts are: found by their places, never by their ids.
    ///
    /// Errors: an expression does not end or finds no nodes.
    pub(super) fn nodes(&self, parts: &Parts) -> Result<Vec<Required>, Refusal> {
        let Inspection { document, envelope, .. } = self.inspection;
        let mut nodes = Vec::new();
        if parts.body {
            nodes.push(Required { node: envelope.body, content: false });
        }
        if parts.all_headers || !parts.headers.is_empty() {
            for block in envelope.blocks(document).filter(|&block| Some(block) != envelope.security) {
                if parts.all_headers || parts.headers.iter().any(|part| self.is_named(block, part)) {
                    nodes.push(Required { node: block, content: false });
                }
            }
        }
        for part in &parts.elements {
            let failed = |why: String| Refusal::new(Rule::Limit, format!("{}: {why}", part.text));
            let context = Context::new(&NoHost).at(NodeRef::new(document, document.document_node()));
            let value = part.expression.evaluate(&context).map_err(|error| failed(error.to_string()))?;
            for node in value.as_nodes().ok_or_else(|| failed("it finds no nodes".to_owned()))? {
                match node.node {
                    Node::Tree(node) if document.kind(node) == Kind::Element => {
                        nodes.push(Required { node, content: part.content });
                    }
                    _ => return Err(failed("it finds something else than elements".to_owned())),
                }
            }
        }
        Ok(nodes)
    }

    fn is_named(&self, block: NodeId, part: &HeaderPart) -> bool {
        let name = self.inspection.document.qname(block);
        name.namespace == part.namespace && part.local.as_deref().is_none_or(|local| local == name.local)
    }

    /// Checks that everything is there that has to be.
    pub(super) fn check_required(&self) -> Result<(), Refusal> {
        let Inspection { document, envelope, .. } = self.inspection;
        let required = &self.alternative.required;
        for part in &required.headers {
            if !envelope.blocks(document).any(|block| self.is_named(block, part)) {
                let local = part.local.as_deref().unwrap_or("*");
                return Err(Refusal::new(Rule::RequiredMissing, format!("header {{{}}}{local}", part.namespace)));
            }
        }
        for part in &required.elements {
            let parts = Parts { elements: vec![part.clone()], ..Parts::default() };
            if self.nodes(&parts)?.is_empty() {
                return Err(Refusal::new(Rule::RequiredMissing, part.text.clone()));
            }
        }
        Ok(())
    }

    /// Checks that a signature covers all parts.
    pub(super) fn check_signed(&self, signature: &Signed, parts: &Parts) -> Result<(), Refusal> {
        for Required { node, .. } in self.nodes(parts)? {
            if !self.inspection.covers(signature, node) {
                return Err(Refusal::new(Rule::NotSigned, self.inspection.document.qname(node).local.to_owned()));
            }
        }
        Ok(())
    }

    /// Checks that all parts were encrypted; of the body and of what is meant so the content.
    pub(super) fn check_encrypted(&self, parts: &Parts) -> Result<(), Refusal> {
        // What TLS protects is encrypted, whatever stands in the message.
        if self.is_transport() {
            return Ok(());
        }
        for Required { node, content } in self.nodes(parts)? {
            let content = content || node == self.inspection.envelope.body;
            let encrypted = self.was_encrypted(node) || (content && self.content_was_encrypted(node));
            if !encrypted {
                return Err(Refusal::new(Rule::NotEncrypted, self.inspection.document.qname(node).local.to_owned()));
            }
        }
        Ok(())
    }

    /// Whether an element was encrypted, by itself or with one around it.
    pub(super) fn was_encrypted(&self, node: NodeId) -> bool {
        self.inspection.found.decrypted.iter().any(|piece| {
            piece.node.is_some_and(|encrypted| match piece.what.extent {
                Extent::Element => self.inspection.is_within(node, encrypted),
                Extent::Content => encrypted != node && self.inspection.is_within(node, encrypted),
                Extent::Part => false,
            })
        })
    }

    /// Whether all that says something in an element was encrypted; where nothing does, nothing has to be.
    fn content_was_encrypted(&self, node: NodeId) -> bool {
        let Inspection { document, found, .. } = self.inspection;
        if found.decrypted.iter().any(|piece| piece.node == Some(node) && piece.what.extent == Extent::Content) {
            return true;
        }
        document.children(node).all(|child| match document.kind(child) {
            Kind::Element => self.was_encrypted(child),
            Kind::Text => is_space(&document.value(child)),
            _ => true,
        })
    }
}
