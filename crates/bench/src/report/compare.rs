//! `myelin bench compare`: two runs, of two days, machines or builds, held against each other.
//!
//! Within a run targets take turns, so that the machine's mood touches all; two runs have nothing of the kind. The test
//! is therefore Welch's, for columns that have nothing to do with each other, and what speaks against the comparison is
//! said first.

mod differences;
mod overall;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use serde::Serialize;
use serde_json::json;

use super::figures::{CellFigures, Figures, RunFigures, Standing};
use super::measure::{Measure, digits};
use super::pairs::{SIGNIFICANT, p_words};
use super::table::{Table, one_line};
use super::{csv, read};
use crate::results::Cell;
use crate::statistics::{holm, welch};
use crate::units::show_size;
use differences::{Difference, differences};
use overall::{Overall, overall};

/// The arguments of `myelin bench compare`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The folder of results that the other is held against
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The other folder of results
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// The form of the comparison
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// The forms of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table for people
    Text,
    /// A line for each measure of each target in each cell
    Csv,
    /// One object with all figures, times in seconds
    Json,
}

/// One measure of a target in a cell that both runs have.
#[derive(Debug, Serialize)]
struct Change {
    cell: Cell,
    target: String,
    measure: &'static str,
    /// The medians over rounds.
    before: f64,
    after: f64,
    /// The second over the first.
    ratio: f64,
    /// Welch's t-test of the logarithms; `None` with fewer than two rounds on a side.
    p_value: Option<f64>,
    /// The p-value after Holm's correction for all lines of the comparison.
    p_value_corrected: Option<f64>,
    #[serde(skip)]
    of: Measure,
}

/// Compares two folders of results.
///
/// Errors: a folder cannot be read or holds no results, or no target was measured in the same cell of both.
pub fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let changes = changes(&before, &after);
    if changes.is_empty() {
        bail!(
            "{} and {} have no cell in common in which the same target was measured: run them with the same \
             scenarios, sizes, connections and names of targets",
            arguments.before.display(),
            arguments.after.display()
        );
    }
    let differences = differences(&before.run, &after.run);
    match arguments.format {
        Format::Text => out.write_all(text((&before, &after), &differences, &changes).as_bytes())?,
        Format::Csv => out.write_all(lines(&changes).as_bytes())?,
        Format::Json => {
            let page = json!({
                "before": before.run, "after": after.run, "differences": differences,
                "overall": overall(&before, &after), "changes": changes,
            });
            writeln!(out, "{}", serde_json::to_string_pretty(&page)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn changes(before: &RunFigures, after: &RunFigures) -> Vec<Change> {
    let mut changes: Vec<Change> = common(before, after)
        .into_iter()
        .flat_map(|(cell, first, second)| {
            Measure::COMPARED.into_iter().filter_map(move |of| change(cell, first, second, of))
        })
        .collect();
    let tested: Vec<usize> = (0..changes.len()).filter(|&index| changes[index].p_value.is_some()).collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|&index| changes[index].p_value).collect();
    for (index, corrected) in tested.into_iter().zip(holm(&p_values)) {
        changes[index].p_value_corrected = Some(corrected);
    }
    changes
}

/// The figures of each target in each cell that both runs have.
fn common<'a>(before: &'a RunFigures, after: &'a RunFigures) -> Vec<(&'a CellFigures, &'a Figures, &'a Figures)> {
    let mut common = Vec::new();
    for cell in before.groups.iter().flat_map(|group| &group.cells) {
        let mut others = after.groups.iter().flat_map(|group| &group.cells);
        let Some(other) = others.find(|other| other.cell == cell.cell) else { continue };
        for first in &cell.targets {
            common.extend(
                other.targets.iter().find(|second| second.target == first.target).map(|second| (cell, first, second)),
            );
        }
    }
    common
}

fn change(cell: &CellFigures, first: &Figures, second: &Figures, of: Measure) -> Option<Change> {
    if first.standing != Standing::Measured || second.standing != Standing::Measured {
        return None;
    }
    let (before, after) = (first.median(of)?, second.median(of)?);
    if before <= 0.0 {
        return None;
    }
    let logarithms = |figures: &Figures| -> Vec<f64> {
        let values = figures.by_round.values().filter_map(|values| values[of as usize]);
        values.filter(|value| *value > 0.0).map(f64::ln).collect()
    };
    let test = welch(&logarithms(first), &logarithms(second));
    Some(Change {
        cell: cell.cell.clone(),
        target: first.target.clone(),
        measure: of.name(),
        before,
        after,
        ratio: after / before,
        p_value: test.map(|test| test.p_value),
        p_value_corrected: None,
        of,
    })
}

fn text((before, after): (&RunFigures, &RunFigures), differences: &[Difference], changes: &[Change]) -> String {
    let told = |run: &RunFigures| one_line(&format!("{} ({}, {})", run.name, run.run.began, run.run.machine.name));
    let mut page = format!("Before: {}\nAfter:  {}\n\n", told(before), told(after));
    let (against, remarks): (Vec<&Difference>, Vec<&Difference>) =
        differences.iter().partition(|difference| difference.forbids);
    if against.is_empty() {
        page +=
            "Machine, rounds, threads and configurations are the same, and the machine was quiet when each began.\n";
    } else {
        page +=
            "These runs may not be compared as they stand. What differs may come from this, not from the targets:\n";
    }
    for difference in against.iter().chain(&remarks) {
        page += &format!("- {}\n", one_line(&difference.text));
    }
    page += &format!("\nOver all cells:\n\n{}\n", overall_table(&overall(before, after)));
    let headings = ["cell", "connections", "target", "measure", "before", "after", "after/before", "p (Holm)", ""];
    let mut table = Table::new(4, &headings);
    for change in changes {
        table.row(row(change));
    }
    let real = changes.iter().filter(|change| is_real(change)).count();
    let all = changes.len();
    page +=
        &format!("Cell by cell:\n\n{}\n{real} of {all} figures differ by more than chance explains.\n", table.text());
    for (cell, first, second) in common(before, after) {
        if first.standing != Standing::Measured || second.standing != Standing::Measured {
            let place = format!("{} at {}, {} connections", first.target, place(&cell.cell), cell.cell.connections);
            let (first, second) = (first.standing.words(), second.standing.words());
            page += &one_line(&format!("Not compared: {place}: {first} before, {second} after."));
            page.push('\n');
        }
    }
    page
}

fn overall_table(all: &[Overall]) -> String {
    let headings = ["scenario", "target", "measure", "cells", "after/before", "95 %", "p (Holm)", ""];
    let mut table = Table::new(3, &headings);
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
    for it in all {
        table.row(vec![
            it.group.clone(),
            it.target.clone(),
            it.of.words().to_owned(),
            it.cells.to_string(),
            digits(it.ratio),
            format!("{} to {}", shown(it.ratio_low), shown(it.ratio_high)),
            it.p_value_corrected.map_or_else(|| "-".to_owned(), p_words),
            verdict(it.of, it.ratio, it.p_value_corrected).to_owned(),
        ]);
    }
    table.text()
}

/// What a ratio means, if it is more than chance.
fn verdict(of: Measure, ratio: f64, p_value: Option<f64>) -> &'static str {
    match (p_value.is_some_and(|p| p < SIGNIFICANT), (ratio < 1.0) == of.is_cost()) {
        (false, _) => "",
        (true, true) => "better",
        (true, false) => "worse",
    }
}

fn row(change: &Change) -> Vec<String> {
    let Change { cell, of, .. } = change;
    vec![
        place(cell),
        cell.connections.to_string(),
        change.target.clone(),
        of.heading().to_owned(),
        of.shown(change.before),
        of.shown(change.after),
        digits(change.ratio),
        change.p_value_corrected.map_or_else(|| "-".to_owned(), p_words),
        verdict(*of, change.ratio, change.p_value_corrected).to_owned(),
    ]
}

/// What is done in a cell, and with what.
fn place(cell: &Cell) -> String {
    let mut place = format!("{} {}{}", cell.scenario, show_size(cell.size_bytes), cell.besides());
    if cell.idle_connections > 0 {
        place += &format!(", {} idle", cell.idle_connections);
    }
    if let Some(rate) = cell.rate {
        place += &format!(", {rate}/s");
    }
    place
}

fn is_real(change: &Change) -> bool {
    change.p_value_corrected.is_some_and(|p| p < SIGNIFICANT)
}

fn lines(changes: &[Change]) -> String {
    let mut page =
        "scenario,size_bytes,connections,idle_connections,rate,tls,target,measure,before,after,ratio,p_value,\
                    p_value_corrected,access_log\n"
            .to_owned();
    for Change { cell, target, measure, before, after, ratio, p_value, p_value_corrected, .. } in changes {
        let entries = [
            csv::quote(&cell.scenario),
            cell.size_bytes.to_string(),
            cell.connections.to_string(),
            cell.idle_connections.to_string(),
            csv::number(cell.rate),
            cell.tls.to_string(),
            csv::quote(target),
            (*measure).to_owned(),
            before.to_string(),
            after.to_string(),
            ratio.to_string(),
            csv::number(*p_value),
            csv::number(*p_value_corrected),
            cell.access_log.to_string(),
        ];
        page += &entries.join(",");
        page.push('\n');
    }
    page
}
