//! Figures as CSV: one line for each target in each cell of each run.

use super::figures::{CellFigures, Figures, RunFigures};
use super::measure::Measure;

/// New columns are only ever added at the end.
const BEFORE: &str = "run,scenario,size_bytes,connections,idle_connections,rate,tls,target,standing,rounds,requests,failures,failures_by_kind";
const BEHIND: &str = "start_seconds,warm_up_seconds,cpu_of_first,cpu_p_value,access_log";

/// All runs, a line of names first.
///
/// Units: seconds and bytes, but where the name of a column says another; empty where nothing was measured.
pub(super) fn page(runs: &[RunFigures]) -> String {
    let names: Vec<&str> = Measure::ALL.iter().map(|measure| measure.name()).collect();
    let mut page = format!("{BEFORE},{},{BEHIND}\n", names.join(","));
    for run in runs {
        for cell in run.groups.iter().flat_map(|group| &group.cells) {
            for figures in &cell.targets {
                page += &line(&run.name, cell, figures).join(",");
                page.push('\n');
            }
        }
    }
    page
}

fn line(run: &str, CellFigures { cell, .. }: &CellFigures, figures: &Figures) -> Vec<String> {
    let kinds: Vec<String> = figures.failures_by_kind.iter().map(|(kind, count)| format!("{kind}={count}")).collect();
    let mut line = vec![
        quote(run),
        quote(&cell.scenario),
        cell.size_bytes.to_string(),
        cell.connections.to_string(),
        cell.idle_connections.to_string(),
        cell.rate.map(|rate| rate.to_string()).unwrap_or_default(),
        cell.tls.to_string(),
        quote(&figures.target),
        figures.standing.name().to_owned(),
        figures.rounds.to_string(),
        figures.requests.to_string(),
        figures.failures.to_string(),
        quote(&kinds.join(";")),
    ];
    line.extend(Measure::ALL.map(|measure| number(figures.median(measure))));
    line.extend(
        [figures.start_seconds, figures.warm_up_seconds, figures.cpu_of_first, figures.cpu_p_value].map(number),
    );
    line.push(cell.access_log.to_string());
    line
}

/// A number with as many digits as tell it apart; empty where there is none.
pub(super) fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text in quotes, if it needs them.
///
/// Source: RFC 4180 §2.
pub(super) fn quote(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
