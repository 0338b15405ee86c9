//! Answers that have to be certain XML, however they write it.

use std::cell::RefCell;

use super::failure::Failure;
use crate::canonical;
use crate::payload::Payload;

/// XML that may be written in other ways.
pub(super) struct Alike {
    /// `None`: what it is compared with is none itself.
    canonical: Option<Vec<u8>>,
    /// Longer answers are not looked at.
    pub(super) limit_bytes: usize,
    /// The last answer that was alike: most of the next are these very bytes.
    known: RefCell<Vec<u8>>,
}

impl Alike {
    pub(super) fn new(wanted: &Payload) -> Alike {
        let canonical = canonical::form(wanted.to_vec()).ok();
        // Other quotes, prefixes and escapes make it longer, but not by much.
        let limit_bytes = 4 * wanted.length() as usize + 64 * 1024;
        Alike { canonical, limit_bytes, known: RefCell::default() }
    }

    /// Whether `body` is the same XML.
    pub(super) fn judge(&self, body: &[u8]) -> Result<(), Failure> {
        if *self.known.borrow() == body && !body.is_empty() {
            return Ok(());
        }
        let Some(wanted) = &self.canonical else {
            return Err(Failure::Mismatch("what is expected is no XML".to_owned()));
        };
        if canonical::form(body.to_vec()).is_ok_and(|form| form == *wanted) {
            self.known.replace(body.to_vec());
            return Ok(());
        }
        Err(Failure::Mismatch("other XML than was expected".to_owned()))
    }
}
