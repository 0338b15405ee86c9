//! What `foreach` goes through: elements of the message, or of its JSON, each of which is put back in its place.

use std::sync::Arc;

use myelin_json::{New, NodeId as Item};
use myelin_message::Body;
use myelin_soap::wrap;
use myelin_xml::{Document, Kind, NodeId, Refusal};

use super::parts::{items, mixed, no_array};
use crate::content::{Fragment, Json, Tree, graft};
use crate::exchange::{Exchange, Scene};
use crate::expression::Expression;
use crate::fault::{Fault, Outcome};

/// A body that was taken out of its message, and what of it is gone through.
pub(super) struct Collection {
    whole: Body,
    found: Found,
}

enum Found {
    Elements(Vec<NodeId>),
    Items(Vec<Item>),
}

impl Collection {
    /// Finds what an expression names in a message that is built, and takes the body out; `None`, with the body where it
    /// was, where it finds nothing.
    ///
    /// Errors: the bus's, where it finds something else than elements, or no array.
    pub(super) fn take(
        expression: &Expression,
        exchange: &mut Exchange,
        scene: &Scene<'_>,
    ) -> Outcome<Option<Collection>> {
        let expression = expression.meant(exchange);
        let found = match expression.json() {
            Some(path) => {
                let Some(json) = exchange.json()? else { return Ok(None) };
                let items = items(json.value(), path, &scene.json_rules()).map_err(|error| unfit_json(&error))?;
                let items = items.ok_or_else(|| no_array(path))?;
                exchange.json_mut()?;
                Found::Items(items)
            }
            None => {
                let elements = expression.xpath().ok_or_else(mixed)?.nodes(exchange, scene)?;
                let document = exchange.tree()?.document();
                if elements.iter().any(|&node| document.kind(node) != Kind::Element) {
                    return Err(Fault::bus("Only elements of a message can be gone through"));
                }
                exchange.tree_mut()?;
                Found::Elements(elements)
            }
        };
        let collection = Collection { whole: Body::Empty, found };
        if collection.count() == 0 {
            return Ok(None);
        }
        Ok(Some(Collection { whole: std::mem::replace(&mut exchange.message.body, Body::Empty), ..collection }))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match &self.found {
            Found::Elements(elements) => elements.len(),
            Found::Items(items) => items.len(),
        }
    }

    /// One of them as the body of a message; XML of SOAP in an envelope of the same version.
    pub(super) fn body(&self, number: usize) -> Outcome<Body> {
        Ok(match &self.found {
            Found::Elements(elements) => {
                let tree = self.tree()?;
                let element = Fragment::copy(tree.document(), elements[number]);
                let mut document = Arc::unwrap_or_clone(element.document);
                if !tree.is_plain() {
                    wrap(&mut document, tree.envelope().version)?;
                }
                Body::Built(Box::new(Tree::changed(document)))
            }
            Found::Items(items) => {
                let mut text = Vec::new();
                let json = self.whole.built::<Json>().ok_or_else(gone)?;
                json.value().write_compact(items[number], &mut text);
                Body::Bytes(text)
            }
        })
    }

    /// Puts the body of a message that is built in the place of one of them; an empty one takes it away.
    ///
    /// Errors: the bus's, where the body is XML in the place of JSON, or the other way round.
    pub(super) fn put(&mut self, number: usize, result: &Exchange) -> Outcome<()> {
        match &self.found {
            Found::Elements(elements) => {
                let (old, new) = (elements[number], result.tree()?);
                self.whole.built_mut::<Tree>().ok_or_else(gone)?.change(|document, _| replaced(document, old, new))?;
            }
            Found::Items(items) => {
                let value = self.whole.built_mut::<Json>().ok_or_else(gone)?.change();
                match result.json()? {
                    Some(json) => {
                        value
                            .replace(items[number], New::Json(json.text().as_bytes()))
                            .map_err(|error| unfit_json(&error))?;
                    }
                    None => value.remove(items[number]),
                }
            }
        }
        Ok(())
    }

    /// The body that was taken out, as it is now.
    pub(super) fn into_body(self) -> Body {
        self.whole
    }

    fn tree(&self) -> Outcome<&Tree> {
        self.whole.built::<Tree>().ok_or_else(gone)
    }
}

/// Puts the payload of a message in the place of an element; an empty message takes it away.
pub(super) fn replaced(document: &mut Document, old: NodeId, new: &Tree) -> Result<(), Refusal> {
    let payload = new.envelope().payload(new.document());
    if let (Some(payload), Some(parent)) = (payload, document.parent(old)) {
        let new = graft(new.document(), payload, document, Some(parent))?;
        document.insert_before(old, new)?;
    }
    document.detach(old);
    Ok(())
}

pub(super) fn unfit_json(error: &myelin_json::Error) -> Box<Fault> {
    Fault::bus("JSON cannot be gone through, or changed, so").with_detail(error.to_string())
}

fn gone() -> Box<Fault> {
    Fault::bus("The message that is gone through is not there")
}
