//! Remembers what was accepted, so that the same message is not accepted twice.
//!
//! What is remembered of a message is a [`Mark`], a digest of what makes it the one it is, until the time at which it
//! would be refused for its age anyway. Room is bounded; where there is none left a message is refused, since nothing
//! could tell it from a replay. One [`Replays`] serves all threads and outlives reloads.
//! What is known after a restart: docs/decisions/0009-replays.md.

mod journal;
mod mark;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::{Refusal, Rule};
use journal::Journal;
pub(crate) use mark::Mark;

/// More than threads of a large machine, so that two seldom wait for each other.
const SHARDS: usize = 64;

/// What was accepted and could still be accepted again.
pub struct Replays {
    shards: Box<[Mutex<Shard>]>,
    /// How many marks one shard holds.
    shard_capacity: usize,
    /// What was made before may have been accepted by a process that left no memory of it.
    since: SystemTime,
    /// What outlives the process.
    journal: Option<Mutex<Journal>>,
}

/// Marks with the same low bits in their first byte.
#[derive(Default)]
struct Shard {
    known: HashSet<Mark>,
    /// The same marks by the second from which they need not be known any more.
    by_end: BinaryHeap<Reverse<(u64, Mark)>>,
}

impl Replays {
    /// Remembers at most `capacity` messages for as long as the process runs.
    ///
    /// Messages that say they were made before `started` are refused: the process before this one may have accepted
    /// them. What a sender whose clock is ahead made just before can be replayed once; see [`Replays::open`].
    /// Units: about 50 bytes a message.
    pub fn in_memory(capacity: usize, started: SystemTime) -> Replays {
        Replays::with(capacity, started, None)
    }

    /// Remembers at most `capacity` messages in memory and in a folder, so that the next process knows them too.
    ///
    /// The folder is made where it is missing, which is as if nothing outlived the process before.
    /// Errors: of the folder's files; `WouldBlock` where another process uses them.
    pub fn open(folder: &Path, capacity: usize, now: SystemTime) -> io::Result<Replays> {
        let (journal, entries) = Journal::open(folder, seconds(now))?;
        let since = if journal.is_new() { now } else { SystemTime::UNIX_EPOCH };
        let replays = Replays::with(capacity, since, Some(Mutex::new(journal)));
        for (mark, end) in entries {
            replays.shard(mark).insert(mark, end);
        }
        Ok(replays)
    }

    fn with(capacity: usize, since: SystemTime, journal: Option<Mutex<Journal>>) -> Replays {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Replays { shards, shard_capacity: capacity.div_ceil(SHARDS), since, journal }
    }

    /// How many messages are remembered, those included whose time is over and that nobody has cleared away yet.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).known.len()).sum()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Remembers a message made at `created` until `end`, from which on it is refused for its age.
    ///
    /// Of two threads with the same message one gets through.
    /// Errors: `Replay` for a message that is known or may be; `ReplayCacheFull` where it cannot be remembered.
    pub(crate) fn admit(
        &self,
        mark: Mark,
        created: SystemTime,
        end: SystemTime,
        now: SystemTime,
    ) -> Result<(), Refusal> {
        if created < self.since {
            return Err(Refusal::new(Rule::Replay, "made before this process began to remember messages"));
        }
        let (end, now) = (seconds(end).saturating_add(1), seconds(now));
        {
            let mut shard = self.shard(mark);
            shard.forget(now);
            if shard.known.contains(&mark) {
                return Err(Refusal::new(Rule::Replay, "the same signature or nonce was accepted before"));
            }
            if shard.known.len() >= self.shard_capacity {
                return Err(Refusal::new(Rule::ReplayCacheFull, "the bound of remembered messages is reached"));
            }
            shard.insert(mark, end);
        }
        if let Some(journal) = &self.journal {
            lock(journal).append(mark, end, now).map_err(|error| {
                // It stays known in memory: a message that was half accepted is not tried again.
                Refusal::new(Rule::ReplayCacheFull, format!("the journal of messages cannot be written: {error}"))
            })?;
        }
        Ok(())
    }

    fn shard(&self, mark: Mark) -> MutexGuard<'_, Shard> {
        lock(&self.shards[usize::from(mark.0[0]) % SHARDS])
    }
}

impl Shard {
    fn insert(&mut self, mark: Mark, end: u64) {
        if self.known.insert(mark) {
            self.by_end.push(Reverse((end, mark)));
        }
    }

    /// Clears away what is too old to be accepted again.
    fn forget(&mut self, now: u64) {
        while let Some(&Reverse((end, mark))) = self.by_end.peek()
            && end <= now
        {
            self.by_end.pop();
            self.known.remove(&mark);
        }
    }
}

/// A panic elsewhere leaves nothing half done in what is locked here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seconds since 1970; times before count as that.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}
