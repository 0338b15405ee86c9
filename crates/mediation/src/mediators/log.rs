//! `<log>`: one line about the current message.

use std::fmt::Write;

use myelin_message::{Body, BodyError};
use tracing::Level;

use super::setting::Setting;
use crate::config::{Element, Loader};
use crate::exchange::{Direction, Exchange, Scene};
use crate::fault::Fault;
use crate::mediator::{Built, Flow, Mediator, Spec, Step};
use crate::property::{Scope, slot};

pub(super) const SPEC: Spec = Spec { element: "log", doc: DOC, build };

const DOC: &str = r#"
Writes one line to the log (target `myelin::log`).

- `level`: `simple` (default: where to, action, message identifier, direction), `headers` (HTTP header lines),
  `full` (`simple` and the body) or `custom` (only what is listed inside).
- `category`: `TRACE`, `DEBUG`, `INFO` (default), `WARN`, `ERROR` or `FATAL`.
- `separator`: what stands between the parts (default: comma and space).
- `property` inside, with `name` and `value` or `expression`: a part `name = value`; what is not set is `null`.

Only `full` reads the body, up to the bus's limit; every other level leaves it on the wire.

    <log level="custom" category="WARN" separator=" | ">
        <property name="symbol" expression="$url:symbol"/>
        <property name="stage" value="in"/>
    </log>

    <log level="full"/>
"#;

struct Log {
    detail: Detail,
    category: Level,
    separator: String,
    properties: Vec<(String, Setting)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    Simple,
    Headers,
    Full,
    Custom,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let detail = match element.attribute("level").map_or("simple", |level| level.value.trim()) {
        "simple" | "" => Detail::Simple,
        "headers" => Detail::Headers,
        "full" => Detail::Full,
        "custom" => Detail::Custom,
        other => {
            // Synapse takes any other word for `simple`.
            loader.warning(element.problem(format!("<log>: level {other:?} is unknown, simple is taken")));
            Detail::Simple
        }
    };
    let category = match element.attribute("category").map_or("INFO", |category| category.value.trim()) {
        "INFO" | "" => Level::INFO,
        "TRACE" => Level::TRACE,
        "DEBUG" => Level::DEBUG,
        "WARN" => Level::WARN,
        "ERROR" | "FATAL" => Level::ERROR,
        other => return Err(element.problem(format!("<log>: category {other:?} is unknown"))),
    };
    let separator = element.attribute("separator").map_or(", ", |separator| separator.value).to_owned();
    // A reader of the file writes line breaks and tabs as escapes.
    let separator = separator.replace("\\n", "\n").replace("\\t", "\t");
    let mut properties = Vec::new();
    for child in &element.children {
        if child.is("property") {
            let name = child.required("name")?.value.to_owned();
            match Setting::read(child, loader)? {
                Some(setting) => properties.push((name, setting)),
                None => return Err(child.problem("<property> needs value or expression")),
            }
        } else if child.is("message") {
            return Err(child.problem("<message> with Synapse expressions is not offered yet"));
        } else if !child.is("description") {
            return Err(child.problem(format!("<log> holds properties, not {}", child.tag())));
        }
    }
    Ok(Box::new(Log { detail, category, separator, properties }))
}

impl Mediator for Log {
    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        if !self.enabled() {
            return Step::Done(exchange, Ok(Flow::Next));
        }
        if self.detail == Detail::Full && matches!(exchange.message.body, Body::Wire(_)) {
            return Step::Wait(Box::pin(async move {
                let read = exchange.message.body.bytes(scene.bus.settings.body_limit_bytes).await.map(drop);
                let is_response = exchange.direction == Direction::Response;
                let outcome = match read {
                    Ok(()) | Err(BodyError::Gone) => {
                        self.write(&self.line(exchange, scene));
                        Ok(Flow::Next)
                    }
                    Err(error) => Err(Fault::body(&error, is_response)),
                };
                (exchange, outcome)
            }));
        }
        self.write(&self.line(exchange, scene));
        Step::Done(exchange, Ok(Flow::Next))
    }
}

impl Log {
    fn line(&self, exchange: &Exchange, scene: &Scene<'_>) -> String {
        let mut line = Line { text: String::new(), separator: &self.separator };
        match self.detail {
            Detail::Custom => {}
            Detail::Headers => {
                for (name, value) in exchange.message.head.iter() {
                    line.part(format_args!("{name} : {}", String::from_utf8_lossy(value)));
                }
            }
            Detail::Simple | Detail::Full => simple(&mut line, exchange, scene),
        }
        for (name, setting) in &self.properties {
            let value = setting.text(exchange, scene);
            line.part(format_args!("{name} = {}", value.as_deref().unwrap_or("null")));
        }
        if self.detail == Detail::Full {
            match &exchange.message.body {
                Body::Bytes(bytes) => line.part(format_args!("Envelope: {}", String::from_utf8_lossy(bytes))),
                Body::Empty => line.part(format_args!("Envelope: ")),
                _ => line.part(format_args!("Envelope: (sent already)")),
            }
        }
        line.text
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
        // A level is part of a call site, so there is one for each.
        match self.category {
            Level::TRACE => tracing::trace!(target: "myelin::log", "{line}"),
            Level::DEBUG => tracing::debug!(target: "myelin::log", "{line}"),
            Level::INFO => tracing::info!(target: "myelin::log", "{line}"),
            Level::WARN => tracing::warn!(target: "myelin::log", "{line}"),
            _ => tracing::error!(target: "myelin::log", "{line}"),
        }
    }
}

/// What Synapse's level `simple` says of a message, in its order.
fn simple(line: &mut Line<'_>, exchange: &Exchange, scene: &Scene<'_>) {
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
    line.part(format_args!("MessageID: {}", exchange.message_id(scene)));
    let direction = if exchange.is_response() { "response" } else { "request" };
    line.part(format_args!("Direction: {direction}"));
}

struct Line<'a> {
    text: String,
    separator: &'a str,
}

impl Line<'_> {
    fn part(&mut self, part: std::fmt::Arguments<'_>) {
        if !self.text.is_empty() {
            self.text.push_str(self.separator);
        }
        // Writing into a string cannot fail.
        let _ = self.text.write_fmt(part);
    }
}
