//! The generated part of `docs/benchmarks.md`: which bars are reached, and the figures that say so.
//!
//! Figures come from `bench/results`: folders as `myelin bench run` writes them, and tables of what was measured
//! otherwise. Instructions come from `docs/instructions.md`, which its own command writes.

mod bars;
mod judgement;
mod markdown;
mod measurements;
mod published;
mod recorded;
mod runs;
mod toml_file;

#[cfg(test)]
mod tests;

use std::fs;

use anyhow::{Context, Result};

use crate::layers::between;
use crate::workspace::root;
use measurements::Measurements;
use runs::Run;

/// Between these lines stands what this module writes.
const BEGIN: &str = "<!-- The figures: written by `cargo xtask docs` from bench/results and docs/instructions.md. -->";
const END: &str = "<!-- The end of what `cargo xtask docs` writes. -->";

/// `docs/benchmarks.md` with the figures as they are now.
///
/// Errors: a file cannot be read or has another shape, or the page has lost the lines between which the figures stand.
pub(super) fn page() -> Result<String> {
    let page = fs::read_to_string(root().join("docs/benchmarks.md")).context("reading docs/benchmarks.md")?;
    let measurements = Measurements::read(&root().join("bench/results"), &root().join("docs/instructions.md"))?;
    between(&page, (BEGIN, END), &figures(&measurements)?).context("docs/benchmarks.md has no place for the figures")
}

/// What stands between the lines.
///
/// Errors: a bar names a table or a column that there is not.
fn figures(measurements: &Measurements) -> Result<String> {
    let runs: Vec<String> = measurements.runs.iter().map(Run::markdown).collect();
    let parts = [
        "## Reached or missed".to_owned(),
        judgement::markdown(measurements)?,
        "## Runs".to_owned(),
        RUNS.to_owned(),
        runs.join("\n"),
        "## Measured otherwise".to_owned(),
        measurements.recorded.markdown(),
        "## Published figures beside ours".to_owned(),
        measurements.published.markdown(&measurements.runs),
    ];
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).collect();
    Ok(parts.join("\n\n") + "\n")
}

/// What stands above the runs.
const RUNS: &str = "\
The newest run comes first; each is a folder of [bench/results](../bench/results/README.md).
A figure is the median over rounds.
`×` is how many times the CPU time of the run's first target a target takes, and `p` how likely equals would differ as much in this cell, by the paired t-test.
The sentences are about all cells of a scenario together, and their p-values are corrected for all comparisons of it.
Own cost is the CPU time above what the bare relay took in the same round.
";
