//! The measuring itself: turns, rounds, and what they come to.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Resource, Rlimit};
use serde::Serialize;

use super::contender::{self, Backends, Contender, Kind};
use super::{Arguments, Report, Scenario, Task, probe};
use crate::load::{Outcome, Plan, Verify};
use crate::payload::Payload;
use crate::procfs::Usage;
use crate::statistics::{median, paired_p_value, ratio_of_medians};

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

/// Raises the limit of open files as far as we may, for us and what we start; the limit as it then is.
pub(super) fn raise_files() -> u64 {
    const WANTED: u64 = 65_536;
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let ample = Rlimit { current: Some(WANTED), maximum: limit.maximum.map(|maximum| maximum.max(WANTED)) };
    let allowed = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Only root may raise the hard limit; without it the largest scenarios may fail, and say so.
    if rustix::process::setrlimit(Resource::Nofile, ample).is_err() {
        let _ = rustix::process::setrlimit(Resource::Nofile, allowed);
    }
    rustix::process::getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Measures one cell with fresh contenders; notes their configurations, and who failed to do the work at all.
///
/// Errors: a contender does not start, or the first one does not do what the scenario says.
pub(super) fn measure(arguments: &Arguments, task: Task, kinds: &[Kind], report: &mut Report) -> anyhow::Result<Cell> {
    let folder = tempfile::tempdir()?;
    let echo = contender::echo(&arguments.myelin, folder.path())?;
    let quotes = contender::stockquote(&arguments.myelin, folder.path())?;
    let backends = Backends { echo: echo.address, quotes: quotes.address };
    let mut contenders = Vec::new();
    for kind in kinds {
        let started = Contender::start(*kind, task.scenario, backends, arguments);
        let contender = started.with_context(|| format!("contender {}", kind.name()))?;
        let name = kind.name().to_owned();
        report.configurations.entry(name).or_insert_with(|| contender.configuration.clone());
        match probe::probe(&contender, task).with_context(|| format!("{} in {}", kind.name(), task.scenario)) {
            Ok(answer) => contenders.push((contender, answer)),
            Err(error) if contenders.is_empty() => return Err(error),
            Err(error) => report.environment.missing.push(format!("{error:#}")),
        }
    }

    let requests = arguments.requests.unwrap_or_else(|| requests(task));
    for (contender, answer) in &contenders {
        if contender.kind.warms_up() {
            turn(contender, task, answer, None, arguments.warm_up)?;
        } else {
            turn(contender, task, answer, Some((requests / 4).max(task.connections as u64)), TURN)?;
        }
    }
    let mut outcomes: Vec<Vec<Outcome>> = contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..arguments.rounds {
        for place in 0..contenders.len() {
            // Another one begins each round, so that nobody always follows the same predecessor.
            let index = (round + place) % contenders.len();
            let (contender, answer) = &contenders[index];
            outcomes[index].push(turn(contender, task, answer, Some(requests), TURN)?);
        }
    }
    let mut figures: Vec<Figures> =
        contenders.iter().zip(&outcomes).map(|((contender, _), outcomes)| Figures::new(contender, outcomes)).collect();
    compare_with_first(&mut figures);
    Ok(Cell {
        scenario: task.scenario,
        size_bytes: task.size,
        connections: task.connections,
        idle_connections: task.idle,
        requests,
        contenders: figures,
    })
}

/// Requests in a turn: enough for half a second or so, and for every connection to be used several times.
fn requests(task: Task) -> u64 {
    let by_size = 40_000 * 16_384 / (16_384 + task.size);
    by_size.max(4 * task.connections as u64)
}

/// The longest turn: a contender that needs a second for a request does fewer of them.
const TURN: Duration = Duration::from_secs(10);

/// One contender does its work once, as often as asked or as long.
fn turn(
    contender: &Contender,
    task: Task,
    answer: &Payload,
    requests: Option<u64>,
    longest: Duration,
) -> anyhow::Result<Outcome> {
    let mut plan = plan(contender, task)?;
    plan.requests = requests;
    plan.duration = Some(longest);
    plan.connections = task.connections;
    plan.idle_connections = task.idle;
    plan.verify = Verify::Body(answer.clone());
    plan.processes = contender.processes();
    plan.run()
}

/// One request of the scenario to this contender.
pub(super) fn plan(contender: &Contender, task: Task) -> anyhow::Result<Plan> {
    let (path, scenario) = (contender.kind.path(task.scenario, task.size), contender.kind.asked(task.scenario));
    let mut plan = Plan::new(&format!("http://{}{path}", contender.address()))?;
    plan.method = "POST".to_owned();
    plan.media_type = Some(scenario.media_type().to_owned());
    plan.body = scenario.payload(task.size)?;
    plan.headers.push(("SOAPAction".to_owned(), scenario.action().to_owned()));
    plan.headers.extend(scenario.headers());
    plan.timeout = Duration::from_secs(30);
    plan.security.clone_from(&contender.client);
    Ok(plan)
}

impl Figures {
    fn new(contender: &Contender, outcomes: &[Outcome]) -> Figures {
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

fn compare_with_first(figures: &mut [Figures]) {
    let Some((first, others)) = figures.split_first_mut() else { return };
    for other in others {
        other.ratio_of_first = ratio_of_medians(&first.cpu_ms_per_1000, &other.cpu_ms_per_1000);
        other.p_value = paired_p_value(&first.cpu_ms_per_1000, &other.cpu_ms_per_1000);
    }
}
