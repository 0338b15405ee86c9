//! What tells a message from all others.

use crate::algorithm::DigestMethod;
use crate::crypto::Hasher;

/// What one message is remembered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Mark(pub(super) [u8; 16]);

impl Mark {
    /// The mark of something of a kind, told apart from all else by its parts.
    pub(crate) fn of(kind: &str, parts: &[&[u8]]) -> Mark {
        let mut hasher = Hasher::new(DigestMethod::Sha256);
        for part in std::iter::once(&kind.as_bytes()).chain(parts) {
            // With its length, so that no two lists of parts are the same bytes.
            hasher.update(&(part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        let digest = hasher.finish();
        let mut mark = [0; 16];
        mark.copy_from_slice(&digest.as_ref()[..16]);
        Mark(mark)
    }
}
