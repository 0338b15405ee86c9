//! How often somebody did something lately; what is kept has a bound.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How many are told apart. Beyond it those whose time is over go, and then a new one counts with all others that found
/// no place.
const TOLD_APART: usize = 4096;

/// Whose attempts count together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Attempter {
    /// A network, by an address; see [`From`].
    Network(IpAddr),
    /// Whoever has a token, by its number.
    Token(String),
}

/// An address of IPv6 counts with its /64: whoever has one has all of it.
impl From<IpAddr> for Attempter {
    fn from(address: IpAddr) -> Attempter {
        Attempter::Network(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
            address => address,
        })
    }
}

/// Counts attempts by who makes them, in windows of time.
#[derive(Debug)]
pub(crate) struct Attempts {
    limit: u32,
    window: Duration,
    /// Under no key those that found no place.
    counts: Mutex<HashMap<Option<Attempter>, (Duration, u32)>>,
}

impl Attempts {
    /// At most so many in a window of that length.
    pub(crate) fn new(limit: u32, window: Duration) -> Attempts {
        Attempts { limit, window, counts: Mutex::default() }
    }

    /// Counts one; whether it is within the limit. `now` is a clock that never jumps.
    pub(crate) fn take(&self, who: impl Into<Attempter>, now: Duration) -> bool {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let key = self.key(&mut counts, who.into(), now);
        let (since, count) = counts.entry(key).or_insert((now, 0));
        if now.saturating_sub(*since) >= self.window {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        *count <= self.limit
    }

    /// Whether another would be within the limit.
    pub(crate) fn allows(&self, who: impl Into<Attempter>, now: Duration) -> bool {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let key = self.key(&mut counts, who.into(), now);
        counts.get(&key).is_none_or(|(since, count)| now.saturating_sub(*since) >= self.window || *count < self.limit)
    }

    /// Forgets what somebody did.
    pub(crate) fn forget(&self, who: impl Into<Attempter>) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).remove(&Some(who.into()));
    }

    fn key(
        &self,
        counts: &mut HashMap<Option<Attempter>, (Duration, u32)>,
        who: Attempter,
        now: Duration,
    ) -> Option<Attempter> {
        let key = Some(who);
        if counts.contains_key(&key) {
            return key;
        }
        if counts.len() >= TOLD_APART {
            counts.retain(|_, (since, _)| now.saturating_sub(*since) < self.window);
        }
        if counts.len() >= TOLD_APART { None } else { key }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_bounded_by_address_and_window() {
        let attempts = Attempts::new(2, Duration::from_secs(10));
        let [one, other]: [IpAddr; 2] = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().unwrap());
        let at = Duration::from_secs;
        assert!(attempts.take(one, at(0)) && attempts.take(one, at(1)));
        assert!(!attempts.allows(one, at(2)) && !attempts.take(one, at(2)));
        assert!(attempts.take(other, at(2)));
        assert!(attempts.allows(one, at(10)) && attempts.take(one, at(10)));
        attempts.forget(one);
        assert!(attempts.allows(one, at(10)));
    }

    #[test]
    fn many_addresses_take_no_more_memory_than_the_bound() {
        let attempts = Attempts::new(2, Duration::from_secs(10));
        for number in 0..20_000u32 {
            attempts.take(IpAddr::V4(number.into()), Duration::ZERO);
        }
        assert!(attempts.counts.lock().unwrap().len() <= TOLD_APART + 1);
        assert!(
            !attempts.allows("200.1.1.1".parse::<IpAddr>().unwrap(), Duration::ZERO),
            "those without a place count together"
        );
        let network: Vec<IpAddr> = ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map(|it| it.parse().unwrap()).into();
        let attempts = Attempts::new(2, Duration::from_secs(10));
        assert_eq!(network.iter().filter(|it| attempts.take(**it, Duration::ZERO)).count(), 2);
    }
}
