//! An outcome as text, JSON or CSV.

use std::io::{self, Write};

use super::outcome::{Outcome, RequestOutcome};
use super::schedule::Ramp;
use crate::units::{show_latency, show_size};

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Some lines for people
    Text,
    /// One object with all figures, times in seconds
    // Its fields are those of `Outcome`, where they are described.
    Json,
    /// A line of names and a line of values, times in seconds
    Csv,
}

pub(super) fn write(outcome: &Outcome, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text => text(outcome, out),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, outcome)?;
            writeln!(out)
        }
        Format::Csv => csv(outcome, out),
    }
}

fn text(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let Outcome { url, method, seconds, connections, latency, .. } = outcome;
    let size = show_size(outcome.body_bytes);
    let pace = match (outcome.rate, outcome.ramp) {
        (Some(rate), _) => format!("{rate} requests/s intended"),
        (None, Some(Ramp { from, to, seconds })) => format!("{from} to {to} requests/s intended over {seconds} s"),
        (None, None) => "closed loop".to_owned(),
    };
    match outcome.by_request.len() {
        0 | 1 => writeln!(out, "{method} {url}, {size} body, {connections} connections, {pace}")?,
        kinds => writeln!(out, "{kinds} kinds of requests, {connections} connections, {pace}")?,
    }
    if !outcome.agents.is_empty() {
        writeln!(out, "Agents       {}", outcome.agents.join(", "))?;
    }
    if outcome.idle_connections > 0 {
        let (idle, lost) = (outcome.idle_connections, outcome.idle_lost);
        writeln!(out, "Idle         {idle} connections besides, {lost} of them closed by the service")?;
    }
    let (requests, rate) = (outcome.requests, outcome.requests_per_second);
    let (sent, received) = (outcome.sent_megabytes_per_second, outcome.received_megabytes_per_second);
    let volume = format!("sent {}, received {}", show_volume(sent), show_volume(received));
    if requests == 0 {
        writeln!(out, "Answers      none was good in {seconds:.2} s; {volume}")?;
    } else {
        writeln!(out, "Answers      {requests} in {seconds:.2} s: {rate:.0} requests/s, {volume}")?;
        writeln!(
            out,
            "Latency      mean {}, p50 {}, p90 {}, p99 {}, p99.9 {}, max {}",
            show_latency(latency.mean),
            show_latency(latency.p50),
            show_latency(latency.p90),
            show_latency(latency.p99),
            show_latency(latency.p999),
            show_latency(latency.max),
        )?;
    }
    for kind in &outcome.by_request {
        let RequestOutcome { name, requests, failures, latency } = kind;
        write!(out, "  {name}: {requests} answers, {failures} failures")?;
        match requests {
            0 => writeln!(out)?,
            _ => writeln!(out, ", p50 {}, p99 {}", show_latency(latency.p50), show_latency(latency.p99))?,
        }
    }
    match outcome.resumed {
        0 => writeln!(out, "Connections  {} opened", outcome.connects)?,
        resumed => writeln!(out, "Connections  {} opened, {resumed} of them resumed TLS sessions", outcome.connects)?,
    }
    writeln!(out, "Failures     {}", outcome.failures)?;
    for (kind, failures) in &outcome.failures_by_kind {
        writeln!(out, "  {kind}: {} (first: {})", failures.count, failures.example)?;
    }
    if outcome.abandoned > 0 {
        writeln!(out, "Abandoned    {} under way when interrupted", outcome.abandoned)?;
    }
    if requests == 0 {
        // There is nothing by which processor time could be divided.
        return Ok(());
    }
    if let Some(process) = &outcome.process {
        writeln!(
            out,
            "Process      {:.2} CPU ms per 1,000 requests (user {:.2}, system {:.2}), peak memory {:.1} MB, {} threads, {} files",
            process.cpu_ms_per_1000,
            process.user_ms_per_1000,
            process.system_ms_per_1000,
            process.usage.peak_memory_bytes as f64 / 1e6,
            process.usage.threads,
            process.usage.open_files,
        )?;
    }
    writeln!(out, "This client  {:.2} CPU ms per 1,000 requests", outcome.load_cpu_ms_per_1000)
}

fn show_volume(megabytes_per_second: f64) -> String {
    match megabytes_per_second {
        little if little < 1.0 => format!("{:.1} kB/s", little * 1e3),
        much => format!("{much:.1} MB/s"),
    }
}

/// One line of names, one of values. New columns are only ever added at the end.
fn csv(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let kinds: Vec<String> =
        outcome.failures_by_kind.iter().map(|(kind, failures)| format!("{kind}={}", failures.count)).collect();
    let process = outcome.process.clone();
    let latency = |seconds: f64| if outcome.requests == 0 { String::new() } else { format!("{seconds:.9}") };
    let of_ramp =
        |value: fn(&Ramp) -> f64| outcome.ramp.as_ref().map(|ramp| value(ramp).to_string()).unwrap_or_default();
    let of_process = |value: fn(&super::ProcessCost) -> String| process.as_ref().map(value).unwrap_or_default();
    let columns: Vec<(&str, String)> = vec![
        ("url", quote(&outcome.url)),
        ("method", outcome.method.clone()),
        ("body_bytes", outcome.body_bytes.to_string()),
        ("connections", outcome.connections.to_string()),
        ("idle_connections", outcome.idle_connections.to_string()),
        ("idle_lost", outcome.idle_lost.to_string()),
        ("rate", outcome.rate.map(|rate| rate.to_string()).unwrap_or_default()),
        ("threads", outcome.threads.to_string()),
        ("requests", outcome.requests.to_string()),
        ("failures", outcome.failures.to_string()),
        ("failures_by_kind", quote(&kinds.join(";"))),
        ("abandoned", outcome.abandoned.to_string()),
        ("connects", outcome.connects.to_string()),
        ("seconds", format!("{:.6}", outcome.seconds)),
        ("requests_per_second", format!("{:.3}", outcome.requests_per_second)),
        ("sent_bytes", outcome.sent_bytes.to_string()),
        ("received_bytes", outcome.received_bytes.to_string()),
        ("megabytes_per_second", format!("{:.3}", outcome.megabytes_per_second)),
        ("latency_mean", latency(outcome.latency.mean)),
        ("latency_p50", latency(outcome.latency.p50)),
        ("latency_p90", latency(outcome.latency.p90)),
        ("latency_p99", latency(outcome.latency.p99)),
        ("latency_p999", latency(outcome.latency.p999)),
        ("latency_max", latency(outcome.latency.max)),
        ("load_cpu_ms_per_1000", format!("{:.3}", outcome.load_cpu_ms_per_1000)),
        ("user_ms_per_1000", of_process(|process| format!("{:.3}", process.user_ms_per_1000))),
        ("system_ms_per_1000", of_process(|process| format!("{:.3}", process.system_ms_per_1000))),
        ("cpu_ms_per_1000", of_process(|process| format!("{:.3}", process.cpu_ms_per_1000))),
        ("peak_memory_bytes", of_process(|process| process.usage.peak_memory_bytes.to_string())),
        ("memory_bytes", of_process(|process| process.usage.memory_bytes.to_string())),
        ("process_threads", of_process(|process| process.usage.threads.to_string())),
        ("open_files", of_process(|process| process.usage.open_files.to_string())),
        ("sent_megabytes_per_second", format!("{:.3}", outcome.sent_megabytes_per_second)),
        ("received_megabytes_per_second", format!("{:.3}", outcome.received_megabytes_per_second)),
        ("resumed", outcome.resumed.to_string()),
        ("ramp_from", of_ramp(|ramp| ramp.from)),
        ("ramp_to", of_ramp(|ramp| ramp.to)),
        ("ramp_seconds", of_ramp(|ramp| ramp.seconds)),
    ];
    let line = |values: Vec<&str>| values.join(",");
    writeln!(out, "{}", line(columns.iter().map(|(name, _)| *name).collect()))?;
    writeln!(out, "{}", line(columns.iter().map(|(_, value)| value.as_str()).collect()))
}

/// Source: RFC 4180 §2.
fn quote(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{FailureCount, ProcessCost};

    fn written(outcome: &Outcome, format: Format) -> String {
        let mut out = Vec::new();
        write(outcome, format, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn outcome() -> Outcome {
        let mut outcome = Outcome { url: "http://a/?b,c".to_owned(), requests: 7, ..Outcome::default() };
        outcome.latency.max = 0.25;
        let failures = FailureCount { count: 2, example: "connection refused".to_owned() };
        outcome.failures_by_kind.insert("connect".to_owned(), failures);
        outcome
    }

    #[test]
    fn every_line_of_the_csv_has_as_many_columns() {
        let mut outcome = outcome();
        for process in [None, Some(ProcessCost::default())] {
            outcome.process = process;
            let text = written(&outcome, Format::Csv);
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), 2);
            assert!(lines[1].starts_with("\"http://a/?b,c\","), "{text}");
            assert_eq!(lines[0].split(',').count() + 1, lines[1].split(',').count());
        }
    }

    #[test]
    fn the_json_names_every_figure() {
        let value: serde_json::Value = serde_json::from_str(&written(&outcome(), Format::Json)).unwrap();
        assert_eq!(value["requests"], 7);
        assert_eq!(value["failures_by_kind"]["connect"]["count"], 2);
        assert!(value["latency"]["p999"].is_number() && value["process"].is_null());
        assert!(value["sent_megabytes_per_second"].is_number() && value["received_megabytes_per_second"].is_number());
    }

    #[test]
    fn without_a_good_answer_there_are_no_figures_of_answers() {
        let outcome = Outcome { requests: 0, received_megabytes_per_second: 2.5, seconds: 1.5, ..outcome() };
        let text = written(&outcome, Format::Text);
        assert!(text.contains("Answers      none was good in 1.50 s; sent 0.0 kB/s, received 2.5 MB/s\n"), "{text}");
        assert!(!text.contains("Latency") && !text.contains("CPU") && !text.contains("requests/s"), "{text}");
        let csv = written(&outcome, Format::Csv);
        let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
        let column = lines[0].iter().position(|name| *name == "latency_p50").unwrap();
        // The quoted URL holds one comma more.
        assert_eq!(lines[1][column + 1], "");
    }

    #[test]
    fn the_text_says_what_went_wrong_first() {
        let text = written(&outcome(), Format::Text);
        assert!(text.contains("  connect: 2 (first: connection refused)\n"), "{text}");
    }
}
