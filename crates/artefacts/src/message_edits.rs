//! Changing a message: content is put in the place of its body, of its envelope, or of a node in it.

mod content;
pub(crate) mod json;
pub(crate) mod xml;

pub(crate) use content::{Content, EditAction};

use std::sync::Arc;

use myelin_json::Path;
use myelin_json::convert::to_json;
use myelin_message::{Body, HeaderId};
use myelin_soap::{Envelope, Version};

use crate::message_edits::json::JsonContent;
use myelin_content::{Format, Fragment, Json, Tree, into_utf8, text_of};
use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::{Scope, Slot, Value};

/// How content is put into a message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EditOptions {
    /// Whether nodes of the message leave the place that they had.
    pub(crate) moves: bool,
    /// Whether a text that is JSON may take the place of a body that is none.
    pub(crate) json_becomes_body: bool,
}

pub(crate) fn no_envelope() -> Box<Fault> {
    Fault::bus("Only a SOAP envelope can take the place of one")
}

pub(crate) fn no_conversion(from: &str, to: &str) -> Box<Fault> {
    Fault::bus(format!("{from} cannot be put into {to}"))
}

pub(crate) fn into_node(
    exchange: &mut Exchange,
    expression: &Expression,
    content: Content,
    action: EditAction,
    moves: bool,
    context: &RequestContext<'_>,
) -> Outcome<()> {
    let (document, at) = expression.first_node(exchange, context)?.ok_or_else(xml::nowhere)?;
    match exchange.tree() {
        Ok(tree) if std::ptr::eq(tree.document(), document) => xml::put(exchange, at, content, action, moves),
        _ => xml::put_into_fragment(exchange, document, at, content, action),
    }
}

/// Puts an element in the place of the first node that an expression leads to.
///
/// Errors: the bus's, where it leads to none.
pub(crate) fn put_at(
    exchange: &mut Exchange,
    expression: &Expression,
    element: Fragment,
    context: &RequestContext<'_>,
) -> Outcome<()> {
    into_node(exchange, expression, Content::Elements(vec![element]), EditAction::Replace, false, context)
}

/// Puts an element in the place of a message's payload; it is the whole of a message that is none of XML.
///
/// Errors: the bus's, where the body is not built.
pub(crate) fn put_body(exchange: &mut Exchange, element: Fragment, context: &RequestContext<'_>) -> Outcome<()> {
    into_body(exchange, Content::Elements(vec![element]), EditOptions::default(), EditAction::Replace, context)
}

pub(crate) fn into_property(
    exchange: &mut Exchange,
    (scope, slot): (Scope, Slot),
    content: Content,
    action: EditAction,
    context: &RequestContext<'_>,
) -> Outcome<()> {
    let value = match (action, exchange.properties.get(scope, slot), content) {
        (EditAction::Child, Some(Value::Xml(held)), content) => {
            let (document, at) = (Arc::as_ptr(&held.document), held.node);
            return xml::put_into_fragment(exchange, document, at, content, action);
        }
        // A child of JSON in a property goes where it goes in a body of JSON.
        (EditAction::Child, Some(held), Content::Text(text)) => {
            let changed = json::with_child(&held.text(), &text, &context.json_rules())?;
            json::held_as(held, changed)
        }
        (EditAction::Child, ..) => return Err(xml::nowhere()),
        (_, _, Content::Text(text)) if scope == Scope::Variable && JsonContent::of(&text).is_whole() => {
            Value::json(&text).unwrap_or_else(|| Value::Text(text.into()))
        }
        (_, _, Content::Text(text)) => Value::Text(text.into()),
        (_, _, elements) => match <[Fragment; 1]>::try_from(elements.fragments(exchange)?) {
            Ok([one]) => Value::Xml(one),
            Err(several) => Value::List(several.into()),
        },
    };
    exchange.properties.check_room(&value)?;
    exchange.properties.put(scope, slot, Some(value));
    Ok(())
}

/// What elements are as JSON: an object, or several in an array.
pub(crate) fn json_of(fragments: &[Fragment], context: &RequestContext<'_>) -> Outcome<String> {
    let limit = usize::try_from(context.definitions.settings.body_limit_bytes).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    let several = fragments.len() != 1;
    out.extend(several.then_some(b'['));
    for (index, fragment) in fragments.iter().enumerate() {
        out.extend((index > 0).then_some(b','));
        to_json(&fragment.document, fragment.node, &context.definitions.settings.json, limit, &mut out)
            .map_err(|error| no_conversion("XML", "JSON").with_detail(error.to_string()))?;
    }
    out.extend(several.then_some(b']'));
    Ok(into_utf8(out))
}

pub(crate) fn into_envelope(exchange: &mut Exchange, content: Content) -> Outcome<()> {
    let mut fragments = content.fragments(exchange)?;
    let Some(fragment) = fragments.pop().filter(|_| fragments.is_empty()) else { return Err(no_envelope()) };
    let Some(envelope) = Envelope::of(&fragment.document) else { return Err(no_envelope()) };
    match exchange.message.body.built::<Tree>().filter(|tree| !tree.is_empty()) {
        None => whole(exchange, &fragment),
        // Plain XML has no envelope that is sent: what stands in the other one's body takes its place.
        Some(tree) if tree.is_plain() => {
            let Some(payload) = envelope.payload(&fragment.document) else { return Err(no_envelope()) };
            let Some(at) = tree.envelope().payload(tree.document()) else { return Err(xml::nowhere()) };
            let content = Content::Elements(vec![Fragment::copy(&fragment.document, payload)]);
            xml::put(exchange, at, content, EditAction::Replace, false)
        }
        Some(_) => put_envelope(exchange, &fragment),
    }
}

/// Puts an envelope in the place of the message's, with the content type of its version.
///
/// Errors: the bus's, where the piece of XML is no envelope.
pub(crate) fn put_envelope(exchange: &mut Exchange, fragment: &Fragment) -> Outcome<()> {
    let Some(envelope) = Envelope::of(&fragment.document) else { return Err(no_envelope()) };
    xml::put_envelope(exchange, fragment)?;
    set_type(exchange, envelope.version.media_type())
}

pub(crate) fn into_body(
    exchange: &mut Exchange,
    content: Content,
    options: EditOptions,
    action: EditAction,
    context: &RequestContext<'_>,
) -> Outcome<()> {
    let body = &mut exchange.message.body;
    let is_whole_json =
        |text: &str| options.json_becomes_body && action == EditAction::Replace && JsonContent::of(text).is_whole();
    match content {
        Content::Text(text) if body.built::<Json>().is_some() => {
            let value = exchange.json_mut()?.change();
            let root = Path::compile("$").expect("the path to all is one");
            json::change(value, &root, action, &JsonContent::of(&text), &context.json_rules())
        }
        // JSON in the place of XML is never meant as the text of an element.
        Content::Text(text) if is_whole_json(&text) => {
            set_type(exchange, "application/json")?;
            exchange.set_body(Body::Bytes(text.into_bytes()));
            Ok(())
        }
        content => {
            // An element is no text, and no bytes.
            let is_whole = matches!(exchange.content.format, Format::Text | Format::Binary);
            let is_xml = !is_whole && body.built::<Tree>().is_some_and(|tree| !tree.is_empty());
            if !is_xml && action == EditAction::Replace && !matches!(content, Content::Text(_)) {
                let mut fragments = content.fragments(exchange)?;
                let one = fragments.pop().filter(|_| fragments.is_empty());
                return whole(exchange, &one.ok_or_else(|| no_conversion("Several elements", "one body"))?);
            }
            let tree = exchange.tree()?;
            match (tree.envelope().payload(tree.document()), content) {
                (Some(payload), content) => xml::put(exchange, payload, content, action, options.moves),
                (None, Content::Text(_)) => {
                    tracing::warn!(target: "myelin::enrich", "a body without an element can hold no text");
                    Ok(())
                }
                (None, content) => xml::fill(exchange, content, options.moves),
            }
        }
    }
}

/// Makes an element the whole of a message that was none of XML.
fn whole(exchange: &mut Exchange, fragment: &Fragment) -> Outcome<()> {
    let name = fragment.document.qname(fragment.node);
    let soap = Version::of_namespace(name.namespace).filter(|_| name.local == "Envelope");
    set_type(exchange, soap.map_or("application/xml", Version::media_type))?;
    exchange.set_body(Body::Bytes(text_of(&fragment.document, fragment.node).into_bytes()));
    Ok(())
}

/// Sets the content type, unless it stands for the same already.
fn set_type(exchange: &mut Exchange, media_type: &str) -> Outcome<()> {
    let present = Format::of(exchange.message.head.known(HeaderId::ContentType));
    if present != Format::of(Some(media_type.as_bytes())) {
        let charset = if media_type == "application/json" { "" } else { "; charset=UTF-8" };
        exchange.message.head.set("Content-Type", format!("{media_type}{charset}").as_bytes())?;
    }
    Ok(())
}
