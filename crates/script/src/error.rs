//! What can be wrong with a script, and what can go wrong while it runs.

use std::fmt;
use std::sync::Arc;

/// A place in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file that holds the script.
    pub file: Arc<str>,
    /// The line in that file, from 1.
    pub line: u32,
    /// The character in that line, from 1.
    pub column: u32,
}

/// As `file:line:column`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why a script cannot run here; found while it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, as far as it is known.
    pub place: Option<Place>,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// Why a run ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// It would take longer than [`crate::Terms::polls`] allows; nothing happened, and it can be begun again.
    Long,
    /// Its time was over.
    Time,
    /// The script threw, or asked for more memory or depth than it has.
    Thrown {
        /// What was thrown, as text.
        text: String,
        /// Where, as far as the engine knows.
        place: Option<Place>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Long => f.write_str("the script takes longer than it may here"),
            Error::Time => f.write_str("the script took longer than it may"),
            Error::Thrown { text, .. } => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}
