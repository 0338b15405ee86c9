//! `published.toml`: what others published, beside what was measured here.

use anyhow::{Result, bail};
use myelin_bench::report::{CellFigures, Measure};
use myelin_bench::units::show_size;
use serde::Deserialize;

use super::bars::{ScenarioName, Size};
use super::markdown::{link, number, shown, table};
use super::recorded::Entry;
use super::runs::Run;

/// All sources.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Published {
    #[serde(default)]
    remark: String,
    #[serde(default, rename = "source")]
    sources: Vec<Source>,
}

/// A cell of one of our runs.
type OurCell<'a> = (&'a Run, &'a CellFigures);

/// A publication.
#[derive(Deserialize)]
#[serde(try_from = "SourceAsWritten")]
struct Source {
    title: String,
    /// How it was measured there, and in which unit.
    about: String,
    /// The buses of the publication.
    columns: Vec<String>,
    /// Concurrent clients, where the publication says how many.
    users: Option<usize>,
    /// Targets of our runs that are shown beside them.
    beside: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceAsWritten {
    title: String,
    about: String,
    columns: Vec<String>,
    users: Option<usize>,
    beside: Vec<String>,
    #[serde(rename = "row")]
    rows: Vec<Row>,
}

/// One cell of a publication.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    scenario: ScenarioName,
    size: Size,
    /// One figure for each of the columns.
    figures: Vec<f64>,
}

impl TryFrom<SourceAsWritten> for Source {
    type Error = anyhow::Error;

    fn try_from(written: SourceAsWritten) -> Result<Source> {
        let SourceAsWritten { title, about, columns, users, beside, rows } = written;
        if let Some(row) = rows.iter().find(|row| row.figures.len() != columns.len()) {
            let place = format!("{} {}", row.scenario.0, show_size(row.size.0));
            bail!("{title}: the row {place} has {} figures for {} columns", row.figures.len(), columns.len());
        }
        Ok(Source { title, about, columns, users, beside, rows })
    }
}

impl Published {
    pub(super) fn markdown(&self, runs: &[Run]) -> String {
        let sources: Vec<String> = self.sources.iter().map(|source| source.markdown(runs)).collect();
        format!("{}\n\n{}", self.remark.trim(), sources.join("\n"))
    }
}

impl Source {
    fn markdown(&self, runs: &[Run]) -> String {
        let mut headings = vec!["scenario".to_owned(), "size".to_owned()];
        headings.extend(self.columns.iter().cloned());
        headings.push("connections here".to_owned());
        headings.extend(self.beside.iter().map(|target| format!("{target} here")));
        headings.push("run".to_owned());
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| self.row(row, runs)).collect();
        format!("### {}\n\n{}\n\n{}", self.title, self.about.trim(), table(2, &headings, &rows))
    }

    fn row(&self, row: &Row, runs: &[Run]) -> Vec<String> {
        let mut shown_row = vec![format!("`{}`", row.scenario.0), show_size(row.size.0)];
        shown_row.extend(row.figures.iter().map(|figure| Entry::Number(*figure).shown()));
        let nearest = self.nearest(row, runs);
        shown_row.push(shown(nearest.map(|(_, cell)| cell.cell.connections.to_string())));
        for target in &self.beside {
            shown_row.push(shown(nearest.and_then(|(_, cell)| rate(cell, target)).map(number)));
        }
        shown_row.push(shown(nearest.map(|(run, _)| link(run.name()))));
        shown_row
    }

    /// The cell of the same scenario and size that has most of the targets; of several the one whose concurrency is
    /// nearest, and of those the newest.
    fn nearest<'a>(&self, row: &Row, runs: &'a [Run]) -> Option<OurCell<'a>> {
        let mut best: Option<((usize, f64), OurCell)> = None;
        for run in runs.iter().filter(|run| !run.about.only_shown) {
            for cell in run.cells().filter(|figures| is_like(figures, row)) {
                let lacking = self.beside.iter().filter(|target| rate(cell, target).is_none()).count();
                let wide = (cell.cell.connections.max(1) as f64).ln();
                let distance = self.users.map_or(0.0, |users| (wide - (users.max(1) as f64).ln()).abs());
                let is_nearer = |(known, _): &((usize, f64), _)| (lacking, distance) < *known;
                if lacking < self.beside.len() && best.as_ref().is_none_or(is_nearer) {
                    best = Some(((lacking, distance), (run, cell)));
                }
            }
        }
        best.map(|(_, found)| found)
    }
}

/// Whether a cell does the same: plain HTTP, closed loop, no access log, no silent connections.
fn is_like(CellFigures { cell, .. }: &CellFigures, row: &Row) -> bool {
    cell.scenario == row.scenario.0
        && cell.size_bytes == row.size.0
        && !cell.tls
        && !cell.access_log
        && cell.rate.is_none()
        && cell.idle_connections == 0
}

fn rate(cell: &CellFigures, target: &str) -> Option<f64> {
    cell.targets.iter().find(|figures| figures.target == target)?.median(Measure::Rate)
}
