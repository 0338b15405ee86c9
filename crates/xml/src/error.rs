//! What is wrong with a document, and where.

use std::fmt;

/// Why a document was not accepted: the sender's error, save where a bound is too tight.
///
/// Units: lines and columns count from 1, columns in characters; `offset` counts bytes of the document in UTF-8.
/// A byte order mark counts as bytes, not as a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// In which line.
    pub line: u64,
    /// At which character of the line.
    pub column: u64,
    /// At which byte of the document.
    pub offset: usize,
}

/// What is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Something else has to stand here.
    Malformed {
        /// What would be right.
        expected: &'static str,
        /// The character that stands there.
        found: char,
    },
    /// Well formed so far, but the standard forbids it; the sentence says what is forbidden.
    Forbidden(&'static str),
    /// The document ends too early.
    UnexpectedEnd {
        /// What was still to come.
        expected: String,
    },
    /// A character that XML 1.0 does not allow, as itself or by its number.
    Character(u32),
    /// An end tag that does not match the element it would close.
    Mismatch {
        /// The name of the open element.
        open: String,
        /// The name in the end tag.
        found: String,
    },
    /// Two attributes of one element with the same name, once prefixes are resolved.
    DuplicateAttribute(String),
    /// A prefix without a namespace declaration in scope.
    UndeclaredPrefix(String),
    /// A reference to an entity that nothing declares.
    UndefinedEntity(String),
    /// A reference to an entity that the skipped document type may declare; entities are not expanded.
    EntityNotExpanded(String),
    /// A document type declaration where none is accepted.
    DoctypeRefused,
    /// Bytes that are no text in the document's encoding.
    NotText,
    /// An encoding that is not read.
    UnsupportedEncoding(String),
    /// The XML declaration names an encoding that the document is not in.
    WrongEncoding(String),
    /// Something in a document type that is read, or in what it names; the sentence says what and where.
    Doctype(String),
    /// A bound of [`Options`](crate::Options) is passed.
    Limit(Limit),
}

/// A bound that was passed, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Too many elements are open at once.
    Depth(usize),
    /// Too many attributes on one element.
    Attributes(usize),
    /// Too many namespace declarations on one element.
    Declarations(usize),
    /// Too many namespace declarations on the elements that are open at once.
    OpenDeclarations(usize),
    /// A name or namespace with too many bytes.
    NameBytes(usize),
    /// Too many different names, prefixes and namespaces.
    Names(usize),
    /// The different names, prefixes and namespaces have too many bytes together.
    NamesBytes(usize),
    /// One piece of markup or text has too many bytes.
    TokenBytes(usize),
    /// The document has too many bytes.
    TotalBytes(usize),
    /// A tree has too many nodes.
    Nodes(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.kind)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Malformed { expected, found } => write!(f, "expected {expected}, found {found:?}"),
            ErrorKind::Forbidden(what) => f.write_str(what),
            ErrorKind::UnexpectedEnd { expected } => write!(f, "the document ends here, expected {expected}"),
            ErrorKind::Character(number) => {
                write!(f, "character U+{number:04X} is not allowed, expected one of XML 1.0")
            }
            ErrorKind::Mismatch { open, found } => write!(f, "expected </{open}>, found </{found}>"),
            ErrorKind::DuplicateAttribute(name) => write!(f, "attribute {name} stands twice, expected once"),
            ErrorKind::UndeclaredPrefix(prefix) => {
                write!(f, "prefix {prefix} is not bound, expected a declaration xmlns:{prefix}")
            }
            ErrorKind::UndefinedEntity(name) => {
                write!(f, "entity &{name}; is not defined, expected amp, lt, gt, quot, apos or a number")
            }
            ErrorKind::EntityNotExpanded(name) => {
                write!(
                    f,
                    "entity &{name}; is not expanded: the document type is skipped; expected amp, lt, gt, quot, apos or a number"
                )
            }
            ErrorKind::DoctypeRefused => {
                f.write_str("a document type declaration is refused, expected the root element")
            }
            ErrorKind::NotText => f.write_str("bytes that are no text in the document's encoding"),
            ErrorKind::UnsupportedEncoding(name) => {
                write!(
                    f,
                    "encoding {name} is not read, expected UTF-8, UTF-16, ISO-8859-1 or another of those that browsers read"
                )
            }
            ErrorKind::WrongEncoding(name) => {
                write!(f, "the declared encoding {name} is not the one the document is in")
            }
            ErrorKind::Doctype(sentence) => f.write_str(sentence),
            ErrorKind::Limit(limit) => limit.fmt(f),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Depth(bound) => write!(f, "more than {bound} elements inside each other"),
            Limit::Attributes(bound) => write!(f, "more than {bound} attributes on one element"),
            Limit::Declarations(bound) => write!(f, "more than {bound} namespace declarations on one element"),
            Limit::OpenDeclarations(bound) => {
                write!(f, "more than {bound} namespace declarations on elements inside each other")
            }
            Limit::NameBytes(bound) => write!(f, "a name or namespace of more than {bound} bytes"),
            Limit::Names(bound) => write!(f, "more than {bound} different names"),
            Limit::NamesBytes(bound) => write!(f, "different names of more than {bound} bytes together"),
            Limit::TokenBytes(bound) => write!(f, "a tag, text, comment or instruction of more than {bound} bytes"),
            Limit::TotalBytes(bound) => write!(f, "a document of more than {bound} bytes"),
            Limit::Nodes(bound) => write!(f, "a tree of more than {bound} nodes"),
        }
    }
}
