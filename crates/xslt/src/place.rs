//! Places in the files of a stylesheet, for people.

use std::fmt;

/// A place in a stylesheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The URI by which the stylesheet was found.
    pub file: String,
    /// Counts from 1.
    pub line: u64,
    /// Counts from 1, in characters.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
