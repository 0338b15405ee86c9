//! Spans and log records as messages of OTLP.
//!
//! Source: opentelemetry-proto 1.x, whose messages the crate of the same name has.

use std::time::{SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord as LogMessage, ResourceLogs, ScopeLogs, SeverityNumber};
use opentelemetry_proto::tonic::resource::v1::Resource as ResourceMessage;
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link, SpanKind as Kind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span as SpanMessage, Status};
use prost::Message;

use crate::span::{Attribute, AttributeValue, LogRecord, Resource, Severity, Span, SpanKind};
use crate::trace_context::TraceContext;

/// The version of the semantic conventions that attributes follow.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.37.0";

/// That a span says whether its parent is in another process (`SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK`).
const KNOWS_REMOTE: u32 = 0x100;
/// That it is (`SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK`).
const REMOTE: u32 = 0x200;

/// What can be sent.
pub(super) trait Exported: Sized {
    /// The service and method of gRPC.
    const METHOD: &'static str;
    /// What one of them is called.
    const NAME: &'static str;

    /// The message that brings these to a collector.
    fn encode(things: Vec<Self>, resource: &Resource) -> Vec<u8>;

    /// How many of them the collector refused, and why; none where its answer says nothing of that.
    fn refused(answer: &[u8]) -> (usize, String);
}

impl Exported for Span {
    const METHOD: &'static str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
    const NAME: &'static str = "spans";

    fn encode(things: Vec<Span>, resource: &Resource) -> Vec<u8> {
        let spans = things.into_iter().map(span).collect();
        let scope_spans = vec![ScopeSpans { scope: Some(scope("myelin")), spans, schema_url: SCHEMA.to_owned() }];
        let all = ResourceSpans { resource: Some(resource_of(resource)), scope_spans, schema_url: SCHEMA.to_owned() };
        ExportTraceServiceRequest { resource_spans: vec![all] }.encode_to_vec()
    }

    fn refused(answer: &[u8]) -> (usize, String) {
        let partial = ExportTraceServiceResponse::decode(answer).ok().and_then(|answer| answer.partial_success);
        partial.map_or_else(Default::default, |it| (count(it.rejected_spans), it.error_message))
    }
}

impl Exported for LogRecord {
    const METHOD: &'static str = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
    const NAME: &'static str = "log records";

    fn encode(things: Vec<LogRecord>, resource: &Resource) -> Vec<u8> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
        // Each module that says something is a scope of its own.
        let mut scope_logs: Vec<ScopeLogs> = Vec::new();
        for record in things {
            let place = scope_logs.iter().position(|it| it.scope.as_ref().is_some_and(|it| it.name == record.target));
            let place = place.unwrap_or_else(|| {
                let (scope, schema_url) = (Some(scope(&record.target)), SCHEMA.to_owned());
                scope_logs.push(ScopeLogs { scope, log_records: Vec::new(), schema_url });
                scope_logs.len() - 1
            });
            scope_logs[place].log_records.push(log_record(record, now));
        }
        let all = ResourceLogs { resource: Some(resource_of(resource)), scope_logs, schema_url: SCHEMA.to_owned() };
        ExportLogsServiceRequest { resource_logs: vec![all] }.encode_to_vec()
    }

    fn refused(answer: &[u8]) -> (usize, String) {
        let partial = ExportLogsServiceResponse::decode(answer).ok().and_then(|answer| answer.partial_success);
        partial.map_or_else(Default::default, |it| (count(it.rejected_log_records), it.error_message))
    }
}

fn count(number: i64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

fn scope(name: &str) -> InstrumentationScope {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    InstrumentationScope { name: name.to_owned(), version, ..InstrumentationScope::default() }
}

fn resource_of(resource: &Resource) -> ResourceMessage {
    ResourceMessage { attributes: resource.iter().cloned().map(attribute).collect(), ..ResourceMessage::default() }
}

fn span(span: Span) -> SpanMessage {
    let kind = match span.kind {
        SpanKind::Internal => Kind::Internal,
        SpanKind::Server => Kind::Server,
        SpanKind::Client => Kind::Client,
        SpanKind::Producer => Kind::Producer,
        SpanKind::Consumer => Kind::Consumer,
    };
    let remote = if span.is_parent_remote { REMOTE } else { 0 };
    SpanMessage {
        trace_id: span.context.trace.bytes().to_vec(),
        span_id: span.context.span.bytes().to_vec(),
        trace_state: state(&span.context),
        parent_span_id: span.parent.map(|parent| parent.bytes().to_vec()).unwrap_or_default(),
        flags: u32::from(span.context.flags.byte()) | KNOWS_REMOTE | remote,
        name: span.name.into_owned(),
        kind: kind.into(),
        start_time_unix_nano: span.begin,
        end_time_unix_nano: span.end,
        attributes: span.attributes.into_iter().map(attribute).collect(),
        events: span
            .events
            .into_iter()
            .map(|event| Event {
                time_unix_nano: event.time,
                name: event.name.to_owned(),
                attributes: event.attributes.into_iter().map(attribute).collect(),
                dropped_attributes_count: 0,
            })
            .collect(),
        dropped_events_count: span.dropped_events,
        links: span.link.iter().map(link).collect(),
        // A span without an error has no status: only who calls the bus can say that all is well.
        status: span.error.map(|message| Status { message, code: StatusCode::Error.into() }),
        ..SpanMessage::default()
    }
}

fn link(context: &TraceContext) -> Link {
    Link {
        trace_id: context.trace.bytes().to_vec(),
        span_id: context.span.bytes().to_vec(),
        trace_state: state(context),
        flags: u32::from(context.flags.byte()) | KNOWS_REMOTE | REMOTE,
        ..Link::default()
    }
}

fn state(context: &TraceContext) -> String {
    context.state.as_deref().unwrap_or_default().to_owned()
}

fn log_record(record: LogRecord, now: u64) -> LogMessage {
    let (severity, text) = match record.severity {
        Severity::Trace => (SeverityNumber::Trace, "TRACE"),
        Severity::Debug => (SeverityNumber::Debug, "DEBUG"),
        Severity::Info => (SeverityNumber::Info, "INFO"),
        Severity::Warn => (SeverityNumber::Warn, "WARN"),
        Severity::Error => (SeverityNumber::Error, "ERROR"),
    };
    LogMessage {
        time_unix_nano: record.time,
        observed_time_unix_nano: now,
        severity_number: severity.into(),
        severity_text: text.to_owned(),
        body: Some(AnyValue { value: Some(Value::StringValue(record.message)) }),
        attributes: record.attributes.into_iter().map(attribute).collect(),
        flags: record.trace.map_or(0, |(_, _, flags)| u32::from(flags.byte())),
        trace_id: record.trace.map(|(trace, _, _)| trace.bytes().to_vec()).unwrap_or_default(),
        span_id: record.trace.map(|(_, span, _)| span.bytes().to_vec()).unwrap_or_default(),
        ..LogMessage::default()
    }
}

fn attribute(Attribute { name, value }: Attribute) -> KeyValue {
    let value = match value {
        AttributeValue::Text(text) => Value::StringValue(text.into_owned()),
        AttributeValue::Integer(number) => Value::IntValue(number),
        AttributeValue::Double(number) => Value::DoubleValue(number),
        AttributeValue::Boolean(is_so) => Value::BoolValue(is_so),
    };
    KeyValue { key: name.into_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}
