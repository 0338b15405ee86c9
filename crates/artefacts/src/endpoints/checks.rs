//! What a monitor's checks come to: so many in a row take an endpoint out, so many bring it back.
//!
//! It stands beside [`crate::endpoints::state::State`], which tells what messages met: neither changes the other, but that an
//! endpoint which is brought back starts afresh.

use std::sync::Arc;

/// What the checks of one endpoint have found so far.
#[derive(Debug, Default)]
pub(super) struct Checks {
    /// What the check saw that took the endpoint out, while it is out.
    pub down: Option<Arc<str>>,
    /// How many checks in a row found otherwise than where it stands.
    otherwise: u32,
}

/// What a check changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Nothing,
    /// The endpoint is taken out.
    Down,
    /// It is back.
    Up,
}

impl Checks {
    /// Counts a check that found the endpoint well, or what is said of it.
    ///
    /// `fall` failures in a row take it out, `rise` successes in a row bring it back; 0 counts as 1.
    pub(super) fn count(&mut self, found: Result<(), String>, fall: u32, rise: u32) -> Turn {
        let needed = match (&self.down, &found) {
            (None, Err(_)) => fall,
            (Some(_), Ok(())) => rise,
            (None, Ok(())) | (Some(_), Err(_)) => {
                self.otherwise = 0;
                return Turn::Nothing;
            }
        };
        self.otherwise += 1;
        if self.otherwise < needed {
            return Turn::Nothing;
        }
        *self = Checks { down: found.err().map(Arc::from), otherwise: 0 };
        if self.down.is_some() { Turn::Down } else { Turn::Up }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts checks, `+` for those that found the endpoint well, and tells after each where it stands.
    fn check(checks: &str, fall: u32, rise: u32, expected: &str) {
        let mut known = Checks::default();
        let stands = checks.chars().enumerate().map(|(at, found)| {
            let before = known.down.is_some();
            let turn = known.count(if found == '+' { Ok(()) } else { Err(format!("check {at}")) }, fall, rise);
            let now = known.down.is_some();
            assert_eq!(turn == Turn::Nothing, before == now, "{checks} at {at}");
            if now { 'v' } else { '^' }
        });
        assert_eq!(stands.collect::<String>(), expected, "{checks}");
    }

    #[test]
    fn only_failures_in_a_row_take_out_and_only_successes_in_a_row_bring_back() {
        check("--+--+---", 3, 2, "^^^^^^^^v");
        check("---+-+-++-", 3, 2, "^^vvvvvv^^");
        check("-+-+", 1, 1, "v^v^");
        check("-+", 0, 0, "v^");
    }

    #[test]
    fn it_keeps_what_took_the_endpoint_out() {
        let mut known = Checks::default();
        for (found, expected) in [("a", None), ("b", Some("b")), ("c", Some("b"))] {
            known.count(Err(found.to_owned()), 2, 1);
            assert_eq!(known.down.as_deref(), expected);
        }
    }
}
