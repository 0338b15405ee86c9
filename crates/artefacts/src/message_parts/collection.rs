//! What `foreach` goes through: elements of the message, or of its JSON, each of which is put back in its place.

use myelin_json::{New, NodeId as Item};
use myelin_message::Body;
use myelin_soap::wrap;
use myelin_xml::{Document, Kind, NodeId, Refusal};

use crate::message_parts::json::{items, not_an_array};
use crate::message_parts::mixed_languages;
use myelin_content::{Fragment, Json, Tree, graft};
use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// A body that was taken out of its message, and what of it is gone through.
pub(crate) struct BodyCollection {
    whole: Body,
    items: CollectionItems,
}

enum CollectionItems {
    Elements(Vec<NodeId>),
    Json(Vec<Item>),
}

impl BodyCollection {
    /// Finds what an expression names in a message that is built, and takes the body out; `None`, with the body where it
    /// was, where it finds nothing.
    ///
    /// Errors: the bus's, where it finds something else than elements, or no array.
    pub(crate) fn take(
        expression: &Expression,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<BodyCollection>> {
        let expression = expression.resolved(exchange);
        let items = match expression.json() {
            Some(path) => {
                let Some(json) = exchange.json()? else { return Ok(None) };
                let found =
                    items(json.value(), path, &context.json_rules()).map_err(|error| unsuitable_json(&error))?;
                let found = found.ok_or_else(|| not_an_array(path))?;
                exchange.json_mut()?;
                CollectionItems::Json(found)
            }
            None => {
                let elements = expression.xpath().ok_or_else(mixed_languages)?.nodes(exchange, context)?;
                let document = exchange.tree()?.document();
                if elements.iter().any(|&node| document.kind(node) != Kind::Element) {
                    return Err(Fault::bus("Only elements of a message can be gone through"));
                }
                exchange.tree_mut()?;
                CollectionItems::Elements(elements)
            }
        };
        let collection = BodyCollection { whole: Body::Empty, items };
        if collection.count() == 0 {
            return Ok(None);
        }
        Ok(Some(BodyCollection { whole: std::mem::replace(&mut exchange.message.body, Body::Empty), ..collection }))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        match &self.items {
            CollectionItems::Elements(elements) => elements.len(),
            CollectionItems::Json(items) => items.len(),
        }
    }

    /// One of them as the body of a message; XML of SOAP in an envelope of the same version.
    pub(crate) fn body(&self, number: usize) -> Outcome<Body> {
        Ok(match &self.items {
            CollectionItems::Elements(elements) => {
                let tree = self.tree()?;
                let element = Fragment::copy(tree.document(), elements[number]);
                let mut document = element.into_document();
                if !tree.is_plain() {
                    wrap(&mut document, tree.envelope().version)?;
                }
                Body::Built(Box::new(Tree::from_document(document)))
            }
            CollectionItems::Json(items) => {
                let mut text = Vec::new();
                let json = self.whole.built::<Json>().ok_or_else(missing_body)?;
                json.value().write_compact(items[number], &mut text);
                Body::Bytes(text)
            }
        })
    }

    /// Puts the body of a message that is built in the place of one of them; an empty one takes it away.
    ///
    /// Errors: the bus's, where the body is XML in the place of JSON, or the other way round.
    pub(crate) fn put(&mut self, number: usize, result: &Exchange) -> Outcome<()> {
        match &self.items {
            CollectionItems::Elements(elements) => {
                let (old, new) = (elements[number], result.tree()?);
                self.whole
                    .built_mut::<Tree>()
                    .ok_or_else(missing_body)?
                    .change(|document, _| replace_element(document, old, new))?;
            }
            CollectionItems::Json(items) => {
                let value = self.whole.built_mut::<Json>().ok_or_else(missing_body)?.change();
                match result.json()? {
                    Some(json) => {
                        value
                            .replace(items[number], New::Json(json.text().as_bytes()))
                            .map_err(|error| unsuitable_json(&error))?;
                    }
                    None => value.remove(items[number]),
                }
            }
        }
        Ok(())
    }

    /// The body that was taken out, as it is now.
    pub(crate) fn into_body(self) -> Body {
        self.whole
    }

    fn tree(&self) -> Outcome<&Tree> {
        self.whole.built::<Tree>().ok_or_else(missing_body)
    }
}

/// Puts the payload of a message in the place of an element; an empty message takes it away.
pub(crate) fn replace_element(document: &mut Document, old: NodeId, new: &Tree) -> Result<(), Refusal> {
    let payload = new.envelope().payload(new.document());
    if let (Some(payload), Some(parent)) = (payload, document.parent(old)) {
        let new = graft(new.document(), payload, document, Some(parent))?;
        document.insert_before(old, new)?;
    }
    document.detach(old);
    Ok(())
}

pub(crate) fn unsuitable_json(error: &myelin_json::Error) -> Box<Fault> {
    Fault::bus("JSON cannot be gone through, or changed, so").with_detail(error.to_string())
}

fn missing_body() -> Box<Fault> {
    Fault::bus("The message that is gone through is not there")
}
