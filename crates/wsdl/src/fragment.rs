//! Parts of a document's source, with other values in some places.

use std::ops::Range;

use myelin_xml::{Document, NodeId};

use crate::page::Page;

/// A place of the source, and what stands there instead.
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) with: Page,
}

/// An element as it stands in its source, edits aside; what is declared around it is declared in it.
pub(crate) fn fragment(tree: &Document, element: NodeId, mut edits: Vec<Edit>) -> Page {
    let source = tree.source();
    let range = tree.range(element).unwrap_or_default();
    let text = source.get(range.clone()).unwrap_or_default();
    let name = tree.qname(element);
    let colon = if name.prefix.is_empty() { 0 } else { name.prefix.len() + 1 };
    let own: Vec<&str> = tree.declarations(element).map(|(prefix, _)| prefix).collect();
    let mut declarations = Page::default();
    for (prefix, namespace) in tree.namespaces_in_scope(element) {
        let comes_up = prefix.is_empty() || text.contains(&format!("{prefix}:"));
        if prefix != "xml" && comes_up && !own.contains(&prefix) {
            let colon = if prefix.is_empty() { "" } else { ":" };
            declarations.push(&format!(" xmlns{colon}{prefix}=\""));
            declarations.push_value(namespace);
            declarations.push("\"");
        }
    }
    let behind_name = range.start + 1 + colon + name.local.len();
    edits.push(Edit { range: behind_name..behind_name, with: declarations });
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut page = Page::default();
    let mut at = range.start;
    for edit in edits {
        // What stands outside is of no concern, and neither is what stands in something that went.
        if edit.range.start >= at && edit.range.end <= range.end {
            page.push(source.get(at..edit.range.start).unwrap_or_default());
            page.append(edit.with);
            at = edit.range.end;
        }
    }
    page.push(source.get(at..range.end).unwrap_or_default());
    page
}
