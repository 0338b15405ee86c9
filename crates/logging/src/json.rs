//! Log lines as JSON: one object for each event, for programs that gather logs.

use myelin_flow::position::Position;
use serde::Serialize;
use serde_json::{Map, Value};
use tracing::Event;

use crate::fields::Fields;

/// The object; what is not known is left out.
#[derive(Serialize)]
struct Line<'a> {
    /// RFC 3339, UTC.
    timestamp: &'a str,
    level: &'static str,
    /// The module that says it.
    target: &'a str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<String>,
    /// What serves the exchange: its element and its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
    /// The step with its file and line, or the service where no step runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    fields: Map<String, Value>,
}

/// The event as an object; JSON escapes what could begin another line.
pub(crate) fn object(event: &Event<'_>, position: &Position, timestamp: &str) -> String {
    let Fields { message, others } = Fields::of(event);
    let correlation_id = position.correlation.as_ref().map(|correlation| correlation.as_str());
    let line = Line {
        timestamp,
        level: event.metadata().level().as_str(),
        target: event.metadata().target(),
        message,
        correlation_id: correlation_id.filter(|id| !id.is_empty()),
        trace_id: position.trace().map(|mark| mark.trace_id()),
        span_id: position.trace().map(|mark| mark.span_id()),
        service: position.service.as_ref().map(|service| format!("{} {}", service.kind, service.name)),
        at: position.place().map(ToString::to_string),
        fields: others,
    };
    // Texts, numbers and maps of them can always be written.
    serde_json::to_string(&line).unwrap_or_default()
}
