//! What a run came to.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::failure::Failure;
use super::plan::Plan;
use super::request::Request;
use super::schedule::Ramp;
use crate::procfs::{CpuTimes, Usage};

/// Failures of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCount {
    /// How many there were.
    pub count: u64,
    /// What the first of them said.
    pub example: String,
}

/// The latencies of good answers, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// Nine of ten are no longer.
    pub p90: f64,
    /// 99 of 100 are no longer.
    pub p99: f64,
    /// 999 of 1,000 are no longer.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

/// What the requests of one kind came to, where there are several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestOutcome {
    /// How the kind is called.
    pub name: String,
    /// Transactions.
    pub requests: u64,
    /// Requests of this kind that were sent and failed.
    pub failures: u64,
    /// Latencies of the transactions; in JSON `null` where there were none.
    #[serde(serialize_with = "figures_or_null", deserialize_with = "null_or_figures")]
    pub latency: Latency,
}

/// What the run cost the processes under test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessCost {
    /// The processes that were watched.
    pub processes: Vec<u32>,
    /// CPU time in user mode, in milliseconds per 1,000 good answers; 0 without any.
    pub user_ms_per_1000: f64,
    /// CPU time in the kernel, likewise.
    pub system_ms_per_1000: f64,
    /// Both together.
    pub cpu_ms_per_1000: f64,
    /// What they held with all connections open; the peak memory counts from their own start.
    pub usage: Usage,
}

/// What a run came to; the names of the fields are those of the JSON report and do not change.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Outcome {
    /// The URL asked for; the first of several.
    pub url: String,
    /// The request method; the first of several.
    pub method: String,
    /// The length of every request's body, in bytes; of several kinds, the first's.
    pub body_bytes: u64,
    /// Connections that sent.
    pub connections: u64,
    /// Connections that were open and silent.
    pub idle_connections: u64,
    /// Those of them that the service had closed by the end.
    pub idle_lost: u64,
    /// The rate asked for; `None` in a closed loop and on a ramp.
    pub rate: Option<f64>,
    /// The ramp asked for.
    pub ramp: Option<Ramp>,
    /// Threads that sent.
    pub threads: u64,
    /// Transactions: requests whose answers were complete and good.
    pub requests: u64,
    /// Requests that failed.
    pub failures: u64,
    /// The failures by their kind.
    pub failures_by_kind: BTreeMap<String, FailureCount>,
    /// Requests under way when the run was interrupted; neither good nor failed.
    pub abandoned: u64,
    /// Connections opened, the silent ones included.
    pub connects: u64,
    /// Those of them that resumed an earlier session of TLS.
    pub resumed: u64,
    /// From the first request to the last answer, and at least to the end of the run; a last wait that was in vain does
    /// not count.
    pub seconds: f64,
    /// Transactions a second.
    pub requests_per_second: f64,
    /// Bytes sent, heads included.
    pub sent_bytes: u64,
    /// Bytes received, heads included.
    pub received_bytes: u64,
    /// Bytes sent and received together, in millions a second.
    pub megabytes_per_second: f64,
    /// Bytes sent, in millions a second.
    pub sent_megabytes_per_second: f64,
    /// Bytes received, in millions a second.
    pub received_megabytes_per_second: f64,
    /// Latencies of the transactions; in JSON `null` where there were none.
    #[serde(serialize_with = "figures_or_null", deserialize_with = "null_or_figures")]
    pub latency: Latency,
    /// CPU time of our own sending threads, in milliseconds per 1,000 transactions; 0 without transactions.
    pub load_cpu_ms_per_1000: f64,
    /// The processes under test, if any were named.
    pub process: Option<ProcessCost>,
    /// The kinds of requests, where there are several.
    pub by_request: Vec<RequestOutcome>,
    /// The agents that sent, where there were any.
    pub agents: Vec<String>,
}

impl Latency {
    /// Of latencies in nanoseconds.
    pub(crate) fn of(latencies: &Histogram<u64>) -> Latency {
        let at = |quantile: f64| latencies.value_at_quantile(quantile) as f64 / 1e9;
        Latency {
            mean: latencies.mean() / 1e9,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: latencies.max() as f64 / 1e9,
        }
    }
}

impl Outcome {
    /// Whether every request became a transaction, and there was at least one.
    pub fn is_clean(&self) -> bool {
        self.failures == 0 && self.requests > 0
    }
}

/// A latency of nothing is nothing, not 0.
fn figures_or_null<S: Serializer>(latency: &Latency, serializer: S) -> Result<S::Ok, S::Error> {
    (*latency != Latency::default()).then_some(latency).serialize(serializer)
}

fn null_or_figures<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Latency, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// What one thread has counted.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Tally {
    #[serde(with = "super::histogram")]
    latencies: Histogram<u64>,
    /// The interval under way and its latencies, where they are logged.
    #[serde(skip)]
    interval: Option<(u32, Histogram<u64>)>,
    failures: BTreeMap<String, FailureCount>,
    /// The kinds of requests, where there are several.
    kinds: Vec<KindTally>,
    pub(super) abandoned: u64,
    pub(super) connects: u64,
    pub(super) resumed: u64,
    pub(super) sent_bytes: u64,
    pub(super) received_bytes: u64,
    pub(super) idle: u64,
    pub(super) idle_lost: u64,
    pub(super) cpu: Duration,
    /// When the last good answer was complete.
    #[serde(skip)]
    pub(super) last: Option<Instant>,
}

/// What one thread has counted of one kind of requests.
#[derive(Clone, Serialize, Deserialize)]
struct KindTally {
    #[serde(with = "super::histogram")]
    latencies: Histogram<u64>,
    failures: u64,
}

/// Longer latencies count as this one; the timeout ends requests long before.
const LONGEST: Duration = Duration::from_secs(3600);

/// An empty histogram of latencies in nanoseconds.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST.as_nanos() as u64, 3)
        .expect("these bounds are far enough apart for three digits")
}

impl Tally {
    /// A tally of so many kinds of requests.
    pub(super) fn new(kinds: usize) -> Tally {
        let kinds = if kinds > 1 { kinds } else { 0 };
        Tally {
            latencies: histogram(),
            interval: None,
            failures: BTreeMap::new(),
            kinds: vec![KindTally { latencies: histogram(), failures: 0 }; kinds],
            abandoned: 0,
            connects: 0,
            resumed: 0,
            sent_bytes: 0,
            received_bytes: 0,
            idle: 0,
            idle_lost: 0,
            cpu: Duration::ZERO,
            last: None,
        }
    }

    #[inline]
    pub(super) fn good(&mut self, kind: usize, latency: Duration, now: Instant) {
        self.last = Some(now);
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.latencies.saturating_record(nanoseconds);
        if let Some(kind) = self.kinds.get_mut(kind) {
            kind.latencies.saturating_record(nanoseconds);
        }
        if let Some((_, interval)) = &mut self.interval {
            interval.saturating_record(nanoseconds);
        }
    }

    /// Begins an interval and gives back the one before with its latencies; there is none before the first.
    pub(super) fn next_interval(&mut self) -> Option<(u32, Histogram<u64>)> {
        let next = self.interval.as_ref().map_or(0, |(index, _)| index.saturating_add(1));
        self.interval.replace((next, histogram()))
    }

    /// Counts failures of a kind of request, or of none where nothing was sent.
    pub(super) fn failed(&mut self, kind: Option<usize>, failure: &Failure, count: u64) {
        if let Some(kind) = kind.and_then(|kind| self.kinds.get_mut(kind)) {
            kind.failures += count;
        }
        let counted = self.failures.entry(failure.kind()).or_default();
        if counted.count == 0 {
            counted.example = failure.to_string();
        }
        counted.count += count;
    }

    /// Good answers and failures.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.latencies.len(), self.failures.values().map(|failures| failures.count).sum())
    }

    /// Adds what another thread has counted.
    ///
    /// Errors: the histograms are made otherwise, as another version may make them.
    pub(super) fn add(&mut self, other: &Tally) -> anyhow::Result<()> {
        self.latencies.add(&other.latencies)?;
        for (kind, count) in &other.failures {
            let counted = self.failures.entry(kind.clone()).or_default();
            if counted.count == 0 {
                counted.example.clone_from(&count.example);
            }
            counted.count += count.count;
        }
        for (kind, others) in self.kinds.iter_mut().zip(&other.kinds) {
            kind.latencies.add(&others.latencies)?;
            kind.failures += others.failures;
        }
        self.abandoned += other.abandoned;
        self.connects += other.connects;
        self.resumed += other.resumed;
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        self.idle += other.idle;
        self.idle_lost += other.idle_lost;
        self.cpu += other.cpu;
        Ok(())
    }

    /// The outcome of the whole run, which took `elapsed` and cost the processes under test `cost`.
    pub(super) fn outcome(&self, plan: &Plan, elapsed: Duration, cost: Option<(CpuTimes, Usage)>) -> Outcome {
        let requests = self.latencies.len();
        let seconds = elapsed.as_secs_f64().max(1e-9);
        let per_1000 = |time: Duration| match requests {
            0 => 0.0,
            _ => time.as_secs_f64() * 1e6 / requests as f64,
        };
        let megabytes_per_second = |bytes: u64| bytes as f64 / 1e6 / seconds;
        let sent = plan.requests_sent();
        let Request { target, method, body, .. } = &sent[0];
        let scheme = if target.secure { "https" } else { "http" };
        let by_request = sent.iter().zip(&self.kinds).map(|(request, kind)| RequestOutcome {
            name: request.name.clone(),
            requests: kind.latencies.len(),
            failures: kind.failures,
            latency: Latency::of(&kind.latencies),
        });
        Outcome {
            url: format!("{scheme}://{}{}", target.authority, target.path),
            method: method.clone(),
            body_bytes: body.length(),
            connections: plan.connections as u64,
            idle_connections: self.idle,
            idle_lost: self.idle_lost,
            rate: plan.rate,
            ramp: plan.ramp,
            by_request: by_request.collect(),
            agents: Vec::new(),
            threads: plan.threads as u64,
            requests,
            failures: self.counts().1,
            failures_by_kind: self.failures.clone(),
            abandoned: self.abandoned,
            connects: self.connects,
            resumed: self.resumed,
            seconds,
            requests_per_second: requests as f64 / seconds,
            sent_bytes: self.sent_bytes,
            received_bytes: self.received_bytes,
            megabytes_per_second: megabytes_per_second(self.sent_bytes + self.received_bytes),
            sent_megabytes_per_second: megabytes_per_second(self.sent_bytes),
            received_megabytes_per_second: megabytes_per_second(self.received_bytes),
            latency: Latency::of(&self.latencies),
            load_cpu_ms_per_1000: per_1000(self.cpu),
            process: cost.map(|(cpu, usage)| ProcessCost {
                processes: plan.processes.clone(),
                user_ms_per_1000: per_1000(cpu.user),
                system_ms_per_1000: per_1000(cpu.system),
                cpu_ms_per_1000: per_1000(cpu.total()),
                usage,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_added_up() {
        let (mut one, mut other) = (Tally::new(1), Tally::new(1));
        let now = Instant::now();
        one.good(0, Duration::from_millis(1), now);
        other.good(0, Duration::from_millis(3), now);
        one.failed(Some(0), &Failure::Timeout, 1);
        other.failed(Some(0), &Failure::Status(503), 2);
        one.add(&other).unwrap();
        let mut plan = Plan::new("http://127.0.0.1/x").unwrap();
        plan.processes = vec![1];
        let cpu = CpuTimes { user: Duration::from_millis(2), system: Duration::from_millis(4) };
        let outcome = one.outcome(&plan, Duration::from_secs(2), Some((cpu, Usage::default())));
        assert_eq!((outcome.requests, outcome.failures, outcome.requests_per_second), (2, 3, 1.0));
        assert_eq!(outcome.failures_by_kind["status 503"].count, 2);
        assert!((outcome.latency.mean - 0.002).abs() < 1e-5 && (outcome.latency.max - 0.003).abs() < 1e-5);
        assert!((outcome.process.unwrap().cpu_ms_per_1000 - 3000.0).abs() < 1e-9);
    }

    #[test]
    fn figures_of_nothing_are_null_and_read_back() {
        let nothing = serde_json::to_value(Outcome::default()).unwrap();
        assert!(nothing["latency"].is_null());
        let read: Outcome = serde_json::from_value(nothing).unwrap();
        assert_eq!(read.latency, Latency::default());
        let older: Outcome = serde_json::from_str(
            r#"{"requests": 3, "latency": {"mean": 1.0, "p50": 1.0, "p90": 1.0,
            "p99": 1.0, "p999": 1.0, "max": 2.0}}"#,
        )
        .unwrap();
        assert_eq!((older.requests, older.latency.max), (3, 2.0));
    }
}
