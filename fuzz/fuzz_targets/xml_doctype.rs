#![no_main]
//! A document type that is read ends in a text within its bounds or in an error with its place, never in a panic.

use libfuzzer_sys::fuzz_target;
use myelin_xml::doctype::{DoctypeOptions, ElementSpace, ExternalEntity, Externals, apply};
use myelin_xml::{Document, Options};

const LIMITS: DoctypeOptions = DoctypeOptions {
    expansion_bytes: 64 << 10,
    external_bytes: 1 << 20,
    declarations: 1_000,
    depth: 20,
    element_space: ElementSpace::Drop,
};

/// The other part of the input is every file there is.
struct Other<'d>(&'d [u8]);

impl Externals for Other<'_> {
    fn find(&self, _: Option<&str>, system: &str, _: &str) -> Result<ExternalEntity, String> {
        match system.is_empty() {
            true => Err("nothing has no name".to_owned()),
            false => Ok(ExternalEntity { uri: system.to_owned(), bytes: self.0.to_vec() }),
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let cut = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (document, other) = data.split_at(cut);
    let Ok(text) = std::str::from_utf8(document) else { return };
    let externals = Other(other.get(1..).unwrap_or_default());
    match apply(text, "document", &externals, &LIMITS) {
        Err(error) => assert!(error.line > 0 && error.column > 0 && error.offset <= text.len()),
        Ok(None) => {}
        Ok(Some(applied)) => {
            let new = applied.text.as_deref().unwrap_or(text);
            // What is added is counted with a quote that takes five bytes, and a carriage return likewise.
            assert!(new.len() <= 6 * (LIMITS.expansion_bytes + 12 * text.len()));
            for offset in 0..new.len() {
                assert!(applied.source_offset(offset) <= text.len());
            }
        }
    }
    let read = Document::parse_with_doctype(document.to_vec(), "document", &Options::default(), &externals, &LIMITS);
    if let Err(error) = read {
        assert!(error.line > 0 && error.column > 0 && error.offset <= document.len());
    }
});
