//! Whether each bar is reached, by how much, and by which figures.

mod cells;

use anyhow::{Context, Result};
use myelin_bench::report::Measure;
use myelin_bench::units::show_size;

use super::bars::{Bar, Bound, Instructions, Quantity, RecordedFigures, Row, ScenarioName};
use super::markdown::{cell, grouped, link, number, ratio, shown, table};
use super::measurements::Measurements;

/// Where the instructions stand.
const INSTRUCTIONS: &str = "[instructions.md](instructions.md)";

/// A figure that a bar is judged by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    /// Where in its source it stands; empty where that goes without saying.
    pub(super) place: String,
    /// Infinite where ours did not do what it should, and the other one did.
    pub(super) value: f64,
    /// A link.
    pub(super) source: String,
}

/// What was found for a bar.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) found: Vec<Finding>,
    /// What the bar names and no source has, each with the reason where there is one.
    pub(super) missing: Vec<String>,
}

/// In which unit figures are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Ratio,
    Count,
    Measure(Measure),
    Seconds,
    /// That of the bar's own words.
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Reached,
    /// All that was measured is, and something was not measured.
    ReachedAsFarAsMeasured,
    Missed,
    NotMeasured,
}

impl Verdict {
    fn words(self) -> &'static str {
        match self {
            Verdict::Reached => "reached",
            Verdict::ReachedAsFarAsMeasured => "reached as far as measured",
            Verdict::Missed => "**missed**",
            Verdict::NotMeasured => "not measured",
        }
    }

    /// That of a row with these bars.
    fn of_all(verdicts: &[Verdict]) -> Verdict {
        let all = |wanted: Verdict| verdicts.iter().all(|verdict| *verdict == wanted);
        if verdicts.contains(&Verdict::Missed) {
            Verdict::Missed
        } else if all(Verdict::Reached) {
            Verdict::Reached
        } else if all(Verdict::NotMeasured) {
            Verdict::NotMeasured
        } else {
            Verdict::ReachedAsFarAsMeasured
        }
    }
}

/// What a bar comes to.
pub(super) struct Judgement<'a> {
    bar: &'a Bar,
    unit: Unit,
    pub(super) findings: Findings,
}

impl<'a> Judgement<'a> {
    /// Looks for the figures of a bar.
    ///
    /// Errors: the bar names a table or a column that there is not.
    pub(super) fn new(bar: &'a Bar, measurements: &Measurements) -> Result<Judgement<'a>> {
        let mut sources = Vec::new();
        if let Some(cells) = &bar.cells {
            sources.push((unit_of(cells), cells::find(cells, &measurements.runs)));
        }
        if let Some(wanted) = &bar.instructions {
            sources.push((Unit::Count, instructions(wanted, measurements)));
        }
        if let Some(wanted) = &bar.recorded {
            let unit = if wanted.over.is_some() { Unit::Ratio } else { Unit::Plain };
            let found =
                recorded(wanted, measurements).with_context(|| format!("bars.toml: the bar {:?}", bar.words))?;
            sources.push((unit, found));
        }
        let mut missing = Vec::new();
        for (unit, findings) in sources {
            if !findings.found.is_empty() {
                return Ok(Judgement { bar, unit, findings });
            }
            missing.extend(findings.missing);
        }
        Ok(Judgement { bar, unit: Unit::Plain, findings: Findings { found: Vec::new(), missing } })
    }

    pub(super) fn verdict(&self) -> Verdict {
        let Some(bound) = self.bar.bound else { return Verdict::NotMeasured };
        let Findings { found, missing } = &self.findings;
        match (found.is_empty(), missing.is_empty()) {
            (true, _) => Verdict::NotMeasured,
            _ if found.iter().any(|finding| !bound.is_kept_by(finding.value)) => Verdict::Missed,
            (_, true) => Verdict::Reached,
            (_, false) => Verdict::ReachedAsFarAsMeasured,
        }
    }

    /// The finding that is farthest on the wrong side.
    fn worst(&self) -> Option<&Finding> {
        let bound = self.bar.bound?;
        let mut worst: Option<&Finding> = None;
        for finding in &self.findings.found {
            if worst.is_none_or(|worst| bound.is_worse(finding.value, worst.value)) {
                worst = Some(finding);
            }
        }
        worst
    }

    /// The figures, from the best to the worst, and where the worst one is.
    fn measured(&self) -> String {
        let (Some(bound), Some(worst)) = (self.bar.bound, self.worst()) else { return "–".to_owned() };
        let mut best = worst;
        for finding in &self.findings.found {
            if bound.is_worse(best.value, finding.value) {
                best = finding;
            }
        }
        let shown = |finding: &Finding| self.unit.shown(finding.value);
        let place = if worst.place.is_empty() { String::new() } else { format!(" ({})", worst.place) };
        let figures = match shown(best) == shown(worst) {
            true => format!("{}{}", shown(worst), if self.findings.found.len() == 1 { &place } else { "" }),
            false => format!("{} to {}{place}", shown(best), shown(worst)),
        };
        match self.findings.missing.len() {
            0 => figures,
            1..=3 => format!("{figures}; not measured: {}", self.findings.missing.join(", ")),
            more => format!("{figures}; {more} more are not measured"),
        }
    }

    /// The verdict in words, and by how much.
    fn told(&self) -> String {
        let verdict = self.verdict();
        if verdict == Verdict::NotMeasured {
            let found_why = (!self.findings.missing.is_empty()).then(|| self.findings.missing.join("; "));
            let why = self.bar.not_measured.clone().or(found_why).unwrap_or_default();
            return format!("{}: {}", verdict.words(), why.trim_end_matches('.'));
        }
        let (Some(bound), Some(worst)) = (self.bar.bound, self.worst()) else { return verdict.words().to_owned() };
        let mut told = format!("{}: {}", verdict.words(), by_how_much(bound, worst.value));
        let kept = self.findings.found.iter().filter(|finding| bound.is_kept_by(finding.value)).count();
        if verdict == Verdict::Missed && self.findings.found.len() > 1 {
            told += &format!("; reached in {kept} of {}", self.findings.found.len());
        }
        told
    }

    fn sources(&self) -> Vec<String> {
        let mut sources: Vec<String> = Vec::new();
        for finding in &self.findings.found {
            if !sources.contains(&finding.source) {
                sources.push(finding.source.clone());
            }
        }
        sources
    }
}

impl Unit {
    fn shown(self, value: f64) -> String {
        if value.is_infinite() {
            return "failed".to_owned();
        }
        match self {
            Unit::Ratio => ratio(value),
            Unit::Count => grouped(value),
            Unit::Measure(Measure::PeakMemory) => format!("{} MB", number(value * Measure::PeakMemory.scale())),
            Unit::Measure(measure) => number(value * measure.scale()),
            Unit::Seconds => format!("{} ms", number(value * 1e3)),
            Unit::Plain => number(value),
        }
    }
}

fn unit_of(cells: &super::bars::Cells) -> Unit {
    match cells.measure {
        _ if !cells.over.is_empty() => Unit::Ratio,
        Quantity::Measured(measure) => Unit::Measure(measure),
        Quantity::Failures => Unit::Count,
        Quantity::StartSeconds => Unit::Seconds,
    }
}

/// How far a figure is from a bound, on either side of it.
fn by_how_much(bound: Bound, value: f64) -> String {
    let limit = bound.limit();
    if value.is_infinite() {
        return "it failed".to_owned();
    }
    if limit == 0.0 {
        return if value == 0.0 { "at the bar".to_owned() } else { grouped(value) };
    }
    let factor = value / limit;
    let percent = (factor - 1.0) * 100.0;
    let side = if percent > 0.0 { "above" } else { "below" };
    match (factor, percent.abs()) {
        (large, _) if large >= 2.0 => format!("{} × the bar", number(large)),
        (small, _) if small > 0.0 && small <= 0.1 => format!("1/{} of the bar", number(1.0 / small)),
        (_, 0.0) => "at the bar".to_owned(),
        (_, small) if small < 9.5 => format!("{small:.1} % {side} the bar"),
        (_, percent) => format!("{percent:.0} % {side} the bar"),
    }
}

fn instructions(wanted: &Instructions, measurements: &Measurements) -> Findings {
    let mut findings = Findings::default();
    for ScenarioName(scenario) in &wanted.scenarios {
        for size in &wanted.sizes {
            let place = format!("`{scenario}` {}", show_size(size.0));
            let record = &measurements.instructions;
            let base = wanted.beyond.as_ref().map_or(Some(0), |base| record.figure(&base.0, size.0));
            match record.figure(scenario, size.0).zip(base) {
                Some((counted, base)) => findings.found.push(Finding {
                    place,
                    value: counted as f64 - base as f64,
                    source: INSTRUCTIONS.to_owned(),
                }),
                None => findings.missing.push(place),
            }
        }
    }
    findings
}

/// The rows of a table that a bar speaks of.
///
/// Errors: there is no such table or column.
fn recorded(wanted: &RecordedFigures, measurements: &Measurements) -> Result<Findings> {
    let mut findings = Findings::default();
    let table = measurements.recorded.table(&wanted.table)?;
    let columns = wanted.columns.iter().map(|name| table.column(name)).collect::<Result<Vec<usize>>>()?;
    let over = wanted.over.as_ref().map(|name| table.column(name)).transpose()?;
    let labels = wanted.rows.keys().map(|name| table.column(name)).collect::<Result<Vec<usize>>>()?;
    let mut seen: Vec<Vec<&String>> = vec![Vec::new(); labels.len()];
    for row in &table.rows {
        let words: Vec<String> = labels.iter().map(|&column| row[column].shown()).collect();
        let wanted_words: Vec<Option<&String>> = words
            .iter()
            .zip(wanted.rows.values())
            .map(|(word, wanted)| wanted.iter().find(|wanted| *wanted == word))
            .collect();
        if wanted_words.contains(&None) {
            continue;
        }
        for (seen, word) in seen.iter_mut().zip(wanted_words.into_iter().flatten()) {
            seen.push(word);
        }
        let name: Vec<String> =
            row.iter().take_while(|entry| entry.number().is_none()).map(super::recorded::Entry::shown).collect();
        for &column in &columns {
            let mut place = name.clone();
            place.extend((columns.len() > 1).then(|| cell(&table.columns[column])));
            let place = place.join(", ");
            let base = over.map_or(Some(1.0), |over| row[over].number());
            match row[column].number().zip(base) {
                Some((value, base)) if base > 0.0 => {
                    findings.found.push(Finding { place, value: value / base, source: link(&table.title) });
                }
                _ => findings.missing.push(place),
            }
        }
    }
    for (seen, (label, wanted)) in seen.iter().zip(&wanted.rows) {
        let unseen = wanted.iter().filter(|wanted| !seen.contains(wanted));
        findings.missing.extend(unseen.map(|wanted| format!("{label} {wanted}")));
    }
    Ok(findings)
}

/// The table of all bars, how many rows are reached, why some are missed, and where the figures come from.
///
/// Errors: a bar names a table or a column that there is not.
pub(super) fn markdown(measurements: &Measurements) -> Result<String> {
    let mut rows: Vec<(&Row, Vec<Judgement>)> = Vec::new();
    for row in &measurements.bars.rows {
        let judgements = row.bars.iter().map(|bar| Judgement::new(bar, measurements));
        rows.push((row, judgements.collect::<Result<Vec<Judgement>>>()?));
    }
    let verdicts: Vec<Verdict> = rows.iter().map(|(_, judgements)| verdict_of(judgements)).collect();
    let mut lines = Vec::new();
    for ((row, judgements), verdict) in rows.iter().zip(&verdicts) {
        for (index, judgement) in judgements.iter().enumerate() {
            let name = match (index, judgements.len()) {
                (0, 1) => row.scenario.clone(),
                (0, _) => format!("{} ({})", row.scenario, verdict.words()),
                _ => String::new(),
            };
            let sources = Some(judgement.sources().join(", ")).filter(|sources| !sources.is_empty());
            let bar = judgement.bar.words.clone();
            lines.push(vec![name, bar, judgement.measured(), judgement.told(), shown(sources)]);
        }
    }
    let headings = ["scenario", "bar", "measured, the worst last", "verdict", "source"];
    Ok(format!(
        "{}\n\n{}{}{}",
        counted(&verdicts),
        table(headings.len(), &headings, &lines),
        reasons(&rows),
        sources(measurements, &rows)
    ))
}

fn verdict_of(judgements: &[Judgement]) -> Verdict {
    Verdict::of_all(&judgements.iter().map(Judgement::verdict).collect::<Vec<Verdict>>())
}

/// How many rows came to what.
fn counted(verdicts: &[Verdict]) -> String {
    let count = |wanted: Verdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    format!(
        "Of {} rows {} are reached, {} as far as they are measured, {} are missed in at least one bar, and {} are not \
         measured.",
        verdicts.len(),
        count(Verdict::Reached),
        count(Verdict::ReachedAsFarAsMeasured),
        count(Verdict::Missed),
        count(Verdict::NotMeasured)
    )
}

/// Why rows are missed, as far as somebody found out.
fn reasons(rows: &[(&Row, Vec<Judgement>)]) -> String {
    let missed = rows.iter().filter(|(_, judgements)| verdict_of(judgements) == Verdict::Missed);
    let known: Vec<String> = missed
        .filter_map(|(row, _)| Some(format!("- {}: {}\n", row.scenario, row.why_missed.as_ref()?.trim())))
        .collect();
    if known.is_empty() { String::new() } else { format!("\n### Why bars are missed\n\n{}", known.concat()) }
}

/// Machine, date and commit of each source that a bar is judged by.
fn sources(measurements: &Measurements, rows: &[(&Row, Vec<Judgement>)]) -> String {
    let judging: Vec<String> =
        rows.iter().flat_map(|(_, judgements)| judgements).flat_map(Judgement::sources).collect();
    let runs = measurements.runs.iter().map(|run| {
        vec![link(run.name()), run.machine(), cell(&run.figures.run.began), format!("commit {}", cell(run.commit()))]
    });
    let tables = measurements.recorded.tables.iter().map(|table| {
        vec![link(&table.title), cell(&table.machine), cell(&table.date), format!("commit {}", cell(&table.commit))]
    });
    let instructions = [vec![
        INSTRUCTIONS.to_owned(),
        cell(measurements.instructions.made_with()),
        shown(None),
        "as it stands there".to_owned(),
    ]];
    let all = runs.chain(tables).chain(instructions);
    let lines: Vec<Vec<String>> = all.filter(|line| judging.contains(&line[0])).collect();
    format!("\n### Where the figures come from\n\n{}", table(4, &["source", "machine", "date", "bus"], &lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_how_far_the_worst_figure_is_from_the_bar() {
        let check = |bound, value, expected: &str| assert_eq!(by_how_much(bound, value), expected);
        check(Bound::AtMost(0.3), 0.72, "2.40 × the bar");
        check(Bound::AtMost(0.3), 0.21, "30 % below the bar");
        check(Bound::AtLeast(6.0), 5.7, "5.0 % below the bar");
        check(Bound::AtMost(10_000.0), 12_500.0, "25 % above the bar");
        check(Bound::AtMost(0.05), 0.004, "1/12.5 of the bar");
        check(Bound::AtMost(0.0), 0.0, "at the bar");
        check(Bound::AtMost(0.0), 3_080.0, "3,080");
        check(Bound::Below(1.0), 1.0, "at the bar");
        check(Bound::AtMost(1.0), f64::INFINITY, "it failed");
    }

    #[test]
    fn a_row_is_reached_only_with_all_of_its_bars() {
        use Verdict::{Missed, NotMeasured, Reached, ReachedAsFarAsMeasured};
        assert_eq!(Verdict::of_all(&[Reached, Reached]), Reached);
        assert_eq!(Verdict::of_all(&[Reached, NotMeasured]), ReachedAsFarAsMeasured);
        assert_eq!(Verdict::of_all(&[Reached, NotMeasured, Missed]), Missed);
        assert_eq!(Verdict::of_all(&[NotMeasured, NotMeasured]), NotMeasured);
    }
}
