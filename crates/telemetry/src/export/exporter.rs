//! The thread that sends: it gathers what has come, sends it, and tries again where a collector is not well.

use std::cell::Cell;
use std::io::Write;
use std::time::{Duration, Instant};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use myelin_http::Trust;
use tokio::sync::watch;
use tokio::time::{sleep, timeout, timeout_at};

use super::destination::{Destination, Protocol};
use super::otlp::Exported;
use super::over_grpc::GrpcClient;
use super::over_http::HttpClient;
use super::queue::Arrivals;
use super::refused::Refused;
use crate::span::{LogRecord, Resource, Span};
use crate::trace_context::SpanId;

/// How often one message is sent before it is given up.
const ATTEMPTS: u32 = 5;
/// How long to wait before the second attempt; each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// How long to wait at most, also where a collector asks for more.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How often the log tells that a collector takes nothing.
const TOLD_AGAIN: Duration = Duration::from_secs(60);

/// Sends what belongs to one signal.
pub(super) struct Exporter {
    signal: &'static str,
    destination: Destination,
    trust: Trust,
    batch: usize,
    interval: Duration,
}

/// Where a signal goes, what has come for it, and what it is called in the log.
pub(super) struct Signal<T> {
    pub(super) arrivals: Arrivals<T>,
    pub(super) exporter: Exporter,
}

/// How a collector is spoken with.
enum Client {
    Grpc(GrpcClient),
    Http(HttpClient),
}

/// Until when what waits may be sent, once the process ends.
type Ends = watch::Receiver<Option<Instant>>;

thread_local! {
    static EXPORTING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this is the thread that sends.
pub(crate) fn on_exporting_thread() -> bool {
    EXPORTING.get()
}

/// Sends until the process ends.
pub(super) fn run(spans: Option<Signal<Span>>, logs: Option<Signal<LogRecord>>, resource: &Resource, ends: Ends) {
    EXPORTING.set(true);
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("no traces are sent: {error}");
            return;
        }
    };
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let (spans_end, logs_end) = (ends.clone(), ends);
        let send_spans = async {
            if let Some(Signal { arrivals, exporter }) = spans {
                exporter.run(arrivals, resource, spans_end).await;
            }
        };
        let send_logs = async {
            if let Some(Signal { arrivals, exporter }) = logs {
                exporter.run(arrivals, resource, logs_end).await;
            }
        };
        tokio::join!(send_spans, send_logs);
    });
    drop(local);
    // A name that does not resolve is looked up on another thread, which nothing ends.
    runtime.shutdown_background();
}

impl Exporter {
    pub(super) fn new(
        signal: &'static str,
        destination: Destination,
        trust: Trust,
        batch: usize,
        interval: Duration,
    ) -> Exporter {
        Exporter { signal, destination, trust, batch, interval }
    }

    async fn run<T: Exported>(self, arrivals: Arrivals<T>, resource: &Resource, mut ends: Ends) {
        let Arrivals { mut receiver, counters } = arrivals;
        let mut client = match self.destination.protocol {
            Protocol::Grpc => Client::Grpc(GrpcClient::new(&self.destination, self.trust.clone(), T::METHOD)),
            Protocol::Http => Client::Http(HttpClient::new(&self.destination, self.trust.clone())),
        };
        let mut told = Told::default();
        let mut waiting: Vec<T> = Vec::new();
        let mut due: Option<tokio::time::Instant> = None;
        loop {
            let has_ended = ends.borrow().is_some();
            // What does not fit into one message follows in the next.
            while waiting.len() < self.batch {
                let more = if has_ended {
                    receiver.try_recv().ok()
                } else {
                    let wait = async {
                        match due {
                            Some(due) => timeout_at(due, receiver.recv()).await.ok().flatten(),
                            None => receiver.recv().await,
                        }
                    };
                    tokio::select! {
                        more = wait => more,
                        changed = ends.changed() => match changed {
                            Ok(()) => None,
                            // Who could end it is gone, and with it who waits for it.
                            Err(_) => return,
                        },
                    }
                };
                let Some(more) = more else { break };
                waiting.extend(more);
                due.get_or_insert_with(|| tokio::time::Instant::now() + self.interval);
            }
            if waiting.is_empty() {
                due = None;
                // All who put something in are gone, or the process ends.
                if has_ended || receiver.is_closed() {
                    return;
                }
                continue;
            }
            let rest = waiting.split_off(self.batch.min(waiting.len()));
            let batch = std::mem::replace(&mut waiting, rest);
            // What did not fit has waited for as long.
            due = due.filter(|_| !waiting.is_empty());
            let count = batch.len();
            let delayed = |reason: &str| told.delayed(&format!("{count} {} could not be sent yet: {reason}", T::NAME));
            let outcome = self.send(&mut client, T::encode(batch, resource), &mut ends, delayed).await;
            let failed = match outcome {
                Ok(answer) => {
                    let (refused, reason) = T::refused(&answer);
                    told.taken(self.signal);
                    if refused > 0 {
                        tracing::warn!("the collector took {count} {} but refused {refused}: {reason}", T::NAME);
                    }
                    refused.min(count)
                }
                Err(reason) => {
                    told.refused(&format!("{count} {} could not be sent: {reason}", T::NAME));
                    count
                }
            };
            counters.done(count, failed);
            if has_ended && ends.borrow().is_some_and(|deadline| Instant::now() >= deadline) {
                let mut left = waiting.len();
                while let Ok(more) = receiver.try_recv() {
                    left += more.len();
                }
                counters.done(left, left);
                return;
            }
        }
    }

    /// Sends a message until it is taken, refused for good, or given up; `delayed` hears why it has to be sent again.
    async fn send(
        &self,
        client: &mut Client,
        message: Vec<u8>,
        ends: &mut Ends,
        mut delayed: impl FnMut(&str),
    ) -> Result<Bytes, String> {
        let message = if self.destination.gzip { compressed(&message) } else { message };
        let message = Bytes::from(message);
        let (mut attempt, mut wait) = (0, FIRST_WAIT);
        loop {
            attempt += 1;
            let left = ends.borrow().map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let limit = left.map_or(self.destination.timeout, |left| left.min(self.destination.timeout));
            let sending = timeout(limit, client.send(message.clone()));
            // An attempt that is under way when the process begins to end has the rest of its time.
            let refused = match within(sending, ends, left.is_none()).await {
                Some(Ok(Ok(answer))) => return Ok(answer),
                Some(Ok(Err(refused))) => refused,
                Some(Err(_)) => {
                    client.forget();
                    Refused::for_now(format!("{} did not answer within {limit:?}", self.destination))
                }
                None => {
                    client.forget();
                    return Err(format!("{} did not answer before the bus ended", self.destination));
                }
            };
            let Some(asked) = refused.retry else { return Err(refused.reason) };
            if attempt == ATTEMPTS {
                return Err(format!("{}; given up after {ATTEMPTS} attempts", refused.reason));
            }
            delayed(&refused.reason);
            let pause = jittered(wait).max(asked).min(LONGEST_WAIT);
            wait = wait.saturating_mul(2);
            let deadline = *ends.borrow();
            match deadline {
                // At the end there is no time for long waits.
                Some(deadline) if Instant::now() >= deadline => return Err(refused.reason),
                Some(_) => sleep(Duration::from_millis(100)).await,
                None => {
                    tokio::select! {
                        () = sleep(pause) => {}
                        _ = ends.changed() => {}
                    }
                }
            }
        }
    }
}

/// Waits for something, no longer than the process has when it begins to end meanwhile.
async fn within<T>(future: impl Future<Output = T>, ends: &mut Ends, watches: bool) -> Option<T> {
    let mut future = std::pin::pin!(future);
    if !watches {
        return Some(future.await);
    }
    tokio::select! {
        done = &mut future => return Some(done),
        _ = ends.changed() => {}
    }
    let deadline = *ends.borrow();
    match deadline {
        Some(deadline) => timeout_at(deadline.into(), future).await.ok(),
        // Who could end it is gone.
        None => Some(future.await),
    }
}

impl Client {
    async fn send(&mut self, message: Bytes) -> Result<Bytes, Refused> {
        match self {
            Client::Grpc(client) => client.send(message).await,
            Client::Http(client) => client.send(message).await,
        }
    }

    /// The connection is not to be used again.
    fn forget(&mut self) {
        if let Client::Grpc(client) = self {
            client.forget();
        }
    }
}

/// What the log was told of a collector.
#[derive(Default)]
struct Told {
    last: Option<Instant>,
    /// When it was told last that something is sent again.
    delayed: Option<Instant>,
    /// How many failures it was not told of.
    silent: u64,
}

impl Told {
    /// Something is sent again: somebody who sets a collector up does not want to wait until it is given up.
    fn delayed(&mut self, message: &str) {
        if self.delayed.is_none_or(|last| last.elapsed() >= TOLD_AGAIN) {
            tracing::warn!("{message}");
            self.delayed = Some(Instant::now());
        }
    }

    fn refused(&mut self, message: &str) {
        if self.last.is_some_and(|last| last.elapsed() < TOLD_AGAIN) {
            self.silent += 1;
            return;
        }
        match std::mem::take(&mut self.silent) {
            0 => tracing::warn!("{message}"),
            silent => tracing::warn!("{message}; so did {silent} messages before"),
        }
        self.last = Some(Instant::now());
    }

    fn taken(&mut self, signal: &str) {
        if self.last.take().is_some() {
            self.silent = 0;
            tracing::info!("the collector takes {signal} again");
        }
    }
}

fn compressed(message: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(message.len() / 4), Compression::fast());
    // Memory takes whatever is written to it.
    let _ = encoder.write_all(message);
    encoder.finish().unwrap_or_default()
}

/// A wait between half and one and a half of another: many buses do not come back all at once.
fn jittered(wait: Duration) -> Duration {
    let random = u64::from_be_bytes(*SpanId::new().bytes()) >> 11;
    wait.mul_f64(0.5 + random as f64 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_spread() {
        let waits: Vec<Duration> = (0..100).map(|_| jittered(Duration::from_secs(2))).collect();
        assert!(waits.iter().all(|wait| (Duration::from_secs(1)..=Duration::from_secs(3)).contains(wait)));
        assert!(waits.iter().any(|wait| *wait != waits[0]));
    }
}
