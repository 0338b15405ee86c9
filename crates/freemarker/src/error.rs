//! What can be wrong with a template, or while it runs.

use std::fmt;

/// A place in the text of a template: line and column, both counted from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// What kind of fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is no template: found while compiling, the author's.
    Syntax,
    /// FreeMarker has it and this crate has not: found while compiling, the author's.
    Unsupported,
    /// Something is not there, and the template says no `!` and no `??`: the data's, or the author's.
    Missing,
    /// A value is not of the kind that is wanted: the data's, or the author's.
    Wrong,
    /// The template ended itself by `#stop`.
    Stopped,
    /// The run took more than its limits allow.
    Limit,
}

/// A fault with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What kind it is.
    pub kind: ErrorKind,
    /// Where in the template.
    pub place: Place,
    /// One sentence, without the place.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.place.line, self.place.column, self.message)
    }
}

impl std::error::Error for Error {}

/// A fault that may not know its place yet: whoever evaluates the expression does.
#[derive(Debug)]
pub(crate) struct Trouble {
    kind: ErrorKind,
    message: String,
    place: Option<Place>,
}

impl Trouble {
    /// A value that is not what is wanted.
    pub(crate) fn wrong(message: impl Into<String>) -> Trouble {
        Trouble { kind: ErrorKind::Wrong, message: message.into(), place: None }
    }

    /// A value that is not there.
    pub(crate) fn missing(message: impl Into<String>) -> Trouble {
        Trouble { kind: ErrorKind::Missing, message: message.into(), place: None }
    }

    /// A bound that was reached.
    pub(crate) fn limit(message: impl Into<String>) -> Trouble {
        Trouble { kind: ErrorKind::Limit, message: message.into(), place: None }
    }

    /// The end that the template makes of itself.
    pub(crate) fn stopped(message: impl Into<String>) -> Trouble {
        Trouble { kind: ErrorKind::Stopped, message: message.into(), place: None }
    }

    /// The same, at its place.
    pub(crate) fn at(self, place: Place) -> Box<Error> {
        Box::new(Error { kind: self.kind, place: self.place.unwrap_or(place), message: self.message })
    }
}

impl From<Box<Error>> for Trouble {
    fn from(error: Box<Error>) -> Trouble {
        Trouble { kind: error.kind, message: error.message, place: Some(error.place) }
    }
}

/// What is wrong: its kind, where, and a sentence.
pub(crate) type Refusal = (ErrorKind, usize, String);
