//! The correlation id of an exchange: what came as `activityid`, or one made here.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use myelin_engine::Position;
use myelin_message::CorrelationId;

thread_local! {
    static SEED: (RandomState, RandomState) = (RandomState::new(), RandomState::new());
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// The header that carries it, as in WSO2 Micro Integrator.
pub(crate) const HEADER: &str = "activityid";

/// A new id in the form of a UUID; unique, and no secret.
pub(crate) fn fresh() -> String {
    let count = COUNT.replace(COUNT.get() + 1);
    // Keyed hashes of a counter: the keys are the system's randomness, drawn once a thread.
    let (high, low) = SEED.with(|(high, low)| (high.hash_one(count), low.hash_one(count)));
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        0x8000 | low >> 48 & 0x3fff,
        low & 0xffff_ffff_ffff
    )
}

/// The id of the exchange that this thread works for.
pub(crate) fn here() -> CorrelationId {
    let known = Position::here().correlation.filter(|id| !id.as_str().is_empty());
    known.unwrap_or_else(|| CorrelationId::on_demand(fresh))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_of_a_random_uuid_and_differ() {
        let (one, two) = (fresh(), fresh());
        assert_ne!(one, two);
        assert_eq!(one.len(), 36);
        assert_eq!(one.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&one.as_bytes()[19]));
    }
}
