//! A result as a tree, and a tree as lines.

use myelin_xml::{DoctypePolicy, Document, Kind, NodeId, Options};

use super::{Space, html};

/// How lines of namespaces begin.
pub(crate) const NAMESPACE: &str = "xmlns:";

/// Each node on a line of its own, attributes and namespaces in an order of their own; none where it is no XML.
pub(crate) fn lines(text: &str, space: Space) -> Option<Vec<String>> {
    let mut lines = Vec::from_iter(doctype(text));
    lines.extend(tree_lines(&tree(text)?, space));
    Some(lines)
}

/// The lines of a tree.
pub(crate) fn tree_lines(document: &Document, space: Space) -> Vec<String> {
    let mut lines = Vec::new();
    write(document, document.document_node(), space, &mut lines);
    lines
}

/// The tree that was written as a result, as far as its text tells.
pub(crate) fn result_tree(text: &str) -> Option<Document> {
    if text.contains("<meta ") || text.contains("<META ") {
        return tree(&html::as_xml(text));
    }
    tree(text).or_else(|| tree(&html::as_xml(text)))
}

/// The result as a document, where it is one, or as what may stand inside one: several elements, or none.
pub(crate) fn tree(text: &str) -> Option<Document> {
    let options = Options {
        doctype: DoctypePolicy::Skip,
        attributes: 10_000,
        declarations: 10_000,
        declared_encoding: myelin_xml::DeclaredEncoding::Any,
        ..Options::default()
    };
    if let Ok(document) = Document::parse(text.as_bytes().to_vec(), &options) {
        return Some(document);
    }
    let inside = without_declaration(text);
    // A type that goes with a fragment would be in the wrong place below.
    let inside = match doctype(inside) {
        Some(declared) if inside.starts_with("<!DOCTYPE") => &inside[declared.len()..],
        _ => inside,
    };
    let mut document = Document::parse(format!("<fragment>{inside}</fragment>").into_bytes(), &options).ok()?;
    let (top, root) = (document.document_node(), document.root_element()?);
    while let Some(child) = document.first_child(root) {
        document.append(top, child).ok()?;
    }
    document.detach(root);
    Some(document)
}

pub(crate) fn without_declaration(text: &str) -> &str {
    match text.strip_prefix("<?xml ") {
        Some(behind) => behind.split_once("?>").map_or("", |(_, inside)| inside.trim_start()),
        None => text,
    }
}

/// The document type declaration, as far as it has no inner part.
fn doctype(text: &str) -> Option<String> {
    let from = text.find("<!DOCTYPE")?;
    let length = text[from..].find('>')? + 1;
    Some(text[from..from + length].to_owned())
}

fn write(document: &Document, node: NodeId, space: Space, lines: &mut Vec<String>) {
    let mut text = String::new();
    for child in document.children(node) {
        if document.kind(child) == Kind::Text {
            text += &document.value(child);
            continue;
        }
        push_text(&mut text, node == document.document_node(), space, lines);
        match document.kind(child) {
            Kind::Element => {
                start(document, child, lines);
                write(document, child, space, lines);
                lines.push(format!("</{}>", document.qname(child).local));
            }
            Kind::Comment => lines.push(format!("<!--{}-->", document.value(child))),
            Kind::Instruction => lines.push(format!("<?{} {}?>", document.qname(child).local, document.value(child))),
            Kind::Document | Kind::Attribute | Kind::Text => {}
        }
    }
    push_text(&mut text, node == document.document_node(), space, lines);
}

fn push_text(text: &mut String, outside: bool, space: Space, lines: &mut Vec<String>) {
    // Between the parts of a prolog there are line ends or not, as a serialiser likes.
    let shown = if outside { text.trim_ascii() } else { text.as_str() };
    let seen = if space == Space::Indents { shown.trim_ascii() } else { shown };
    if !seen.is_empty() {
        lines.push(format!("text {shown}"));
    }
    text.clear();
}

/// The tag, and a line for each namespace that is other than around it.
fn start(document: &Document, element: NodeId, lines: &mut Vec<String>) {
    let name = document.qname(element);
    let mut attributes: Vec<String> = document
        .attributes(element)
        .map(|attribute| {
            let name = document.qname(attribute);
            format!(" {{{}}}{}={:?}", name.namespace, name.local, document.value(attribute))
        })
        .collect();
    attributes.sort();
    lines.push(format!("<{{{}}}{}{}>", name.namespace, name.local, attributes.concat()));
    let above = document.parent(element).map(|parent| document.namespaces_in_scope(parent)).unwrap_or_default();
    let here = document.namespaces_in_scope(element);
    let gone = above.iter().filter(|(prefix, _)| !here.iter().any(|(known, _)| known == prefix));
    let new = here.iter().filter(|new| !above.contains(new)).copied();
    let mut namespaces: Vec<String> = new
        .chain(gone.map(|(prefix, _)| (*prefix, "")))
        .map(|(prefix, uri)| format!("{NAMESPACE}{prefix}={uri:?}"))
        .collect();
    namespaces.sort();
    lines.append(&mut namespaces);
}
