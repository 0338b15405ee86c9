//! Tools that write a summary.

use anyhow::{Context, bail};

use super::samples::rates;
use crate::load::{FailureCount, Latency, Outcome};

/// What `ab` prints: times in milliseconds.
pub(super) fn apache_bench(text: &str) -> anyhow::Result<Outcome> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name))?;
        line.trim_start_matches(':').split_ascii_whitespace().next()
    };
    let number = |name: &str| -> anyhow::Result<f64> {
        let text = value(name).with_context(|| format!("there is no line `{name}`"))?;
        text.parse().with_context(|| format!("{name}: `{text}` is no number"))
    };
    let count = |name: &str| number(name).map_or(0, |number| number as u64);
    let complete = number("Complete requests")? as u64;
    let failures = (count("Failed requests") + count("Non-2xx responses")).min(complete);
    let percent = |wanted: &str| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(wanted))?;
        line.split_ascii_whitespace().next()?.parse::<f64>().ok()
    };
    let told = [("50%", 0.5), ("90%", 0.9), ("99%", 0.99), ("100%", 1.0)];
    let told = told.iter().filter_map(|(name, share)| Some((*share, percent(name)? / 1e3))).collect();
    let mut outcome = Outcome {
        connections: count("Concurrency Level"),
        requests: complete - failures,
        failures,
        seconds: number("Time taken for tests")?,
        sent_bytes: count("Total body sent"),
        received_bytes: count("Total transferred"),
        latency: latency(number("Time per request")? / 1e3, told),
        ..Outcome::default()
    };
    failed(&mut outcome);
    Ok(outcome)
}

/// What `wrk --latency` prints.
pub(super) fn wrk(text: &str) -> anyhow::Result<Outcome> {
    let words = |name: &str| -> Option<Vec<&str>> {
        let line = text.lines().find(|line| line.trim_start().starts_with(name))?;
        Some(line.split_ascii_whitespace().collect())
    };
    words("Latency Distribution").context("no distribution of latencies: call wrk with --latency")?;
    let summary = text.lines().find(|line| line.contains(" requests in ")).context("no line `… requests in …`")?;
    let summary: Vec<&str> = summary.split_ascii_whitespace().collect();
    let [complete, _, _, seconds, received, ..] = summary[..] else {
        bail!("a line `… requests in …` that is none")
    };
    let complete: u64 = complete.parse().context("the number of requests")?;
    // The first line of that name has mean, deviation, maximum and share.
    let latencies = words("Latency").context("no line `Latency`")?;
    let [_, mean, _, longest, ..] = latencies[..] else { bail!("a line `Latency` that is none") };
    let mut told = vec![(1.0, duration(longest)?)];
    for (name, share) in [("50%", 0.5), ("90%", 0.9), ("99%", 0.99)] {
        if let Some([_, time]) = words(name).as_deref() {
            told.push((share, duration(time)?));
        }
    }
    let connections = text.lines().find_map(|line| line.split_once(" threads and ").map(|(_, rest)| rest));
    let refused = words("Non-2xx or 3xx responses:").and_then(|words| words.last()?.parse().ok()).unwrap_or(0);
    // Each number stands behind its kind: connect 0, read 1, write 0, timeout 2.
    let broken: u64 = words("Socket errors:")
        .map_or(0, |words| words.iter().filter_map(|word| word.trim_end_matches(',').parse::<u64>().ok()).sum());
    let mut outcome = Outcome {
        connections: connections.and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or(0),
        requests: complete.saturating_sub(refused),
        failures: refused + broken,
        seconds: duration(seconds.trim_end_matches(','))?,
        received_bytes: bytes(received)?,
        latency: latency(duration(mean)?, told),
        ..Outcome::default()
    };
    failed(&mut outcome);
    Ok(outcome)
}

/// What `k6 run --summary-export` writes, or a script's `handleSummary`: times in milliseconds.
pub(super) fn k6(text: &str) -> anyhow::Result<Outcome> {
    let document: serde_json::Value = serde_json::from_str(text)?;
    let number = |metric: &str, names: &[&str]| {
        let metric = &document["metrics"][metric];
        let values = metric.get("values").unwrap_or(metric);
        names.iter().find_map(|name| values.get(*name)?.as_f64())
    };
    let complete = number("http_reqs", &["count"]).context("there is no metric http_reqs with a count")? as u64;
    let rate = number("http_reqs", &["rate"]).filter(|rate| *rate > 0.0).context("http_reqs has no rate")?;
    // A request that failed "passes" this metric.
    let failures = number("http_req_failed", &["passes"]).map_or(0, |failures| failures as u64).min(complete);
    let told = [(&["med"][..], 0.5), (&["p(90)"], 0.9), (&["p(99)"], 0.99), (&["p(99.9)"], 0.999), (&["max"], 1.0)];
    let told = told.iter().filter_map(|(names, share)| Some((*share, number("http_req_duration", names)? / 1e3)));
    let mean = number("http_req_duration", &["avg"]).context("http_req_duration has no avg")?;
    let mut outcome = Outcome {
        connections: number("vus_max", &["value", "max"]).map_or(0, |most| most as u64),
        requests: complete - failures,
        failures,
        seconds: complete as f64 / rate,
        sent_bytes: number("data_sent", &["count"]).map_or(0, |bytes| bytes as u64),
        received_bytes: number("data_received", &["count"]).map_or(0, |bytes| bytes as u64),
        latency: latency(mean / 1e3, told.collect()),
        ..Outcome::default()
    };
    failed(&mut outcome);
    Ok(outcome)
}

/// Latencies of which a tool tells some: what it does not tell is the next larger one that it does.
///
/// Units: seconds; `told` has shares of the requests and the latency that these do not exceed.
fn latency(mean: f64, mut told: Vec<(f64, f64)>) -> Latency {
    told.sort_by(|one, other| one.0.total_cmp(&other.0));
    let at = |share: f64| told.iter().find(|(known, _)| *known >= share).map_or(0.0, |(_, latency)| *latency);
    Latency { mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1.0) }
}

/// Fills in the kinds of failures, of which a summary tells only the number, and the rates.
fn failed(outcome: &mut Outcome) {
    if outcome.failures > 0 {
        let count = FailureCount { count: outcome.failures, example: "the tool does not say".to_owned() };
        outcome.failures_by_kind.insert("failed".to_owned(), count);
    }
    rates(outcome);
}

/// A time as wrk writes it: `166.00us`, `1.75ms`, `1.01s`, `2.00m`.
fn duration(text: &str) -> anyhow::Result<f64> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    measure(text, &units).with_context(|| format!("`{text}` is no time of wrk's"))
}

/// A size as wrk writes it: `1.00MB`, of powers of 1024.
fn bytes(text: &str) -> anyhow::Result<u64> {
    let units = [("KB", 1024.0), ("MB", 1024.0 * 1024.0), ("GB", 1024.0 * 1024.0 * 1024.0), ("B", 1.0)];
    Ok(measure(text, &units).with_context(|| format!("`{text}` is no size of wrk's"))? as u64)
}

fn measure(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find_map(|(unit, factor)| Some(text.strip_suffix(unit)?.parse::<f64>().ok()? * factor))
}
