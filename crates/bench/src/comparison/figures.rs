//! What the contenders came to.

use std::collections::BTreeMap;

use serde::Serialize;

use super::contender::Contender;
use super::kind::Kind;
use super::scenario::Scenario;
use crate::load::Outcome;
use crate::procfs::Usage;
use crate::statistics::median;

/// One scenario at one size and number of connections.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// What was done.
    pub scenario: Scenario,
    /// The body of every request, in bytes.
    pub size_bytes: u64,
    /// Connections that sent.
    pub connections: usize,
    /// Connections that were open and silent.
    pub idle_connections: usize,
    /// Requests in each turn.
    pub requests: u64,
    /// What each contender came to; the first is the one the others are compared with.
    pub contenders: Vec<Figures>,
}

/// What one contender came to; vectors have one value for each round.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Who it was.
    pub name: &'static str,
    /// CPU time of all its processes, in milliseconds per 1,000 good answers.
    pub cpu_ms_per_1000: Vec<f64>,
    /// The median of these.
    pub median_cpu_ms_per_1000: f64,
    /// The first contender's median over this one's; below 1 the first is cheaper.
    pub ratio_of_first: f64,
    /// How likely equals would differ so much; `None` for the first itself.
    pub p_value: Option<f64>,
    /// Good answers a second.
    pub requests_per_second: Vec<f64>,
    /// Median latency, in seconds.
    pub latency_p50: Vec<f64>,
    /// Latency that 99 of 100 answers did not exceed, in seconds.
    pub latency_p99: Vec<f64>,
    /// Requests that failed, over all rounds.
    pub failures: u64,
    /// These by their kind.
    pub failures_by_kind: BTreeMap<String, u64>,
    /// What its processes held after the last round.
    pub usage: Usage,
    /// From its start until it accepted connections, in seconds.
    pub start_seconds: f64,
}

impl Cell {
    /// CPU time of a contender above what the relay took for the same bytes, in milliseconds per 1,000 good answers: the
    /// median of what it was in each round. The relay's time is the kernel's; what lies above it is the contender's own.
    ///
    /// `None` where the relay took no part, and for the relay.
    pub fn own_cost(&self, figures: &Figures) -> Option<f64> {
        let relay = self.contenders.iter().find(|it| it.name == Kind::Relay.name() && it.name != figures.name)?;
        let above = figures.cpu_ms_per_1000.iter().zip(&relay.cpu_ms_per_1000).map(|(own, relay)| own - relay);
        Some(median(&above.collect::<Vec<f64>>()))
    }
}

impl Figures {
    pub(super) fn new(contender: &Contender, outcomes: &[Outcome]) -> Figures {
        let each = |value: fn(&Outcome) -> f64| outcomes.iter().map(value).collect::<Vec<f64>>();
        let cpu = |outcome: &Outcome| match &outcome.process {
            Some(process) if outcome.requests > 0 => process.cpu_ms_per_1000,
            _ => f64::NAN,
        };
        let cpu_ms_per_1000 = each(cpu);
        let mut failures_by_kind = BTreeMap::new();
        for outcome in outcomes {
            for (kind, failures) in &outcome.failures_by_kind {
                *failures_by_kind.entry(kind.clone()).or_default() += failures.count;
            }
        }
        let last = outcomes.last().and_then(|outcome| outcome.process.as_ref());
        Figures {
            name: contender.kind.name(),
            median_cpu_ms_per_1000: median(&cpu_ms_per_1000),
            cpu_ms_per_1000,
            ratio_of_first: 1.0,
            p_value: None,
            requests_per_second: each(|outcome| outcome.requests_per_second),
            latency_p50: each(|outcome| outcome.latency.p50),
            latency_p99: each(|outcome| outcome.latency.p99),
            failures: outcomes.iter().map(|outcome| outcome.failures).sum(),
            failures_by_kind,
            usage: last.map(|process| process.usage).unwrap_or_default(),
            start_seconds: contender.start.as_secs_f64(),
        }
    }
}
