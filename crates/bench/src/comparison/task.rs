//! One combination of scenario, size and connections, and the request that it means.

use std::time::Duration;

use anyhow::{Context, ensure};

use super::arguments::Arguments;
use super::contender::Contender;
use super::scenario::{Besides, Scenario};
use crate::load::Plan;
use crate::results::Cell;

/// One combination of scenario, size and connections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Task {
    pub(super) scenario: Scenario,
    pub(super) size: u64,
    pub(super) connections: usize,
    pub(super) idle: usize,
    /// Requests a second that are offered; `None` in a closed loop.
    pub(super) rate: Option<f64>,
    pub(super) besides: Besides,
}

impl Task {
    /// Errors: no request can be made of it; the user's.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let Task { scenario, size, connections, .. } = self;
        ensure!(*connections > 0, "--concurrency has to be 1 at least");
        scenario.payload(*size).with_context(|| format!("{scenario} with --size {size}"))?;
        Ok(())
    }

    /// The same, as results name it.
    pub(super) fn cell(&self) -> Cell {
        Cell {
            scenario: self.scenario.name(),
            size_bytes: self.size,
            connections: self.connections,
            idle_connections: self.idle,
            rate: self.rate,
            tls: self.besides.tls,
            access_log: self.besides.access_log,
        }
    }
}

/// All tasks, in the order in which they are done.
pub(super) fn tasks(arguments: &Arguments) -> Vec<Task> {
    let mut tasks = Vec::new();
    let Arguments { rate, tls, access_log, .. } = *arguments;
    let besides = Besides { tls, access_log };
    for scenario in arguments.scenarios() {
        // A question for a quote is as long as it is.
        let quote = || vec![scenario.payload(1024).map_or(0, |payload| payload.length())];
        let (sizes, connections, idle) = match scenario {
            Scenario::Many => (vec![1024], vec![2560], 0),
            Scenario::Idle => (vec![1024], vec![500], 9500),
            scenario if scenario.asks_for_quotes() => (quote(), arguments.concurrency(), 0),
            _ => (arguments.sizes(), arguments.concurrency(), 0),
        };
        for size in &sizes {
            for connections in &connections {
                let (size, connections) = (*size, *connections);
                tasks.push(Task { scenario, size, connections, idle, rate, besides });
            }
        }
    }
    tasks
}

/// One request of the scenario to this contender.
pub(super) fn plan(contender: &Contender, task: Task) -> anyhow::Result<Plan> {
    let scenario = contender.target.asked(task.scenario);
    let mut plan = Plan::new(&contender.url(task.scenario))?;
    plan.method = "POST".to_owned();
    plan.media_type = Some(scenario.media_type().to_owned());
    plan.body = scenario.payload(task.size)?;
    plan.headers.push(("SOAPAction".to_owned(), scenario.action().to_owned()));
    plan.headers.extend(scenario.headers());
    plan.timeout = Duration::from_secs(30);
    plan.security.clone_from(&contender.client);
    plan.authorities.clone_from(&contender.authority);
    Ok(plan)
}
