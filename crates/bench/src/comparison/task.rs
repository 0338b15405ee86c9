//! One combination of scenario, size and connections, and the request that it means.

use std::time::Duration;

use super::arguments::Arguments;
use super::contender::Contender;
use super::scenario::Scenario;
use crate::load::Plan;

/// One combination of scenario, size and connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) scenario: Scenario,
    pub(super) size: u64,
    pub(super) connections: usize,
    pub(super) idle: usize,
}

/// All tasks, in the order in which they are done.
pub(super) fn tasks(arguments: &Arguments) -> Vec<Task> {
    let mut tasks = Vec::new();
    for scenario in &arguments.scenario {
        // A question for a quote is as long as it is.
        let quote = [scenario.payload(1024).map_or(0, |payload| payload.length())];
        let (sizes, connections, idle) = match scenario {
            Scenario::Many => (&[1024][..], &[2560][..], 0),
            Scenario::Idle => (&[1024][..], &[500][..], 9500),
            scenario if scenario.asks_for_quotes() => (&quote[..], &arguments.connections[..], 0),
            _ => (&arguments.sizes[..], &arguments.connections[..], 0),
        };
        for size in sizes {
            for connections in connections {
                tasks.push(Task { scenario: *scenario, size: *size, connections: *connections, idle });
            }
        }
    }
    tasks
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
