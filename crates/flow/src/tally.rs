//! What is counted of a process beside its services and endpoints: each thread adds to numbers of its own, and who asks
//! sums them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tally {
    /// A `cache` had the answer.
    CacheHit,
    /// A `cache` was asked for an answer that it did not have.
    CacheMiss,
    /// A `throttle` refused a message.
    ThrottleRefusal,
    /// A message was refused because the bus has no room or no time for it.
    Overload,
    /// A script reached a limit.
    ScriptLimit,
    /// A stylesheet reached a limit.
    StylesheetLimit,
    /// A template of `payloadFactory` reached a limit.
    TemplateLimit,
    /// A database was not asked, or its answer was not waited for, because of a limit.
    SqlLimit,
    /// A message was sent to another member of a group because one failed.
    Failover,
}

const KINDS: usize = 9;

impl Tally {
    /// All of them, in the order of their numbers.
    pub const ALL: [Tally; KINDS] = [
        Tally::CacheHit,
        Tally::CacheMiss,
        Tally::ThrottleRefusal,
        Tally::Overload,
        Tally::ScriptLimit,
        Tally::StylesheetLimit,
        Tally::TemplateLimit,
        Tally::SqlLimit,
        Tally::Failover,
    ];
}

/// Numbers of one thread.
#[derive(Default)]
struct Numbers([AtomicU64; KINDS]);

/// The numbers of all threads; those of threads that are gone are in the first.
static ALL: Mutex<Vec<Arc<Numbers>>> = Mutex::new(Vec::new());

/// What a thread has of them while it lives.
struct Own(Arc<Numbers>);

thread_local! {
    static OWN: Own = Own::begin();
}

impl Own {
    fn begin() -> Own {
        let own = Arc::<Numbers>::default();
        let mut all = all();
        if all.is_empty() {
            all.push(Arc::default());
        }
        all.push(Arc::clone(&own));
        Own(own)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let mut all = all();
        all.retain(|numbers| !Arc::ptr_eq(numbers, &self.0));
        if let Some(gone) = all.first() {
            for (sum, number) in gone.0.iter().zip(&self.0.0) {
                sum.fetch_add(number.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
    }
}

fn all() -> MutexGuard<'static, Vec<Arc<Numbers>>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts one.
pub fn count(tally: Tally) {
    // What ends while its thread does is not counted.
    let _ = OWN.try_with(|own| {
        let number = &own.0.0[tally as usize];
        // Nobody else adds to it.
        number.store(number.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    });
}

/// How many there were so far, on all threads.
pub fn total(tally: Tally) -> u64 {
    all().iter().map(|numbers| numbers.0[tally as usize].load(Ordering::Relaxed)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_counted_stays_when_they_are_gone() {
        let before = total(Tally::SqlLimit);
        count(Tally::SqlLimit);
        let thread = std::thread::spawn(|| (0..3).for_each(|_| count(Tally::SqlLimit)));
        thread.join().unwrap();
        assert_eq!(total(Tally::SqlLimit) - before, 4);
        assert_eq!(total(Tally::CacheHit), 0);
    }

    #[test]
    fn they_stand_at_their_own_numbers() {
        for (number, tally) in Tally::ALL.into_iter().enumerate() {
            assert_eq!(tally as usize, number, "{tally:?}");
        }
    }
}
