//! Spans as they are finished, and log records: what waits to be sent to a collector.

use std::borrow::Cow;
use std::sync::Arc;

use crate::trace_context::{SpanId, TraceContext, TraceFlags, TraceId};

/// How long the text of an attribute may be; the rest is cut.
pub const ATTRIBUTE_BYTES: usize = 4096;

/// How many events a span may have; the others are counted.
pub const MOST_EVENTS: usize = 128;

/// A span that has ended, or is under way.
#[derive(Clone, Debug)]
pub struct Span {
    /// The trace, and the span itself.
    pub context: TraceContext,
    /// The span that it is part of, if any.
    pub parent: Option<SpanId>,
    /// Whether its parent is in another process.
    pub is_parent_remote: bool,
    /// What it is, in few words that are the same for all of its kind.
    pub name: Cow<'static, str>,
    /// Its part between client and server.
    pub kind: SpanKind,
    /// When it began and ended, in nanoseconds since 1970.
    pub begin: u64,
    /// As [`Span::begin`].
    pub end: u64,
    /// What is known of it.
    pub attributes: Vec<Attribute>,
    /// What happened meanwhile.
    pub events: Vec<SpanEvent>,
    /// How many events there was no room for.
    pub dropped_events: u32,
    /// A trace that it follows, and is not part of.
    pub link: Option<TraceContext>,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// The part of a span between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Work within the bus.
    Internal,
    /// A request that is served.
    Server,
    /// A request that is sent.
    Client,
    /// A message that is sent, and has no response.
    Producer,
    /// A message that was fetched.
    Consumer,
}

/// What is known of a span or a log record: a name and a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The name, as the semantic conventions or WSO2 have it.
    pub name: Cow<'static, str>,
    /// The value.
    pub value: AttributeValue,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// Text, cut to [`ATTRIBUTE_BYTES`].
    Text(Cow<'static, str>),
    /// A number.
    Integer(i64),
    /// A number with a fraction.
    Double(f64),
    /// Yes or no.
    Boolean(bool),
}

/// What happened in a span.
#[derive(Clone, Debug)]
pub struct SpanEvent {
    /// When, in nanoseconds since 1970.
    pub time: u64,
    /// What.
    pub name: &'static str,
    /// What is known of it.
    pub attributes: Vec<Attribute>,
}

/// A line of the log.
#[derive(Clone, Debug)]
pub struct LogRecord {
    /// When, in nanoseconds since 1970.
    pub time: u64,
    /// How grave it is.
    pub severity: Severity,
    /// What it says.
    pub message: String,
    /// The module that says it, as `myelin_http`.
    pub target: String,
    /// What else is known of it.
    pub attributes: Vec<Attribute>,
    /// The trace and the span that it belongs to.
    pub trace: Option<(TraceId, SpanId, TraceFlags)>,
}

/// How grave a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the levels of the log")]
pub enum Severity {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

impl Attribute {
    /// An attribute with a text.
    pub fn text(name: &'static str, text: impl Into<Cow<'static, str>>) -> Attribute {
        Attribute { name: Cow::Borrowed(name), value: AttributeValue::Text(cut(text.into())) }
    }

    /// An attribute with a number.
    pub fn integer(name: &'static str, number: impl Into<i64>) -> Attribute {
        Attribute { name: Cow::Borrowed(name), value: AttributeValue::Integer(number.into()) }
    }

    /// An attribute that says yes or no.
    pub fn boolean(name: &'static str, is_so: bool) -> Attribute {
        Attribute { name: Cow::Borrowed(name), value: AttributeValue::Boolean(is_so) }
    }
}

/// The text as far as there is room for it.
fn cut(text: Cow<'static, str>) -> Cow<'static, str> {
    if text.len() <= ATTRIBUTE_BYTES {
        return text;
    }
    let end = text.floor_char_boundary(ATTRIBUTE_BYTES);
    Cow::Owned(text[..end].to_owned())
}

impl Span {
    /// Adds an event, as long as there is room for it.
    pub fn add(&mut self, event: SpanEvent) {
        if self.events.len() < MOST_EVENTS {
            self.events.push(event);
        } else {
            self.dropped_events += 1;
        }
    }

    /// Adds an attribute with a text, if there is one.
    pub fn set(&mut self, name: &'static str, text: Option<impl Into<Cow<'static, str>>>) {
        self.attributes.extend(text.map(|text| Attribute::text(name, text)));
    }

    /// The text of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&AttributeValue> {
        self.attributes.iter().find(|it| it.name == name).map(|it| &it.value)
    }
}

/// What all spans and log records of a process have in common: who it is.
pub type Resource = Arc<[Attribute]>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_letters() {
        let cut = Attribute::text("a", "ß".repeat(3000));
        let AttributeValue::Text(text) = cut.value else { panic!("no text") };
        assert_eq!((text.len(), text.chars().all(|letter| letter == 'ß')), (4096, true));
    }
}
