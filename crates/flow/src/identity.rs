//! Identifiers that nobody else has.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::fault::{Fault, Outcome};

/// A new identifier, in the form of a random UUID (RFC 9562 §5.4).
pub fn new(now: SystemTime) -> String {
    // Two keyed hashes of the time give 128 bits that do not repeat; nothing secret hangs on them.
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let half = || {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u128(now.as_nanos());
        hasher.finish()
    };
    let (high, low) = (half(), half());
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
    fn two_identifiers_of_one_moment_differ() {
        let (first, second) = (new(UNIX_EPOCH), new(UNIX_EPOCH));
        assert_ne!(first, second);
        assert_eq!((first.len(), &first[14..15]), (36, "4"));
    }
}
