//! Which nodes of an envelope a policy's parts are, and the ids by which signatures refer to them.

use std::collections::HashSet;

use myelin_soap::Envelope;
use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::{Context, NoHost, Node, NodeRef};

use super::errors::too_large;
use super::ids::Ids;
use crate::Error;
use crate::policy::{HeaderPart, Parts};
use crate::vocabulary::{DS, SAML_11, SAML_20, WSU, XENC};

/// A part of an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) node: NodeId,
    pub(super) place: Place,
}

/// Where a part stands, which decides how it is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The body; encrypted is what it holds.
    Body,
    /// A header block.
    Header,
    /// Any other element.
    Element,
    /// What is in an element.
    Content,
    /// The `Security` header, of which it is this child, counted from 0.
    Security(usize),
}

/// The nodes of the parts, each once, in the order of the policy; of `security` only expressions find something.
///
/// Errors: an expression fails, or finds something else than elements, something deep in `security` or around it.
pub(super) fn find(
    document: &Document,
    envelope: &Envelope,
    security: NodeId,
    parts: &Parts,
) -> Result<Vec<Part>, Error> {
    let mut found: Vec<Part> = Vec::new();
    let mut seen = HashSet::new();
    let mut add = |node: NodeId, place: Place| {
        if seen.insert(node) {
            found.push(Part { node, place });
        }
    };
    if parts.all_headers || !parts.headers.is_empty() {
        let blocks = envelope.header.into_iter().flat_map(|header| document.children(header));
        for block in blocks.filter(|&block| block != security && document.kind(block) == Kind::Element) {
            let name = document.qname(block);
            let is_named = |part: &HeaderPart| {
                part.namespace == name.namespace && part.local.as_ref().is_none_or(|local| local == name.local)
            };
            if parts.all_headers || parts.headers.iter().any(is_named) {
                add(block, Place::Header);
            }
        }
    }
    for part in &parts.elements {
        let context = Context::new(&NoHost).at(NodeRef::new(document, document.document_node()));
        let failed = |why: String| Error::Part(format!("{:?}: {why}", part.text).into());
        let value = part.expression.evaluate(&context).map_err(|error| failed(error.to_string()))?;
        for node in value.as_nodes().ok_or_else(|| failed("it gives no nodes".to_owned()))? {
            match node.node {
                Node::Tree(node) if document.kind(node) == Kind::Element => {
                    let parent = document.parent(node);
                    let place = if part.content {
                        Place::Content
                    } else if parent == Some(security) {
                        Place::Security(document.children(security).position(|child| child == node).unwrap_or_default())
                    } else if parent.is_some() && parent == envelope.header {
                        Place::Header
                    } else {
                        Place::Element
                    };
                    if ancestors(document, security).skip(1).any(|outer| outer == node) {
                        return Err(failed("it gives something that the Security header stands in".to_owned()));
                    }
                    let is_child = matches!(place, Place::Security(_));
                    if !is_child && ancestors(document, node).any(|outer| outer == security) {
                        return Err(failed(
                            "it gives something that is only a piece of the Security header".to_owned(),
                        ));
                    }
                    add(node, place);
                }
                _ => return Err(failed("it gives something else than an element".to_owned())),
            }
        }
    }
    if let Some(body) = envelope.body.filter(|_| parts.body) {
        add(body, Place::Body);
    }
    Ok(found)
}

/// Leaves out what stands in another part: it is encrypted with it.
pub(super) fn outermost(document: &Document, parts: Vec<Part>) -> Vec<Part> {
    let nodes: HashSet<NodeId> = parts.iter().map(|part| part.node).collect();
    parts
        .into_iter()
        .filter(|part| !ancestors(document, part.node).skip(1).any(|outer| nodes.contains(&outer)))
        .collect()
}

/// A node and all above it.
pub(super) fn ancestors(document: &Document, node: NodeId) -> impl Iterator<Item = NodeId> {
    std::iter::successors(Some(node), |&node| document.parent(node))
}

/// The id of an element; one that has none gets one.
///
/// Errors: the document has no room for it.
pub(super) fn id_of(document: &mut Document, element: NodeId, ids: &mut Ids) -> Result<String, Error> {
    let name = document.qname(element);
    let own = match (name.namespace, name.local) {
        (DS | XENC, _) => "Id",
        (SAML_11, "Assertion") => "AssertionID",
        (SAML_20, "Assertion") => "ID",
        _ => "",
    };
    let known = document.attribute(element, WSU, "Id").or_else(|| document.attribute(element, "", own));
    if let Some(known) = known.filter(|known| !known.is_empty()) {
        return Ok(known.into_owned());
    }
    let id = ids.next("id");
    document.set_attribute(element, "wsu", "Id", WSU, &id).map_err(too_large)?;
    Ok(id)
}
