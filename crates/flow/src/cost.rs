//! How much processor time the exchanges of a service take on the thread that serves them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// From this mean on the exchanges of a service take turns, where the operator says nothing else. A thread looks at its
/// sockets after some sixty steps of tasks: as many of these would keep others waiting for ten milliseconds.
pub const HIGH: Duration = Duration::from_micros(150);

/// How much one more exchange counts in the mean: this part of it.
const WEIGHT: u32 = 8;

/// Of so many exchanges the cheapest counts: the first ones of a service find nothing prepared.
const FIRST: u32 = 8;

/// One exchange is not taken for more than this, or four times the mean: it may be the only one of its kind.
const OUTLIER: Duration = Duration::from_millis(1);

/// The mean processor time of an exchange of one service, on the thread that serves it; all threads add to it.
///
/// It forgets what is long past: a service whose messages have become small is cheap again after a few of them.
#[derive(Debug, Default)]
pub struct ServiceCost {
    mean_nanos: AtomicU32,
    /// How many were measured; no more than [`FIRST`] are counted.
    measured: AtomicU32,
}

impl ServiceCost {
    /// The mean; `None` as long as too few exchanges were measured.
    pub fn mean(&self) -> Option<Duration> {
        let is_known = self.measured.load(Ordering::Relaxed) >= FIRST;
        is_known.then(|| Duration::from_nanos(self.mean_nanos.load(Ordering::Relaxed).into()))
    }

    /// Whether so many exchanges as come at once in a busy time would keep all others of the thread waiting: the mean is
    /// known, and not below `high`.
    pub fn is_high(&self, high: Duration) -> bool {
        self.mean().is_some_and(|mean| mean >= high)
    }

    /// Adds an exchange that took so much processor time.
    pub fn add(&self, used: Duration) {
        let used = u32::try_from(used.as_nanos()).unwrap_or(u32::MAX);
        let (mean, measured) = (self.mean_nanos.load(Ordering::Relaxed), self.measured.load(Ordering::Relaxed));
        let mean = match measured {
            0 => used,
            1..FIRST => mean.min(used),
            _ => {
                let most = mean.saturating_mul(4).max(OUTLIER.subsec_nanos());
                mean - mean / WEIGHT + used.min(most) / WEIGHT
            }
        };
        // Of two threads that add at the same time one may be lost: it is a mean of many.
        self.mean_nanos.store(mean, Ordering::Relaxed);
        if measured < FIRST {
            self.measured.store(measured + 1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROSECOND: Duration = Duration::from_micros(1);

    fn after(first: Duration, then: Duration) -> ServiceCost {
        let cost = ServiceCost::default();
        cost.add(first);
        (1..FIRST).for_each(|_| cost.add(then));
        cost
    }

    #[test]
    fn what_the_first_exchange_has_to_prepare_is_not_taken_for_the_cost_of_all() {
        let cost = ServiceCost::default();
        assert_eq!((cost.mean(), cost.is_high(HIGH)), (None, false));
        assert_eq!(after(5_000 * MICROSECOND, 20 * MICROSECOND).mean(), Some(20 * MICROSECOND));
        assert!(after(5_000 * MICROSECOND, 600 * MICROSECOND).is_high(HIGH));
    }

    #[test]
    fn the_mean_follows_what_exchanges_take() {
        let cost = after(20 * MICROSECOND, 20 * MICROSECOND);
        // A single one is no rule.
        cost.add(Duration::from_secs(3));
        assert!(!cost.is_high(HIGH), "{:?}", cost.mean());
        cost.add(600 * MICROSECOND);
        assert!(cost.is_high(HIGH), "{:?}", cost.mean());
        (0..30).for_each(|_| cost.add(20 * MICROSECOND));
        assert!(!cost.is_high(HIGH), "{:?}", cost.mean());
        (0..200).for_each(|_| cost.add(Duration::from_secs(100)));
        assert!(cost.mean().unwrap() > Duration::from_secs(4), "{:?}", cost.mean());
        cost.add(Duration::ZERO);
        assert!(cost.is_high(HIGH));
    }
}
