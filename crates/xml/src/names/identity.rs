//! What tells one set of names from all others.

use std::sync::atomic::{AtomicU64, Ordering};

/// Tells one set of names from all others of the process.
///
/// The default is that of no names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamesId(u64);

impl NamesId {
    /// One that no other names have.
    pub(super) fn next() -> NamesId {
        static LAST: AtomicU64 = AtomicU64::new(0);
        // Nothing else has to be seen in the order of these numbers.
        NamesId(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
