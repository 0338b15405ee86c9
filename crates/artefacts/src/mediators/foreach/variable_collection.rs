//! What `foreach` goes through in a variable: an array of JSON, or pieces of XML, each of which is put back in its place.

use std::sync::Arc;

use myelin_json::{New, NodeId as Item, Value as Json};
use myelin_message::Body;
use myelin_xml::{Document, Kind, NodeId};

use crate::message_parts::{items, not_an_array, replace_element, unsuitable_json};
use myelin_content::Format;
use myelin_content::{Fragment, Tree, utf8};
use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::{Scope, Slot, Value};

/// A copy of what a variable holds, and what of it is gone through.
pub(super) struct VariableCollection {
    slot: Slot,
    items: CollectionItems,
}

enum CollectionItems {
    /// Values in JSON.
    Json(Box<Json>, Vec<Item>),
    /// The variable is a list of pieces, or one.
    Pieces(Vec<Option<Fragment>>),
    /// Elements in XML; the node is its root.
    Elements(Box<Document>, NodeId, Vec<NodeId>),
}

impl VariableCollection {
    /// Finds what an expression names in its variable; `None` where that finds nothing.
    ///
    /// Errors: the bus's, where the variable is not set, or what is found cannot be gone through.
    pub(super) fn find(
        slot: Slot,
        expression: &Expression,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<VariableCollection>> {
        let value = exchange.properties.get(Scope::Variable, slot).cloned();
        // A text may be JSON, as everywhere in these expressions.
        let value = match value {
            Some(Value::Text(text)) => Value::json(&text),
            value => value,
        };
        let found = match (&value, expression.variable_path()) {
            (Some(Value::Json(json)), Some(path)) => {
                let items = items(json, path, &context.json_rules())
                    .map_err(|error| unsuitable_json(&error))?
                    .ok_or_else(|| not_an_array(path))?;
                CollectionItems::Json(Box::new(Json::clone(json)), items)
            }
            (Some(Value::List(pieces)), Some(_)) => CollectionItems::Pieces(pieces.iter().cloned().map(Some).collect()),
            (Some(Value::Xml(piece)), Some(_)) => CollectionItems::Pieces(vec![Some(piece.clone())]),
            (Some(Value::Xml(piece)), None) => {
                let nodes = expression.nodes_anywhere(exchange, context)?;
                let is_inside = |at: *const Document| std::ptr::eq(at, Arc::as_ptr(&piece.document));
                let nodes: Vec<NodeId> =
                    nodes.into_iter().filter(|(at, _)| is_inside(*at)).map(|(_, node)| node).collect();
                if nodes.iter().any(|&node| piece.document.kind(node) != Kind::Element) {
                    return Err(Fault::bus("Only elements of a variable can be gone through"));
                }
                CollectionItems::Elements(Box::new(Document::clone(&piece.document)), piece.node, nodes)
            }
            _ => return Err(Fault::bus("The variable that is to be gone through holds neither an array nor XML")),
        };
        let held = VariableCollection { slot, items: found };
        Ok((held.count() > 0).then_some(held))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match &self.items {
            CollectionItems::Json(_, items) => items.len(),
            CollectionItems::Pieces(pieces) => pieces.len(),
            CollectionItems::Elements(_, _, elements) => elements.len(),
        }
    }

    /// A copy of the flow whose message is one of them, and about how many bytes that takes.
    pub(super) fn copy(&self, number: usize, exchange: &Exchange) -> Outcome<(Exchange, usize)> {
        let mut copy = exchange.branch_with(Body::Empty);
        let piece = match &self.items {
            CollectionItems::Json(json, items) => {
                let mut text = Vec::new();
                json.write_compact(items[number], &mut text);
                let size = text.len();
                if exchange.content.format != Format::Json {
                    copy.message.head.set("Content-Type", b"application/json")?;
                }
                copy.set_body(Body::Bytes(text));
                return Ok((copy, size));
            }
            CollectionItems::Pieces(pieces) => {
                pieces[number].as_ref().map(|piece| Fragment::copy(&piece.document, piece.node))
            }
            CollectionItems::Elements(document, _, elements) => Some(Fragment::copy(document, elements[number])),
        };
        let Some(piece) = piece else { return Ok((copy, 0)) };
        let document = piece.into_document();
        let size = document.size_bytes();
        if exchange.content.format != Format::Pox {
            copy.message.head.set("Content-Type", b"application/xml")?;
        }
        copy.set_body(Body::Built(Box::new(Tree::from_document(document))));
        Ok((copy, size))
    }

    /// Puts the body of a message that is built in the place of one of them; an empty one takes it away.
    ///
    /// Errors: the bus's, where the body is XML in the place of JSON, or the other way round.
    pub(super) fn put(&mut self, number: usize, result: &Exchange) -> Outcome<()> {
        match &mut self.items {
            CollectionItems::Json(json, items) => match result.json()? {
                Some(new) => {
                    json.replace(items[number], New::Json(new.text().as_bytes()))
                        .map_err(|error| unsuitable_json(&error))?;
                }
                None => json.remove(items[number]),
            },
            CollectionItems::Pieces(pieces) => {
                let tree = result.tree()?;
                let payload = tree.envelope().payload(tree.document());
                pieces[number] = payload.map(|payload| Fragment::copy(tree.document(), payload));
            }
            CollectionItems::Elements(document, _, elements) => {
                replace_element(document, elements[number], result.tree()?)?;
            }
        }
        Ok(())
    }

    /// Puts what it is now into the variable.
    ///
    /// Errors: the bus's, where it is too much.
    pub(super) fn keep(self, exchange: &mut Exchange) -> Outcome<()> {
        let value = match self.items {
            CollectionItems::Json(json, _) => {
                let mut text = Vec::new();
                json.write_document(&mut text);
                Value::json(&utf8(&text))
            }
            CollectionItems::Pieces(pieces) => Some(Value::List(pieces.into_iter().flatten().collect())),
            CollectionItems::Elements(document, node, _) => {
                Some(Value::Xml(Fragment { document: Arc::from(document), node }))
            }
        };
        if let Some(value) = &value {
            exchange.properties.check_room(value)?;
        }
        exchange.properties.put(Scope::Variable, self.slot, value);
        Ok(())
    }
}
