//! XML that is compared as XML: what can be written in several ways is written in one.

use anyhow::Context;
use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};
use myelin_xml::{Document, Options};

/// The canonical form of a document.
///
/// Errors: it is no XML.
/// Source: Canonical XML 1.0.
pub fn form(text: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    let document = Document::parse(text, &Options::default()).context("this is no XML")?;
    let mut bytes = Vec::new();
    let all = Subset { apex: document.document_node(), excluded: &[] };
    canonicalize(&document, all, &Canonical::new(Method::Inclusive), &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_writing_do_not_count_in_the_canonical_form() {
        let form = |text: &str| form(text.as_bytes().to_vec()).ok();
        assert!(form("<a/>").is_some());
        assert_eq!(form("<?xml version='1.0'?>\n<a b='1'/>"), form("<a b=\"1\"></a>"));
        assert_ne!(form("<a><b/></a>"), form("<a></a>"));
        assert_eq!(form("<a>"), None);
    }
}
