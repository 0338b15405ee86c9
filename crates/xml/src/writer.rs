//! From a tree to bytes: what was not changed is copied from the source, the rest is written.
//!
//! Unchanged documents come out byte for byte. An element below which something changed keeps its tags as they came, a
//! tag that changed keeps its attributes as they came, and a subtree that was moved is copied as long as its prefixes
//! mean at the new place what they meant at the old one; where they do not, its outermost tag declares them.

mod escape;
mod pretty;
mod replace;
mod subtree;

#[cfg(test)]
pub(crate) mod tests;

pub use escape::{escape_attribute, escape_text};

use crate::document::{Document, Fixups, Kind, NodeId};
pub use replace::{Replacements, write_replacing};

/// How a document is written.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// What becomes of the XML declaration, when the document node is written.
    pub declaration: DeclarationPolicy,
    /// Puts elements on lines of their own, indented by so many spaces for each level; nothing is copied then.
    ///
    /// Only elements that hold no text but white space are broken up, and none under `xml:space="preserve"`.
    pub indent: Option<usize>,
}

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

const DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;

/// Appends the node with all below it to `out`, in UTF-8.
///
/// Shape: the document node becomes a whole document; an element stands alone and declares what prefixes its names
/// use; an attribute or text becomes its value, escaped.
/// Reading what is written gives the same tree, save that texts next to each other become one and empty ones none.
/// A tree without exactly one root element is written as it is, and is no document then.
pub fn write(document: &Document, node: NodeId, options: &WriteOptions, out: &mut Vec<u8>) {
    if document.kind(node) != Kind::Document {
        let fixups = document.fixups_alone(node);
        let mut writer = Writer { document, fixups: &fixups, replacements: None, out };
        match options.indent {
            Some(width) => pretty::write(&mut writer, node, width),
            None => writer.subtree(node),
        }
        return;
    }
    let other_encoding = document.prolog().other_encoding;
    if document.is_as_read()
        && options.declaration == DeclarationPolicy::AsRead
        && options.indent.is_none()
        && !other_encoding
    {
        out.extend_from_slice(document.source().as_bytes());
        return;
    }
    let mut writer = Writer { document, fixups: document.fixups(), replacements: None, out };
    match options.indent {
        Some(width) => {
            if writer.declaration(options.declaration) {
                writer.put("\n");
            }
            if let Some(doctype) = document.prolog().doctype.clone() {
                writer.copy(doctype);
                writer.put("\n");
            }
            pretty::write(&mut writer, node, width);
        }
        None => writer.top_level(options.declaration),
    }
}

struct Writer<'a> {
    document: &'a Document,
    fixups: &'a Fixups,
    replacements: Option<&'a Replacements<'a>>,
    out: &'a mut Vec<u8>,
}

impl Writer<'_> {
    /// Writes the XML declaration; whether there is one.
    fn declaration(&mut self, policy: DeclarationPolicy) -> bool {
        let prolog = self.document.prolog();
        match (policy, &prolog.declaration) {
            (DeclarationPolicy::Never, _) | (DeclarationPolicy::AsRead, None) => return false,
            (_, Some(range)) if !prolog.other_encoding => self.copy(range.clone()),
            _ => self.put(DECLARATION),
        }
        true
    }

    /// Writes a document child by child, with the white space that stood in front of those that are where they were.
    fn top_level(&mut self, policy: DeclarationPolicy) {
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

    fn copy(&mut self, range: std::ops::Range<usize>) {
        self.put(self.document.text(range));
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }
}
