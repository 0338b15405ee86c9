//! What each target came to in each cell of a run: medians over its rounds.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::measure::{Measure, Values};
use super::pairs::{self, Comparison};
use crate::load::Outcome;
use crate::results::{Cell, Line, Machine, Results, Run, Trouble, TroubleKind};
use crate::statistics::{median, paired_p_value};

/// A target that fails more requests than one in so many is not compared: who refuses is fast.
const TOLERATED: u64 = 100;
/// The load of a machine, for each of its processors, above which it counts as busy.
const BUSY: f64 = 0.5;
/// The target that passes on bytes and does nothing else; own cost is counted from it.
const RELAY: &str = "relay";

/// All figures of a run.
#[derive(Debug, Serialize)]
pub struct RunFigures {
    /// The name of its folder.
    pub name: String,
    /// What was asked for, where it ran and who took part.
    pub run: Run,
    /// Its cells, by what can stand in one chart.
    pub groups: Vec<Group>,
}

/// Cells that can stand in one chart: they differ in size and connections, or in the rate that is offered.
#[derive(Debug, Serialize)]
pub struct Group {
    /// What is done, in words.
    pub title: String,
    /// What is done, by its name in BENCHMARK.md.
    pub scenario: String,
    /// Connections that are open and silent.
    pub idle_connections: usize,
    /// Whether requests are offered at a given rate.
    pub open_loop: bool,
    /// Whether clients come by HTTPS.
    pub tls: bool,
    /// Whether all targets wrote a line into a log for each request.
    pub access_log: bool,
    /// The cells, in the order of the run.
    pub cells: Vec<CellFigures>,
    /// Each pair of targets by each measure that is compared.
    pub comparisons: Vec<Comparison>,
}

/// A cell, with one entry for each target.
#[derive(Debug, Serialize)]
pub struct CellFigures {
    /// The cell.
    pub cell: Cell,
    /// What each target came to, in the order of the run.
    pub targets: Vec<Figures>,
}

/// What a target came to in a cell.
#[derive(Debug, Serialize)]
pub struct Figures {
    /// The name of the target.
    pub target: String,
    /// Whether its figures may be compared.
    pub standing: Standing,
    /// Rounds in which it was measured.
    pub rounds: usize,
    /// Good answers of all rounds.
    pub requests: u64,
    /// Requests that failed, in all rounds.
    pub failures: u64,
    /// The same by their kind.
    pub failures_by_kind: BTreeMap<String, u64>,
    /// From the start of its process until it answered; `None` where it ran before.
    pub start_seconds: Option<f64>,
    /// How long it was driven before it was measured.
    pub warm_up_seconds: Option<f64>,
    /// Its CPU per request over that of the run's first target.
    pub cpu_of_first: Option<f64>,
    /// How likely equals would differ as much from the first target in this cell; not corrected.
    pub cpu_p_value: Option<f64>,
    #[serde(serialize_with = "by_name")]
    /// The medians over rounds, in the order of [`Measure::ALL`].
    pub medians: Values,
    /// What went wrong with it, if anything did.
    pub trouble: Option<Trouble>,
    /// The figures of each round, by its number.
    #[serde(skip)]
    pub by_round: BTreeMap<usize, Values>,
}

/// Whether the figures of a target in a cell may be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// They may.
    Measured,
    /// More than one of a hundred requests failed.
    Failing,
    /// It had no turn.
    NotMeasured,
    /// It was in trouble; figures of turns before that do not count.
    #[serde(untagged)]
    Trouble(TroubleKind),
}

impl Standing {
    /// In words for people.
    pub fn words(self) -> &'static str {
        match self {
            Standing::Measured => "measured",
            Standing::Failing => "fails",
            Standing::NotMeasured => "not measured",
            Standing::Trouble(TroubleKind::CannotDo) => "cannot do this",
            Standing::Trouble(TroubleKind::NotReady) => "did not start",
            Standing::Trouble(TroubleKind::WrongAnswer) => "answers wrongly",
            Standing::Trouble(TroubleKind::Died) => "died",
            Standing::Trouble(TroubleKind::Stalled) => "stalled",
        }
    }

    /// In the words of CSV, which are those of JSON.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Measured => "measured",
            Standing::Failing => "failing",
            Standing::NotMeasured => "not-measured",
            Standing::Trouble(TroubleKind::CannotDo) => "cannot-do",
            Standing::Trouble(TroubleKind::NotReady) => "not-ready",
            Standing::Trouble(TroubleKind::WrongAnswer) => "wrong-answer",
            Standing::Trouble(TroubleKind::Died) => "died",
            Standing::Trouble(TroubleKind::Stalled) => "stalled",
        }
    }
}

impl RunFigures {
    /// Computes what a folder of results comes to.
    pub fn new(name: String, results: &Results) -> RunFigures {
        let run = results.run.clone();
        let targets = targets(results);
        let mut groups: Vec<Group> = Vec::new();
        for part in by_cell(results) {
            let cell = cell_figures(&part, &targets);
            let Cell { scenario, idle_connections, rate, tls, access_log, .. } = &cell.cell;
            let same = |group: &Group| {
                group.scenario == *scenario
                    && group.idle_connections == *idle_connections
                    && group.open_loop == rate.is_some()
                    && (group.tls, group.access_log) == (*tls, *access_log)
            };
            let at = groups.iter().position(same).unwrap_or_else(|| {
                groups.push(Group::new(&cell.cell));
                groups.len() - 1
            });
            groups[at].cells.push(cell);
        }
        for group in &mut groups {
            group.comparisons = pairs::comparisons(&group.cells, &targets, run.rounds);
        }
        RunFigures { name, run, groups }
    }
}

impl Group {
    fn new(cell: &Cell) -> Group {
        let mut title = cell.scenario.clone() + &cell.besides();
        if cell.idle_connections > 0 {
            title += &format!(", {} idle connections besides", cell.idle_connections);
        }
        if cell.rate.is_some() {
            title += ", at a given rate";
        }
        Group {
            title,
            scenario: cell.scenario.clone(),
            idle_connections: cell.idle_connections,
            open_loop: cell.rate.is_some(),
            tls: cell.tls,
            access_log: cell.access_log,
            cells: Vec::new(),
            comparisons: Vec::new(),
        }
    }

    /// What went wrong with a target in some cell.
    pub fn troubles(&self) -> impl Iterator<Item = &Trouble> {
        self.cells.iter().flat_map(|cell| &cell.targets).filter_map(|figures| figures.trouble.as_ref())
    }
}

impl Figures {
    /// A figure that may stand in a table or a chart: the median, unless the target was in trouble.
    pub fn median(&self, measure: Measure) -> Option<f64> {
        match self.standing {
            Standing::Measured | Standing::Failing => self.medians[measure as usize],
            Standing::NotMeasured | Standing::Trouble(_) => None,
        }
    }

    /// A figure of each of so many rounds; `None` unless all are there and may be compared.
    pub fn all_rounds(&self, measure: Measure, rounds: usize) -> Option<Vec<f64>> {
        if self.standing != Standing::Measured {
            return None;
        }
        let value = |round| self.by_round.get(&round)?[measure as usize].filter(|value| *value > 0.0);
        (0..rounds).map(value).collect()
    }
}

/// Whether others worked on the machine when the run began.
pub(super) fn is_busy(machine: &Machine) -> bool {
    machine.load > BUSY * machine.processors as f64
}

/// The targets of a run in its order, then those that only its turns know.
fn targets(results: &Results) -> Vec<String> {
    let mut names: Vec<String> = results.run.targets.iter().map(|target| target.name.clone()).collect();
    for line in &results.lines {
        let name = match line {
            Line::Started { target, .. } => target,
            Line::Turn(turn) => &turn.target,
            Line::Trouble(trouble) => &trouble.target,
            Line::Done { .. } => continue,
        };
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The results of each cell in which something happened, in the order of the run.
fn by_cell(results: &Results) -> Vec<Results> {
    let mut parts: Vec<Results> = Vec::new();
    let run = Run { cells: Vec::new(), targets: Vec::new(), ..results.run.clone() };
    for line in &results.lines {
        let cell = cell_of(line);
        // Lines of a cell follow each other, so the last part is mostly the one.
        let at = parts.iter().rposition(|part| part.run.cells[0] == *cell).unwrap_or_else(|| {
            parts.push(Results { run: Run { cells: vec![cell.clone()], ..run.clone() }, lines: Vec::new() });
            parts.len() - 1
        });
        parts[at].lines.push(line.clone());
    }
    let place = |part: &Results| results.run.cells.iter().position(|cell| *cell == part.run.cells[0]);
    parts.sort_by_cached_key(|part| place(part).unwrap_or(usize::MAX));
    parts
}

fn cell_of(line: &Line) -> &Cell {
    match line {
        Line::Started { cell, .. } | Line::Done { cell } => cell,
        Line::Turn(turn) => &turn.cell,
        Line::Trouble(trouble) => &trouble.cell,
    }
}

/// The figures of a cell from the lines that speak of it.
fn cell_figures(part: &Results, targets: &[String]) -> CellFigures {
    let cell = &part.run.cells[0];
    let relay: BTreeMap<usize, &Outcome> = outcomes(part, RELAY).collect();
    let mut figures: Vec<Figures> = targets.iter().map(|target| figures_of(part, target, &relay)).collect();
    if let Some((first, others)) = figures.split_first_mut() {
        for other in others {
            compare_cpu(other, first);
        }
    }
    CellFigures { cell: cell.clone(), targets: figures }
}

/// The outcomes of the rounds in which a target gave good answers.
fn outcomes<'a>(part: &'a Results, target: &str) -> impl Iterator<Item = (usize, &'a Outcome)> {
    let turns = part.turns(&part.run.cells[0], target).into_iter();
    turns.filter(|turn| turn.outcome.requests > 0).map(|turn| (turn.round, &turn.outcome))
}

fn figures_of(part: &Results, target: &str, relay: &BTreeMap<usize, &Outcome>) -> Figures {
    let cell = &part.run.cells[0];
    let turns = part.turns(cell, target);
    let mut failures_by_kind = BTreeMap::new();
    for (kind, failures) in turns.iter().flat_map(|turn| &turn.outcome.failures_by_kind) {
        *failures_by_kind.entry(kind.clone()).or_insert(0) += failures.count;
    }
    let requests: u64 = turns.iter().map(|turn| turn.outcome.requests).sum();
    let failures: u64 = turns.iter().map(|turn| turn.outcome.failures).sum();
    let trouble = part.trouble(cell, target).cloned();
    let standing = match &trouble {
        Some(trouble) => Standing::Trouble(trouble.kind),
        None if turns.is_empty() => Standing::NotMeasured,
        None if requests == 0 || failures > (requests + failures) / TOLERATED => Standing::Failing,
        None => Standing::Measured,
    };
    // Own cost is counted from the relay, which has none.
    let relay_in = |round: usize| relay.get(&round).copied().filter(|_| target != RELAY);
    let by_round: BTreeMap<usize, Values> =
        outcomes(part, target).map(|(round, outcome)| (round, Measure::values(outcome, relay_in(round)))).collect();
    let (start_seconds, warm_up_seconds) = started(part, target);
    Figures {
        target: target.to_owned(),
        standing,
        rounds: by_round.len(),
        requests,
        failures,
        failures_by_kind,
        start_seconds,
        warm_up_seconds,
        cpu_of_first: None,
        cpu_p_value: None,
        medians: Measure::ALL.map(|measure| median_of(&by_round, measure)),
        trouble,
        by_round,
    }
}

fn median_of(by_round: &BTreeMap<usize, Values>, measure: Measure) -> Option<f64> {
    let values: Vec<f64> = by_round.values().filter_map(|values| values[measure as usize]).collect();
    (!values.is_empty()).then(|| median(&values))
}

/// How long a target took to start, and how long it was driven before it was measured.
fn started(part: &Results, target: &str) -> (Option<f64>, Option<f64>) {
    let of_target = |line: &Line| match line {
        Line::Started { target: name, start_seconds, warm_up_seconds, .. } if name == target => {
            Some((*start_seconds, Some(*warm_up_seconds)))
        }
        _ => None,
    };
    part.lines.iter().rev().find_map(of_target).unwrap_or_default()
}

/// Holds a target's CPU against the first one's, by the rounds that both have.
fn compare_cpu(figures: &mut Figures, first: &Figures) {
    if figures.standing != Standing::Measured || first.standing != Standing::Measured {
        return;
    }
    let (Some(own), Some(base)) = (figures.median(Measure::Cpu), first.median(Measure::Cpu)) else { return };
    if base <= 0.0 {
        return;
    }
    figures.cpu_of_first = Some(own / base);
    let logarithm = |values: &Values| values[Measure::Cpu as usize].filter(|cpu| *cpu > 0.0).map(f64::ln);
    let both = figures
        .by_round
        .iter()
        .filter_map(|(round, values)| Some((logarithm(values)?, first.by_round.get(round).and_then(logarithm)?)));
    let (own, base): (Vec<f64>, Vec<f64>) = both.unzip();
    figures.cpu_p_value = paired_p_value(&own, &base);
}

fn by_name<S: Serializer>(values: &Values, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(Measure::ALL.into_iter().map(|measure| (measure.name(), values[measure as usize])))
}
