//! The report as one page that needs no network: its style, its script and the plotting library are part of it.
//!
//! Everything stands in tables, too, so that nothing is lost without JavaScript. End tags that HTML allows to leave out
//! are left out, for a full grid has some hundred thousand of them.

mod environment;
mod tables;

use std::fmt::Write;

use super::charts;
use super::figures::{Group, RunFigures};
use super::summary::summaries;
use crate::units::show_size;

const STYLE: &str = include_str!("../../assets/report/report.css");
const SCRIPT: &str = include_str!("../../assets/report/report.js");
/// Apache ECharts 6.1.0 as its project distributes it, with lines and bars; its licence lies beside it.
const LIBRARY: &str = include_str!("../../assets/report/echarts.common.min.js");
const LIBRARY_NOTICE: &str = include_str!("../../assets/report/echarts.NOTICE");
/// Nothing is fetched, whatever a name from outside may look like.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

const METHOD: &str = "\
<h2 id=method>How to read this</h2>\
<p>In every round each target has one turn at the same work, and every answer is checked; an answer that is wrong is no \
transaction. Figures are medians over rounds. Ratios are taken inside one run only.\
<p><b>CPU</b> is the time of the processor that all processes of a target took, in milliseconds per 1,000 good answers, \
which is also microseconds per answer. <b>Own cost</b> is the CPU above that of the target <code>relay</code>, which \
copies bytes and does nothing else, in the same round: the median of these differences. <b>MB/s</b> counts millions of \
bytes sent and received, heads included. Latency is counted from when a request was meant to leave.\
<p>A target that answered wrongly, died, stalled or did not start has no figures in that cell. A target that failed more \
than one request of a hundred has figures, but is not compared.\
<p>The tests are paired t-tests of logarithms, so that a difference is a ratio: each round gives one pair, the means \
over all cells that both targets did. <b>Mean</b> is the geometric mean, <b>d</b> is Cohen's d for paired samples, \
<b>p (Holm)</b> is the p-value after Holm's correction for all comparisons of the table. A difference is called real \
where that is below 0.05. The p-value in the tables of figures is that of one cell and not corrected.";

/// The page of some runs.
pub(super) fn page(runs: &[RunFigures]) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>Benchmark report</title>\
         <meta name=viewport content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=Content-Security-Policy content=\"{POLICY}\"><style>\n{STYLE}</style></head><body>\n\
         <h1>Benchmark report</h1>\n"
    );
    contents(&mut page, runs);
    summary(&mut page, runs);
    for (index, figures) in runs.iter().enumerate() {
        run(&mut page, index, figures);
    }
    let data = charts::data(runs);
    let _ = write!(
        page,
        "{METHOD}\n<p class=soft>Made by Myelin {}. Charts are drawn by Apache ECharts, Apache License 2.0.\n\
         <!--\n{LIBRARY_NOTICE}\n-->\n<script type=application/json id=figures>{data}</script>\n\
         <script>{LIBRARY}</script>\n<script>{SCRIPT}</script></body></html>\n",
        env!("CARGO_PKG_VERSION")
    );
    page
}

// Writing into a string cannot fail, here and below.
fn contents(page: &mut String, runs: &[RunFigures]) {
    page.push_str("<nav><a href=#summary>Summary</a>");
    for (index, run) in runs.iter().enumerate() {
        let _ = write!(page, " · <a href=#run-{index}>{}</a>:", escaped(&run.name));
        for (group, figures) in run.groups.iter().enumerate() {
            let _ = write!(page, " <a href=#group-{index}-{group}>{}</a>", escaped(&figures.title));
        }
    }
    page.push_str(" · <a href=#method>How to read this</a></nav>\n");
}

fn summary(page: &mut String, runs: &[RunFigures]) {
    page.push_str("<h2 id=summary>Summary</h2>\n");
    for run in runs {
        if runs.len() > 1 {
            let _ = write!(page, "<h3>{}</h3>", escaped(&run.name));
        }
        for summary in summaries(run) {
            let _ = write!(page, "<h4>{}</h4><ul>", escaped(&summary.title));
            for sentence in &summary.sentences {
                let _ = write!(page, "<li>{}", escaped(sentence));
            }
            for warning in &summary.warnings {
                let _ = write!(page, "<li class=bad>{}", escaped(warning));
            }
            page.push_str("</ul>\n");
        }
    }
}

fn run(page: &mut String, index: usize, run: &RunFigures) {
    let _ = writeln!(page, "<h2 id=run-{index}>Run {}</h2>", escaped(&run.name));
    environment::write(page, run);
    for (number, group) in run.groups.iter().enumerate() {
        let _ = writeln!(page, "<h3 id=group-{index}-{number}>{}</h3>", escaped(&group.title));
        troubles(page, group);
        let _ = writeln!(
            page,
            "<section class=charts data-run={index} data-group={number}>\
             <noscript><p class=soft>The charts need JavaScript; the tables have all figures.</noscript></section>"
        );
        tables::comparisons(page, group);
        tables::cells(page, group, run);
    }
}

fn troubles(page: &mut String, group: &Group) {
    for trouble in group.troubles() {
        let (cell, kind) = (&trouble.cell, super::figures::Standing::Trouble(trouble.kind));
        let _ = write!(
            page,
            "<div class=trouble><p><span class=bad>{} {}</span> at {}, {} connections: {}",
            escaped(&trouble.target),
            kind.words(),
            show_size(cell.size_bytes),
            cell.connections,
            escaped(&trouble.text)
        );
        if !trouble.log.is_empty() {
            let _ = write!(
                page,
                "<details><summary>The end of its log</summary><pre>{}</pre></details>",
                escaped(&trouble.log)
            );
        }
        page.push_str("</div>\n");
    }
}

/// A text from outside as text of the page or of a quoted attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
