//! Counts clients that are refused for want of room, and says so in the log once a second: a line for each would help
//! whoever floods the bus. Requests that are refused for what is wrong with them are counted by their reason.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long refusals are gathered before a line tells of them.
const GATHERED: Duration = Duration::from_secs(1);

/// The resource that is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shortage {
    /// Memory for heads that have come in part.
    Heads,
    /// Memory for bodies.
    Memory,
    /// Connections that clients may have.
    Connections,
    /// File descriptors.
    Files,
}

impl Shortage {
    const ALL: [Shortage; 4] = [Shortage::Heads, Shortage::Memory, Shortage::Connections, Shortage::Files];

    fn name(self) -> &'static str {
        match self {
            Shortage::Heads => "heads",
            Shortage::Memory => "memory",
            Shortage::Connections => "connections",
            Shortage::Files => "files",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Shortage::Heads => {
                "requests were refused: unfinished heads take more memory than myelin.server.heads_bytes allows, and \
                 the slowest clients go first"
            }
            Shortage::Memory => {
                "requests were refused: messages take more memory than myelin.server.memory_bytes allows"
            }
            Shortage::Connections => {
                "connections were refused: as many clients are connected as myelin.server.connections allows, or the \
                 limit of file descriptors"
            }
            Shortage::Files => "times no connection could be accepted: the process has no file descriptor left",
        }
    }
}

/// How many there were in this process; they are as rare as what they cost is dear.
static TOTALS: [AtomicU64; Shortage::ALL.len()] = [const { AtomicU64::new(0) }; Shortage::ALL.len()];

/// How many clients this process has refused so far, by what there was too little of: `heads`, `memory`, `connections`,
/// `files`.
pub fn refusals() -> impl Iterator<Item = (&'static str, u64)> {
    Shortage::ALL.into_iter().map(|shortage| (shortage.name(), TOTALS[shortage as usize].load(Ordering::Relaxed)))
}

/// Why a request is refused before any service sees it: the status of the answer, and a word for it.
///
/// 503 is none of them: it tells of a [`Shortage`], or of a listener that is full.
const REASONS: [(u16, &str); 8] = [
    (400, "malformed"),
    (408, "head_timeout"),
    (413, "body_too_large"),
    (414, "target_too_long"),
    (417, "expectation"),
    (431, "head_too_large"),
    (501, "not_offered"),
    (505, "version"),
];

/// How many there were in this process.
static REFUSED: [AtomicU64; REASONS.len()] = [const { AtomicU64::new(0) }; REASONS.len()];

/// Counts a request that is refused with this status.
pub(crate) fn count_refused(status: u16) {
    if let Some(reason) = REASONS.iter().position(|(known, _)| *known == status) {
        REFUSED[reason].fetch_add(1, Ordering::Relaxed);
    }
}

/// How many requests this process has refused before any service saw them, by the reason.
pub fn refused_requests() -> impl Iterator<Item = (&'static str, u64)> {
    REASONS.iter().zip(&REFUSED).map(|((_, reason), count)| (*reason, count.load(Ordering::Relaxed)))
}

/// The refusals of one thread.
#[derive(Default)]
pub(crate) struct Refusals {
    counts: [Cell<u64>; Shortage::ALL.len()],
    is_due: Cell<bool>,
}

impl Refusals {
    /// Counts one; within a second the log tells of it.
    pub(crate) fn count(self: &Rc<Self>, shortage: Shortage) {
        TOTALS[shortage as usize].fetch_add(1, Ordering::Relaxed);
        let count = &self.counts[shortage as usize];
        count.set(count.get() + 1);
        if !self.is_due.replace(true) {
            let this = Rc::clone(self);
            tokio::task::spawn_local(async move {
                tokio::time::sleep(GATHERED).await;
                this.is_due.set(false);
                for (count, sentence) in this.take() {
                    tracing::warn!("{count} {sentence}");
                }
            });
        }
    }

    /// What was counted since the last time.
    fn take(&self) -> Vec<(u64, &'static str)> {
        let taken = Shortage::ALL.map(|shortage| (self.counts[shortage as usize].take(), shortage.sentence()));
        taken.into_iter().filter(|(count, _)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn refusals_of_a_second_are_one_line_each() {
        tokio::task::LocalSet::new()
            .run_until(async {
                let refusals = Rc::new(Refusals::default());
                for _ in 0..1000 {
                    refusals.count(Shortage::Heads);
                }
                refusals.count(Shortage::Files);
                assert_eq!(Rc::strong_count(&refusals), 2, "one task tells of all");
                let counts = |taken: Vec<(u64, &str)>| taken.into_iter().map(|(count, _)| count).collect::<Vec<_>>();
                assert_eq!(counts(refusals.take()), [1000, 1]);
                refusals.count(Shortage::Memory);
                tokio::time::sleep(GATHERED + Duration::from_millis(1)).await;
                assert_eq!((counts(refusals.take()), Rc::strong_count(&refusals)), (vec![], 1));
            })
            .await;
    }
}
