//! Regular expressions of an expression (Functions and Operators §5.6).

mod cache;
mod segments;

use myelin_java_text::pattern::xpath::{self, PatternError, SearchLimit};

use crate::error::Error;
pub(crate) use cache::PatternCache;
pub use segments::{Segment, Segments};

/// A regular expression of XPath, ready to run: in linear time, unless it has back-references.
#[derive(Clone, Debug)]
pub struct Pattern(pub(crate) xpath::Pattern);

impl Pattern {
    /// Compiles a pattern.
    ///
    /// Errors: `FORX0001` for unknown flags, `FORX0002` for what is no regular expression.
    /// Source: Functions and Operators §5.6.
    pub fn new(source: &str, flags: &str) -> Result<Pattern, Error> {
        xpath::Pattern::new(source, flags).map(Pattern).map_err(|wrong| match wrong {
            PatternError::Flag(flag) => {
                Error::value("FORX0001", format!("{flag:?} is no flag of a regular expression: s, m, i, x and q are"))
            }
            PatternError::Expression(message) => Error::value("FORX0002", format!("the pattern {source:?}: {message}")),
        })
    }

    /// As it is written.
    pub fn source(&self) -> &str {
        self.0.source()
    }

    /// Whether the empty text is a match, which functions that go through a text refuse.
    pub fn matches_empty(&self) -> bool {
        self.0.is_match("", &mut |_| Ok::<_, Error>(())).unwrap_or(false)
    }

    /// The matches in a text and what lies between them, in their order.
    ///
    /// Source: `xsl:analyze-string` of XSLT 2.0 §15.
    pub fn segments<'p, 't>(&'p self, text: &'t str) -> Segments<'p, 't> {
        Segments::new(self, text)
    }

    /// Later, `replace` and `tokenize` would not know where to stop (§5.6.4).
    pub(crate) fn refuse_empty(&self) -> Result<(), Error> {
        match self.matches_empty() {
            true => Err(Error::value("FORX0003", format!("the pattern {:?} matches the empty text", self.source()))),
            false => Ok(()),
        }
    }
}

impl From<SearchLimit> for Error {
    fn from(_: SearchLimit) -> Error {
        Error::value("XPDY0130", "a pattern with back-references has too many ways to match")
    }
}

#[cfg(test)]
mod tests;
