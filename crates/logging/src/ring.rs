//! The last lines of the log, kept in memory for whoever asks.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use myelin_message::TraceMark;
use tracing::Level;

/// How many lines are kept.
const LINES: usize = 10_000;

/// How many bytes the lines that are kept may have together.
const BYTES: usize = 8 << 20;

/// How much of one line is kept, in bytes.
const LINE_BYTES: usize = 16 << 10;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1, without gaps.
    pub number: u64,
    /// When it was written.
    pub time: SystemTime,
    /// How bad it is.
    pub level: Level,
    /// The module or topic that says it.
    pub target: String,
    /// What it says, in one line; the beginning of one that is long.
    pub message: String,
    /// What ties the lines of an exchange together.
    pub correlation: Option<String>,
    /// What serves the exchange: its element and its name.
    pub service: Option<String>,
    /// The step with its file and line, or the service where no step runs.
    pub place: Option<String>,
    /// The trace that the exchange belongs to, where it is traced.
    pub trace: Option<TraceMark>,
}

/// Which lines somebody asks for.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Lines with larger numbers only.
    pub after: u64,
    /// Lines that are at least as bad.
    pub level: Option<Level>,
    /// Lines that hold this, in whichever case.
    pub contains: Option<String>,
    /// Lines of one exchange.
    pub correlation: Option<String>,
    /// At most so many, the newest of them.
    pub limit: usize,
}

/// The last lines of a log.
#[derive(Clone, Debug, Default)]
pub struct Ring(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    kept: Mutex<Kept>,
    /// For those who wait for the next line.
    grown: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
    last: u64,
}

impl Ring {
    /// Keeps a line, whose number it gets here; the oldest go where there are too many.
    pub fn add(&self, mut entry: Entry) {
        entry.message.truncate(entry.message.floor_char_boundary(LINE_BYTES));
        let mut kept = self.lock();
        kept.last += 1;
        entry.number = kept.last;
        kept.bytes += entry.bytes();
        kept.entries.push_back(Arc::new(entry));
        while kept.entries.len() > LINES || kept.bytes > BYTES {
            let Some(oldest) = kept.entries.pop_front() else { break };
            kept.bytes -= oldest.bytes();
        }
        drop(kept);
        self.0.grown.notify_all();
    }

    /// The lines that somebody asks for, the oldest first.
    pub fn lines(&self, query: &Query) -> Vec<Arc<Entry>> {
        // What is compared is copied first: threads that serve must not wait until everything is searched.
        let kept: Vec<Arc<Entry>> = {
            let kept = self.lock();
            let first = kept.entries.partition_point(|entry| entry.number <= query.after);
            kept.entries.range(first..).cloned().collect()
        };
        let wanted = query.contains.as_ref().map(|text| text.to_lowercase());
        let mut found: Vec<Arc<Entry>> =
            kept.into_iter().rev().filter(|entry| entry.is_in(query, wanted.as_deref())).take(query.limit).collect();
        found.reverse();
        found
    }

    /// The number of the last line.
    pub fn last(&self) -> u64 {
        self.lock().last
    }

    /// The lines that somebody asks for; where there is none yet, waits for one at most so long, and the thread with it.
    pub fn wait(&self, query: &Query, patience: Duration) -> Vec<Arc<Entry>> {
        let until = Instant::now() + patience;
        loop {
            let seen = self.last();
            let found = self.lines(query);
            let left = until.saturating_duration_since(Instant::now());
            if !found.is_empty() || left.is_zero() {
                return found;
            }
            let grown = self.0.grown.wait_timeout_while(self.lock(), left, |kept| kept.last <= seen);
            drop(grown.unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        let optional = [&self.correlation, &self.service, &self.place];
        let texts = optional.into_iter().flatten().chain([&self.target, &self.message]);
        size_of::<Entry>() + texts.map(String::len).sum::<usize>()
    }

    fn is_in(&self, query: &Query, contains: Option<&str>) -> bool {
        let holds = |text: &str, wanted: &str| text.to_lowercase().contains(wanted);
        let texts = [&self.service, &self.place, &self.correlation];
        query.level.is_none_or(|level| self.level <= level)
            && query.correlation.as_ref().is_none_or(|wanted| self.correlation.as_ref() == Some(wanted))
            && contains.is_none_or(|wanted| {
                let texts = texts.into_iter().flatten().chain([&self.target, &self.message]);
                texts.into_iter().any(|text| holds(text, wanted))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(level: Level, message: &str, correlation: Option<&str>) -> Entry {
        Entry {
            number: 0,
            time: SystemTime::UNIX_EPOCH,
            level,
            target: "t".into(),
            message: message.into(),
            correlation: correlation.map(str::to_owned),
            service: None,
            place: None,
            trace: None,
        }
    }

    #[test]
    fn lines_are_found_by_number_level_text_and_exchange() {
        let ring = Ring::default();
        ring.add(entry(Level::INFO, "One", Some("c-1")));
        ring.add(entry(Level::ERROR, "two", Some("c-2")));
        ring.add(entry(Level::DEBUG, "three", None));
        let check = |query: Query, expected: &[u64]| {
            let numbers: Vec<u64> = ring.lines(&query).iter().map(|entry| entry.number).collect();
            assert_eq!(numbers, expected, "{query:?}");
        };
        let all = Query { limit: 10, ..Query::default() };
        check(all.clone(), &[1, 2, 3]);
        check(Query { after: 1, ..all.clone() }, &[2, 3]);
        check(Query { limit: 1, ..all.clone() }, &[3]);
        check(Query { level: Some(Level::INFO), ..all.clone() }, &[1, 2]);
        check(Query { contains: Some("oNE".into()), ..all.clone() }, &[1]);
        check(Query { correlation: Some("c-2".into()), ..all }, &[2]);
    }

    #[test]
    fn it_is_bounded_in_lines_and_in_bytes() {
        let ring = Ring::default();
        for _ in 0..LINES + 5 {
            ring.add(entry(Level::INFO, "x", None));
        }
        let all = Query { limit: usize::MAX, ..Query::default() };
        assert_eq!((ring.lines(&all).len(), ring.lines(&all)[0].number), (LINES, 6));
        for _ in 0..2 * BYTES / LINE_BYTES {
            ring.add(entry(Level::INFO, &"€".repeat(LINE_BYTES), None));
        }
        let kept = ring.lines(&all);
        assert!(kept.iter().map(|entry| entry.bytes()).sum::<usize>() <= BYTES);
        assert!(kept.len() > BYTES / LINE_BYTES / 2 && ring.last() > LINES as u64);
    }

    #[test]
    fn whoever_waits_hears_of_the_next_line_that_is_asked_for() {
        let ring = Ring::default();
        let writes = ring.clone();
        let writer = std::thread::spawn(move || {
            writes.add(entry(Level::DEBUG, "not this one", None));
            writes.add(entry(Level::WARN, "x", None));
        });
        let query = Query { level: Some(Level::WARN), limit: 9, ..Query::default() };
        let found = ring.wait(&query, Duration::from_secs(60));
        assert_eq!(found.iter().map(|entry| entry.number).collect::<Vec<_>>(), [2]);
        writer.join().unwrap();
        assert!(ring.wait(&Query { after: 2, ..query }, Duration::ZERO).is_empty());
    }
}
