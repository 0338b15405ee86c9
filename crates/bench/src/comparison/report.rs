//! A comparison as tables, CSV and JSON, with all that is needed to repeat it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::time::SystemTime;

use clap::ValueEnum;
use serde::Serialize;

use super::arguments::Arguments;
use super::contender::version;
use super::figures::{Cell, Figures};
use super::kind::Kind;
use super::scenario::Scenario;
use crate::statistics::median;
use crate::units::show_size;

/// All figures of a comparison, and where they come from.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where and how it ran.
    pub environment: Environment,
    /// What each contender was told, by name.
    pub configurations: BTreeMap<String, String>,
    /// The figures.
    pub cells: Vec<Cell>,
}

/// Where and how a comparison ran.
#[derive(Clone, Debug, Serialize)]
pub struct Environment {
    /// When it began (RFC 3339, UTC).
    pub began: String,
    /// The arguments of this process.
    pub command_line: Vec<String>,
    /// The kernel's release.
    pub kernel: String,
    /// The model of the processor.
    pub processor: String,
    /// Processors we may use.
    pub processors: usize,
    /// Memory of the machine, in KiB.
    pub memory_kilobytes: u64,
    /// Files a process may open.
    pub open_files_limit: u64,
    /// Rounds in every cell.
    pub rounds: usize,
    /// Threads or workers of every contender.
    pub threads: usize,
    /// Versions, by contender.
    pub versions: BTreeMap<&'static str, String>,
    /// Contenders that were asked for and left out, and why.
    pub missing: Vec<String>,
}

impl Report {
    pub(super) fn new(arguments: &Arguments, open_files_limit: u64) -> Report {
        let (mut versions, mut missing) = (BTreeMap::new(), Vec::new());
        for kind in &arguments.contenders {
            match version(*kind, arguments) {
                Some(version) => drop(versions.insert(kind.name(), version)),
                None => missing.push(format!("{} (not installed)", kind.name())),
            }
        }
        let environment = Environment {
            began: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            command_line: std::env::args().collect(),
            kernel: read_line("/proc/sys/kernel/osrelease"),
            processor: field("/proc/cpuinfo", "model name"),
            processors: std::thread::available_parallelism().map_or(0, usize::from),
            memory_kilobytes: field("/proc/meminfo", "MemTotal").trim_end_matches(" kB").parse().unwrap_or(0),
            open_files_limit,
            rounds: arguments.rounds,
            threads: arguments.threads,
            versions,
            missing,
        };
        Report { environment, configurations: BTreeMap::new(), cells: Vec::new() }
    }

    /// Whether no request to the first contender failed.
    pub(super) fn first_is_clean(&self) -> bool {
        self.cells.iter().all(|cell| cell.contenders.first().is_none_or(|figures| figures.failures == 0))
    }

    /// The tables, one pair for each scenario.
    pub fn markdown(&self) -> String {
        let mut text = self.introduction();
        for scenario in Scenario::value_variants() {
            let cells: Vec<&Cell> = self.cells.iter().filter(|cell| cell.scenario == *scenario).collect();
            // Who failed in one cell has its column for the others.
            let Some(fullest) = cells.iter().max_by_key(|cell| cell.contenders.len()) else { continue };
            let names: Vec<&str> = fullest.contenders.iter().map(|figures| figures.name).collect();
            let _ = writeln!(text, "\n## {scenario}");
            table(&mut text, &cells, "CPU ms per 1,000 requests", &names, |_, figures| cost(figures));
            if names.contains(&Kind::Relay.name()) {
                let others: Vec<&str> = names.iter().copied().filter(|name| *name != Kind::Relay.name()).collect();
                table(&mut text, &cells, "Own cost: CPU ms per 1,000 requests above the relay's", &others, own_cost);
            }
            table(&mut text, &cells, "Requests a second, p99, peak memory", &names, |_, figures| speed(figures));
        }
        text
    }

    fn introduction(&self) -> String {
        let Environment { began, kernel, processor, processors, rounds, threads, .. } = &self.environment;
        let versions: Vec<String> =
            self.environment.versions.iter().map(|(name, version)| format!("{name} ({version})")).collect();
        let mut text = format!(
            "# Comparison of {began}\n\n\
             Kernel {kernel}, {processors} × {processor}, {threads} threads each, medians of {rounds} rounds in turns.\n\
             {}.\n\
             In brackets: the first contender's median over this one's, and the p-value of the paired t-test.\n",
            versions.join(", ")
        );
        if !self.environment.missing.is_empty() {
            let _ = writeln!(text, "Left out: {}.", self.environment.missing.join(", "));
        }
        text
    }

    /// One line for each cell and contender, under a line of names.
    pub fn csv(&self) -> String {
        let mut text = "scenario,size_bytes,connections,idle_connections,requests,contender,cpu_ms_per_1000,\
            ratio_of_first,p_value,requests_per_second,latency_p50,latency_p99,failures,peak_memory_bytes,threads,\
            open_files,start_seconds\n"
            .to_owned();
        for cell in &self.cells {
            for figures in &cell.contenders {
                let Cell { scenario, size_bytes, connections, idle_connections, requests, .. } = cell;
                let p_value = figures.p_value.map(|value| format!("{value:.6}")).unwrap_or_default();
                let _ = writeln!(
                    text,
                    "{scenario},{size_bytes},{connections},{idle_connections},{requests},{},{:.4},{:.4},{p_value},{:.1},{:.9},{:.9},{},{},{},{},{:.4}",
                    figures.name,
                    figures.median_cpu_ms_per_1000,
                    figures.ratio_of_first,
                    median(&figures.requests_per_second),
                    median(&figures.latency_p50),
                    median(&figures.latency_p99),
                    figures.failures,
                    figures.usage.peak_memory_bytes,
                    figures.usage.threads,
                    figures.usage.open_files,
                    figures.start_seconds,
                );
            }
        }
        text
    }
}

fn table(text: &mut String, cells: &[&Cell], title: &str, names: &[&str], show: fn(&Cell, &Figures) -> String) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{title}\n\n| size | connections | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|---{}|", "|---".repeat(names.len()));
    for cell in cells {
        let value = |name: &&str| {
            cell.contenders.iter().find(|figures| figures.name == *name).map(|figures| show(cell, figures))
        };
        let values: Vec<String> = names.iter().map(|name| value(name).unwrap_or_else(|| "–".to_owned())).collect();
        let connections = match cell.idle_connections {
            0 => cell.connections.to_string(),
            idle => format!("{} + {idle} idle", cell.connections),
        };
        let _ = writeln!(text, "| {} | {connections} | {} |", show_size(cell.size_bytes), values.join(" | "));
    }
}

fn cost(figures: &Figures) -> String {
    let median = figures.median_cpu_ms_per_1000;
    match figures.p_value {
        None => format!("{median:.1}"),
        Some(p_value) => format!("{median:.1} ({:.2}, p {p_value:.3})", figures.ratio_of_first),
    }
}

/// In brackets: how many times this one's the first contender's is.
fn own_cost(cell: &Cell, figures: &Figures) -> String {
    let Some(own) = cell.own_cost(figures) else { return "–".to_owned() };
    match cell.contenders.first().filter(|first| first.name != figures.name).and_then(|first| cell.own_cost(first)) {
        // Who takes no more than the relay cannot be divided by.
        Some(first) if own > 0.0 => format!("{own:.1} ({:.2})", first / own),
        _ => format!("{own:.1}"),
    }
}

fn speed(figures: &Figures) -> String {
    let (rate, p99) = (median(&figures.requests_per_second), median(&figures.latency_p99) * 1e3);
    let memory = figures.usage.peak_memory_bytes as f64 / 1e6;
    let kinds: Vec<String> = figures.failures_by_kind.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let failures = if kinds.is_empty() { String::new() } else { format!(", **failed: {}**", kinds.join(", ")) };
    format!("{rate:.0}, {p99:.1} ms, {memory:.0} MB{failures}")
}

fn read_line(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// The value of the first line `name : value` in a file of such lines.
fn field(path: &str, name: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
}
