//! How many requests came in a stretch of time, and whether one more may.
//!
//! Source: `CallerContext` of WSO2's `commons.throttle`, whose arithmetic is followed to the millisecond.

use std::time::Duration;

/// How many requests may come in how much time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    /// `MaximumCount`: so many in each stretch; 0 lets nothing through.
    pub(super) maximum: u32,
    /// `UnitTime`: how long a stretch is.
    pub(super) unit: Duration,
    /// `ProhibitTimePeriod`: how long nothing is let through after the maximum was passed; zero stands for the rest of
    /// the stretch.
    pub(super) prohibition: Duration,
}

/// The stretch that runs; times are those of a clock that never jumps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    count: u32,
    /// When it ends; `None` before the first request.
    end: Option<Duration>,
    /// Until when nothing is let through; set by the first request that was too many.
    prohibited_until: Option<Duration>,
}

impl Window {
    /// Counts a request, if it may come.
    ///
    /// Errors: how long it takes at most until another may.
    pub(super) fn admit(&mut self, rate: &Rate, now: Duration) -> Result<(), Duration> {
        if rate.maximum == 0 {
            return Err(rate.unit);
        }
        let end = *self.end.get_or_insert(now.saturating_add(rate.unit));
        let is_over = end <= now;
        if self.count < rate.maximum && !is_over {
            self.count += 1;
            return Ok(());
        }
        if self.count >= rate.maximum {
            let until = match self.prohibited_until {
                Some(until) => until,
                // The stretch has ended before there was one too many.
                None if is_over => now,
                None if rate.prohibition.is_zero() => end,
                None => now.saturating_add(rate.prohibition),
            };
            if until > now {
                self.prohibited_until = Some(until);
                return Err(until - now);
            }
        }
        *self = Window { count: 1, end: Some(now.saturating_add(rate.unit)), prohibited_until: None };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says for requests at these milliseconds whether they come through (`+`) or not (`-`).
    fn check(rate: (u32, u64, u64), times: &[u64], expected: &str) {
        let (maximum, unit, prohibition) = rate;
        let [unit, prohibition] = [unit, prohibition].map(Duration::from_millis);
        let rate = Rate { maximum, unit, prohibition };
        let mut window = Window::default();
        let outcome: String = times
            .iter()
            .map(|&time| if window.admit(&rate, Duration::from_millis(time)).is_ok() { '+' } else { '-' })
            .collect();
        assert_eq!(outcome, expected, "{rate:?} at {times:?}");
    }

    #[test]
    fn a_stretch_begins_with_the_first_request_and_counts_to_the_maximum() {
        check((2, 1000, 0), &[500, 600, 700, 1499, 1500, 1501, 1502], "++--++-");
        check((2, 1000, 0), &[0, 5000, 5001, 5002], "+++-");
        check((1, 1000, 0), &[0, 0, 1000, 1000], "+-+-");
        check((0, 1000, 0), &[0, 5000], "--");
    }

    #[test]
    fn a_prohibition_is_counted_from_the_request_that_was_too_many() {
        // It ends before the stretch does, and a new one begins then.
        check((2, 10_000, 1000), &[0, 1, 2000, 2999, 3000, 3001, 3002], "++--++-");
        // It goes on behind the stretch.
        check((1, 1000, 5000), &[0, 999, 1000, 5998, 5999, 6000], "+---+-");
    }

    #[test]
    fn who_is_refused_learns_when_to_come_again() {
        let rate = |prohibition| Rate { maximum: 1, unit: Duration::from_secs(10), prohibition };
        let wait = |rate: Rate, first: u64, second: u64| {
            let mut window = Window::default();
            window.admit(&rate, Duration::from_secs(first)).unwrap();
            window.admit(&rate, Duration::from_secs(second)).unwrap_err().as_secs()
        };
        assert_eq!(wait(rate(Duration::ZERO), 0, 4), 6);
        assert_eq!(wait(rate(Duration::from_secs(60)), 0, 4), 60);
    }
}
