//! Spans and log records on their way to a collector: bounded queues, and a thread of its own that empties them.

mod destination;
mod exporter;
mod otlp;
mod over_grpc;
mod over_http;
mod queue;
mod refused;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use myelin_http::{TlsError, Trust};
use tokio::sync::watch;

pub use destination::{Destination, Protocol};
pub use queue::{Queue, QueueCounts};

use crate::sampling::{Sampler, TailSampler};
use crate::span::{LogRecord, Resource, Span};
pub(crate) use exporter::on_exporting_thread;
use exporter::{Exporter, Signal};

/// What is recorded, and where it goes.
#[derive(Clone, Debug)]
pub struct TelemetryOptions {
    /// Where spans go; `None` where no trace is recorded.
    pub traces: Option<Destination>,
    /// Where lines of the log go; `None` where they are not sent.
    pub logs: Option<Destination>,
    /// Who this process is.
    pub resource: Resource,
    /// Which traces.
    pub tracing: TracingOptions,
    /// How many spans, or log records, may wait to be sent; what comes beyond them is dropped and counted.
    pub queue: usize,
    /// How many are sent in one message at most.
    pub batch: usize,
    /// How long one may wait for others.
    pub interval: Duration,
    /// How long what waits has at the end of the process.
    pub flush: Duration,
}

/// Which traces are recorded, and how much of them.
#[derive(Clone, Debug, PartialEq)]
pub struct TracingOptions {
    /// Which traces, decided when they begin.
    pub sampler: Sampler,
    /// Which are kept though they were not to be recorded.
    pub tail: TailSampler,
    /// Whether each sequence and each mediator has a span.
    pub mediators: bool,
    /// Whether a trace that a client has begun goes on; else a new one begins, with a link to it.
    pub continues: bool,
    /// How many spans one exchange may have; the others are counted.
    pub spans: usize,
}

impl Default for TracingOptions {
    fn default() -> TracingOptions {
        let (sampler, tail) = (Sampler::default(), TailSampler::default());
        TracingOptions { sampler, tail, mediators: false, continues: true, spans: 1000 }
    }
}

/// Takes spans and log records of all threads, and has them sent.
#[derive(Clone)]
pub struct Telemetry(Arc<Parts>);

struct Parts {
    tracing: TracingOptions,
    spans: Option<Queue<Span>>,
    logs: Option<Queue<LogRecord>>,
    flush: Duration,
    /// Until when what waits may be sent, once the process ends.
    ends: watch::Sender<Option<Instant>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What became of spans and log records since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TelemetryCounts {
    /// Of spans; `None` where there are none.
    pub spans: Option<QueueCounts>,
    /// Of log records; `None` where they are not sent.
    pub logs: Option<QueueCounts>,
}

impl Telemetry {
    /// Starts the thread that sends.
    ///
    /// Errors: the roots that a collector is trusted by cannot be read, or the certificate that it is shown and its key.
    pub fn start(options: TelemetryOptions) -> Result<Telemetry, TlsError> {
        let (ends, ended) = watch::channel(None);
        let (spans, of_spans) = signal(options.traces.as_ref(), "traces", &options)?;
        let (logs, of_logs) = signal(options.logs.as_ref(), "logs", &options)?;
        let resource = Arc::clone(&options.resource);
        let run = move || exporter::run(of_spans, of_logs, &resource, ended);
        let thread = std::thread::Builder::new().name("bus-telemetry".to_owned()).spawn(run);
        if let Err(error) = &thread {
            tracing::error!("no traces are sent: there is no thread for them: {error}");
        }
        let (tracing, flush) = (options.tracing, options.flush);
        Ok(Telemetry(Arc::new(Parts { tracing, spans, logs, flush, ends, thread: Mutex::new(thread.ok()) })))
    }

    /// Which traces are recorded.
    pub fn tracing(&self) -> &TracingOptions {
        &self.0.tracing
    }

    /// Where spans are put that are finished; `None` where no trace is recorded.
    pub fn spans(&self) -> Option<&Queue<Span>> {
        self.0.spans.as_ref()
    }

    /// Where lines of the log are put; `None` where they are not sent.
    pub fn logs(&self) -> Option<&Queue<LogRecord>> {
        self.0.logs.as_ref()
    }

    /// What became of them so far.
    pub fn counts(&self) -> TelemetryCounts {
        TelemetryCounts {
            spans: self.0.spans.as_ref().map(Queue::counts),
            logs: self.0.logs.as_ref().map(Queue::counts),
        }
    }

    /// Has what waits sent, and waits for that, but no longer than the options say; then nothing is sent any more.
    pub fn shut_down(&self) {
        self.0.ends.send_replace(Some(Instant::now() + self.0.flush));
        let thread = self.0.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It ends at its deadline.
            let _ = thread.join();
        }
    }
}

/// A queue for a signal, and its other end; neither where nothing is sent.
type Ends<T> = (Option<Queue<T>>, Option<Signal<T>>);

fn signal<T>(
    destination: Option<&Destination>,
    name: &'static str,
    options: &TelemetryOptions,
) -> Result<Ends<T>, TlsError> {
    let Some(destination) = destination else { return Ok((None, None)) };
    let trust = match &destination.shows {
        Some((chain, key)) => Trust::with_certificate(&destination.roots, chain, key)?,
        None => Trust::new(&destination.roots)?,
    };
    let (queue, arrivals) = queue::queue(options.queue);
    let exporter = Exporter::new(name, destination.clone(), trust, options.batch.max(1), options.interval);
    Ok((Some(queue), Some(Signal { arrivals, exporter })))
}
