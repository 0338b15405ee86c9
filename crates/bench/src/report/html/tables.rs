//! The tables of a group of cells: comparisons of targets, and all figures.

use std::fmt::Write;

use super::escaped;
use crate::report::figures::{Figures, Group, RunFigures, Standing};
use crate::report::measure::{Measure, digits};
use crate::report::pairs::p_words;
use crate::units::show_size;

/// Longer tables are closed at first.
const OPEN_ROWS: usize = 40;

/// Writes how each pair of targets compares by each measure.
pub(super) fn comparisons(page: &mut String, group: &Group) {
    if group.comparisons.is_empty() {
        return;
    }
    // Writing into a string cannot fail, here and below.
    let _ = write!(
        page,
        "<details{}><summary>Targets in pairs: {} comparisons</summary><div class=scroll><table><thead><tr>\
         <th class=words>left<th class=words>right<th class=words>measure<th>mean left<th>mean right<th>difference\
         <th>left/right<th>95 %<th>d<th>p<th>p (Holm)<th>cells<th>left better<th class=words>in words<tbody>",
        open(group.comparisons.len()),
        group.comparisons.len()
    );
    let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), digits);
    let p = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |p| p_words(p).replace('<', "&lt;"));
    for it in &group.comparisons {
        let class = if it.is_real() { " class=good" } else { "" };
        let _ = write!(
            page,
            "<tr><th scope=row>{}<td class=words>{}<td class=words>{}<td>{}<td>{}<td>{}<td>{}<td>{} to {}<td>{}<td>{}\
             <td{class}>{}<td>{}<td>{}<td class=\"words sentence\">{}",
            escaped(&it.left),
            escaped(&it.right),
            it.of.heading(),
            it.of.shown(it.left_mean),
            it.of.shown(it.right_mean),
            it.of.shown(it.difference),
            digits(it.ratio),
            shown(it.ratio_low),
            shown(it.ratio_high),
            shown(it.effect_size),
            p(it.p_value),
            p(it.p_value_corrected),
            it.cells,
            it.cells_left_is_better,
            escaped(&it.sentence),
        );
    }
    page.push_str("</table></div></details>\n");
}

/// Writes all figures of all cells.
pub(super) fn cells(page: &mut String, group: &Group, run: &RunFigures) {
    let rows: usize = group.cells.iter().map(|cell| cell.targets.len()).sum();
    let _ = write!(
        page,
        "<details{}><summary>All figures: {} cells</summary><div class=scroll><table><thead><tr><th>size\
         <th>connections{}<th scope=row>target",
        open(rows),
        group.cells.len(),
        if group.open_loop { "<th>offered/s" } else { "" }
    );
    for measure in Measure::ALL {
        let _ = write!(page, "<th>{}", measure.heading());
    }
    let first = run.run.targets.first().map_or("first", |target| &target.name);
    let _ = write!(page, "<th>CPU × {}<th>p<th>failures<th>start ms<tbody>", escaped(first));
    for cell in &group.cells {
        for (index, figures) in cell.targets.iter().enumerate() {
            let class = if index == 0 { " class=first" } else { "" };
            let (size, connections) = (show_size(cell.cell.size_bytes), cell.cell.connections);
            let _ = write!(page, "<tr{class}><td>{size}<td>{connections}");
            if let Some(rate) = cell.cell.rate {
                let _ = write!(page, "<td>{}", digits(rate));
            }
            let _ = write!(page, "<th scope=row>{}", escaped(&figures.target));
            values(page, figures);
        }
        page.push('\n');
    }
    page.push_str("</table></div></details>\n");
}

fn values(page: &mut String, figures: &Figures) {
    if matches!(figures.standing, Standing::NotMeasured | Standing::Trouble(_)) {
        let _ = write!(page, "<td class=bad colspan={}>{}", Measure::ALL.len() + 4, figures.standing.words());
        return;
    }
    let shown = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    for measure in Measure::ALL {
        let _ = write!(page, "<td>{}", shown(figures.median(measure).map(|value| measure.shown(value))));
    }
    let failures = match figures.failures {
        0 => "<td>0".to_owned(),
        some => {
            let kinds: Vec<String> =
                figures.failures_by_kind.iter().map(|(kind, count)| format!("{count} {}", escaped(kind))).collect();
            format!("<td class=bad>{some} of {} ({})", figures.requests + some, kinds.join(", "))
        }
    };
    let _ = write!(
        page,
        "<td>{}<td>{}{failures}<td>{}",
        shown(figures.cpu_of_first.map(digits)),
        shown(figures.cpu_p_value.map(|p| format!("{p:.3}"))),
        shown(figures.start_seconds.map(|seconds| digits(seconds * 1e3)))
    );
}

fn open(rows: usize) -> &'static str {
    if rows > OPEN_ROWS { "" } else { " open" }
}
