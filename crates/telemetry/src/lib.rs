//! OpenTelemetry: what is told of each exchange to a collector, and how it gets there.
//!
//! An exchange that is traced fills memory of its own thread; what is finished goes into a bounded queue, and a thread
//! of its own sends it to a collector by OTLP. No message ever waits for a collector.

mod export;
mod log_lines;
mod recorder;
pub mod sampling;
pub mod span;
pub mod trace_context;

pub use log_lines::forward;
pub use recorder::SpanRecorderSource;

pub use export::{
    Destination, Protocol, Queue, QueueCounts, Telemetry, TelemetryCounts, TelemetryOptions, TracingOptions,
};
