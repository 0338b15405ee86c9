//! What can go wrong, and where.

use std::fmt;

/// An error of this crate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The text is not JSON: the sender's.
    Malformed {
        /// The byte that does not fit.
        place: Place,
        /// What would have been right there.
        expected: &'static str,
        /// The byte that stands there; `None` at the end of the text.
        found: Option<u8>,
    },
    /// The text is not UTF-8 at this place: the sender's.
    Encoding(Place),
    /// The text is larger in some respect than the reader's options allow: the sender's.
    TooLarge(Limit, Place),
    /// An object has a key twice that somebody asked for and duplicates are to be refused, or a conversion would make two attributes or two keys of one name: the sender's.
    Duplicate {
        /// The key, shortened to [`SHOWN_BYTES`].
        key: String,
    },
    /// The text of a path does not follow the grammar: its author's.
    Path {
        /// Bytes from the start of the path.
        offset: usize,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// The path leads nowhere in this value: what Jayway calls `PathNotFoundException`.
    NotFound,
    /// The path cannot be applied to this value, such as an average of nothing.
    Inapplicable(&'static str),
    /// The evaluation would look at more nodes than its limit allows.
    Visited(usize),
    /// The evaluation would make or put in more bytes of text than its limit allows.
    Made(usize),
    /// XML cannot hold this character: the sender's.
    Character(Place, char),
    /// An element has text between elements, for which JSON has no place: the sender's.
    Mixed {
        /// The name of the element.
        element: String,
    },
    /// A conversion would make more bytes than its limit allows.
    Converted(usize),
    /// A change would make the value larger than a value can be, or would hold it in itself.
    Unchangeable(&'static str),
}

/// How much of a key an error repeats.
pub const SHOWN_BYTES: usize = 64;

/// As much of a key as an error repeats.
pub(crate) fn shortened(key: &str) -> String {
    key[..key.floor_char_boundary(SHOWN_BYTES)].to_owned()
}

/// What of a text is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// So many arrays and objects within each other.
    Depth(usize),
    /// So many bytes between the quotes of a key.
    KeyBytes(usize),
    /// So many bytes in a number.
    NumberBytes(usize),
    /// So many nodes in a tree.
    Nodes(usize),
    /// So many bytes in a text that becomes a tree.
    SourceBytes(usize),
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Bytes before it in the whole text, those that were forgotten included.
    pub offset: usize,
    /// Counted from 1, by line feeds.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
}

impl Place {
    /// Where a text starts.
    pub(crate) const START: Place = Place { offset: 0, line: 1, column: 1 };

    /// The place behind `bytes`, which stand at this place.
    pub(crate) fn behind(self, bytes: &[u8]) -> Place {
        let characters = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        let offset = self.offset + bytes.len();
        match memchr::memrchr(b'\n', bytes) {
            None => Place { offset, line: self.line, column: self.column + characters(bytes) },
            Some(last) => Place {
                offset,
                line: self.line + memchr::memchr_iter(b'\n', bytes).count(),
                column: 1 + characters(&bytes[last + 1..]),
            },
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Depth(limit) => write!(formatter, "arrays and objects nested deeper than {limit}"),
            Limit::KeyBytes(limit) => write!(formatter, "a key longer than {limit} bytes"),
            Limit::NumberBytes(limit) => write!(formatter, "a number longer than {limit} bytes"),
            Limit::Nodes(limit) => write!(formatter, "a tree of more than {limit} nodes"),
            Limit::SourceBytes(limit) => write!(formatter, "a text longer than {limit} bytes"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Malformed { place, expected, found } => {
                write!(formatter, "{place}: expected {expected}, found ")?;
                match found {
                    None => write!(formatter, "the end"),
                    Some(byte @ 0x21..=0x7E) => write!(formatter, "`{}`", *byte as char),
                    Some(byte) => write!(formatter, "byte 0x{byte:02X}"),
                }
            }
            Error::Encoding(place) => write!(formatter, "{place}: not UTF-8"),
            Error::TooLarge(limit, place) => write!(formatter, "{place}: {limit}"),
            Error::Duplicate { key } => write!(formatter, "the key {key:?} occurs twice"),
            Error::Path { offset, problem } => write!(formatter, "JSONPath, offset {offset}: {problem}"),
            Error::NotFound => write!(formatter, "the path leads to nothing"),
            Error::Inapplicable(why) => write!(formatter, "the path cannot be applied: {why}"),
            Error::Visited(limit) => write!(formatter, "the path looks at more than {limit} nodes"),
            Error::Made(limit) => write!(formatter, "the path makes more than {limit} bytes of text"),
            Error::Character(place, character) => write!(formatter, "{place}: {character:?} cannot stand in XML"),
            Error::Mixed { element } => {
                write!(formatter, "the element {element:?} has text between its elements, for which JSON has no place")
            }
            Error::Converted(limit) => write!(formatter, "the conversion makes more than {limit} bytes"),
            Error::Unchangeable(why) => write!(formatter, "the value cannot be changed: {why}"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters_across_pieces() {
        let text = "a\nßb\nc".as_bytes();
        for cut in 0..=text.len() {
            let place = Place::START.behind(&text[..cut]).behind(&text[cut..]);
            assert_eq!(place, Place { offset: 7, line: 3, column: 2 });
        }
    }

    #[test]
    fn errors_say_where_and_what_would_be_right() {
        let place = Place { offset: 4, line: 2, column: 3 };
        let error = Error::Malformed { place, expected: "a value", found: Some(b'}') };
        assert_eq!(error.to_string(), "line 2, column 3: expected a value, found `}`");
        let error = Error::TooLarge(Limit::Depth(3), place);
        assert_eq!(error.to_string(), "line 2, column 3: arrays and objects nested deeper than 3");
    }
}
