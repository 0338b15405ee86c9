//! Figures as text for a terminal.

use std::fmt::Write;

use super::figures::{CellFigures, Figures, Group, RunFigures, Standing, is_busy};
use super::measure::{Measure, digits};
use super::pairs::p_words;
use super::summary::summaries;
use super::table::{Table, one_line};
use crate::units::show_size;

/// What a terminal has room for.
const SHOWN: [Measure; 8] = [
    Measure::Cpu,
    Measure::OwnCost,
    Measure::Rate,
    Measure::Bandwidth,
    Measure::P50,
    Measure::P99,
    Measure::P999,
    Measure::PeakMemory,
];

/// All runs: where they ran, what they say, and their figures.
pub(super) fn page(runs: &[RunFigures]) -> String {
    runs.iter().map(run).collect::<Vec<String>>().join("\n")
}

// Writing into a string cannot fail, here and below.
fn run(figures: &RunFigures) -> String {
    let (run, machine) = (&figures.run, &figures.run.machine);
    let mut page = format!("# {}\n\n", one_line(&figures.name));
    let _ = writeln!(
        page,
        "Began {} on {}: {}, {} processors, kernel {}, load {:.2}; {} rounds, {} threads each; measured by {}.",
        one_line(&run.began),
        one_line(&machine.name),
        one_line(&machine.processor),
        machine.processors,
        one_line(&machine.kernel),
        machine.load,
        run.rounds,
        run.threads,
        one_line(&machine.measured_by),
    );
    if is_busy(machine) {
        page.push_str("The machine was busy when the run began.\n");
    }
    for target in &run.targets {
        let _ = writeln!(page, "  {}", one_line(&format!("{}: {} {}", target.name, target.from, target.version)));
    }
    page.push_str(&summary(figures));
    for group in &figures.groups {
        let _ = write!(page, "\n## {}\n\n{}", one_line(&group.title), cells(group));
        troubles(&mut page, group);
        if !group.comparisons.is_empty() {
            let _ = write!(page, "\n{}", comparisons(group));
        }
    }
    page
}

/// What a run says, in a few sentences for each scenario.
pub(super) fn summary(figures: &RunFigures) -> String {
    let mut text = String::new();
    for summary in summaries(figures) {
        let _ = writeln!(text, "\n{}", one_line(&summary.title));
        for sentence in summary.sentences.iter().chain(&summary.warnings) {
            let _ = writeln!(text, "- {}", one_line(sentence));
        }
    }
    text
}

fn cells(group: &Group) -> String {
    let mut headings = vec!["size", "connections", "rate", "target", "standing"];
    headings.extend(SHOWN.map(Measure::heading));
    headings.extend(["x first", "p", "failures"]);
    let mut table = Table::new(5, &headings);
    for cell in &group.cells {
        for figures in &cell.targets {
            table.row(row(cell, figures));
        }
    }
    table.text()
}

fn row(CellFigures { cell, .. }: &CellFigures, figures: &Figures) -> Vec<String> {
    let mut row = vec![
        show_size(cell.size_bytes),
        cell.connections.to_string(),
        cell.rate.map_or_else(|| "-".to_owned(), |rate| rate.to_string()),
        figures.target.clone(),
        figures.standing.words().to_owned(),
    ];
    let shown = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    row.extend(SHOWN.map(|measure| shown(figures.median(measure).map(|value| measure.shown(value)))));
    row.push(shown(figures.cpu_of_first.map(digits)));
    row.push(shown(figures.cpu_p_value.map(|p| format!("{p:.3}"))));
    row.push(if figures.standing == Standing::NotMeasured { "-".to_owned() } else { figures.failures.to_string() });
    row
}

fn troubles(page: &mut String, group: &Group) {
    for trouble in group.troubles() {
        let cell = &trouble.cell;
        let place = format!("{} at {}, {} connections", trouble.target, show_size(cell.size_bytes), cell.connections);
        let _ = writeln!(page, "\n! {}: {}", one_line(&place), one_line(&trouble.text));
        for line in trouble.log.lines() {
            let _ = writeln!(page, "    {}", one_line(line));
        }
    }
}

fn comparisons(group: &Group) -> String {
    let mut table = Table::new(3, &["left", "right", "measure", "ratio", "95 %", "d", "p (Holm)", "cells"]);
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
    for comparison in &group.comparisons {
        table.row(vec![
            comparison.left.clone(),
            comparison.right.clone(),
            comparison.of.words().to_owned(),
            digits(comparison.ratio),
            format!("{} to {}", shown(comparison.ratio_low), shown(comparison.ratio_high)),
            shown(comparison.effect_size),
            comparison.p_value_corrected.map_or_else(|| "-".to_owned(), p_words),
            comparison.cells.to_string(),
        ]);
    }
    table.text()
}
