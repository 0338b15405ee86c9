//! Why JSON cannot become XML.

use crate::error::Error;
use crate::reader::Reader;

/// Why a token cannot be written.
pub(super) enum Refused {
    /// A character that XML cannot hold.
    Character(char),
    /// An attribute stands twice on an element.
    Twice(String),
}

impl Refused {
    #[cold]
    pub(super) fn character(character: char) -> Box<Refused> {
        Box::new(Refused::Character(character))
    }

    #[cold]
    pub(super) fn at(self, reader: &Reader, json: &[u8], start: usize) -> Error {
        match self {
            Refused::Character(character) => Error::Character(reader.place(json, start), character),
            Refused::Twice(key) => Error::Duplicate { key },
        }
    }
}
