//! What is wrong with a description.

use std::fmt;

/// Why a description cannot be used; its author's error, save where a bound is too tight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The URI of the document.
    pub document: String,
    /// In which line, from 1; 0 where the document as a whole is meant.
    pub line: u64,
    /// At which character of the line, from 1; 0 as above.
    pub column: u64,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// It is not well-formed XML.
    Malformed(String),
    /// Its root is none that is known here.
    Root(String),
    /// It refers to something that is not there: what, and its name.
    Missing(&'static str, String),
    /// It has no operations to speak of.
    Empty,
    /// It defines, with all its imports, more than this: operations, messages, and whatever else has an element.
    TooManyDefinitions(usize),
    /// It imports more documents than this.
    TooManyDocuments(usize),
    /// It has, with all its imports, more bytes than this.
    TooLarge(usize),
}

impl Error {
    /// An error of a document as a whole.
    pub(crate) fn whole(document: &str, kind: ErrorKind) -> Error {
        Error { document: document.to_owned(), line: 0, column: 0, kind }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Malformed(what) => write!(f, "not well-formed XML: {what}"),
            ErrorKind::Root(root) => write!(f, "<{root}> is neither WSDL 1.1, WSDL 2.0 nor a schema"),
            ErrorKind::Missing(what, name) => write!(f, "there is no {what} {name:?}"),
            ErrorKind::Empty => f.write_str("it describes no operations"),
            ErrorKind::TooManyDefinitions(limit) => {
                write!(f, "it has, with what it imports, more than {limit} elements")
            }
            ErrorKind::TooManyDocuments(limit) => write!(f, "it imports more than {limit} documents"),
            ErrorKind::TooLarge(limit) => write!(f, "it is, with what it imports, larger than {limit} bytes"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.document.as_str()) {
            (0, "") => write!(f, "{}", self.kind),
            (0, document) => write!(f, "{document}: {}", self.kind),
            (line, document) => write!(f, "{document}:{line}:{}: {}", self.column, self.kind),
        }
    }
}

impl std::error::Error for Error {}
