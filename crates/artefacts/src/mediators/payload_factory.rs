//! `<payloadFactory>`: a text with holes, filled from the message, becomes its body.

mod argument;
mod format;
mod freemarker;
mod template;
mod value;

use myelin_json::Reader;
use myelin_message::{Body, HeaderId};
use myelin_soap::Version;
use myelin_xml::{Document, Event, Options, Step};

use crate::loader::Loader;
use crate::mediators::payload_factory::argument::Argument;
use crate::mediators::payload_factory::freemarker::FreeMarker;
use crate::mediators::payload_factory::template::{Filling, Hole, Template};
use crate::mediators::payload_factory::value::{Manner, write_given};
use crate::message_edits::put_body;
use crate::placeholders::{TextFormat, write_value};
use crate::spec::{Built, Spec, once_ready};
use crate::words::unknown_word;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_content::Format;
use myelin_content::{Fragment, memory};
use myelin_expression::Immediate;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow};
use myelin_flow::property::{Scope, Slot, slot};

pub(super) const SPEC: Spec = Spec::new("payloadFactory", DOC, build);

const DOC: &str = r#"
Makes a new body of a text with holes, and of what the arguments find in the message.

- `media-type`: `xml` (default), `json` or `text`; the content type of the message is that from then on.
  XML keeps a content type that stands for XML or SOAP; what is not XML becomes `application/xml`.
- `format`: the XML element, or the text, inside; or what the local entry or the file of the registry holds that `key`
  names. A key `{…}` is worked out for each message and names a local entry.
  White space alone between elements does not count.
- `template-type`: `default`, or `freemarker`.
- `args`: the arguments, `arg` elements with `value` or `expression`.
  With `evaluator="json"` the expression is a JSONPath, with or without `json-eval(…)` around it.
- `literal="true"` of an argument makes a JSON string of what looks like JSON or XML.
- `escapeXmlChars="true"` escapes the line breaks and tabs in what a JSONPath finds, where that begins as JSON does.
- `deepCheck` changes nothing.

In a default format, `$1` is a hole for the first argument, `$2` for the second; from a number that has no argument on,
the numbers stay as they are written. `${…}` is a hole for a Synapse expression.

What an argument finds is written so that it fits: into XML, a text is escaped, XML stays XML, and JSON that a JSONPath
finds becomes XML; into JSON, a text is escaped, without quotes around it, JSON stays JSON, and XML becomes JSON;
into text, everything stays as it is. What is not there leaves nothing.
In a string of JSON or an attribute of XML it is a text and cannot end it; what is escaped for a string of JSON already,
and begins with `{` or `[`, stays as it is.
While the property `QUOTE_STRING_IN_PAYLOAD_FACTORY_JSON` is `true`, what is neither a number nor `true`, `false`,
`null`, an object or an array gets quotes in JSON.
What a Synapse expression gives is a text where the hole stands in a string of JSON or an attribute of XML.
Elsewhere it is what it is: XML becomes JSON and JSON XML, a text that is no JSON gets quotes in JSON,
and what is not there is `null` in JSON.

With `freemarker` the format is a template, which sees `payload` (JSON, an XML document or a text), `args` (`arg1`,
`arg2` …, written as they would be above), `ctx`, `axis2` and `trp` (properties and headers, as texts) and `vars` or
`var` (variables with their types). See docs/freemarker.md.

An envelope takes the place of the whole message; any other XML that of the first element in the SOAP body, or of
plain XML, JSON or text.
What does not become well-formed XML is a fault.

    <payloadFactory>
        <format>
            <q:getQuote xmlns:q="urn:quotes"><q:symbol>$1</q:symbol></q:getQuote>
        </format>
        <args>
            <arg expression="//o:symbol" xmlns:o="urn:orders"/>
        </args>
    </payloadFactory>

    <payloadFactory media-type="json">
        <format>{"symbol": "$1", "lines": $2, "currency": "$3", "id": "${headers.X-Id}"}</format>
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

    <payloadFactory media-type="json" template-type="freemarker">
        <format><![CDATA[{"skus": [<#list payload.lines as line>"${line.sku}"<#sep>, </#list>]}]]></format>
    </payloadFactory>

    <payloadFactory>
        <format key="greeting"/>
    </payloadFactory>
"#;

/// Tells of a format that makes no JSON whatever its arguments find, as far as that is known before they do; and of one
/// that is complete and makes none with values that they could find.
fn tell_spoilt(template: &Template, is_complete: bool, text: Text<'_>, loader: &mut Loader) {
    let (known, is_whole) = template.known();
    let error = if known.trim().is_empty() { None } else { spoilt_json(known.as_bytes(), is_whole) };
    if let Some(error) = error {
        let message =
            format!("the format makes no JSON: {} in {:?}", error.message, excerpt(known.as_bytes(), error.offset));
        loader.latent(text.problem(message));
    } else if !is_whole && is_complete {
        // What fills a hole may be a value, a member, or nothing.
        let spoilt = |value: &str| {
            let made = template.with(value);
            spoilt_json(made.as_bytes(), true).map(|error| (error, made))
        };
        let mut tried = ["1", "\"a\":1", ""].map(spoilt);
        if tried.iter().all(Option::is_some)
            && let Some((error, made)) = tried[0].take()
        {
            let part = excerpt(made.as_bytes(), error.offset);
            let message =
                format!("the format seems to make no JSON: with 1 in each place, {} in {part:?}", error.message);
            loader.warning(text.problem(message));
        }
    }
}

/// Tells of a format that is text and seems to make no XML.
fn tell_spoilt_xml(template: &Template, text: Text<'_>, loader: &mut Loader) {
    // What fills a hole may be a text, an element, or nothing; several elements are one payload.
    let read = |value: &str| {
        let made = template.with(value);
        let is_document = Document::parse(made.clone().into_bytes(), &Options::default());
        let wrapped = Document::parse(format!("<a>{made}</a>").into_bytes(), &Options::default());
        is_document.or_else(|error| wrapped.map_err(|_| error)).err()
    };
    let mut tried = ["a", "<a/>", ""].map(read);
    if tried.iter().all(Option::is_some)
        && let Some(error) = tried[0].take()
    {
        loader.warning(text.problem(format!("the format seems to make no XML: {}", error.kind)));
    }
}

/// What both kinds of templates are filled with.
struct Filler {
    /// What is made.
    media: TextFormat,
    arguments: Vec<Argument>,
    /// Whether line breaks and tabs are escaped in what a JSONPath finds.
    escape_breaks: bool,
    /// `QUOTE_STRING_IN_PAYLOAD_FACTORY_JSON`.
    quote: Slot,
}

/// A `<payloadFactory>` whose format has holes.
struct PayloadFactory {
    filler: Filler,
    format: format::Format<Template>,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let media = media(element)?;
    let escape_breaks = element.switch("escapeXmlChars", false)?;
    let kind = element.attribute("template-type").map(|kind| (kind.value.trim().to_ascii_lowercase(), kind));
    let is_template = match &kind {
        None => false,
        Some((kind, _)) if matches!(kind.as_str(), "" | "default") => false,
        Some((kind, _)) if kind == "freemarker" => true,
        Some((_, text)) => {
            return Err(text.problem(format!("template-type {:?} is neither default nor freemarker", text.value)));
        }
    };
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
    let arguments = arguments.iter().map(|argument| Argument::read(argument, loader)).collect::<Result<Vec<_>, _>>()?;
    let quote = loader.names().slot("QUOTE_STRING_IN_PAYLOAD_FACTORY_JSON");
    let filler = Filler { media, arguments, escape_breaks, quote };
    if is_template {
        return Ok(Box::new(FreeMarker::read(format, filler, loader)?));
    }
    let format = format::read(format, media, filler.arguments.len(), loader)?;
    let holes = match &format {
        format::Format::Fixed(template) => Need::of(template.expressions()),
        format::Format::WorkedOut(key) => Need::of([key]),
    };
    once_ready(filler.need().with(holes), PayloadFactory { filler, format })
}

fn media(element: &Element) -> Result<TextFormat, Problem> {
    let Some(media) = element.attribute("media-type") else { return Ok(TextFormat::Xml) };
    match media.value.trim() {
        "xml" => Ok(TextFormat::Xml),
        "json" => Ok(TextFormat::Json),
        "text" => Ok(TextFormat::Text),
        other => Err(media.problem(unknown_word("media-type", other, &["xml", "json", "text"]))),
    }
}

impl Immediate for PayloadFactory {
    fn effect(&self) -> Effect<'_> {
        Effect { changes: true, ..Effect::default() }
    }

    fn mediate(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        let made = self.made(exchange, context, |template, write| {
            template.filled(context.definitions.settings.body_limit_bytes, write)
        })?;
        if let Some(error) = spoilt(&made, self.filler.media) {
            return Err(self.not_json(&made, &error, exchange, context));
        }
        put_made(made, self.filler.media, exchange, context)
    }
}

impl PayloadFactory {
    /// The fault of a text that was to be JSON, with the argument that stands at what is wrong with it.
    fn not_json(&self, made: &[u8], error: &Spoilt, exchange: &Exchange, context: &RequestContext<'_>) -> Box<Fault> {
        let limit_bytes = context.definitions.settings.body_limit_bytes;
        let hole =
            self.made(exchange, context, |template, write| template.hole_before(error.offset, limit_bytes, write));
        // The fault is told without it where an argument gives something else now.
        let hole = hole.ok().flatten().map(|(name, given)| match given.is_empty() {
            true => format!("{name} gave nothing there"),
            false => format!("{name} gave {:?} there", excerpt(&given, 0)),
        });
        not_json(made, error, hole)
    }

    /// What `fill` makes of the format and what is written into its holes.
    fn made<T>(
        &self,
        exchange: &Exchange,
        context: &RequestContext<'_>,
        fill: impl FnOnce(&Template, &mut dyn FnMut(&Hole, &mut Vec<u8>) -> Outcome<()>) -> Outcome<T>,
    ) -> Outcome<T> {
        let Filler { media, arguments, .. } = &self.filler;
        let worked_out;
        let template = match &self.format {
            format::Format::Fixed(template) => template,
            format::Format::WorkedOut(key) => {
                let text = format::entry(key, exchange, context)?;
                worked_out = Template::cut(text, arguments.len(), *media);
                &worked_out
            }
        };
        let texts = arguments.iter().map(|argument| argument.text(exchange, context));
        let texts = texts.collect::<Outcome<Vec<_>>>()?;
        let manner = self.filler.manner(exchange);
        fill(template, &mut |Hole { filling, position }, out| match filling {
            Filling::Argument(index) => {
                write_given(&arguments[*index].given(&texts[*index]), manner, *position, context, out)
            }
            Filling::Expression(expression) => {
                let value = expression.typed(exchange, context)?;
                write_value(value.as_ref(), *media, *position, context, out)
            }
        })
    }
}

impl Filler {
    /// What the arguments look at; where XML is put into an envelope, that is needed as well.
    fn need(&self) -> Need {
        let start = if self.media == TextFormat::Xml { Need::built() } else { Need::default() };
        self.arguments.iter().filter_map(Argument::expression).fold(start, Need::and)
    }

    /// Whether Synapse puts something around the format.
    fn is_padded(&self) -> bool {
        self.media == TextFormat::Xml
    }

    fn manner(&self, exchange: &Exchange) -> Manner {
        Manner {
            media: self.media,
            escape_breaks: self.escape_breaks,
            quote: exchange.properties.is_true(Scope::Default, self.quote),
        }
    }
}

/// Why a text is not JSON.
struct Spoilt {
    /// The byte that does not fit.
    offset: usize,
    message: String,
}

/// Why what was made is not the JSON that it is to be, if it is not; one that is empty is no body.
fn spoilt(made: &[u8], media: TextFormat) -> Option<Spoilt> {
    if media != TextFormat::Json || made.is_empty() { None } else { spoilt_json(made, true) }
}

/// Why a text is not JSON, if it is not; without `is_whole` it is the beginning of one.
fn spoilt_json(text: &[u8], is_whole: bool) -> Option<Spoilt> {
    let mut reader = Reader::new(myelin_json::Options::default());
    loop {
        match reader.next(text, is_whole) {
            Ok(myelin_json::Step::End | myelin_json::Step::More) => return None,
            Ok(myelin_json::Step::Event(_)) => {}
            Err(error) => {
                let (myelin_json::Error::Malformed { place, .. } | myelin_json::Error::Encoding(place)) = &error else {
                    // Text that exceeds a limit may be JSON; whoever reads it reports the limit.
                    return None;
                };
                return Some(Spoilt { offset: place.offset, message: error.to_string() });
            }
        }
    }
}

fn not_json(made: &[u8], error: &Spoilt, hole: Option<String>) -> Box<Fault> {
    let hole = hole.map_or_else(String::new, |hole| format!("; {hole}"));
    let detail = format!("{} in {:?}{hole}", error.message, excerpt(made, error.offset));
    Fault::bus("What <payloadFactory> made is not JSON").with_detail(detail)
}

/// The text around a byte, as much of it as fits into a message.
fn excerpt(text: &[u8], offset: usize) -> String {
    const BYTES: usize = 40;
    let (start, end) = (offset.saturating_sub(BYTES), (offset + BYTES).min(text.len()));
    String::from_utf8_lossy(&text[start.min(end)..end]).into_owned()
}

/// Makes what was made the body of the message.
///
/// Errors: the bus's, where it is to be XML and is none.
fn put_made(made: Vec<u8>, media: TextFormat, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
    let was_xml = matches!(said(exchange), Format::Soap11 | Format::Soap12 | Format::Pox);
    match media {
        TextFormat::Xml => put_xml(made, exchange, context)?,
        TextFormat::Json => put(made, "application/json", exchange)?,
        TextFormat::Text => put(made, "text/plain; charset=UTF-8", exchange)?,
    }
    // What was said about the old body does not hold for this one.
    exchange.message.head.remove("Content-Encoding");
    exchange.properties.put(Scope::Axis2, slot::NO_ENTITY_BODY, None);
    if media != TextFormat::Xml || !was_xml {
        exchange.properties.forget(Scope::Axis2, slot::MESSAGE_TYPE);
        exchange.properties.put(Scope::Axis2, slot::CONTENT_TYPE, None);
    }
    Ok(Flow::Next)
}

/// What the message is by its content type.
fn said(exchange: &Exchange) -> Format {
    Format::of(exchange.message.head.known(HeaderId::ContentType))
}

/// Makes XML the message, or what is in its body.
fn put_xml(made: Vec<u8>, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
    let malformed =
        |detail: String| Fault::bus("What <payloadFactory> made is not well-formed XML").with_detail(detail);
    if let Some(version) = version_of(&made).map_err(|error| malformed(error.to_string()))? {
        let media_type = version.media_type();
        if said(exchange) != Format::of(Some(media_type.as_bytes())) {
            exchange.message.head.set("Content-Type", format!("{media_type}; charset=UTF-8").as_bytes())?;
        }
        exchange.set_body(Body::Bytes(made));
        exchange.set_charset("UTF-8");
        return Ok(());
    }
    let arena = memory::take(made.len());
    let document = Document::parse_in(made, &Options::default(), arena);
    let document = document.map_err(|error| malformed(error.to_string()))?;
    let node = document.root_element().ok_or_else(|| malformed("there is no element".to_owned()))?;
    put_body(exchange, Fragment { document: document.into(), node }, context)
}

/// Which SOAP a document is an envelope of, if it is one, which is then read to its end.
///
/// Errors: where it is not well-formed as far as it is read.
fn version_of(made: &[u8]) -> Result<Option<Version>, myelin_xml::Error> {
    memory::with_parser(|parser| {
        let mut version = None;
        while let Step::Event(event) = parser.next(made, true)? {
            let Event::Start(root) = event else { continue };
            if version.is_none() {
                let name = root.names().get(root.name);
                version = Version::of_namespace(name.namespace).filter(|_| name.local == "Envelope");
                if version.is_none() {
                    break;
                }
            }
        }
        Ok(version)
    })
}

/// Makes bytes the body of the message.
fn put(made: Vec<u8>, content_type: &str, exchange: &mut Exchange) -> Outcome<()> {
    exchange.message.head.set("Content-Type", content_type.as_bytes())?;
    exchange.set_body(Body::Bytes(made));
    Ok(())
}
