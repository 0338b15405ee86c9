//! What a thread counts while it runs.

use std::sync::atomic::{AtomicU64, Ordering};

/// Good answers and failures so far, for those who watch.
#[derive(Default)]
pub(super) struct Counters {
    good: AtomicU64,
    failed: AtomicU64,
}

impl Counters {
    #[inline]
    pub(super) fn good(&self) {
        self.good.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// How many answers were good, and how many requests failed.
    pub(super) fn counted(&self) -> (u64, u64) {
        (self.good.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }
}
