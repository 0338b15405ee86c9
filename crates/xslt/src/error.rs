//! What can be wrong with a stylesheet, and what can go wrong while it runs.

use std::fmt;

use crate::options::Message;
use crate::place::Place;

/// Something in a stylesheet that is wrong, or that a warning is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// The code that the standard gives it, such as `XTSE0010`; of a malformed stylesheet `XML`.
    pub code: &'static str,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.place, self.message, self.code)
    }
}

impl std::error::Error for Problem {}

/// Why a transformation gives no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The code that the standard gives it, such as `XTDE0640`; `LIMIT` where a bound was reached.
    pub code: String,
    /// What went wrong.
    pub message: String,
    /// The instruction that failed.
    pub place: Option<Place>,
    /// The templates and functions that led there, the innermost first; at most the last few.
    pub trail: Vec<String>,
    /// A path to the source node that was worked on.
    pub node: Option<String>,
    /// What `xsl:message` said before; one that ends a transformation is the last.
    pub messages: Vec<Message>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{} ({})", self.message, self.code)?;
        if let Some(node) = &self.node {
            write!(f, ", at {node}")?;
        }
        if let Some(first) = self.trail.first() {
            write!(f, ", in {first}")?;
        }
        self.trail.iter().skip(1).try_for_each(|outer| write!(f, ", from {outer}"))
    }
}

impl std::error::Error for Error {}
