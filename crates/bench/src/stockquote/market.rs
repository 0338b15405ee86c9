//! Where quotes come from: numbers that look like a market's, from a seed and a symbol.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

/// The market of one thread.
pub(super) struct Market {
    seed: u64,
    /// What all prices are multiplied with, moving at random; `None`: nothing moves.
    walk: Option<Walk>,
}

struct Walk {
    level: Cell<f64>,
    random: RefCell<Random>,
}

/// One symbol's day: prices in dollars, with whole cents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quote {
    pub(super) last: f64,
    pub(super) change: f64,
    pub(super) open: f64,
    pub(super) high: f64,
    pub(super) low: f64,
    pub(super) previous_close: f64,
    pub(super) percentage_change: f64,
    pub(super) earnings: f64,
    pub(super) pe_ratio: f64,
    pub(super) market_cap: f64,
    pub(super) volume: u32,
}

/// Days in the history of a symbol, as many as the original has.
pub(super) const HISTORY_DAYS: u64 = 1000;

/// When all trades of a market with a seed took place.
const CLOSING_BELL: &str = "2026-01-02T21:00:00Z";

impl Market {
    pub(super) fn new(seed: Option<u64>) -> Market {
        match seed {
            Some(seed) => Market { seed, walk: None },
            None => {
                let seed = RandomState::new().hash_one(0);
                let walk = Walk { level: Cell::new(1.0), random: RefCell::new(Random(seed)) };
                Market { seed, walk: Some(walk) }
            }
        }
    }

    /// The quote of now.
    pub(super) fn quote(&self, symbol: &str) -> Quote {
        let level = self.walk.as_ref().map_or(1.0, Walk::step);
        Quote::new(&mut Random::new(self.seed, symbol, 0), level)
    }

    /// The quotes of the last [`HISTORY_DAYS`], numbered from 0.
    pub(super) fn history(&self, symbol: &str) -> impl Iterator<Item = (u64, Quote)> {
        (0..HISTORY_DAYS).map(move |day| (day, Quote::new(&mut Random::new(self.seed, symbol, day + 1), 1.0)))
    }

    /// When the last trade was; ISO 8601.
    pub(super) fn time(&self) -> String {
        match self.walk {
            Some(_) => humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            None => CLOSING_BELL.to_owned(),
        }
    }
}

impl Walk {
    /// Up to half a per cent in either direction, and never far away.
    fn step(&self) -> f64 {
        let change = self.random.borrow_mut().between(-0.005, 0.005);
        let level = (self.level.get() * (1.0 + change)).clamp(0.5, 2.0);
        self.level.set(level);
        level
    }
}

impl Quote {
    fn new(random: &mut Random, level: f64) -> Quote {
        let last = cents(random.between(10.0, 190.0) * level);
        let change = cents(last * random.between(-0.04, 0.04));
        let previous_close = cents(last - change);
        let open = cents(previous_close * random.between(0.99, 1.01));
        let earnings = cents(last / random.between(5.0, 40.0));
        Quote {
            last,
            change,
            open,
            high: cents(last.max(open) * random.between(1.0, 1.03)),
            low: cents(last.min(open) * random.between(0.97, 1.0)),
            previous_close,
            percentage_change: cents(change / previous_close * 100.0),
            earnings,
            pe_ratio: cents(last / earnings),
            market_cap: (last * random.between(1e5, 1e7)).round(),
            volume: random.between(1000.0, 20_000.0) as u32,
        }
    }
}

fn cents(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Pseudo-random numbers for what nobody has to guess.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014): SplitMix64.
struct Random(u64);

impl Random {
    /// Numbers that depend on nothing but these three.
    fn new(seed: u64, symbol: &str, day: u64) -> Random {
        // FNV-1a, because the standard library's hashes may change from version to version.
        let hash = symbol
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        let mut random = Random(seed ^ hash);
        random.0 = random.next() ^ day;
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        low + unit * (high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_a_seed_a_quote_depends_on_the_seed_and_the_symbol_alone() {
        let (market, same, other) = (Market::new(Some(1)), Market::new(Some(1)), Market::new(Some(2)));
        assert_eq!(market.quote("IBM"), market.quote("IBM"));
        assert_eq!(market.quote("IBM"), same.quote("IBM"));
        assert_ne!(market.quote("IBM"), market.quote("SUN"));
        assert_ne!(market.quote("IBM"), other.quote("IBM"));
        assert_eq!(market.time(), same.time());
    }

    #[test]
    fn without_a_seed_a_price_walks_in_small_steps() {
        let market = Market::new(None);
        let prices: Vec<f64> = (0..500).map(|_| market.quote("IBM").last).collect();
        assert!(prices.windows(2).any(|pair| pair[0] != pair[1]));
        // Half a per cent, and what rounding to cents adds.
        assert!(prices.windows(2).all(|pair| (pair[0] - pair[1]).abs() <= pair[0] * 0.005 + 0.02), "{prices:?}");
    }

    #[test]
    fn the_numbers_of_a_day_fit_together() {
        for (_, quote) in Market::new(Some(7)).history("IBM") {
            let Quote { last, change, open, high, low, previous_close, .. } = quote;
            assert!(low <= last.min(open) && last.max(open) <= high && low > 0.0, "{quote:?}");
            assert!((last - change - previous_close).abs() < 0.011, "{quote:?}");
        }
    }
}
