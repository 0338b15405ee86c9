//! What `call` and `callout` put into a message before they send it, and keep of its response.

use myelin_message::Body;
use myelin_soap::{Envelope, Version, wrap};
use myelin_xml::Document;

use crate::loader::Entry;
use crate::message_edits::put_body;
use myelin_content::Format;
use myelin_content::{Fragment, Json, Tree, is_json, text_of, utf8};
use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::{Scope, Slot, Value};

/// XML, or text: JSON most of the time.
pub(crate) enum Payload {
    Xml(Fragment),
    Text(String),
}

impl Payload {
    /// What the body of a message holds that was read and built: its payload, or its text.
    pub(crate) fn of_body(exchange: &Exchange) -> Outcome<Option<Payload>> {
        if let Some(json) = exchange.message.body.built::<Json>() {
            return Ok(Some(Payload::Text(json.text().into_owned())));
        }
        if let Body::Bytes(bytes) = &exchange.message.body {
            return Ok(Some(Payload::Text(utf8(bytes).into_owned())));
        }
        let tree = exchange.tree()?;
        if exchange.content.format == Format::Text {
            return Ok(Some(Payload::Text(tree.text().into_owned())));
        }
        let payload = tree.envelope().payload(tree.document());
        Ok(payload.map(|payload| Payload::Xml(Fragment::copy(tree.document(), payload))))
    }

    /// What an expression finds: the first element, or a text.
    pub(crate) fn of_expression(
        expression: &Expression,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<Payload>> {
        if let Some(fragment) = expression.fragment(exchange, context)? {
            return Ok(Some(Payload::Xml(fragment)));
        }
        let text = expression.text(exchange, context)?.filter(|text| !text.is_empty());
        Ok(text.map(|text| Payload::Text(text.into_owned())))
    }

    /// What a property of the default scope holds.
    pub(crate) fn of_property(slot: Slot, exchange: &Exchange) -> Option<Payload> {
        Some(match exchange.properties.get(Scope::Default, slot)? {
            Value::Xml(fragment) => Payload::Xml(fragment.clone()),
            Value::List(list) => Payload::Xml(list.first()?.clone()),
            other => Payload::Text(other.text().into_owned()),
        })
    }

    /// As a property holds it.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Payload::Xml(fragment) => Value::Xml(fragment),
            Payload::Text(text) => Value::Text(text.into()),
        }
    }

    /// Makes it the body of a message that was read and built, as a content type says; without one, as the message says
    /// that fits: XML in the place of the payload, JSON as JSON.
    pub(crate) fn put(
        self,
        exchange: &mut Exchange,
        content_type: Option<&str>,
        context: &RequestContext<'_>,
    ) -> Outcome<()> {
        let wanted = content_type.map(|content_type| Format::of(Some(content_type.as_bytes())));
        let bytes = match (self, wanted) {
            (Payload::Xml(fragment), None) => return put_body(exchange, fragment, context),
            (Payload::Xml(fragment), Some(format @ (Format::Soap11 | Format::Soap12))) => {
                if exchange.content.format == format && exchange.message.body.built::<Tree>().is_some() {
                    return put_body(exchange, fragment, context);
                }
                let version = if format == Format::Soap11 { Version::Soap11 } else { Version::Soap12 };
                in_envelope(&fragment, version)?
            }
            (Payload::Xml(fragment), Some(_)) => text_of(&fragment.document, fragment.node),
            (Payload::Text(text), _) => text,
        };
        let content_type = content_type.unwrap_or_else(|| match exchange.content.format {
            Format::Json => "application/json",
            _ if bytes.trim_start().starts_with(['{', '[']) && is_json(&bytes) => "application/json",
            _ => "text/plain; charset=UTF-8",
        });
        exchange.replace_body(bytes.into_bytes(), content_type)
    }
}

impl From<Entry> for Payload {
    fn from(entry: Entry) -> Payload {
        match entry {
            Entry::Xml(fragment) => Payload::Xml(fragment),
            Entry::Text(text) => Payload::Text(text),
        }
    }
}

fn in_envelope(fragment: &Fragment, version: Version) -> Outcome<String> {
    let mut document = Document::clone(&fragment.document);
    if Envelope::of(&document).is_none() {
        wrap(&mut document, version)?;
    }
    Ok(text_of(&document, document.root_element().ok_or_else(|| Fault::bus("There is no XML to be sent"))?))
}
