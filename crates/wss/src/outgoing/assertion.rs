//! An assertion, ready to be shown.

use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};
use myelin_xml::{Document, Options};

use crate::Error;
use crate::policy::SamlVersion;
use crate::vocabulary::{SAML_11, SAML_20};

/// An assertion, ready to be shown.
pub(super) struct Assertion {
    pub(super) id: String,
    pub(super) version: SamlVersion,
    /// As it was given.
    pub(super) text: Vec<u8>,
    pub(super) canonical: Vec<u8>,
}

impl Assertion {
    /// Reads an assertion that is given as XML.
    ///
    /// Errors: it is no assertion of SAML with an id.
    pub(super) fn read(text: &str) -> Result<Assertion, Error> {
        let wrong = || Error::Missing("a SAML assertion with an id".into());
        let document = Document::parse(text.as_bytes().to_vec(), &Options::default()).map_err(|_| wrong())?;
        let root = document.root_element().ok_or_else(wrong)?;
        let name = document.qname(root);
        let (version, attribute) = match (name.namespace, name.local) {
            (SAML_11, "Assertion") => (SamlVersion::V11, "AssertionID"),
            (SAML_20, "Assertion") => (SamlVersion::V20, "ID"),
            _ => return Err(wrong()),
        };
        let id = document.attribute(root, "", attribute).ok_or_else(wrong)?.into_owned();
        let text = document.as_read(root).ok_or_else(wrong)?.as_bytes().to_vec();
        let mut canonical = Vec::new();
        let subset = Subset { apex: root, excluded: &[] };
        canonicalize(&document, subset, &Canonical::new(Method::Exclusive), &mut canonical).map_err(|_| wrong())?;
        Ok(Assertion { id, version, text, canonical })
    }
}
