//! Names with their namespaces.

use std::fmt;

/// The namespace of XPath's own functions.
pub(crate) const FUNCTIONS_OF_XPATH: &str = "http://www.w3.org/2005/xpath-functions";

/// The namespace of EXSLT's common functions, and of the element that writes another document.
pub(crate) const EXSLT_COMMON: &str = "http://exslt.org/common";

/// The namespace of Saxon 6, of which libxslt has some functions and the element `saxon:output` too.
pub(crate) const SAXON: &str = "http://icl.com/saxon";

/// A namespace and a local name; the namespace is empty for none.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExpandedName {
    pub(crate) namespace: String,
    pub(crate) local: String,
}

impl ExpandedName {
    pub(crate) fn new(namespace: impl Into<String>, local: impl Into<String>) -> ExpandedName {
        ExpandedName { namespace: namespace.into(), local: local.into() }
    }

    /// Whether it is the name that a text spells, as [`parse`](ExpandedName::parse) reads it.
    pub(crate) fn is(&self, text: &str) -> bool {
        ExpandedName::parse(text).is_some_and(|name| name == *self)
    }

    /// Reads `local`, `{namespace}local` or `Q{namespace}local`.
    pub(crate) fn parse(text: &str) -> Option<ExpandedName> {
        let braced = text.strip_prefix("Q{").or_else(|| text.strip_prefix('{'));
        let (namespace, local) = match braced {
            Some(rest) => rest.split_once('}')?,
            None => ("", text),
        };
        myelin_xml::is_ncname(local).then(|| ExpandedName::new(namespace, local))
    }
}

impl fmt::Display for ExpandedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => f.write_str(&self.local),
            namespace => write!(f, "{{{namespace}}}{}", self.local),
        }
    }
}

/// A name as it is written into the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QualifiedName {
    /// Empty: none.
    pub(crate) prefix: String,
    pub(crate) local: String,
    /// Empty: none.
    pub(crate) namespace: String,
}

impl QualifiedName {
    /// As results take it.
    pub(crate) fn as_name(&self) -> myelin_xml::Name<'_> {
        myelin_xml::Name { prefix: &self.prefix, local: &self.local, namespace: &self.namespace }
    }
}
