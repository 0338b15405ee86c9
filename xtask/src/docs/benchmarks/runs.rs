//! The folders of `bench/results`: runs of `myelin bench run`, and what the page shows of each.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use myelin_bench::report::{self, CellFigures, Figures, Group, Measure, RunFigures, Standing, digits, summaries};
use myelin_bench::results::Target;
use myelin_bench::units::show_size;
use serde::Deserialize;

use super::bars::MachineState;
use super::markdown::{cell, grouped, number, shown, table};
use super::toml_file::read_toml;

/// What `myelin bench run` does not know of itself, in a file of this name beside its results.
const ABOUT: &str = "about.toml";

/// A folder of results.
pub(super) struct Run {
    pub(super) about: About,
    pub(super) figures: RunFigures,
}

/// What somebody notes of a run.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct About {
    /// The commit of the bus that was measured.
    pub(super) commit: String,
    /// What a reader should know.
    pub(super) remark: String,
    /// The state of the machine.
    pub(super) machine: MachineState,
    /// Whether it is only shown, and judges no bar.
    pub(super) only_shown: bool,
}

/// Reads all runs below a folder, the newest first.
///
/// Errors: a folder below it holds no results, or an `about.toml` of another shape.
pub(super) fn read(folder: &Path) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry.with_context(|| format!("reading {}", folder.display()))?.path();
        if !path.is_dir() {
            continue;
        }
        let about = path.join(ABOUT);
        let about = if about.exists() { read_toml(&about)? } else { About::default() };
        runs.push(Run { about, figures: report::read(&path)? });
    }
    runs.sort_by(|a, b| (&b.figures.run.began, &b.figures.name).cmp(&(&a.figures.run.began, &a.figures.name)));
    Ok(runs)
}

impl Run {
    pub(super) fn name(&self) -> &str {
        &self.figures.name
    }

    /// The machine, in a few words.
    pub(super) fn machine(&self) -> String {
        let machine = &self.figures.run.machine;
        let state = match self.about.machine {
            MachineState::Quiet => "",
            MachineState::Busy => ", busy",
        };
        format!("{}: {} × {}{state}", cell(&machine.name), machine.processors, cell(&machine.processor))
    }

    /// The commit of the bus, as far as somebody noted it.
    pub(super) fn commit(&self) -> &str {
        if self.about.commit.is_empty() { "not noted" } else { &self.about.commit }
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = &CellFigures> {
        self.figures.groups.iter().flat_map(|group| &group.cells)
    }

    pub(super) fn markdown(&self) -> String {
        let RunFigures { name, run, groups } = &self.figures;
        let machine = &run.machine;
        let mut page = format!("### {name}\n\n");
        page += &format!(
            "Began {} on {}, kernel {}, {} GB of memory, {} open files, load {:.1} at the beginning; {} rounds in turns, \
             {} threads or workers each; commit {}, measured by {}.\n",
            cell(&run.began),
            self.machine(),
            cell(&machine.kernel),
            number(machine.memory_kilobytes as f64 * 1024.0 / 1e9),
            grouped(machine.open_files_limit as f64),
            machine.load,
            run.rounds,
            run.threads,
            cell(self.commit()),
            cell(&machine.measured_by),
        );
        let targets: Vec<String> = run.targets.iter().map(target).collect();
        page += &format!("Targets: {}.\n", targets.join(", "));
        if !self.about.remark.is_empty() {
            page += &format!("{}\n", self.about.remark.trim());
        }
        page += &format!("\n```\n{}\n```\n\n", command_line(&run.command_line));
        for summary in summaries(&self.figures) {
            let sentences: Vec<String> =
                summary.sentences.iter().chain(&summary.warnings).map(|sentence| cell(sentence)).collect();
            page += &format!("- {}: {}\n", cell(&summary.title), sentences.join(" "));
        }
        page += &format!("\n<details><summary>All cells</summary>\n\n{}\n</details>\n", cells(groups));
        page
    }
}

fn target(target: &Target) -> String {
    let version: Vec<&str> = target.version.split_whitespace().filter(|word| !word.starts_with('/')).collect();
    let version = version.join(" ");
    if version.is_empty() { cell(&target.name) } else { cell(&format!("{} ({version})", target.name)) }
}

/// What was asked for, without what only that machine knows: its paths, and where the program lay.
fn command_line(words: &[String]) -> String {
    let mut told = vec!["myelin".to_owned()];
    let mut rest = words.iter().skip(1).peekable();
    while let Some(word) = rest.next() {
        let is_option = word.starts_with("--");
        if is_option && word.split_once('=').is_some_and(|(_, value)| value.starts_with('/')) {
            continue;
        }
        if is_option && rest.next_if(|value| value.starts_with('/')).is_some() {
            continue;
        }
        told.push(cell(word));
    }
    told.join(" ")
}

/// All figures; own cost only where the relay took part.
fn cells(groups: &[Group]) -> String {
    let mut all = groups.iter().flat_map(|group| &group.cells).flat_map(|cell| &cell.targets);
    let has_own_cost = all.any(|figures| figures.median(Measure::OwnCost).is_some());
    let mut headings = vec!["scenario", "size", "connections", "target", "CPU ms/1,000", "×", "p"];
    headings.extend(has_own_cost.then_some("own cost"));
    headings.extend(["requests/s", "p99 ms", "peak MB"]);
    let mut rows = Vec::new();
    for group in groups {
        for CellFigures { cell: it, targets } in &group.cells {
            let mut place = vec![
                cell(&it.scenario) + &it.besides(),
                show_size(it.size_bytes),
                connections(it.connections, it.idle_connections, it.rate),
            ];
            for figures in targets {
                let mut line = std::mem::replace(&mut place, vec![String::new(); 3]);
                line.extend(row(figures, has_own_cost));
                rows.push(line);
            }
        }
    }
    table(4, &headings, &rows)
}

fn connections(sending: usize, idle: usize, rate: Option<f64>) -> String {
    let idle = if idle > 0 { format!(" + {idle} idle") } else { String::new() };
    let rate = rate.map_or_else(String::new, |rate| format!(" at {rate}/s"));
    format!("{sending}{idle}{rate}")
}

fn row(figures: &Figures, has_own_cost: bool) -> Vec<String> {
    let mut name = cell(&figures.target);
    if figures.standing != Standing::Measured {
        name += &format!(": {}", figures.standing.words());
    }
    if figures.failures > 0 {
        name += &format!(" ({} failed)", grouped(figures.failures as f64));
    }
    let median = |measure: Measure| shown(figures.median(measure).map(|value| number(value * measure.scale())));
    let mut row = vec![name, median(Measure::Cpu), shown(figures.cpu_of_first.map(digits))];
    row.push(shown(figures.cpu_p_value.map(|p| if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") })));
    row.extend(has_own_cost.then(|| median(Measure::OwnCost)));
    row.extend([Measure::Rate, Measure::P99, Measure::PeakMemory].map(median));
    row
}
