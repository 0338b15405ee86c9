//! The measuring itself: turns, rounds, and what they come to.

use std::time::Duration;

use anyhow::Context;
use rustix::process::{Resource, Rlimit};

use super::arguments::Arguments;
use super::configuration::Backends;
use super::contender::{self, Contender};
use super::figures::{Cell, Figures};
use super::kind::Kind;
use super::probe;
use super::report::Report;
use super::task::{Task, plan};
use crate::load::{Outcome, Verify};
use crate::payload::Payload;
use crate::statistics::{paired_p_value, ratio_of_medians};

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
pub(super) fn turn(
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

fn compare_with_first(figures: &mut [Figures]) {
    let Some((first, others)) = figures.split_first_mut() else { return };
    for other in others {
        other.ratio_of_first = ratio_of_medians(&first.cpu_ms_per_1000, &other.cpu_ms_per_1000);
        other.p_value = paired_p_value(&first.cpu_ms_per_1000, &other.cpu_ms_per_1000);
    }
}
