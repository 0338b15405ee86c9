//! The memory that all messages of the process may take together, beside what every connection needs.
//!
//! Bodies that were read are counted as they come ([`count_bodies`]), trees and what is made of them by a [`Reservation`]:
//! before they grow, where somebody can wait for it, and in any case once they are there.
//! Whoever finds no room takes a [`Turn`] and tries again when it is the first that waits.
//!
//! Shares keep messages from waiting for each other: bodies may fill a quarter, messages that have nothing yet may fill a
//! half, and the rest is for those that have something and need more to get done.
//! The bounds are those of the process, so they are kept once for all threads; nothing here is touched by a message that
//! is passed through, nor by a small one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What takes less is not counted: a message of that size in all its forms is no more than a connection itself.
pub const SMALL_BYTES: usize = 16 << 10;

/// How many may wait for memory; the next one is refused at once.
const WAITING: usize = 1_024;

static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static USED: AtomicUsize = AtomicUsize::new(0);
/// The part of `USED` that is bodies as they came.
static BODIES: AtomicUsize = AtomicUsize::new(0);
/// How many wait, those that have something and those that have nothing.
static WAITS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
static TURNS: Mutex<Turns> = Mutex::new(Turns { next: 0, queues: [VecDeque::new(), VecDeque::new()] });

/// The places in `WAITS` and `queues`.
const GROWS: usize = 0;
const IS_NEW: usize = 1;

struct Turns {
    next: u64,
    queues: [VecDeque<u64>; 2],
}

/// Sets how many bytes all messages may take together; without it there is no limit.
pub fn set_limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// How many bytes all messages may take together.
pub fn limit_bytes() -> usize {
    LIMIT.load(Ordering::Relaxed)
}

/// How many bytes are counted now.
pub fn used_bytes() -> usize {
    USED.load(Ordering::Relaxed)
}

/// Notes that bodies which were read take more or less than before, by as many bytes.
pub fn count_bodies(before: usize, after: usize) {
    for counter in [&USED, &BODIES] {
        // A sum that wraps is the sum of what all threads have said.
        counter.fetch_add(after.wrapping_sub(before), Ordering::Relaxed);
    }
}

/// Whether no further body may be read into memory: those which came need most of it to be worked on and to leave.
pub fn is_full_of_bodies() -> bool {
    let limit = limit_bytes();
    limit != usize::MAX && (BODIES.load(Ordering::Relaxed) > limit / 4 || used_bytes() > limit)
}

/// Whether `bytes` more have room: for what is made at once, where nobody can wait.
pub fn has_room(bytes: usize) -> bool {
    bytes <= SMALL_BYTES || used_bytes().saturating_add(bytes) <= limit_bytes()
}

/// Memory that a message has, given back when it is dropped.
#[derive(Debug, Default)]
pub struct Reservation {
    bytes: usize,
}

impl Reservation {
    /// One for `bytes` that are there already, whatever the limit.
    pub fn of(bytes: usize) -> Reservation {
        let mut reservation = Reservation::default();
        reservation.set(bytes);
        reservation
    }

    /// How many bytes it is for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts what is there already, whatever the limit: more than before, or less.
    pub fn set(&mut self, bytes: usize) {
        let bytes = if bytes > SMALL_BYTES { bytes } else { 0 };
        if bytes != self.bytes {
            USED.fetch_add(bytes.wrapping_sub(self.bytes), Ordering::Relaxed);
            self.bytes = bytes;
        }
    }

    /// Grows it to `bytes`, if there is room and nobody waits; one that is as large stays so.
    pub fn try_grow(&mut self, bytes: usize) -> bool {
        let nobody_waits = || WAITS[..=self.class()].iter().all(|waits| waits.load(Ordering::Relaxed) == 0);
        bytes <= self.bytes.max(SMALL_BYTES) || (nobody_waits() && self.grow(bytes))
    }

    /// Those that have something go first: only then do they get done and give it back.
    fn class(&self) -> usize {
        if self.bytes == 0 { IS_NEW } else { GROWS }
    }

    fn grow(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let limit = limit_bytes();
        let is_alone = |used: usize| used <= BODIES.load(Ordering::Relaxed);
        let share = |used: usize| if self.bytes == 0 && !is_alone(used) { limit / 2 } else { limit };
        let fits = |used: usize| used.checked_add(more).filter(|&sum| sum <= share(used));
        let has_room = USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        if has_room {
            self.bytes += more;
        }
        has_room
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// A place in a queue of those who wait for memory; dropping it leaves the queue.
#[derive(Debug)]
pub struct Turn {
    number: u64,
    class: usize,
}

impl Turn {
    /// The last place of the queue for those that have as much as this one, or as little; `None` where too many wait.
    pub fn take(reservation: &Reservation) -> Option<Turn> {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, class) = (turns.next, reservation.class());
        if turns.queues[class].len() >= WAITING {
            return None;
        }
        turns.next += 1;
        turns.queues[class].push_back(number);
        WAITS[class].store(turns.queues[class].len(), Ordering::Relaxed);
        Some(Turn { number, class })
    }

    /// Grows a reservation to `bytes`, if it is this one's turn and there is room.
    pub fn try_grow(&self, reservation: &mut Reservation, bytes: usize) -> bool {
        let turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = turns.queues[self.class].front() == Some(&self.number);
        is_first && (self.class == GROWS || turns.queues[GROWS].is_empty()) && reservation.grow(bytes)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = &mut turns.queues[self.class];
        queue.retain(|&number| number != self.number);
        WAITS[self.class].store(queue.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counters are the process's, so one test tells it all.
    #[test]
    fn memory_is_had_in_turn_and_given_back_whatever_the_way_out() {
        const MIB: usize = 1 << 20;
        set_limit(8 * MIB);
        let [mut first, mut second, mut third] = std::array::from_fn(|_| Reservation::default());
        assert!(first.try_grow(SMALL_BYTES) && first.bytes() == 0, "what is small is not counted");
        assert!(first.try_grow(3 * MIB) && first.try_grow(MIB) && first.bytes() == 3 * MIB);
        assert!(!second.try_grow(2 * MIB) && second.bytes() == 0, "who has nothing leaves a half to the others");
        let turns = [Turn::take(&second).unwrap(), Turn::take(&third).unwrap()];
        assert!(!third.try_grow(MIB), "nobody overtakes those who wait");
        assert!(first.try_grow(5 * MIB), "but who has something");
        first.set(3 * MIB);
        assert!(!turns[1].try_grow(&mut third, MIB) && !turns[0].try_grow(&mut second, 2 * MIB));
        first.set(2 * MIB);
        assert!(turns[0].try_grow(&mut second, 2 * MIB));
        first.set(7 * MIB);
        let growing = Turn::take(&second).unwrap();
        assert!(!growing.try_grow(&mut second, 3 * MIB));
        first.set(MIB);
        drop(turns.into_iter().next());
        assert!(growing.try_grow(&mut second, 3 * MIB) && !third.try_grow(MIB));
        drop((growing, first, second));
        assert!(third.try_grow(8 * MIB), "who is alone may have all");
        assert!(!has_room(MIB) && has_room(SMALL_BYTES));
        third = Reservation::of(9 * MIB);
        assert_eq!(used_bytes(), 9 * MIB, "what is there counts, whatever the limit");
        drop(third);
        count_bodies(0, 2 * MIB);
        assert!(!is_full_of_bodies());
        count_bodies(2 * MIB, 3 * MIB);
        assert!(is_full_of_bodies());
        count_bodies(3 * MIB, 0);
        assert_eq!(used_bytes(), 0);
        let none = Reservation::default();
        let turns: Vec<Turn> = std::iter::from_fn(|| Turn::take(&none)).collect();
        assert_eq!(turns.len(), WAITING);
        set_limit(usize::MAX);
    }
}
