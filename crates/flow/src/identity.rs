//! Identifiers that nobody else has.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use crate::fault::{Fault, Outcome};

thread_local! {
    static SEED: (RandomState, RandomState) = (RandomState::new(), RandomState::new());
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// A new identifier, in the form of a random UUID (RFC 9562 §5.4); unique, and no secret.
pub fn new() -> String {
    let count = COUNT.replace(COUNT.get() + 1);
    // Keyed hashes of a counter: the keys are the system's randomness, drawn once a thread.
    let (high, low) = SEED.with(|(high, low)| (high.hash_one(count), low.hash_one(count)));
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        (low >> 48) & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
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
    }
}
