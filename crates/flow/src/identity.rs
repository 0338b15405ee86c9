//! Identifiers that nobody else has.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use crate::fault::{Fault, Outcome};

thread_local! {
    static SEED: (RandomState, RandomState) = (RandomState::new(), RandomState::new());
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// A new identifier, in the form of a random UUID (RFC 9562 §5.4); unique, and no secret.
pub fn new() -> String {
    let count = COUNT.replace(COUNT.get() + 1);
    // Keyed hashes of a counter: the keys are the system's randomness, drawn once a thread.
    let (high, low) = SEED.with(|(high, low)| (high.hash_one(count), low.hash_one(count)));
    // Version 4, and the variant of the standard.
    let (high, low) = (high & !0xf000 | 0x4000, low & !(0b11 << 62) | 0b10 << 62);
    // Each request that has none gets one: digits are put one by one, which costs a tenth of formatting them.
    let (mut text, mut place) = (vec![b'-'; 36], 0);
    let bytes = high.to_be_bytes().into_iter().chain(low.to_be_bytes());
    for (index, byte) in bytes.enumerate() {
        // Where a dash stands already.
        place += usize::from(matches!(index, 4 | 6 | 8 | 10));
        text[place] = DIGITS[usize::from(byte >> 4)];
        text[place + 1] = DIGITS[usize::from(byte & 0xf)];
        place += 2;
    }
    String::from_utf8(text).unwrap_or_default()
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
