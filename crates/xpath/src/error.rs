//! What can go wrong: in the text of an expression, and while it runs.

use std::fmt;

/// Why an expression is refused when it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The byte of the expression's text where it goes wrong.
    pub offset: usize,
    /// A sentence for the user: what is wrong and what would be right.
    pub message: String,
    /// The error's code in XPath 2.0 and later (appendix G), such as `XPST0003`.
    pub code: &'static str,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// Why a running expression gives no value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// More nodes and items would be visited than [`Limits::steps`](crate::Limits::steps) allows.
    Steps(u64),
    /// More text and longer lists would be built than [`Limits::bytes`](crate::Limits::bytes) allows.
    Bytes(u64),
    /// Functions that are values call each other deeper than the stack allows.
    Depth,
    /// The expression asks for a document, and there is none.
    NoContext,
    /// A value does not fit what is done with it: the expression's author, or the data.
    Value {
        /// The code of XPath and XQuery Functions and Operators, such as `FORG0001`.
        code: &'static str,
        /// A sentence for the user.
        message: String,
    },
    /// The expression asked for it by `error()`; the namespace is empty for none.
    Raised {
        /// The namespace of the error's code.
        namespace: String,
        /// The local name of its code.
        local: String,
        /// A sentence for the user.
        message: String,
        /// Whether the host was told a value that belongs to it (see [`Host::raises`](crate::Host::raises)).
        carries_value: bool,
    },
    /// A variable or function of the host failed.
    Host(String),
}

impl Error {
    /// An error about a value, with the code the standard gives it.
    pub fn value(code: &'static str, message: impl Into<String>) -> Error {
        Error::Value { code, message: message.into() }
    }

    /// The code the standard gives this error; `None` for the host's own.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Error::NoContext => Some("XPDY0002"),
            Error::Value { code, .. } => Some(code),
            Error::Steps(_) | Error::Bytes(_) | Error::Depth => Some("XPDY0130"),
            Error::Raised { .. } | Error::Host(_) => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Steps(limit) => write!(f, "the expression visits more than {limit} nodes"),
            Error::Bytes(limit) => write!(f, "the expression builds more than {limit} bytes of text and lists"),
            Error::Depth => f.write_str("functions call each other too deeply"),
            Error::NoContext => f.write_str("the expression looks into a document, and there is none"),
            Error::Value { message, .. } | Error::Raised { message, .. } | Error::Host(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}
