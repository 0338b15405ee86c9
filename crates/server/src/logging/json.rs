//! Log lines as JSON: one object for each event, for programs that gather logs.

use std::fmt::{self, Debug};
use std::time::SystemTime;

use myelin_engine::Position;
use serde::Serialize;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Writes each event as an object in a line of its own; JSON escapes what could begin another line.
pub(super) struct JsonLines;

/// The object; what is not known is left out.
#[derive(Serialize)]
struct Line<'a> {
    /// RFC 3339, UTC.
    timestamp: String,
    level: &'static str,
    /// The module that says it.
    target: &'a str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    /// What serves the exchange: its element and its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
    /// The step with its file and line, or the service where no step runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    fields: Map<String, Value>,
}

/// What an event says.
#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn add(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(message)) => self.message = message,
            (name, value) => drop(self.others.insert(name.to_owned(), value)),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }
}

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let position = Position::here();
        let correlation_id = position.correlation.as_ref().map(|correlation| correlation.as_str());
        let line = Line {
            timestamp: humantime::format_rfc3339_micros(SystemTime::now()).to_string(),
            level: event.metadata().level().as_str(),
            target: event.metadata().target(),
            message: fields.message,
            correlation_id: correlation_id.filter(|id| !id.is_empty()),
            service: position.service.as_ref().map(|service| format!("{} {}", service.kind, service.name)),
            at: position.place().map(ToString::to_string),
            fields: fields.others,
        };
        let line = serde_json::to_string(&line).map_err(|_| fmt::Error)?;
        writeln!(writer, "{line}")
    }
}
