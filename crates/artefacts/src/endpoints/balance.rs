//! Which member of a group is next: in turn, by weight, or the one with the fewest requests under way.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How a load-balancing endpoint chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// Each in turn, as many requests one after the other as its weight says.
    InTurn,
    /// The one with the fewest requests under way for its weight.
    LeastBusy,
}

/// The members of a group with their weights, and who comes next; one for all threads.
#[derive(Debug)]
pub(super) struct Wheel {
    algorithm: Algorithm,
    /// Where the turn of each member ends; a round is as long as all weights together.
    ends: Box<[usize]>,
    /// How far the round is.
    cursor: AtomicUsize,
    /// How many requests each member has under way.
    busy: Box<[AtomicUsize]>,
}

/// A request counts as under way with a member as long as this lives.
#[derive(Debug)]
pub(super) struct UnderWay<'a>(&'a AtomicUsize);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Wheel {
    /// A wheel of members with these weights, all above zero.
    pub(super) fn new(algorithm: Algorithm, weights: &[u32]) -> Wheel {
        let mut end = 0;
        let ends = weights.iter().map(|&weight| {
            end += weight as usize;
            end
        });
        Wheel {
            algorithm,
            ends: ends.collect(),
            cursor: AtomicUsize::new(0),
            busy: weights.iter().map(|_| AtomicUsize::new(0)).collect(),
        }
    }

    /// The next member of those that `is_ready` names; `None` where it names none.
    ///
    /// The turn of one that is not ready is passed over for good: those behind it share its requests evenly.
    pub(super) fn next(&self, is_ready: impl Fn(usize) -> bool) -> Option<usize> {
        match self.algorithm {
            Algorithm::InTurn => self.in_turn(is_ready),
            Algorithm::LeastBusy => self.least_busy(is_ready),
        }
    }

    fn in_turn(&self, is_ready: impl Fn(usize) -> bool) -> Option<usize> {
        let round = self.ends.last().copied().unwrap_or(0);
        let mut cursor = self.cursor.load(Ordering::Relaxed);
        loop {
            let first = self.ends.partition_point(|&end| end <= cursor);
            let members = (first..self.ends.len()).chain(0..first);
            let member = members.into_iter().find(|&member| is_ready(member))?;
            let at = if member == first { cursor } else { self.start(member) };
            let after = (at + 1) % round;
            // Another thread that was faster has taken this turn.
            match self.cursor.compare_exchange_weak(cursor, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(member),
                Err(now) => cursor = now,
            }
        }
    }

    fn least_busy(&self, is_ready: impl Fn(usize) -> bool) -> Option<usize> {
        let count = self.ends.len();
        // Where several are equally busy, each gets its turn.
        let first = self.cursor.fetch_add(1, Ordering::Relaxed) % count.max(1);
        let members = (first..count).chain(0..first).filter(|&member| is_ready(member));
        members.min_by(|&left, &right| {
            let busy = |member: usize| self.busy[member].load(Ordering::Relaxed) as u128 + 1;
            let weight = |member: usize| (self.ends[member] - self.start(member)) as u128;
            // a / v < b / w, without dividing.
            (busy(left) * weight(right)).cmp(&(busy(right) * weight(left)))
        })
    }

    fn start(&self, member: usize) -> usize {
        member.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// Counts a request to a member.
    pub(super) fn begin(&self, member: usize) -> UnderWay<'_> {
        let busy = &self.busy[member];
        busy.fetch_add(1, Ordering::Relaxed);
        UnderWay(busy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(wheel: &Wheel, count: usize, is_ready: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..count).map(|_| wheel.next(&is_ready).unwrap()).collect()
    }

    #[test]
    fn members_take_turns_and_those_that_are_not_ready_are_passed_over() {
        let wheel = Wheel::new(Algorithm::InTurn, &[1, 1, 1]);
        assert_eq!(turns(&wheel, 4, |_| true), [0, 1, 2, 0]);
        assert_eq!(turns(&wheel, 4, |member| member != 1), [2, 0, 2, 0]);
        assert_eq!(turns(&wheel, 2, |_| true), [1, 2]);
        assert_eq!(wheel.next(|_| false), None);
    }

    #[test]
    fn a_member_gets_as_many_requests_in_a_row_as_its_weight_says() {
        let wheel = Wheel::new(Algorithm::InTurn, &[3, 1, 2]);
        assert_eq!(turns(&wheel, 7, |_| true), [0, 0, 0, 1, 2, 2, 0]);
        assert_eq!(turns(&wheel, 5, |member| member != 0), [1, 2, 2, 1, 2]);
    }

    #[test]
    fn the_least_busy_member_for_its_weight_is_next() {
        let wheel = Wheel::new(Algorithm::LeastBusy, &[1, 2]);
        let first = wheel.begin(1);
        let second = wheel.begin(1);
        assert_eq!(wheel.next(|_| true), Some(0));
        let third = wheel.begin(0);
        assert_eq!(wheel.next(|_| true), Some(1));
        assert_eq!(wheel.next(|member| member == 0), Some(0));
        drop((first, second));
        assert_eq!(wheel.next(|_| true), Some(1));
        drop(third);
        assert_eq!(wheel.next(|_| false), None);
    }

    #[test]
    fn equally_busy_members_share_the_requests() {
        let wheel = Wheel::new(Algorithm::LeastBusy, &[1, 1, 1]);
        assert_eq!(turns(&wheel, 4, |_| true), [0, 1, 2, 0]);
    }

    #[test]
    fn the_distribution_is_exact_over_threads() {
        let wheel = Wheel::new(Algorithm::InTurn, &[5, 3, 2]);
        let counts: Vec<AtomicUsize> = (0..3).map(|_| AtomicUsize::new(0)).collect();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for member in turns(&wheel, 2_500, |_| true) {
                        counts[member].fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let counts: Vec<usize> = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        assert_eq!(counts, [5_000, 3_000, 2_000]);
    }
}
