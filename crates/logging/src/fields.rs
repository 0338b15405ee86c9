//! What an event says: its sentence, and what else it names.

use std::fmt::Debug;

use serde_json::{Map, Value};
use tracing::Event;
use tracing::field::{Field, Visit};
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultFields, Writer};

use crate::escape::escaped;

/// What an event says.
#[derive(Default)]
pub(crate) struct Fields {
    pub(crate) message: String,
    pub(crate) others: Map<String, Value>,
}

impl Fields {
    pub(crate) fn of(event: &Event<'_>) -> Fields {
        let mut fields = Fields::default();
        event.record(&mut fields);
        fields
    }

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

/// All of it in one line, whatever messages brought into it.
pub(crate) fn one_line(event: &Event<'_>) -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = DefaultFields::new().format_fields(Writer::new(&mut text), event);
    match escaped(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(escaped) => escaped,
    }
}

/// The name of the endpoint that an event is about, where it names one.
pub(crate) fn endpoint(event: &Event<'_>) -> Option<String> {
    struct Endpoint(Option<String>);
    impl Visit for Endpoint {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            if field.name() == "endpoint" {
                self.0 = Some(format!("{value:?}"));
            }
        }

        fn record_str(&mut self, field: &Field, value: &str) {
            if field.name() == "endpoint" {
                self.0 = Some(value.to_owned());
            }
        }
    }
    let mut found = Endpoint(None);
    event.record(&mut found);
    // `endpoint Stock (stock.xml:1)`, or the name alone.
    let text = found.0?;
    let name = text.strip_prefix("endpoint ").unwrap_or(&text);
    Some(name.rsplit_once(" (").map_or(name, |(name, _)| name).to_owned())
}
