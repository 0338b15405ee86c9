//! Lines of the log as log records.

use std::time::UNIX_EPOCH;

use myelin_logging::{Entry, Log};
use tracing::Level;

use crate::export::{Telemetry, on_exporting_thread};
use crate::span::{Attribute, LogRecord, Severity};
use crate::trace_context::{SpanId, TraceFlags, TraceId};

/// Sends each line of a log to the collector, where that is wanted.
///
/// What the thread that sends says itself stays in the log of the process: it would go round in circles.
pub fn forward(log: &Log, telemetry: &Telemetry) {
    let Some(queue) = telemetry.logs().cloned() else { return };
    log.forward_to(move |entry| {
        if !on_exporting_thread() {
            queue.put(vec![record(entry)]);
        }
    });
}

fn record(entry: &Entry) -> LogRecord {
    let severity = match entry.level {
        Level::ERROR => Severity::Error,
        Level::WARN => Severity::Warn,
        Level::INFO => Severity::Info,
        Level::DEBUG => Severity::Debug,
        Level::TRACE => Severity::Trace,
    };
    let optional =
        [("CorrelationId", &entry.correlation), ("myelin.service", &entry.service), ("myelin.place", &entry.place)];
    let attributes = optional.into_iter().filter_map(|(name, text)| Some(Attribute::text(name, text.clone()?)));
    LogRecord {
        time: entry.time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64),
        severity,
        message: entry.message.clone(),
        target: entry.target.clone(),
        attributes: attributes.collect(),
        trace: entry
            .trace
            .map(|mark| (TraceId::of(mark.trace), SpanId::of(mark.span), TraceFlags::new(mark.is_sampled))),
    }
}
