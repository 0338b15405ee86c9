//! `<payloadFactory>`: a text with holes, filled from the message, becomes its body.

mod argument;
mod format;
mod template;

use myelin_message::{Body, HeaderId};
use myelin_soap::Envelope;
use myelin_xml::{Document, Options};

use self::argument::{Argument, Manner};
use self::template::Template;
use super::enrich::put_body;
use crate::config::{Element, Loader, Problem};
use crate::content::{Fragment, Need};
use crate::effect::Effect;
use crate::exchange::{Exchange, Format, Scene};
use crate::fault::{Fault, Outcome};
use crate::mediator::{Built, Flow, Immediate, Spec, once_ready};
use crate::property::{Scope, Slot, slot};

pub(super) const SPEC: Spec = Spec { element: "payloadFactory", doc: DOC, build };

const DOC: &str = r#"
Makes a new body of a text with holes, and of what the arguments find in the message.

- `media-type`: `xml` (default), `json` or `text`; the content type of the message is that from then on.
  XML keeps a content type that stands for XML or SOAP; what is not XML becomes `application/xml`.
- `format`: the XML element, or the text, inside; or what the local entry or the file of the registry holds that `key`
  names. White space alone between elements does not count. `$1` is a hole for the first argument, `$2` for the second;
  from a number that has no argument on, all stays as it is written.
- `args`: the arguments, `arg` elements with `value` or `expression`.
  With `evaluator="json"` the expression is a JSONPath, with or without `json-eval(…)` around it.
- `literal="true"` of an argument makes a JSON string of what looks like JSON or XML.
- `escapeXmlChars="true"` escapes the line breaks and tabs in what a JSONPath finds, where that begins as JSON does.
- `template-type="default"` and `deepCheck` change nothing.

What an argument finds is written so that it fits: into XML, a text is escaped, and XML stays XML;
into JSON, a text is escaped, without quotes around it, and JSON stays JSON;
into text, everything stays as it is. What is not there leaves nothing.
While the property `QUOTE_STRING_IN_PAYLOAD_FACTORY_JSON` is `true`, what is neither a number nor `true`, `false`,
`null`, an object or an array gets quotes in JSON.

An envelope takes the place of the whole message; any other XML that of the first element in the SOAP body, or of
plain XML, JSON or text.
What does not become well-formed XML is a fault, and so is XML that is to stand in JSON, or JSON in XML.

    <payloadFactory>
        <format>
            <q:getQuote xmlns:q="urn:quotes"><q:symbol>$1</q:symbol></q:getQuote>
        </format>
        <args>
            <arg expression="//o:symbol" xmlns:o="urn:orders"/>
        </args>
    </payloadFactory>

    <payloadFactory media-type="json">
        <format>{"symbol": "$1", "lines": $2, "currency": "$3"}</format>
        <args>
            <arg expression="$.order.symbol" evaluator="json"/>
            <arg expression="$.order.lines" evaluator="json"/>
            <arg value="EUR"/>
        </args>
    </payloadFactory>

    <payloadFactory media-type="text">
        <format>Received: $1</format>
        <args>
            <arg expression="get-property('axis2', 'HTTP_SC')"/>
        </args>
    </payloadFactory>

    <payloadFactory>
        <format key="greeting"/>
    </payloadFactory>
"#;

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Media {
    Xml,
    Json,
    Text,
}

struct PayloadFactory {
    media: Media,
    template: Template,
    arguments: Vec<Argument>,
    /// Whether line breaks and tabs are escaped in what a JSONPath finds.
    escape_breaks: bool,
    /// `QUOTE_STRING_IN_PAYLOAD_FACTORY_JSON`.
    quote: Slot,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let media = media(element)?;
    let escape_breaks = element.switch("escapeXmlChars", false)?;
    if let Some(kind) = element.attribute("template-type").filter(|kind| kind.value.trim() != "default") {
        return Err(kind.problem(format!("template-type {:?} is not offered yet: default is", kind.value)));
    }
    let mut parts = [("format", None), ("args", None)];
    for child in element.children.iter().filter(|child| !child.is("description")) {
        match parts.iter_mut().find(|(name, part)| child.is(name) && part.is_none()) {
            Some((_, part)) => *part = Some(child),
            None => {
                let message = format!("<payloadFactory> holds one format and one args, not {}", child.tag());
                return Err(child.problem(message));
            }
        }
    }
    let [(_, Some(format)), (_, args)] = parts else {
        return Err(element.problem("<payloadFactory> needs a format"));
    };
    let arguments = args.map_or(&[][..], |args| &args.children);
    let arguments =
        arguments.iter().map(|argument| Argument::read(argument, media, loader)).collect::<Result<Vec<_>, _>>()?;
    let template = format::read(format, media, arguments.len(), loader)?;
    let quote = loader.names().slot("QUOTE_STRING_IN_PAYLOAD_FACTORY_JSON");
    // The envelope around stays where XML is put into it.
    let start = if media == Media::Xml { Need::built() } else { Need::default() };
    let need = arguments.iter().filter_map(Argument::expression).fold(start, Need::and);
    once_ready(need, PayloadFactory { media, template, arguments, escape_breaks, quote })
}

fn media(element: &Element) -> Result<Media, Problem> {
    let Some(media) = element.attribute("media-type") else { return Ok(Media::Xml) };
    match media.value.trim() {
        "xml" => Ok(Media::Xml),
        "json" => Ok(Media::Json),
        "text" => Ok(Media::Text),
        other => Err(media.problem(format!("media-type {other:?} is none of xml, json and text"))),
    }
}

impl Immediate for PayloadFactory {
    fn effect(&self) -> Effect<'_> {
        Effect { changes: true, ..Effect::default() }
    }

    fn mediate(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        let made = self.made(exchange, scene)?;
        let was_xml = matches!(said(exchange), Format::Soap11 | Format::Soap12 | Format::Pox);
        match self.media {
            Media::Xml => put_xml(made, exchange, scene)?,
            Media::Json => put(made, "application/json", exchange)?,
            Media::Text => put(made, "text/plain; charset=UTF-8", exchange)?,
        }
        // What was said about the old body does not hold for this one.
        exchange.message.head.remove("Content-Encoding");
        exchange.properties.put(Scope::Axis2, slot::NO_ENTITY_BODY, None);
        if self.media != Media::Xml || !was_xml {
            exchange.properties.forget(Scope::Axis2, slot::MESSAGE_TYPE);
            exchange.properties.put(Scope::Axis2, slot::CONTENT_TYPE, None);
        }
        Ok(Flow::Next)
    }
}

impl PayloadFactory {
    /// The format with its holes filled.
    fn made(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Vec<u8>> {
        let values = self.arguments.iter().map(|argument| argument.value(exchange, scene));
        let values = values.collect::<Outcome<Vec<_>>>()?;
        let manner = Manner {
            media: self.media,
            escape_breaks: self.escape_breaks,
            quote: exchange.properties.is_true(Scope::Default, self.quote),
        };
        self.template.filled(scene.bus.settings.body_limit_bytes, |hole, out| {
            self.arguments[hole.argument].write(&values[hole.argument], manner, hole.in_attribute, out)
        })
    }
}

/// What the message is by its content type.
fn said(exchange: &Exchange) -> Format {
    Format::of(exchange.message.head.known(HeaderId::ContentType))
}

/// Makes XML the message, or what is in its body.
fn put_xml(made: Vec<u8>, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
    let malformed =
        |detail: String| Fault::bus("What <payloadFactory> made is not well-formed XML").with_detail(detail);
    let document = Document::parse(made, &Options::default()).map_err(|error| malformed(error.to_string()))?;
    if let Some(envelope) = Envelope::of(&document) {
        let media_type = envelope.version.media_type();
        if said(exchange) != Format::of(Some(media_type.as_bytes())) {
            exchange.message.head.set("Content-Type", format!("{media_type}; charset=UTF-8").as_bytes())?;
        }
        exchange.set_body(Body::Bytes(document.into_parts().0));
        exchange.set_charset("UTF-8");
        return Ok(());
    }
    let node = document.root_element().ok_or_else(|| malformed("there is no element".to_owned()))?;
    put_body(exchange, Fragment { document: document.into(), node }, scene)
}

/// Makes bytes the body of the message.
fn put(made: Vec<u8>, content_type: &str, exchange: &mut Exchange) -> Outcome<()> {
    exchange.message.head.set("Content-Type", content_type.as_bytes())?;
    exchange.set_body(Body::Bytes(made));
    Ok(())
}
