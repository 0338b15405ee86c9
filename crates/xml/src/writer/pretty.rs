//! Elements on lines of their own, for people.

use super::document::Writer;
use crate::XML_NAMESPACE;
use crate::document::{Document, Kind, NodeId};

/// Writes a node with all below it, each level indented by `width` more; each top level item ends its line.
pub(super) fn write(writer: &mut Writer<'_>, top: NodeId, width: usize) {
    let document = writer.document;
    if document.kind(top) != Kind::Document {
        return item(writer, top, width);
    }
    for child in document.children(top).filter(|&child| document.kind(child) != Kind::Text) {
        item(writer, child, width);
        writer.put("\n");
    }
}

/// Writes a node that stands on a line of its own.
fn item(writer: &mut Writer<'_>, top: NodeId, width: usize) {
    let document = writer.document;
    let mut depth = 0;
    let mut node = top;
    loop {
        match first_line(document, node) {
            Some(child) => {
                writer.made_tag(node, true);
                depth += 1;
                node = child;
            }
            None => {
                writer.subtree(node);
                while node != top {
                    if let Some(next) = skip_text(document, document.next_sibling(node)) {
                        node = next;
                        break;
                    }
                    let Some(parent) = document.parent(node) else { return };
                    depth -= 1;
                    new_line(writer, depth * width);
                    writer.end_tag(parent);
                    node = parent;
                }
                if node == top {
                    return;
                }
            }
        }
        new_line(writer, depth * width);
    }
}

/// The first child to stand on a line of its own, of an element whose white space means nothing.
fn first_line(document: &Document, node: NodeId) -> Option<NodeId> {
    if document.kind(node) != Kind::Element
        || document.attribute(node, XML_NAMESPACE, "space").is_some_and(|space| space == "preserve")
    {
        return None;
    }
    let blank = |text: &str| text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    let first = skip_text(document, document.first_child(node))?;
    document
        .children(node)
        .all(|child| document.kind(child) != Kind::Text || blank(&document.value(child)))
        .then_some(first)
}

fn skip_text(document: &Document, mut node: Option<NodeId>) -> Option<NodeId> {
    while let Some(text) = node.filter(|&node| document.kind(node) == Kind::Text) {
        node = document.next_sibling(text);
    }
    node
}

fn new_line(writer: &mut Writer<'_>, spaces: usize) {
    writer.out.push(b'\n');
    writer.out.resize(writer.out.len() + spaces, b' ');
}
