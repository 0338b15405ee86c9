//! How a canonical form is made, and why there may be none.

use std::fmt;

/// Which of the standards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Canonical XML 1.0: all namespaces in scope, all `xml:` attributes of ancestors.
    Inclusive,
    /// Canonical XML 1.1: as 1.0, but `xml:id` stays where it is and `xml:base` is joined.
    Inclusive11,
    /// Exclusive Canonical XML 1.0: only the namespaces that names use, nothing of ancestors.
    Exclusive,
}

/// How a canonical form is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// By which standard.
    pub method: Method,
    /// Whether comments stay.
    pub comments: bool,
    /// For the exclusive method: prefixes treated as the inclusive ones treat all, the empty one for `#default`.
    pub inclusive_prefixes: Vec<String>,
}

pub(super) const INCLUSIVE: &str = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315";
pub(super) const INCLUSIVE_11: &str = "http://www.w3.org/2006/12/xml-c14n11";
pub(super) const EXCLUSIVE: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";

impl Canonical {
    /// Without comments and without inclusive prefixes.
    pub fn new(method: Method) -> Canonical {
        Canonical { method, comments: false, inclusive_prefixes: Vec::new() }
    }

    /// What the identifier of an algorithm in a signature means; `None` for one that is none of these.
    ///
    /// Source: XML Signature 1.1 §6.5.
    pub fn from_uri(uri: &str) -> Option<Canonical> {
        let (algorithm, comments) = match uri.strip_suffix("WithComments") {
            // The exclusive identifier has the `#` already.
            Some(EXCLUSIVE) => (EXCLUSIVE, true),
            Some(rest) => (rest.strip_suffix('#')?, true),
            None => (uri, false),
        };
        let method = match algorithm {
            INCLUSIVE => Method::Inclusive,
            INCLUSIVE_11 => Method::Inclusive11,
            EXCLUSIVE if uri.starts_with(EXCLUSIVE) => Method::Exclusive,
            _ => return None,
        };
        Some(Canonical { comments, ..Canonical::new(method) })
    }
}

/// A namespace that is a relative reference: such documents have no canonical form. The document's author is to blame.
///
/// Source: Canonical XML 1.1 §1.3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelativeNamespace(pub String);

impl fmt::Display for RelativeNamespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "namespace {:?} is relative, expected one with a scheme: it has no canonical form", self.0)
    }
}

impl std::error::Error for RelativeNamespace {}
