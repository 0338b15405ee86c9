//! Ids that nothing in a message has yet.

use super::errors::cryptography;
use crate::Error;
use crate::crypto::fill;

/// Makes the ids of one message: a random number, which nobody could have put into the message before, and a count.
pub(super) struct Ids {
    random: String,
    count: u32,
}

impl Ids {
    pub(super) fn new() -> Result<Ids, Error> {
        let mut random = [0; 12];
        fill(&mut random).map_err(cryptography)?;
        let random = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Ids { random, count: 0 })
    }

    /// An id that begins with what it is of.
    pub(super) fn next(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}-{}-{}", self.random, self.count)
    }
}
