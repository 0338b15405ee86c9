//! XML as text: as it is written, and as Synapse stores and prints it.

use myelin_xml::{Document, Kind, NodeId, WriteOptions, write};

/// A node with all below it, written as XML of its own.
pub fn text_of(document: &Document, node: NodeId) -> String {
    let mut out = Vec::new();
    write(document, node, &WriteOptions::default(), &mut out);
    // The writer copies from texts and writes nothing but UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// Adds the text that Synapse stores and prints for a node: of an element the texts directly in it, or where there are
/// none the element itself, written as XML.
///
/// Source: Synapse's `SynapseXPath.stringValueOf`.
pub fn append_text(document: &Document, node: NodeId, text: &mut String) {
    match document.kind(node) {
        Kind::Element => {
            let start = text.len();
            for child in document.children(node).filter(|&child| document.kind(child) == Kind::Text) {
                text.push_str(&document.value(child));
            }
            if text[start..].trim().is_empty() {
                text.truncate(start);
                text.push_str(&text_of(document, node));
            }
        }
        Kind::Document => text.push_str(&text_of(document, node)),
        Kind::Attribute | Kind::Text => text.push_str(&document.value(node)),
        Kind::Comment | Kind::Instruction => {}
    }
}
