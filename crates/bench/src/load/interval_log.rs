//! The latencies of a run, second by second, in the log that HdrHistogram's tools read.
//!
//! Source: the interval log of HdrHistogram, version 1.3 of its format, as Java's `HistogramLogWriter` writes it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use hdrhistogram::Histogram;

use super::histogram;

/// The length of an interval.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// A log that is being written. Values are nanoseconds; the longest of each interval is shown in milliseconds.
pub(super) struct IntervalLog<Out: Write> {
    out: Out,
    threads: usize,
    /// Intervals that not all threads have reported: how many have, and their sum.
    pending: BTreeMap<u32, (usize, Histogram<u64>)>,
}

impl IntervalLog<BufWriter<File>> {
    /// Begins a log of what `threads` threads report.
    ///
    /// Errors: the file cannot be written; the caller's.
    pub(super) fn create(path: &Path, threads: usize) -> anyhow::Result<IntervalLog<BufWriter<File>>> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(IntervalLog::new(BufWriter::new(file), threads))
    }
}

impl<Out: Write> IntervalLog<Out> {
    fn new(out: Out, threads: usize) -> IntervalLog<Out> {
        IntervalLog { out, threads, pending: BTreeMap::new() }
    }

    /// Writes the head of the log, for a run that begins at `start`.
    pub(super) fn begin(&mut self, start: SystemTime) -> anyhow::Result<()> {
        let epoch = start.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let date = humantime::format_rfc3339_seconds(start);
        writeln!(self.out, "#[Latencies of good answers in nanoseconds, by myelin load]")?;
        writeln!(self.out, "#[Histogram log format version 1.3]")?;
        writeln!(self.out, "#[StartTime: {epoch:.3} (seconds since epoch), {date}]")?;
        writeln!(self.out, r#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#)?;
        Ok(())
    }

    /// Takes what one thread has measured in the interval `index`; writes the intervals that are complete, save the last,
    /// which may be the one in which the run ends.
    pub(super) fn add(&mut self, index: u32, latencies: Histogram<u64>) -> anyhow::Result<()> {
        match self.pending.get_mut(&index) {
            Some((reported, sum)) => {
                *reported += 1;
                sum.add(&latencies)?;
            }
            None => drop(self.pending.insert(index, (1, latencies))),
        }
        while self.pending.len() > 1
            && let Some(entry) = self.pending.first_entry()
            && entry.get().0 >= self.threads
        {
            let (index, (_, latencies)) = entry.remove_entry();
            self.write(index, INTERVAL, &latencies)?;
        }
        Ok(())
    }

    /// Writes what is left of a run that took `elapsed`; its last interval may be shorter than the others.
    pub(super) fn finish(&mut self, elapsed: Duration) -> anyhow::Result<()> {
        for (index, (_, latencies)) in std::mem::take(&mut self.pending) {
            let length = elapsed.saturating_sub(INTERVAL * index).min(INTERVAL);
            if length == INTERVAL || !latencies.is_empty() {
                self.write(index, length, &latencies)?;
            }
        }
        self.out.flush().context("cannot write the histogram log")
    }

    fn write(&mut self, index: u32, length: Duration, latencies: &Histogram<u64>) -> anyhow::Result<()> {
        let (start, length) = ((INTERVAL * index).as_secs_f64(), length.as_secs_f64());
        let longest = latencies.max() as f64 / 1e6;
        writeln!(self.out, "{start:.3},{length:.3},{longest:.3},{}", histogram::encode(latencies)?)
            .context("cannot write the histogram log")
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;

    fn histogram(values: &[u64]) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        for value in values {
            histogram.record(*value).unwrap();
        }
        histogram
    }

    fn written() -> Vec<u8> {
        let mut out = Vec::new();
        let mut log = IntervalLog::new(&mut out, 2);
        log.begin(SystemTime::UNIX_EPOCH + Duration::from_millis(1_500)).unwrap();
        log.add(0, histogram(&[1_000_000])).unwrap();
        log.add(1, histogram(&[5_000_000])).unwrap();
        log.add(0, histogram(&[2_000_000, 3_000_000])).unwrap();
        log.add(1, histogram(&[])).unwrap();
        log.add(2, histogram(&[7_000_000])).unwrap();
        log.add(2, histogram(&[])).unwrap();
        log.finish(Duration::from_millis(2_250)).unwrap();
        out
    }

    #[test]
    fn intervals_are_added_over_threads_and_written_in_order() {
        let out = written();
        // The reader of the library knows no line of column names; Java's does.
        let text: String = String::from_utf8(out)
            .unwrap()
            .lines()
            .filter(|line| !line.starts_with('"'))
            .map(|line| format!("{line}\n"))
            .collect();
        let mut deserializer = Deserializer::new();
        let mut found = Vec::new();
        for entry in IntervalLogIterator::new(text.as_bytes()) {
            if let LogEntry::Interval(interval) = entry.unwrap() {
                let bytes = STANDARD.decode(interval.encoded_histogram()).unwrap();
                let latencies: Histogram<u64> = deserializer.deserialize(&mut bytes.as_slice()).unwrap();
                found.push((interval.start_timestamp(), interval.duration(), latencies.len(), latencies.max()));
            }
        }
        let seconds = Duration::from_secs;
        let max = |value| histogram(&[value]).max();
        assert_eq!(
            found,
            [
                (seconds(0), seconds(1), 3, max(3_000_000)),
                (seconds(1), seconds(1), 1, max(5_000_000)),
                (seconds(2), Duration::from_millis(250), 1, max(7_000_000)),
            ]
        );
    }

    #[test]
    fn the_head_is_the_one_that_java_writes() {
        let text = String::from_utf8(written()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "#[Histogram log format version 1.3]");
        assert_eq!(lines[2], "#[StartTime: 1.500 (seconds since epoch), 1970-01-01T00:00:01Z]");
        assert!(lines[3].starts_with("\"StartTimestamp\",\"Interval_Length\""));
        // A compressed histogram of the second version begins so in every log.
        assert!(lines[4].starts_with("0.000,1.000,3.0") && lines[4].contains(",HISTFAAAA"), "{}", lines[4]);
    }
}
