//! Identifiers that nobody else has.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use crate::fault::{Fault, Outcome};

thread_local! {
    /// Where the numbers of this thread go on: two of the system's random numbers, drawn once.
    static STATE: Cell<(u64, u64)> = {
        let drawn = || RandomState::new().hash_one(0);
        Cell::new((drawn(), drawn()))
    };
}

/// A new identifier, in the form of a random UUID (RFC 9562 §5.4); unique, and no secret.
pub fn new() -> String {
    String::from_utf8(uuid().to_vec()).unwrap_or_default()
}

/// The same as the bytes of its text, which are ASCII.
pub fn uuid() -> [u8; 36] {
    let (high, low) = random();
    // Version 4, and the variant of the standard.
    let (high, low) = (high & !0xf000 | 0x4000, low & !(0b11 << 62) | 0b10 << 62);
    let [a, b, c, d] = [high >> 32, high, low >> 32, low].map(|half| digits(half as u32));
    let mut text = [b'-'; 36];
    text[..8].copy_from_slice(&a);
    text[9..13].copy_from_slice(&b[..4]);
    text[14..18].copy_from_slice(&b[4..]);
    text[19..23].copy_from_slice(&c[..4]);
    text[24..28].copy_from_slice(&c[4..]);
    text[28..].copy_from_slice(&d);
    text
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

/// A number as hexadecimal digits, all of them at once.
fn digits(number: u32) -> [u8; 8] {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    // Each half byte in a byte of its own.
    let mut halves = u64::from(number);
    halves = (halves << 16 | halves) & 0x0000_ffff_0000_ffff;
    halves = (halves << 8 | halves) & 0x00ff_00ff_00ff_00ff;
    halves = (halves << 4 | halves) & 0x0f0f_0f0f_0f0f_0f0f;
    // From ten on it is a letter, which stands farther behind in ASCII.
    let letters = (halves + 6 * EACH) >> 4 & EACH;
    (halves + u64::from(b'0') * EACH + u64::from(b'a' - b'9' - 1) * letters).to_be_bytes()
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
    fn digits_are_those_of_the_number() {
        for number in [0, 0x0123_4567, 0x89ab_cdef, u32::MAX, 0x9a00_00a9] {
            assert_eq!(digits(number), format!("{number:08x}").as_bytes());
        }
    }

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
