//! Identifiers that nobody else has.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use myelin_message::Uuid;

use crate::fault::{Fault, Outcome};

thread_local! {
    /// Where the numbers of this thread go on: two of the system's random numbers, drawn once.
    static STATE: Cell<(u64, u64)> = {
        let drawn = || RandomState::new().hash_one(0);
        Cell::new((drawn(), drawn()))
    };
}

/// A new identifier, in the form of a random UUID; unique, and no secret.
pub fn new() -> String {
    uuid().to_string()
}

/// The same as a UUID.
pub fn uuid() -> Uuid {
    Uuid::of_random(random())
}

/// Two numbers that this thread has not given before, and other threads and processes have not by all odds; no secret.
pub fn random() -> (u64, u64) {
    let (high, low) = STATE.get();
    STATE.set((high.wrapping_add(STEP), low.wrapping_add(STEP)));
    (mixed(high), mixed(low))
}

/// What lies between two states, odd so that all states are visited: SplitMix64 of Steele, Lea and Flood.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number of a state; two states never have the same.
fn mixed(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// A new identifier that nobody can guess.
///
/// Errors: ours, where the machine has no random numbers.
pub fn secret() -> Outcome<String> {
    let random = myelin_wss::crypto::random(16).map_err(|error| Fault::bus(error.to_string()))?;
    Ok(random.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_identifiers_differ_and_have_the_form_of_a_random_uuid() {
        let (first, second) = (new(), new());
        assert_ne!(first, second);
        assert_eq!((first.len(), &first[14..15]), (36, "4"));
        assert!(b"89ab".contains(&first.as_bytes()[19]));
        let dashes: Vec<usize> = first.match_indices('-').map(|(place, _)| place).collect();
        assert_eq!(dashes, [8, 13, 18, 23]);
        assert!(first.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()), "{first}");
    }
}
