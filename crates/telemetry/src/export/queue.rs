//! A bounded queue from the threads that serve to the one that sends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::mpsc;

/// The end of a queue at which things are put; putting never waits.
pub struct Queue<T> {
    sender: mpsc::UnboundedSender<Vec<T>>,
    counters: Arc<Counters>,
}

/// The end of a queue at which things are taken.
pub(super) struct Arrivals<T> {
    pub(super) receiver: mpsc::UnboundedReceiver<Vec<T>>,
    pub(super) counters: Arc<Counters>,
}

/// What became of what was put into a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Waits, or is being sent.
    pub waiting: usize,
    /// Was sent.
    pub sent: u64,
    /// Was dropped because too much was waiting.
    pub dropped: u64,
    /// Was given up because the collector did not take it.
    pub failed: u64,
}

/// The counts as threads share them.
pub(super) struct Counters {
    limit: usize,
    waiting: AtomicUsize,
    sent: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

/// A queue in which `limit` things may wait.
pub(super) fn queue<T>(limit: usize) -> (Queue<T>, Arrivals<T>) {
    // The channel itself has no bound: the count of things has one, however many come together.
    let (sender, receiver) = mpsc::unbounded_channel();
    let counters = Arc::new(Counters {
        limit,
        waiting: AtomicUsize::new(0),
        sent: AtomicU64::new(0),
        dropped: AtomicU64::new(0),
        failed: AtomicU64::new(0),
    });
    (Queue { sender, counters: Arc::clone(&counters) }, Arrivals { receiver, counters })
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Queue<T> {
        Queue { sender: self.sender.clone(), counters: Arc::clone(&self.counters) }
    }
}

impl<T> Queue<T> {
    /// Puts things in that belong together: all of them, or none where there is no room, which is counted.
    pub fn put(&self, things: Vec<T>) {
        let (count, counters) = (things.len(), &*self.counters);
        if count == 0 {
            return;
        }
        let waiting = counters.waiting.fetch_add(count, Ordering::Relaxed);
        if waiting + count > counters.limit || self.sender.send(things).is_err() {
            counters.waiting.fetch_sub(count, Ordering::Relaxed);
            self.drop_some(count);
        }
    }

    /// Counts things that there was no room for elsewhere.
    pub fn drop_some(&self, count: usize) {
        self.counters.dropped.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// What became of all that was put in.
    pub fn counts(&self) -> QueueCounts {
        self.counters.get()
    }
}

impl Counters {
    fn get(&self) -> QueueCounts {
        QueueCounts {
            waiting: self.waiting.load(Ordering::Relaxed),
            sent: self.sent.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    /// So many do not wait any more: of these so many were not taken.
    pub(super) fn done(&self, count: usize, failed: usize) {
        self.waiting.fetch_sub(count, Ordering::Relaxed);
        self.failed.fetch_add(failed as u64, Ordering::Relaxed);
        self.sent.fetch_add((count - failed) as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_than_may_wait_is_dropped_and_counted() {
        let (queue, mut arrivals) = queue::<u8>(4);
        queue.put(vec![1, 2, 3]);
        queue.put(vec![4, 5]);
        queue.put(vec![6]);
        queue.put(Vec::new());
        assert_eq!(queue.counts(), QueueCounts { waiting: 4, dropped: 2, ..QueueCounts::default() });
        assert_eq!(arrivals.receiver.try_recv(), Ok(vec![1, 2, 3]));
        // They wait until they were sent.
        queue.put(vec![7]);
        assert_eq!(queue.counts().dropped, 3);
        arrivals.counters.done(3, 1);
        queue.put(vec![8]);
        assert_eq!(queue.counts(), QueueCounts { waiting: 2, sent: 2, dropped: 3, failed: 1 });
        drop(arrivals);
        queue.put(vec![9]);
        assert_eq!(queue.counts(), QueueCounts { waiting: 2, sent: 2, dropped: 4, failed: 1 });
    }
}
