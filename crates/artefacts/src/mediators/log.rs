//! `<log>`: one line about the current message.

use std::fmt::Write;

use myelin_message::Body;
use myelin_xml::Kind;
use tracing::Level;

use crate::loader::Loader;
use crate::spec::{Built, Spec};
use crate::values::ConfiguredValue;
use crate::words::unknown_word;
use myelin_config::element::Element;
use myelin_content::Format;
use myelin_content::{Json, Tree};
use myelin_expression::InlineText;
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};
use myelin_flow::property::{Scope, slot};

pub(super) const SPEC: Spec = Spec::new("log", DOC, build);

const DOC: &str = r#"
Writes one line to the log (target `myelin::log`), which ends, as every line about a message, in the correlation id of the
exchange and the place of the step: `CORRELATION_ID = …, AT = log (orders.xml:12)`.

- `message` inside: a text with Synapse expressions, `${…}`, which comes first.
- `level`: `simple` (where to, action, message identifier, direction), `headers` (the SOAP header blocks), `full`
  (`simple` and the body) or `custom` (only what is listed inside); `simple` by default, `custom` beside a `message`.
- `logMessageID` and `logFullPayload`: `true` adds the message identifier, and the body.
- `category`: `TRACE`, `DEBUG`, `INFO` (default), `WARN`, `ERROR` or `FATAL`.
- `separator`: what stands between the parts (default: comma and space); `\n` in it begins an entry of its own.
- `property` inside, with `name` and `value` or `expression`: a part `name = value`; what is not set is `null`.

`full`, `headers` and `logFullPayload` read the body, up to the bus's limit; expressions read as far as they must.
Of a body the first 256 KiB are written, and how much more there was.
The log escapes line breaks and other control characters that a message brings, `\n` for one, so that no message forges an entry.

    <log level="custom" category="WARN" separator=" | ">
        <property name="symbol" expression="$url:symbol"/>
        <property name="stage" value="in"/>
    </log>

    <log level="full"/>

    <log category="WARN" logMessageID="true">
        <message>Order ${payload.order.id} of ${headers.Host} waits</message>
        <property name="stage" value="in"/>
    </log>
"#;

/// How much of a body is written to the log.
const BODY_LIMIT_BYTES: usize = 256 << 10;

struct Log {
    message: Option<InlineText>,
    detail: Detail,
    /// Whether the message identifier is written, and the body, whatever the level.
    message_id: bool,
    payload: bool,
    category: Level,
    separator: String,
    properties: Vec<(String, ConfiguredValue)>,
    /// What the properties need.
    need: Need,
    /// What the level needs on top.
    whole: Option<Need>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    Simple,
    Headers,
    Full,
    Custom,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let message = element.children.iter().find(|child| child.is("message"));
    let message = message.map(|message| InlineText::compile(message.text(), loader)).transpose()?;
    let is_on = |name| element.attribute(name).is_some_and(|text| text.value.trim().eq_ignore_ascii_case("true"));
    let (message_id, payload) = (is_on("logMessageID"), is_on("logFullPayload"));
    let usual = if message.is_some() { "custom" } else { "simple" };
    let detail = match element.attribute("level").map_or(usual, |level| level.value.trim()) {
        "simple" | "" => Detail::Simple,
        "headers" => Detail::Headers,
        "full" => Detail::Full,
        "custom" => Detail::Custom,
        other => {
            let message = unknown_word("level", other, &["simple", "headers", "full", "custom"]);
            loader.warning(element.problem(format!("<log>: {message}; as in Synapse, simple is taken")));
            Detail::Simple
        }
    };
    let category = match element.attribute("category").map_or("INFO", |category| category.value.trim()) {
        "INFO" | "" => Level::INFO,
        "TRACE" => Level::TRACE,
        "DEBUG" => Level::DEBUG,
        "WARN" => Level::WARN,
        "ERROR" | "FATAL" => Level::ERROR,
        other => {
            let known = ["INFO", "TRACE", "DEBUG", "WARN", "ERROR", "FATAL"];
            return Err(element.problem(format!("<log>: {}", unknown_word("category", other, &known))));
        }
    };
    let separator = element.attribute("separator").map_or(", ", |separator| separator.value).to_owned();
    // A reader of the file writes line breaks and tabs as escapes.
    let separator = separator.replace("\\n", "\n").replace("\\t", "\t");
    let mut properties = Vec::new();
    for child in &element.children {
        if child.is("property") {
            let name = child.required("name")?.value.to_owned();
            match ConfiguredValue::read(child, loader)? {
                Some(setting) => properties.push((name, setting)),
                None => return Err(child.lacks("<property> needs value or expression")),
            }
        } else if !child.is("description") && !child.is("message") {
            return Err(child.problem(format!("<log> holds a message and properties, not {}", child.tag())));
        }
    }
    let need = properties.iter().filter_map(|(_, setting)| setting.expression());
    let need = Need::of(need.chain(message.iter().flat_map(InlineText::expressions)));
    let payload = payload || detail == Detail::Full;
    let whole = match detail {
        _ if payload => Some(Need::read()),
        Detail::Headers => Some(Need::built()),
        Detail::Simple | Detail::Full | Detail::Custom => None,
    };
    Ok(Box::new(Log { message, detail, message_id, payload, category, separator, properties, need, whole }))
}

impl Mediator for Log {
    fn effect(&self) -> Effect<'_> {
        Effect::reading(self.need.reads().max(self.whole.as_ref().map(Need::reads).unwrap_or_default()))
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        if !self.enabled() {
            return Step::Done(exchange, Ok(Flow::Next));
        }
        // What was sent already cannot be read, but the rest of the line can still be written.
        let gone = matches!(exchange.message.body, Body::Gone);
        match self.whole.as_ref().filter(|_| !gone && (self.payload || is_soap(exchange))) {
            Some(whole) => when_ready(whole, exchange, context, |exchange| self.write_when_ready(exchange, context)),
            None => self.write_when_ready(exchange, context),
        }
    }
}

/// Whether the message has SOAP header blocks, as far as its content type says.
fn is_soap(exchange: &Exchange) -> bool {
    matches!(exchange.content.format, Format::Soap11 | Format::Soap12)
}

impl Log {
    fn write_when_ready<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, |exchange| {
            let outcome = self.lines(exchange, context).map(|lines| {
                lines.iter().for_each(|line| self.write(line));
                Flow::Next
            });
            Step::Done(exchange, outcome)
        })
    }

    fn lines(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Vec<String>> {
        let mut line = Line { above: Vec::new(), text: String::new(), separator: &self.separator };
        if let Some(message) = &self.message {
            line.part(format_args!("{}", message.text(exchange, context)?));
        }
        match self.detail {
            Detail::Custom => {}
            Detail::Headers => blocks(&mut line, exchange),
            Detail::Simple | Detail::Full => simple(&mut line, exchange),
        }
        // These say it already.
        if self.message_id && !matches!(self.detail, Detail::Simple | Detail::Full) {
            line.part(format_args!("MessageID: {}", exchange.message_id()));
        }
        for (name, setting) in &self.properties {
            let value = setting.text(exchange, context)?;
            line.part(format_args!("{name} = {}", value.as_deref().unwrap_or("null")));
        }
        if self.payload {
            body(&mut line, exchange);
        }
        line.above.push(line.text);
        Ok(line.above)
    }

    fn enabled(&self) -> bool {
        match self.category {
            Level::TRACE => tracing::enabled!(target: "myelin::log", Level::TRACE),
            Level::DEBUG => tracing::enabled!(target: "myelin::log", Level::DEBUG),
            Level::INFO => tracing::enabled!(target: "myelin::log", Level::INFO),
            Level::WARN => tracing::enabled!(target: "myelin::log", Level::WARN),
            _ => tracing::enabled!(target: "myelin::log", Level::ERROR),
        }
    }

    fn write(&self, line: &str) {
        macro_rules! say {
            ($macro:ident) => {
                tracing::$macro!(target: "myelin::log", "{line}")
            };
        }
        // A level is part of a call site, so there is one for each.
        match self.category {
            Level::TRACE => say!(trace),
            Level::DEBUG => say!(debug),
            Level::INFO => say!(info),
            Level::WARN => say!(warn),
            _ => say!(error),
        }
    }
}

/// What Synapse's level `simple` says of a message, in its order.
fn simple(line: &mut Line<'_>, exchange: &Exchange) {
    line.part(format_args!("To: {}", exchange.to().as_deref().unwrap_or_default()));
    if let Some(from) = exchange.properties.get(Scope::Addressing, slot::FROM) {
        line.part(format_args!("From: {}", from.text()));
    }
    if let Some(action) = exchange.action() {
        line.part(format_args!("WSAction: {action}"));
        line.part(format_args!("SOAPAction: {action}"));
    }
    if let Some(reply_to) = exchange.properties.get(Scope::Addressing, slot::REPLY_TO) {
        line.part(format_args!("ReplyTo: {}", reply_to.text()));
    }
    line.part(format_args!("MessageID: {}", exchange.message_id()));
    let direction = if exchange.is_response() { "response" } else { "request" };
    line.part(format_args!("Direction: {direction}"));
}

/// The SOAP header blocks with the texts directly in them.
fn blocks(line: &mut Line<'_>, exchange: &Exchange) {
    let Some(tree) = exchange.message.body.built::<Tree>() else { return };
    let document = tree.document();
    let Some(header) = tree.envelope().header else { return };
    for block in document.children(header).filter(|&node| document.kind(node) == Kind::Element) {
        let texts = document.children(block).filter(|&node| document.kind(node) == Kind::Text);
        let text: String = texts.map(|node| document.value(node)).collect();
        line.part(format_args!("{} : {text}", document.qname(block).local));
    }
}

/// The body as it would be sent; JSON has a word of its own in people's logs.
fn body(line: &mut Line<'_>, exchange: &Exchange) {
    let word = match exchange.content.format {
        Format::Json => "Payload",
        _ => "Envelope",
    };
    match &exchange.message.body {
        Body::Bytes(bytes) => {
            let (start, rest) = bytes.split_at(bytes.len().min(BODY_LIMIT_BYTES));
            line.part(format_args!("{word}: {}{}", String::from_utf8_lossy(start), cut(rest.len())));
        }
        Body::Built(_) => {
            let tree = exchange.message.body.built::<Tree>().map(Tree::text);
            let text = tree.or_else(|| exchange.message.body.built::<Json>().map(Json::text)).unwrap_or_default();
            let (start, rest) = text.split_at(text.floor_char_boundary(BODY_LIMIT_BYTES));
            line.part(format_args!("{word}: {start}{}", cut(rest.len())));
        }
        Body::Empty => line.part(format_args!("{word}: ")),
        _ => line.part(format_args!("{word}: (sent already)")),
    }
}

/// What is said of bytes that are not written.
fn cut(bytes: usize) -> String {
    if bytes == 0 { String::new() } else { format!("… ({bytes} bytes more)") }
}

/// What is written so far.
///
/// A separator with a line break begins a new entry of the log; what a message brings cannot, for the log escapes it.
struct Line<'a> {
    /// The lines before the last one.
    above: Vec<String>,
    text: String,
    separator: &'a str,
}

impl Line<'_> {
    fn part(&mut self, part: std::fmt::Arguments<'_>) {
        if !self.text.is_empty() || !self.above.is_empty() {
            for (index, piece) in self.separator.split('\n').enumerate() {
                if index > 0 {
                    self.above.push(std::mem::take(&mut self.text));
                }
                self.text.push_str(piece);
            }
        }
        // Writing into a string cannot fail.
        let _ = self.text.write_fmt(part);
    }
}
