//! Tools that write a line for each request.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use csv::{ReaderBuilder, StringRecord, Trim};

use crate::load::{FailureCount, Latency, Outcome, latencies};

/// A request as a tool wrote it.
struct Sample {
    /// When it began, in seconds since any moment.
    begin: f64,
    /// How long its answer took, in seconds.
    seconds: f64,
    /// Why it failed, if it did.
    failure: Option<String>,
    sent_bytes: u64,
    received_bytes: u64,
}

/// The lines of a file with a line of names, by these.
struct Lines<'a> {
    names: &'a StringRecord,
    line: StringRecord,
}

impl Lines<'_> {
    /// The text in a column; `None` where there is no such column.
    fn text(&self, name: &str) -> Option<&str> {
        let place = self.names.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        self.line.get(place)
    }

    fn number(&self, name: &str) -> anyhow::Result<f64> {
        let text = self.text(name).with_context(|| format!("there is no column {name}"))?;
        let number: f64 = text.parse().with_context(|| format!("column {name}: `{text}` is no number"))?;
        if !(number.is_finite() && number >= 0.0) {
            bail!("column {name}: {text} is none of its numbers");
        }
        Ok(number)
    }

    /// The number in a column that a tool may leave out.
    fn count(&self, name: &str) -> u64 {
        self.number(name).map_or(0, |number| number as u64)
    }
}

/// `hey -o csv`: times in seconds.
pub(super) fn hey(text: &str) -> anyhow::Result<Outcome> {
    outcome(text, |line| {
        let status = line.number("status-code")?;
        let is_good = (200.0..300.0).contains(&status);
        Ok(Sample {
            begin: line.number("offset")?,
            seconds: line.number("response-time")?,
            failure: (!is_good).then(|| format!("status {status}")),
            sent_bytes: 0,
            received_bytes: 0,
        })
    })
}

/// JMeter's results as CSV: times in milliseconds.
///
/// Source: Apache JMeter User's Manual, "Listeners", "CSV Log format".
pub(super) fn jmeter(text: &str) -> anyhow::Result<Outcome> {
    let mut most = 0;
    let mut outcome = outcome(text, |line| {
        most = most.max(line.count("allThreads"));
        let is_good = line.text("success").is_some_and(|success| success.eq_ignore_ascii_case("true"));
        let status = line.text("responseCode").unwrap_or("unknown");
        Ok(Sample {
            begin: line.number("timeStamp")? / 1e3,
            seconds: line.number("elapsed")? / 1e3,
            failure: (!is_good).then(|| format!("status {status}")),
            sent_bytes: line.count("sentBytes"),
            received_bytes: line.count("bytes"),
        })
    })?;
    outcome.connections = most;
    Ok(outcome)
}

/// The Grinder's data log: times in milliseconds.
///
/// Source: The Grinder 3, "Working with log files", "Data log files".
pub(super) fn grinder(text: &str) -> anyhow::Result<Outcome> {
    let mut threads = std::collections::BTreeSet::new();
    let mut outcome = outcome(text, |line| {
        threads.insert(line.text("Thread").unwrap_or_default().to_owned());
        let status = line.text("HTTP response code").unwrap_or("unknown");
        let is_good = line.number("Errors")? == 0.0;
        Ok(Sample {
            begin: line.number("Start time (ms since Epoch)")? / 1e3,
            seconds: line.number("Test time")? / 1e3,
            failure: (!is_good).then(|| format!("status {status}")),
            sent_bytes: 0,
            received_bytes: line.count("HTTP response length"),
        })
    })?;
    outcome.connections = threads.len() as u64;
    Ok(outcome)
}

/// What the lines of a file come to.
fn outcome(text: &str, mut sample: impl FnMut(&Lines<'_>) -> anyhow::Result<Sample>) -> anyhow::Result<Outcome> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).flexible(true).from_reader(text.as_bytes());
    let names = reader.headers().context("the line of names")?.clone();
    let mut latencies = latencies();
    let (mut first, mut last) = (f64::INFINITY, 0.0_f64);
    let mut outcome = Outcome::default();
    let mut failures: BTreeMap<String, FailureCount> = BTreeMap::new();
    for line in reader.records() {
        let line = line?;
        let number = line.position().map_or(0, csv::Position::line);
        let sample = sample(&Lines { names: &names, line }).with_context(|| format!("line {number}"))?;
        first = first.min(sample.begin);
        last = last.max(sample.begin + sample.seconds);
        outcome.sent_bytes = outcome.sent_bytes.saturating_add(sample.sent_bytes);
        outcome.received_bytes = outcome.received_bytes.saturating_add(sample.received_bytes);
        match sample.failure {
            None => {
                outcome.requests += 1;
                latencies.saturating_record((sample.seconds * 1e9) as u64);
            }
            Some(kind) => {
                outcome.failures += 1;
                failures.entry(kind).or_default().count += 1;
            }
        }
    }
    outcome.failures_by_kind = failures;
    outcome.seconds = (last - first).max(0.0);
    if outcome.requests > 0 {
        outcome.latency = Latency::of(&latencies);
    }
    rates(&mut outcome);
    Ok(outcome)
}

/// Fills in what follows from the number of requests, the bytes and the time.
pub(super) fn rates(outcome: &mut Outcome) {
    if outcome.seconds <= 0.0 {
        return;
    }
    let per_second = |count: u64| count as f64 / outcome.seconds;
    outcome.requests_per_second = per_second(outcome.requests);
    outcome.sent_megabytes_per_second = per_second(outcome.sent_bytes) / 1e6;
    outcome.received_megabytes_per_second = per_second(outcome.received_bytes) / 1e6;
    outcome.megabytes_per_second = outcome.sent_megabytes_per_second + outcome.received_megabytes_per_second;
}
