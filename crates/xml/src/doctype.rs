//! Document types that are read on purpose: entities, default values and types of attributes.
//!
//! The parser refuses or skips a document type, as messages come from strangers. Stylesheets and documents of people are
//! their authors': [`apply`] reads the declarations, with those of external files that [`Externals`] gives, and writes
//! what they say into the text, which the parser then reads as any other. References become what they stand for,
//! default values become attributes, and values of other types than CDATA lose their spare white space. All of it is
//! bounded by [`DoctypeOptions`].

mod attributes;
mod declarations;
mod elements;
mod entities;
mod expansion;
mod external;
mod input;
mod place;
mod reader;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use declarations::{Declarations, UnparsedEntity};
pub use external::{ExternalEntity, Externals, NoExternals};

use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::options::{DoctypePolicy, Options};
use expansion::Expansion;
use place::Pieces;
use reader::Reader;

/// How much a document type may do, and what becomes of white space that it says is none of the content.
///
/// A document that passes one of the bounds is refused with a sentence that names the bound.
#[derive(Clone, Copy, Debug)]
pub struct DoctypeOptions {
    /// Bytes that entities and default values may add to a document, beside ten times its own length; as many may
    /// parameter entities add to the declarations.
    pub expansion_bytes: usize,
    /// Bytes of all external files together.
    pub external_bytes: usize,
    /// Declarations of entities and attributes.
    pub declarations: usize,
    /// Entities inside each other.
    pub depth: usize,
    /// What becomes of white space in elements that have elements only.
    pub element_space: ElementSpace,
}

/// What becomes of white space in elements that the document type says have elements only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementSpace {
    /// It is text, as XPath 1.0 and XSLT 1.0 have it.
    Keep,
    /// It is left out, as the data model of later versions has it (XDM 3.1 §6.7.3).
    Drop,
}

impl Default for DoctypeOptions {
    fn default() -> DoctypeOptions {
        DoctypeOptions {
            expansion_bytes: 16 << 20,
            external_bytes: 64 << 20,
            declarations: 200_000,
            depth: 40,
            element_space: ElementSpace::Keep,
        }
    }
}

/// A text with what its document type says written into it.
#[derive(Debug)]
pub struct Applied {
    /// The text to be parsed with [`DoctypePolicy::Skip`]; `None`: the document type changes nothing in it.
    pub text: Option<String>,
    /// What else it declares.
    pub declarations: Arc<Declarations>,
    pieces: Pieces,
}

impl Applied {
    /// Where a byte of the new text comes from in the one it was made of.
    pub fn source_offset(&self, offset: usize) -> usize {
        self.pieces.source_offset(offset)
    }

    /// An error of the parser about the new text, as one about the text it was made of.
    pub fn of_source(&self, source: &str, error: Error) -> Error {
        undeclared(place::error(source, self.source_offset(error.offset), error.kind))
    }
}

/// Reads the document type of a text and applies it; `None`: there is no document type.
///
/// Shape: a whole document, and the URI that its references are relative to. A document that is not well formed is left
/// as it is from there on: the parser says what is wrong with it. External files that only the document type itself
/// names are left out where they cannot be had; any other that is referred to is an error.
/// Errors: [`ErrorKind::Doctype`] with a sentence, at a place of the text: the author's.
/// Source: XML 1.0 §2.8, §3.3, §4.
pub fn apply(
    source: &str,
    uri: &str,
    externals: &dyn Externals,
    limits: &DoctypeOptions,
) -> Result<Option<Applied>, Error> {
    let Some(start) = place::doctype(source) else { return Ok(None) };
    let fail = |(offset, sentence): (usize, String)| place::error(source, offset, ErrorKind::Doctype(sentence));
    let mut reader = Reader::new(source, uri, start, externals, limits);
    let end = reader.document_type().map_err(fail)?;
    let (dtd, budget) = reader.finish();
    let mut expansion = Expansion::new(source, end, &dtd, externals, limits, budget);
    let changed = expansion.run().map_err(fail)?;
    let (text, pieces, bases) = expansion.finish();
    let declarations = Arc::new(dtd.into_declarations(bases));
    Ok(Some(Applied { text: changed.then_some(text), declarations, pieces }))
}

impl Document {
    /// Reads a whole document with its document type applied, as [`apply`] says it.
    ///
    /// Errors: as [`Document::parse`] and [`apply`], at places of `source`.
    pub fn parse_with_doctype(
        source: Vec<u8>,
        uri: &str,
        options: &Options,
        externals: &dyn Externals,
        limits: &DoctypeOptions,
    ) -> Result<Document, Error> {
        let options = Options { doctype: DoctypePolicy::Skip, ..options.clone() };
        // The parser tells of bytes that are no text.
        let Ok(text) = std::str::from_utf8(&source) else { return Document::parse(source, &options) };
        let Some(mut applied) = apply(text, uri, externals, limits)? else { return Document::parse(source, &options) };
        let parsed = match applied.text.take() {
            None => Document::parse(source, &options).map_err(undeclared),
            Some(new) => Document::parse(new.into_bytes(), &options).map_err(|error| applied.of_source(text, error)),
        };
        let mut document = parsed?;
        document.set_declarations(applied.declarations);
        Ok(document)
    }
}

/// Where the document type was read, an entity that the parser does not know is not declared.
fn undeclared(error: Error) -> Error {
    match error.kind {
        ErrorKind::EntityNotExpanded(name) => {
            Error { kind: ErrorKind::Doctype(format!("the entity &{name}; is not declared")), ..error }
        }
        kind => Error { kind, ..error },
    }
}
