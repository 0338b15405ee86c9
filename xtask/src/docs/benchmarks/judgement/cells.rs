//! The cells of runs that a bar speaks of.
//!
//! A bar takes the newest run that has all of its cells, and else each cell from the newest run that has it. A ratio is
//! always one of two targets of the same run, which took turns.

use std::collections::BTreeMap;

use myelin_bench::report::{CellFigures, Figures, Measure, Standing};
use myelin_bench::results::{Cell, TroubleKind};
use myelin_bench::units::show_size;

use super::super::bars::{Cells, Quantity, ScenarioName};
use super::super::markdown::link;
use super::super::runs::Run;
use super::{Finding, Findings};

/// The target whose figures are judged.
const OURS: &str = "myelin";

/// A cell, and the other target if there is one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    scenario: String,
    size_bytes: u64,
    connections: usize,
    idle_connections: usize,
    other: Option<String>,
}

/// The figure of each cell of a run, or why it has none.
type Values = BTreeMap<Key, Result<f64, String>>;

/// What a bar names of a cell; `None` where it does not say.
struct Wanted<'a> {
    scenario: Option<&'a str>,
    size_bytes: Option<u64>,
    connections: Option<usize>,
    other: Option<&'a str>,
}

impl Wanted<'_> {
    fn covers(&self, key: &Key) -> bool {
        self.scenario.is_none_or(|scenario| scenario == key.scenario)
            && self.size_bytes.is_none_or(|size| size == key.size_bytes)
            && self.connections.is_none_or(|connections| connections == key.connections)
            && self.other == key.other.as_deref()
    }

    fn words(&self) -> String {
        let scenario = self.scenario.map(|name| format!("`{name}`"));
        let size = self.size_bytes.map(show_size);
        let connections = self.connections.map(|connections| format!("over {connections}"));
        let other = self.other.map(|other| format!("beside {other}"));
        [scenario, size, connections, other].into_iter().flatten().collect::<Vec<String>>().join(" ")
    }
}

pub(super) fn find(cells: &Cells, runs: &[Run]) -> Findings {
    let wanted = wanted(cells);
    let mut of_runs: Vec<(&Run, Values)> = runs
        .iter()
        .filter(|run| !run.about.only_shown && run.about.machine == cells.machine)
        .map(|run| (run, values(cells, &wanted, run)))
        .collect();
    let has = |values: &Values, wanted: &Wanted| values.iter().any(|(key, value)| value.is_ok() && wanted.covers(key));
    // Runs come with the newest first, and the sort keeps that order among those that are whole.
    of_runs.sort_by_key(|(_, values)| !wanted.iter().all(|wanted| has(values, wanted)));
    let mut found: BTreeMap<&Key, (f64, &Run)> = BTreeMap::new();
    for (run, values) in &of_runs {
        for (key, value) in values {
            if let Ok(value) = value {
                found.entry(key).or_insert((*value, *run));
            }
        }
    }
    let is_found = |wanted: &Wanted| found.keys().any(|key| wanted.covers(key));
    let reason = |wanted: &Wanted| {
        let mut reasons = of_runs.iter().flat_map(|(_, values)| values);
        reasons.find_map(|(key, value)| value.as_ref().err().filter(|_| wanted.covers(key)))
    };
    let missing = wanted.iter().filter(|wanted| !is_found(wanted)).map(|wanted| match reason(wanted) {
        Some(reason) => format!("{} ({reason})", wanted.words()),
        None => wanted.words(),
    });
    let missing: Vec<String> = if found.is_empty() && of_runs.iter().all(|(_, values)| values.is_empty()) {
        vec!["no run has such a cell".to_owned()]
    } else {
        missing.collect()
    };
    let findings = found.iter().map(|(key, (value, run))| Finding {
        place: place(cells, key),
        value: *value,
        source: link(run.name()),
    });
    Findings { found: findings.collect(), missing }
}

/// Every combination of what the bar names.
fn wanted(cells: &Cells) -> Vec<Wanted<'_>> {
    let mut all = Vec::new();
    for scenario in named(&cells.scenarios) {
        for size in named(&cells.sizes) {
            for connections in named(&cells.connections) {
                for other in named(&cells.over) {
                    all.push(Wanted {
                        scenario: scenario.map(|ScenarioName(name)| name.as_str()),
                        size_bytes: size.map(|size| size.0),
                        connections: connections.copied(),
                        other: other.map(String::as_str),
                    });
                }
            }
        }
    }
    all
}

/// What is named, or one time nothing.
fn named<T>(names: &[T]) -> Vec<Option<&T>> {
    if names.is_empty() { vec![None] } else { names.iter().map(Some).collect() }
}

fn values(cells: &Cells, wanted: &[Wanted], run: &Run) -> Values {
    let mut values = BTreeMap::new();
    for CellFigures { cell, targets } in run.cells().filter(|it| is_asked(cells, &it.cell)) {
        let target = |name: &str| targets.iter().find(|figures| figures.target == name);
        let Some(ours) = target(OURS) else { continue };
        for other in named(&cells.over) {
            let key = Key {
                scenario: cell.scenario.clone(),
                size_bytes: cell.size_bytes,
                connections: cell.connections,
                idle_connections: cell.idle_connections,
                other: other.cloned(),
            };
            if !wanted.iter().any(|wanted| wanted.covers(&key)) {
                continue;
            }
            let value = match other.map(|name| target(name)) {
                // It took no part in this run.
                Some(None) => continue,
                Some(Some(other)) => divided(cells.measure, ours, other),
                None => value(cells.measure, ours),
            };
            values.insert(key, value);
        }
    }
    values
}

/// Whether a cell is measured as the bar has it, whatever is done in it.
fn is_asked(cells: &Cells, cell: &Cell) -> bool {
    cell.rate.is_none() && cell.tls == cells.tls && cell.access_log == cells.access_log
}

/// Ours over the other one's.
fn divided(measure: Quantity, ours: &Figures, other: &Figures) -> Result<f64, String> {
    let base = value(measure, other)?;
    if base.is_infinite() {
        return Err(format!("{} {}", other.target, other.standing.words()));
    }
    if base <= 0.0 {
        return Err(format!("{} has nothing to compare with", other.target));
    }
    Ok(value(measure, ours)?.max(0.0) / base)
}

/// A figure of a target; infinite where it did not do what it should, so that whoever fails reaches nothing.
fn value(measure: Quantity, figures: &Figures) -> Result<f64, String> {
    match (measure, figures.standing) {
        (Quantity::Failures, Standing::Measured | Standing::Failing) => return Ok(figures.failures as f64),
        // It has started, whatever it did then.
        (Quantity::StartSeconds, Standing::Measured | Standing::Failing) => {}
        (_, Standing::Measured) => {}
        (_, Standing::NotMeasured) => return Err(format!("{} was not measured", figures.target)),
        // The machine or the kit does not allow it.
        (_, Standing::Trouble(TroubleKind::CannotDo)) => {
            let text = figures.trouble.as_ref().map_or_else(String::new, |trouble| format!(": {}", trouble.text));
            return Err(format!("{} cannot do this{text}", figures.target));
        }
        (_, Standing::Failing | Standing::Trouble(_)) => return Ok(f64::INFINITY),
    }
    let found = match measure {
        Quantity::Measured(measure) => figures.median(measure),
        Quantity::StartSeconds => figures.start_seconds,
        Quantity::Failures => None,
    };
    let relay = if measure == Quantity::Measured(Measure::OwnCost) { ", or the relay took no part" } else { "" };
    found.ok_or_else(|| format!("{} has no such figure{relay}", figures.target))
}

/// A cell in words, without what the bar's own words say.
fn place(cells: &Cells, key: &Key) -> String {
    let scenario = (cells.scenarios.len() != 1).then(|| format!("`{}`", key.scenario));
    let size = (cells.sizes.len() != 1).then(|| show_size(key.size_bytes));
    let connections = (cells.connections.len() != 1).then(|| format!("over {}", key.connections));
    let other = key.other.as_ref().filter(|_| cells.over.len() > 1).map(|other| format!("beside {other}"));
    [scenario, size, connections, other].into_iter().flatten().collect::<Vec<String>>().join(" ")
}
