//! A ramp: more and more requests a second are offered, until a target no longer keeps up.
//!
//! The rates are the same for all targets, so that they can be compared at each of them; who falls behind has reached its
//! knee and takes no part in higher ones.

use super::rounds::{Ended, Entrant, Session};
use super::task::Task;

/// The first rate is this share of what the fastest target does in a closed loop.
const FIRST: f64 = 0.1;
/// Below a half of that rates grow by this factor, above by [`FIRST`] of it.
const FACTOR: f64 = 1.5;
/// No higher rates than this many times that: nobody does so much more than in a closed loop.
const LAST: f64 = 1.5;
/// A target that answers a smaller share of the offered requests has fallen behind.
const KEEPS_UP: f64 = 0.95;

impl Session<'_> {
    /// Measures a cell at rising rates; each rate is a cell of its own.
    ///
    /// Errors: results cannot be written, or no request can be made.
    pub(super) fn ramp(&mut self, task: Task) -> anyhow::Result<Ended> {
        let Some(mut entrants) = self.all_enter(task)? else { return Ok(Ended::Interrupted) };
        let most = entrants.iter().map(|entrant| entrant.rate).fold(0.0, f64::max);
        let mut rest: Vec<Entrant> = Vec::new();
        for rate in rates(most) {
            if entrants.is_empty() {
                break;
            }
            let step = Task { rate: Some(rate), ..task };
            self.folder.add_cell(&step.cell())?;
            if self.rounds(&mut entrants, step)? == Ended::Interrupted {
                return Ok(Ended::Interrupted);
            }
            let (keeping_up, behind) =
                entrants.into_iter().partition::<Vec<_>, _>(|entrant| entrant.last_rate >= rate * KEEPS_UP);
            entrants = keeping_up;
            rest.extend(behind);
        }
        rest.extend(entrants);
        self.leave(rest, task)
    }
}

/// The rates that are offered where the fastest target does so many requests a second in a closed loop.
fn rates(most: f64) -> Vec<f64> {
    let mut rates = Vec::new();
    let mut rate = most * FIRST;
    while rate >= 1.0 && rate <= most * LAST {
        rates.push(round(rate));
        rate = if rate < most / 2.0 { rate * FACTOR } else { rate + most * FIRST };
    }
    rates
}

/// A number with two digits that are not nought, as people write rates.
fn round(rate: f64) -> f64 {
    let unit = 10_f64.powf(rate.log10().floor() - 1.0);
    (rate / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_rise_to_what_nobody_does() {
        let found = rates(20_000.0);
        assert_eq!(&found[..3], [2000.0, 3000.0, 4500.0]);
        assert!(
            found.is_sorted() && found.last().is_some_and(|last| (28_000.0..=30_000.0).contains(last)),
            "{found:?}"
        );
        assert!(found.len() < 20 && rates(0.0).is_empty() && rates(5.0).len() < 20);
    }
}
