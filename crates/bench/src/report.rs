//! `myelin bench report` and `myelin bench compare`: what is made of folders of results.
//!
//! Figures are computed once (`figures`, `pairs`, `summary`) and written in one of four forms.
//! Ratios are taken inside one run only; two runs are held against each other by [`compare`], which says what speaks
//! against it.

mod charts;
pub mod compare;
mod csv;
mod figures;
mod html;
mod measure;
mod pairs;
mod summary;
mod table;
mod text;

#[cfg(test)]
mod tests;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::json;

use crate::results::{self, Line, Results};

pub use figures::{CellFigures, Figures, Group, RunFigures, Standing};
pub use measure::{Measure, Values, digits};
pub use pairs::Comparison;
pub use summary::{Summary, summaries};

/// The name of the page that is written where nothing else is said.
const PAGE: &str = "report.html";

/// The arguments of `myelin bench report`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Folders of results, as `myelin bench run` writes them
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
    /// The form of the report
    #[arg(long, value_enum, default_value = "html")]
    pub format: Format,
    /// Where to write it; - is standard output. By default a page becomes report.html in the first folder, and the other
    /// forms go to standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The forms of what is made of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One page with charts that needs no network
    Html,
    /// Tables for people
    Text,
    /// A line for each target in each cell
    Csv,
    /// One object with all figures, times in seconds
    Json,
}

/// Writes a report of the folders' results.
///
/// Errors: a folder is missing, holds no results or none that this program understands, or the report cannot be written.
pub fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let runs = arguments.folders.iter().map(|folder| read(folder)).collect::<anyhow::Result<Vec<RunFigures>>>()?;
    let page = match arguments.format {
        Format::Html => html::page(&runs),
        Format::Text => text::page(&runs),
        Format::Csv => csv::page(&runs),
        Format::Json => json(&runs)?,
    };
    let beside = (arguments.format == Format::Html).then(|| arguments.folders[0].join(PAGE));
    match arguments.out.clone().or(beside) {
        Some(path) if path != Path::new("-") => {
            fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
            writeln!(out, "Written to {}", path.display())?;
        }
        _ => out.write_all(page.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Ends a run: what it says in a few sentences goes to `out`, and its page into its folder.
///
/// Errors: as [`run`].
pub(crate) fn conclude(folder: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let figures = read(folder)?;
    out.write_all(text::summary(&figures).as_bytes())?;
    let path = folder.join(PAGE);
    fs::write(&path, html::page(&[figures])).with_context(|| format!("cannot write {}", path.display()))?;
    writeln!(out, "\nAll figures, with charts: {}", path.display())?;
    Ok(())
}

/// Reads a folder in which something was measured.
fn read_results(folder: &Path) -> anyhow::Result<Results> {
    if !folder.is_dir() {
        bail!("there is no folder {}; name one that `myelin bench run --out` has written", folder.display());
    }
    let results = results::read(folder)?;
    if !results.lines.iter().any(|line| matches!(line, Line::Turn(_) | Line::Trouble(_))) {
        bail!(
            "{} holds no turn yet: nothing was measured; `myelin bench run --resume {0}` goes on with it",
            folder.display()
        );
    }
    Ok(results)
}

/// The figures of a folder in which something was measured.
///
/// Errors: there is no such folder, it holds no turn yet, or no results that this program understands.
pub fn read(folder: &Path) -> anyhow::Result<RunFigures> {
    Ok(RunFigures::new(name(folder), &read_results(folder)?))
}

/// The name of a folder, also of `.` and `..`.
fn name(folder: &Path) -> String {
    let full = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    full.file_name().unwrap_or(full.as_os_str()).to_string_lossy().into_owned()
}

fn json(runs: &[RunFigures]) -> anyhow::Result<String> {
    let runs: Vec<serde_json::Value> =
        runs.iter().map(|run| json!({ "summary": summaries(run), "figures": run })).collect();
    Ok(serde_json::to_string_pretty(&json!({ "runs": runs }))? + "\n")
}
