//! A document, from its declaration to what stands behind its root element.

use std::ops::Range;

use super::replace::Replacements;
use crate::document::{Document, Fixups, Kind};

/// What becomes of the XML declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeclarationPolicy {
    /// Written where the document had one, with the encoding it has now: UTF-8.
    #[default]
    AsRead,
    /// Written in any case.
    Always,
    /// Left out.
    Never,
}

pub(super) const DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;

/// Writes nodes of one document.
pub(super) struct Writer<'a> {
    pub(super) document: &'a Document,
    pub(super) fixups: &'a Fixups,
    pub(super) replacements: Option<&'a Replacements<'a>>,
    pub(super) out: &'a mut Vec<u8>,
}

impl Writer<'_> {
    /// Writes the XML declaration; whether there is one.
    pub(super) fn declaration(&mut self, policy: DeclarationPolicy) -> bool {
        let prolog = self.document.prolog();
        match (policy, &prolog.declaration) {
            (DeclarationPolicy::Never, _) | (DeclarationPolicy::AsRead, None) => return false,
            (_, Some(range)) if !prolog.other_encoding => self.copy(range.clone()),
            _ => self.put(DECLARATION),
        }
        true
    }

    /// Writes a document child by child, with the white space that stood in front of those that are where they were.
    pub(super) fn top_level(&mut self, policy: DeclarationPolicy) {
        let document = self.document;
        let start = self.out.len();
        if self.declaration(policy) && document.prolog().declaration.is_none() {
            self.put("\n");
        }
        let mut doctype = document.prolog().doctype.clone();
        for child in document.children(document.document_node()) {
            let place = document.place_in_source(child);
            let element = document.kind(child) == Kind::Element;
            if let Some(range) = doctype.take_if(|range| element || place.is_some_and(|at| at > range.start)) {
                self.gap(start, range.start);
                self.copy(range);
            }
            if let Some(place) = place {
                self.gap(start, place);
            }
            self.subtree(child);
        }
        self.gap(start, document.source().len());
    }

    /// Copies the white space that stands in the source before `end`; none at the very start.
    fn gap(&mut self, start: usize, end: usize) {
        let before = self.document.text(0..end);
        let trimmed = before.trim_end_matches([' ', '\t', '\n', '\r']).len();
        if self.out.len() > start {
            self.copy(trimmed..end);
        }
    }

    pub(super) fn copy(&mut self, range: Range<usize>) {
        self.put(self.document.text(range));
    }

    pub(super) fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }
}
