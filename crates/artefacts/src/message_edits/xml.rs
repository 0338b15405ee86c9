//! Changing XML: a message's tree, or a piece that a property holds.

use std::sync::Arc;

use myelin_soap::Envelope;
use myelin_xml::{Document, Kind, NodeId, Refusal};

use crate::message_edits::content::{Content, EditAction};
use myelin_content::Fragment;
use myelin_content::Tree;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// Puts content at a node of the message.
pub(crate) fn put(
    exchange: &mut Exchange,
    at: NodeId,
    content: Content,
    action: EditAction,
    moves: bool,
) -> Outcome<()> {
    let tree = exchange.tree_mut()?;
    check(tree, at, &content, action)?;
    let is_header = Some(at) == tree.envelope().header;
    let change = |document: &mut Document, _: &mut Envelope| put_into(document, at, content, action, moves);
    let changed = if is_header { tree.change_header(change) } else { tree.change(change) };
    Ok(changed?)
}

/// Makes content that of a body in which there is no element.
pub(crate) fn fill(exchange: &mut Exchange, content: Content, moves: bool) -> Outcome<()> {
    let tree = exchange.tree_mut()?;
    let Some(body) = tree.envelope().body else { return Err(nowhere()) };
    check(tree, body, &content, EditAction::Child)?;
    tree.change(|document, _| put_into(document, body, content, EditAction::Child, moves))?;
    Ok(())
}

/// Adds blocks to the header, which is made where there is none.
pub(crate) fn add_blocks(exchange: &mut Exchange, content: Content, moves: bool) -> Outcome<()> {
    exchange.tree_mut()?.change_header(|document, envelope| {
        let header = envelope.header_or_new(document)?;
        put_into(document, header, content, EditAction::Child, moves)
    })?;
    Ok(())
}

/// Puts an envelope in the place of the message's.
pub(crate) fn put_envelope(exchange: &mut Exchange, fragment: &Fragment) -> Outcome<()> {
    exchange.tree_mut()?.change(|document, envelope| {
        let new = document.import(&fragment.document, fragment.node)?;
        document.replace(envelope.element, new)
    })?;
    Ok(())
}

/// Puts content at a node of a piece that a property holds.
pub(crate) fn put_into_fragment(
    exchange: &mut Exchange,
    document: *const Document,
    at: NodeId,
    content: Content,
    action: EditAction,
) -> Outcome<()> {
    let content = match content {
        Content::Own(_) => Content::Elements(content.fragments(exchange)?),
        other => other,
    };
    let fragment = exchange.properties.fragment_mut(document).ok_or_else(nowhere)?;
    if at == fragment.node && action != EditAction::Child {
        match (content, action) {
            (Content::Elements(mut elements), EditAction::Replace) if elements.len() == 1 => {
                *fragment = elements.remove(0);
            }
            (Content::Text(text), EditAction::Replace) => Arc::make_mut(&mut fragment.document).set_value(at, &text)?,
            _ => {
                return Err(Fault::bus(
                    "The root of what a property holds has no siblings, and one element replaces it",
                ));
            }
        }
        return Ok(());
    }
    Ok(put_into(Arc::make_mut(&mut fragment.document), at, content, action, false)?)
}

/// Takes nodes out of the message.
pub(crate) fn remove(exchange: &mut Exchange, nodes: &[NodeId]) -> Outcome<()> {
    if nodes.is_empty() {
        return Ok(());
    }
    let tree = exchange.tree_mut()?;
    if nodes.iter().any(|&node| is_part(tree, node)) {
        return Err(Fault::bus("The parts of an envelope cannot be taken out of it"));
    }
    tree.change(|document, _| {
        nodes.iter().for_each(|&node| document.detach(node));
        Ok(())
    })?;
    Ok(())
}

/// What a target that leads nowhere gives.
pub(crate) fn nowhere() -> Box<Fault> {
    Fault::bus("The target of enrich finds nothing")
}

/// Refuses what would leave no envelope, or no document.
fn check(tree: &Tree, at: NodeId, content: &Content, action: EditAction) -> Outcome<()> {
    let document = tree.document();
    let (count, name) = match content {
        Content::Own(nodes) => (nodes.len(), nodes.first().map(|&node| document.qname(node))),
        Content::Elements(all) => (all.len(), all.first().map(|first| first.document.qname(first.node))),
        Content::Text(_) => (0, None),
    };
    let is_same = name.is_some_and(|name| {
        let old = document.qname(at);
        count == 1 && (name.local, name.namespace) == (old.local, old.namespace)
    });
    if is_part(tree, at) && action != EditAction::Child && !is_same {
        return Err(Fault::bus("The parts of an envelope cannot be replaced by something else"));
    }
    let Some(body) = tree.envelope().body.filter(|_| tree.is_plain()) else { return Ok(()) };
    let there = document.children(body).filter(|&node| document.kind(node) == Kind::Element).count();
    let then = match action {
        EditAction::Replace if document.parent(at) == Some(body) => there + count - 1,
        EditAction::Sibling if document.parent(at) == Some(body) => there + count,
        EditAction::Child if at == body => there + count,
        _ => there,
    };
    if count > 0 && then > 1 {
        return Err(Fault::bus("Plain XML has one root element, and there would be several"));
    }
    Ok(())
}

/// Whether the node is the envelope, its header or its body.
fn is_part(tree: &Tree, node: NodeId) -> bool {
    let Envelope { element, header, body, .. } = tree.envelope();
    [Some(element), header, body, Some(tree.document().document_node())].contains(&Some(node))
}

/// Puts content at a node.
fn put_into(
    document: &mut Document,
    at: NodeId,
    content: Content,
    action: EditAction,
    moves: bool,
) -> Result<(), Refusal> {
    let kind = document.kind(at);
    // As in Synapse, a text can only be replaced, and neither it nor an attribute by what cannot stand there.
    let action = if kind == Kind::Text { EditAction::Replace } else { action };
    let new: Vec<NodeId> = match content {
        Content::Text(text) if action == EditAction::Replace => return document.set_value(at, &text),
        Content::Text(_) => Vec::new(),
        Content::Own(_) | Content::Elements(_) if kind == Kind::Attribute => Vec::new(),
        Content::Own(nodes) if moves => nodes,
        Content::Own(nodes) => nodes.into_iter().map(|node| document.copy(node)).collect::<Result<_, _>>()?,
        Content::Elements(fragments) => {
            let parent = if action == EditAction::Child { Some(at) } else { document.parent(at) };
            let grafts = fragments.iter().map(|fragment| fragment.graft(document, parent));
            grafts.collect::<Result<_, _>>()?
        }
    };
    if new.is_empty() {
        tracing::warn!(target: "myelin::enrich", "what enrich takes cannot be put there: nothing is changed");
        return Ok(());
    }
    match action {
        EditAction::Child => new.iter().try_for_each(|&node| document.append(at, node)),
        EditAction::Replace => {
            new.iter().try_for_each(|&node| document.insert_before(at, node))?;
            if !new.contains(&at) {
                document.detach(at);
            }
            Ok(())
        }
        EditAction::Sibling | EditAction::Remove => {
            let mut last = at;
            for node in new {
                document.insert_after(last, node)?;
                last = node;
            }
            Ok(())
        }
    }
}
