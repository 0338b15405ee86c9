//! The times at which the requests of an open loop are meant to leave.

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::units;

/// A rate that rises or falls evenly and then stays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ramp {
    /// Requests a second at the start.
    pub from: f64,
    /// Requests a second at the end of the ramp, and from then on.
    pub to: f64,
    /// How long the ramp takes, in seconds.
    pub seconds: f64,
}

/// When requests are meant to leave: the first at once, the others as the rate says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    ramp: Ramp,
}

/// What is due later than this never leaves.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);

impl Ramp {
    /// A rate that is the same all the time.
    pub(super) fn constant(rate: f64) -> Ramp {
        Ramp { from: rate, to: rate, seconds: 0.0 }
    }

    /// Errors: a rate or the duration makes no sense; a sentence.
    pub(super) fn check(&self) -> Result<(), String> {
        let finite = [self.from, self.to, self.seconds].iter().all(|value| value.is_finite() && *value >= 0.0);
        if !finite || self.to == 0.0 {
            return Err("rates are positive numbers; only the rate at the start of a ramp may be 0".to_owned());
        }
        Ok(())
    }
}

impl FromStr for Ramp {
    type Err = String;

    /// Reads `100..2000/30s`.
    fn from_str(text: &str) -> Result<Ramp, String> {
        let wrong = || format!("`{text}` is no ramp; write FROM..TO/DURATION, as 100..2000/30s");
        let (rates, duration) = text.split_once('/').ok_or_else(wrong)?;
        let (from, to) = rates.split_once("..").ok_or_else(wrong)?;
        let rate = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
        let seconds = units::duration(duration)?.as_secs_f64();
        let ramp = Ramp { from: rate(from)?, to: rate(to)?, seconds };
        ramp.check()?;
        Ok(ramp)
    }
}

impl Schedule {
    pub(super) fn new(ramp: Ramp) -> Schedule {
        Schedule { ramp }
    }

    /// When the request `index`, counted from 0, is meant to leave, from the start.
    pub(super) fn at(&self, index: u64) -> Duration {
        let Ramp { from, to, seconds } = self.ramp;
        let count = index as f64;
        let risen = self.during_ramp();
        let time = if count == 0.0 {
            0.0
        } else if count < risen {
            // The root of `acceleration t² + from t = count`, in the form that also holds where the rate stays the same.
            let acceleration = (to - from) / (2.0 * seconds);
            2.0 * count / (from + (from * from + 4.0 * acceleration * count).max(0.0).sqrt())
        } else {
            seconds + (count - risen) / to
        };
        Duration::try_from_secs_f64(time).map_or(NEVER, |time| time.min(NEVER))
    }

    /// How many requests are meant to leave in less than `duration` from the start.
    pub(super) fn before(&self, duration: Duration) -> u64 {
        self.count(duration).ceil() as u64
    }

    /// How many requests are meant to have left `elapsed` after the start.
    pub(super) fn due(&self, elapsed: Duration) -> u64 {
        (self.count(elapsed).floor() as u64).saturating_add(1)
    }

    /// The rate summed up over the time, as a fraction of requests.
    fn count(&self, elapsed: Duration) -> f64 {
        let Ramp { from, to, seconds } = self.ramp;
        let time = elapsed.as_secs_f64();
        if time < seconds {
            return from * time + (to - from) * time * time / (2.0 * seconds);
        }
        self.during_ramp() + to * (time - seconds)
    }

    /// How many requests the ramp itself holds.
    fn during_ramp(&self) -> f64 {
        (self.ramp.from + self.ramp.to) / 2.0 * self.ramp.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_and_when_it_was_meant_agree() {
        for text in ["100..100/1s", "0..2000/3s", "10..1000/10s", "1000..10/10s"] {
            let schedule = Schedule::new(text.parse().unwrap());
            for index in [1, 7, 400, 1000, 3000, 7000] {
                let at = schedule.at(index);
                let late = Duration::from_micros(100);
                assert_eq!(schedule.due(at + late), index + 1, "{text} {index}");
                assert!(schedule.due(at.saturating_sub(late)) <= index, "{text} {index}");
                assert_eq!(schedule.before(at.saturating_sub(late)), index, "{text} {index}");
            }
            assert_eq!((schedule.at(0), schedule.due(Duration::ZERO)), (Duration::ZERO, 1));
            assert_eq!(schedule.before(Duration::ZERO), 0);
        }
    }

    #[test]
    fn a_ramp_rises_evenly_and_then_stays() {
        let schedule = Schedule::new("0..100/10s".parse().unwrap());
        assert_eq!(schedule.before(Duration::from_secs(5)), 125);
        assert_eq!(schedule.before(Duration::from_secs(10)), 500);
        assert_eq!(schedule.before(Duration::from_secs(12)), 700);
        assert_eq!(Schedule::new(Ramp::constant(1e-300)).at(1), NEVER);
    }

    #[test]
    fn what_is_no_ramp_is_refused_with_a_sentence() {
        for text in ["", "100", "1..2", "1/2s", "a..2/1s", "1..2/x", "1..0/2s", "-1..2/2s", "1..inf/2s"] {
            assert!(text.parse::<Ramp>().is_err(), "{text}");
        }
    }
}
