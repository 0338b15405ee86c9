//! From a tree to bytes: what was not changed is copied from the source, the rest is written.
//!
//! Unchanged documents come out byte for byte. An element below which something changed keeps its tags as they came, a
//! tag that changed keeps its attributes as they came, and a subtree that was moved is copied as long as its prefixes
//! mean at the new place what they meant at the old one; where they do not, its outermost tag declares them.

mod document;
mod escape;
mod pretty;
mod replace;
mod subtree;

#[cfg(test)]
pub(crate) mod tests;

pub use escape::{escape_attribute, escape_text};

use crate::document::{Document, Kind, NodeId};
pub use document::DeclarationPolicy;
use document::Writer;
pub use replace::Replacements;

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

/// Appends the node with all below it to `out`, in UTF-8, with replacements.
///
/// Shape: as [`write`](write()) writes the document node; any other node is written as it stands in the document,
/// so that prefixes that are in scope around it are not declared again.
pub fn write_replacing(document: &Document, node: NodeId, replacements: &Replacements<'_>, out: &mut Vec<u8>) {
    let mut writer = Writer { document, fixups: document.fixups(), replacements: Some(replacements), out };
    match document.kind(node) {
        Kind::Document => writer.top_level(DeclarationPolicy::AsRead),
        _ => writer.subtree(node),
    }
}
