//! How long clients may be kept waiting, learnt from those that give up.

use std::cell::Cell;
use std::time::Duration;

/// However soon clients give up, so much may wait: a thread that has nothing to do between two requests serves fewer.
const SHORTEST: Duration = Duration::from_millis(25);

/// After such a time without clients that give up, the others may be kept waiting for twice as long.
const DOUBLING: Duration = Duration::from_secs(60);

/// One client that gives up says nothing of the others; so many do...
const FEWEST: u32 = 4;

/// ... where they are this part of all that waited lately.
const PART: u32 = 8;

/// "Lately" is as long as no more than so many have waited.
const LATELY: u32 = 256;

/// How long requests may wait for their turn.
///
/// A request that is served after its client has given up is work for nothing, and all behind it wait longer for that.
/// So it is half of the time after which clients were seen to have given up, and what the operator allows as long as
/// none was. The half leaves room for what happens before and behind the wait.
///
/// Clients also go away all at once, whatever they waited for: a program ends, a proxy in front starts anew. So it needs
/// two turns: clients have given up, and so have those that came after this was seen.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// `None` as long as nobody has given up.
    learnt: Cell<Option<Duration>>,
    /// When it last grew.
    grown: Cell<Duration>,
    /// Only requests that came from then on count.
    from: Cell<Duration>,
    waited: Cell<u32>,
    gave_up: Cell<u32>,
    /// Whether clients have given up before those that count now.
    is_suspected: Cell<bool>,
}

impl Patience {
    /// How long a request may wait now, where the operator allows `longest`.
    pub(super) fn longest_wait(&self, longest: Duration, now: Duration) -> Duration {
        let Some(learnt) = self.learnt.get() else { return longest };
        let since = now.saturating_sub(self.grown.replace(now)).min(DOUBLING);
        let grown = learnt + learnt.mul_f64(since.as_secs_f64() / DOUBLING.as_secs_f64());
        self.learnt.set(Some(grown).filter(|&grown| grown < longest));
        grown.min(longest)
    }

    /// Notes that the turn of a request has come that waited since then, and whether its client had given up.
    pub(super) fn note(&self, since: Duration, gave_up: bool, now: Duration) {
        if since < self.from.get() {
            return;
        }
        let (all, given_up) = (self.waited.get() + 1, self.gave_up.get() + u32::from(gave_up));
        let is_rule = gave_up && given_up >= FEWEST && given_up >= all / PART;
        if is_rule {
            if self.is_suspected.replace(true) {
                let known = self.learnt.get().unwrap_or(Duration::MAX);
                self.learnt.set(Some((now.saturating_sub(since).min(known) / 2).max(SHORTEST)));
                self.grown.set(now);
            }
            self.from.set(now);
        } else if all >= LATELY {
            self.is_suspected.set(false);
        }
        let is_over = is_rule || all >= LATELY;
        self.waited.set(if is_over { 0 } else { all });
        self.gave_up.set(if is_over { 0 } else { given_up });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(10);

    /// Clients come at that time, wait for so long, and give up.
    fn give_up(patience: &Patience, since: Duration, waited: Duration, count: u32) {
        (0..count).for_each(|_| patience.note(since, true, since + waited));
    }

    #[test]
    fn requests_wait_for_half_as_long_as_clients_do() {
        let patience = Patience::default();
        assert_eq!(patience.longest_wait(LONGEST, SECOND), LONGEST);
        give_up(&patience, SECOND, 3 * SECOND, 4);
        give_up(&patience, 4 * SECOND, 3 * SECOND, 4);
        assert_eq!(patience.longest_wait(LONGEST, 7 * SECOND), 3 * SECOND / 2);
        // Now it is seen that they wait for less.
        give_up(&patience, 7 * SECOND, SECOND, 4);
        assert_eq!(patience.longest_wait(LONGEST, 8 * SECOND), SECOND / 2);
        (8..100).for_each(|second| give_up(&patience, second * SECOND, Duration::ZERO, 4));
        assert_eq!(patience.longest_wait(LONGEST, 99 * SECOND), SHORTEST);
    }

    #[test]
    fn a_few_clients_that_give_up_change_nothing_for_the_others() {
        let patience = Patience::default();
        for number in 0..100_000 {
            patience.note(SECOND, number % 10 == 0, SECOND);
        }
        assert_eq!(patience.longest_wait(LONGEST, SECOND), LONGEST);
        // Nor do as many as three, where nobody else waits.
        let patience = Patience::default();
        give_up(&patience, SECOND, SECOND, 3);
        assert_eq!(patience.longest_wait(LONGEST, SECOND), LONGEST);
    }

    #[test]
    fn clients_that_all_go_away_at_once_change_nothing_for_those_that_come_behind_them() {
        let patience = Patience::default();
        for second in 1..100 {
            give_up(&patience, second * SECOND, SECOND, 1_000);
            (0..LATELY).for_each(|_| patience.note((second + 2) * SECOND, false, (second + 2) * SECOND));
        }
        assert_eq!(patience.longest_wait(LONGEST, 200 * SECOND), LONGEST);
    }

    #[test]
    fn where_nobody_gives_up_they_wait_longer_again() {
        let patience = Patience::default();
        give_up(&patience, Duration::ZERO, SECOND, 4);
        give_up(&patience, SECOND, SECOND, 4);
        let mut now = 2 * SECOND;
        let mut waits = Vec::new();
        for _ in 0..6 * 60 {
            now += SECOND;
            waits.push(patience.longest_wait(LONGEST, now));
        }
        assert!(waits.is_sorted() && waits[0] < 11 * SECOND / 20, "{waits:?}");
        assert!(waits[59] > SECOND && waits[59] < 3 * SECOND / 2, "{:?}", waits[59]);
        assert_eq!(waits.last(), Some(&LONGEST));
        assert_eq!(patience.longest_wait(2 * LONGEST, now), 2 * LONGEST, "what was learnt is forgotten then");
    }
}
