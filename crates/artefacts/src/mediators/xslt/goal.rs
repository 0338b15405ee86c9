//! Where a result goes, and how it gets there.

use std::ops::Range;
use std::sync::Arc;

use myelin_soap::Envelope;
use myelin_xml::{Document, Kind, NodeId, Refusal};
use myelin_xslt::{Form, Parameter};

use crate::mediators::xslt::place::Place;
use crate::message_edits::put_envelope;
use crate::stylesheets::{Input, Job, Owner, Product, Sheet};
use myelin_content::Fragment;
use myelin_content::{Tree, graft, text_of, wrapped_text};
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::{Scope, Slot, Value};

/// Where a result goes.
pub(super) enum Goal {
    /// Between the bytes around its source, so that nobody builds a tree of it; `None`: where a pass found the source.
    Bytes(Option<Range<usize>>),
    /// Into the message's tree, in the place of its source.
    Tree(NodeId),
    /// Into XML that a property holds, in the place of its source.
    Within(*const Document, NodeId),
    /// A property of its own.
    Property(Slot),
}

impl Goal {
    /// What a stylesheet is to do with an element, and where the result goes: to `target`, or where the element is.
    ///
    /// Errors: the bus's, where the element stands in nothing that could be changed.
    pub(super) fn job(
        place: Place,
        target: Option<Slot>,
        sheet: &Arc<Sheet>,
        parameters: Vec<Parameter>,
        exchange: &mut Exchange,
    ) -> Outcome<(Job, Goal)> {
        let sheet = Arc::clone(sheet);
        let (owner, document, source, goal) = match place {
            Place::Message(node) => {
                let tree = exchange.tree_mut()?;
                let goal = Goal::in_message(node, tree, &sheet);
                (Owner::Message, tree.hand_out(), node, Some(goal))
            }
            Place::Property(address, node) => {
                let fragment = exchange.properties.fragment_mut(address).ok_or_else(Fault::missing)?;
                let goal = (node != fragment.node).then_some(Goal::Within(address, node));
                (Owner::Nobody, Document::clone(&fragment.document), node, goal)
            }
            Place::Text(fragment) => {
                let node = fragment.node;
                (Owner::Nobody, fragment.into_document(), node, None)
            }
        };
        let Some(goal) = target.map(Goal::Property).or(goal) else {
            return Err(Fault::bus("What stands in no message can only be transformed into a property"));
        };
        let form = if let Goal::Bytes(_) = goal { Form::InPlace } else { Form::Element };
        Ok((Job { sheet, input: Input::Tree(document, source), owner, form, parameters }, goal))
    }

    /// To transform the first element in the body in one pass; `None` where the message's bytes are not at hand.
    pub(super) fn pass(sheet: &Arc<Sheet>, exchange: &mut Exchange) -> Option<Job> {
        let input = Input::Payload(std::mem::take(exchange.utf8()?));
        let (owner, form, parameters) = (Owner::Message, Form::InPlace, Vec::new());
        Some(Job { sheet: Arc::clone(sheet), input, owner, form, parameters })
    }

    fn in_message(node: NodeId, tree: &Tree, sheet: &Sheet) -> Goal {
        let Envelope { element, header, body, .. } = tree.envelope();
        let is_part = [Some(element), header, body].contains(&Some(node));
        // What was not escaped must not reach what stands around it.
        match tree.range_in_source(node).filter(|_| !is_part && !sheet.may_be_malformed()) {
            Some(range) => Goal::Bytes(Some(range)),
            None => Goal::Tree(node),
        }
    }

    /// Puts a result there.
    ///
    /// Errors: the bus's, where the result is nothing that can stand there.
    pub(super) fn reach(self, mut product: Product, exchange: &mut Exchange) -> Outcome<()> {
        shape(&mut product)?;
        let element = || str::from_utf8(&product.out).ok().and_then(Fragment::parse).ok_or_else(no_element);
        match self {
            Goal::Bytes(place) => exchange.splice(place.unwrap_or(product.place), &product.out),
            Goal::Tree(node) => put(&element()?, node, exchange),
            Goal::Within(address, node) => {
                let fragment = exchange.properties.fragment_mut(address).ok_or_else(Fault::missing)?;
                Ok(put_into(Arc::make_mut(&mut fragment.document), node, &element()?)?)
            }
            Goal::Property(slot) => {
                let value = Value::Xml(element()?);
                exchange.properties.check_room(&value)?;
                exchange.properties.put(Scope::Default, slot, Some(value));
                Ok(())
            }
        }
    }
}

/// Leaves of a result its first element alone; of a text, makes one.
fn shape(Product { sheet, out, told, .. }: &mut Product) -> Outcome<()> {
    if sheet.makes_text() {
        *out = element_of(&String::from_utf8_lossy(out))?;
        return Ok(());
    }
    let root = told.root.clone().filter(|_| !told.loose_text).ok_or_else(no_element)?;
    out.truncate(root.end);
    out.drain(..root.start);
    Ok(())
}

/// Puts an element into the message's tree, in the place of another.
fn put(result: &Fragment, node: NodeId, exchange: &mut Exchange) -> Outcome<()> {
    let tree = exchange.tree_mut()?;
    let Envelope { element, header, body, .. } = tree.envelope();
    if node == element {
        return match tree.is_plain() {
            true => Err(Fault::bus("Plain XML has no envelope that could be transformed")),
            false => put_envelope(exchange, result),
        };
    }
    if Some(node) == header {
        return Ok(tree.change_header(|document, _| fill(document, node, result))?);
    }
    if Some(node) != body {
        return Ok(tree.change(|document, _| put_into(document, node, result))?);
    }
    if tree.is_plain() && elements(result).count() != 1 {
        return Err(Fault::bus("Plain XML has one root element, and there would be none or several"));
    }
    Ok(tree.change(|document, _| fill(document, node, result))?)
}

/// Puts an element in the place of another.
fn put_into(document: &mut Document, node: NodeId, result: &Fragment) -> Result<(), Refusal> {
    let new = result.graft(document, document.parent(node))?;
    document.replace(node, new)
}

/// Puts the elements in the root of the result in the place of all that is in an element.
fn fill(document: &mut Document, parent: NodeId, result: &Fragment) -> Result<(), Refusal> {
    let old: Vec<NodeId> = document.children(parent).collect();
    old.into_iter().for_each(|node| document.detach(node));
    elements(result).try_for_each(|element| {
        let new = graft(&result.document, element, document, Some(parent))?;
        document.append(parent, new)
    })
}

/// The elements in the root of the result.
fn elements(result: &Fragment) -> impl Iterator<Item = NodeId> {
    let children = result.document.children(result.node);
    children.filter(|&node| result.document.kind(node) == Kind::Element)
}

/// The element in which a text stands.
fn element_of(text: &str) -> Result<Vec<u8>, Refusal> {
    let document = wrapped_text(text)?;
    Ok(text_of(&document, document.document_node()).into_bytes())
}

/// What a result without an element gives.
fn no_element() -> Box<Fault> {
    Fault::bus("A stylesheet gave no element, or text beside it")
}
