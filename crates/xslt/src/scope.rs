//! Where something stands in a stylesheet, and what is known there.

use myelin_xpath::Version;

use crate::name::ExpandedName;

/// A place in a stylesheet, as the program keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) file: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// What is known where an expression or a computed name stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scope {
    /// Prefix and namespace; the empty prefix is the default namespace. `xml` is not listed.
    pub(crate) namespaces: Vec<(String, String)>,
    /// The base URI of the place.
    pub(crate) base: String,
    /// `1.0`, `2.0` … as a number.
    pub(crate) version: f64,
}

impl Scope {
    /// By which rules expressions and functions work here.
    pub(crate) fn rules(&self) -> Version {
        match self.version {
            version if version < 2.0 => Version::V1,
            version if version < 3.0 => Version::V2,
            _ => Version::V3,
        }
    }

    /// The name that `prefix:local`, `local` or `Q{namespace}local` means here; without a prefix it has no namespace.
    pub(crate) fn expand(&self, name: &str) -> Option<ExpandedName> {
        let name = name.trim_matches([' ', '\t', '\r', '\n']);
        if name.starts_with("Q{") {
            return ExpandedName::parse(name);
        }
        let Some((prefix, local)) = name.split_once(':') else {
            return ExpandedName::parse(name).filter(|found| found.namespace.is_empty());
        };
        let namespace = self.namespace(prefix)?;
        myelin_xml::is_ncname(local).then(|| ExpandedName::new(namespace, local))
    }

    /// What a prefix stands for here; the empty one for the default namespace.
    pub(crate) fn namespace(&self, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(myelin_xml::XML_NAMESPACE);
        }
        self.namespaces.iter().find(|(known, _)| known == prefix).map(|(_, namespace)| namespace.as_str())
    }
}
