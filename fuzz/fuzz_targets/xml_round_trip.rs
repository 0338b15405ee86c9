#![no_main]
//! An unchanged document is written as it came; a changed one reads as the tree that was written, and signs alike.

use libfuzzer_sys::fuzz_target;
use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};
use myelin_xml::{Document, Kind, NodeId, Options, WriteOptions, write};

const NAMES: [(&str, &str); 4] = [("", ""), ("", "u:1"), ("p", "u:2"), ("q", "u:1")];

fuzz_target!(|data: &[u8]| {
    let Some((&count, rest)) = data.split_first() else { return };
    let length = rest.len().min(usize::from(count % 16) * 3);
    let (changes, text) = rest.split_at(length);
    let Ok(mut document) = Document::parse(text.to_vec(), &Options::default()) else { return };
    assert_eq!(written(&document, document.document_node()), text, "what nobody changed");
    for change in changes.chunks_exact(3) {
        apply(&mut document, change[0], change[1], change[2]);
    }
    join_texts(&mut document);
    let again = written(&document, document.document_node());
    let again = match Document::parse(again.clone(), &Options { depth: usize::MAX, ..Options::default() }) {
        Ok(again) => again,
        Err(error) => panic!("{error} in {}", String::from_utf8_lossy(&again)),
    };
    let (mut one, mut other) = (nodes(&document), nodes(&again));
    loop {
        match (one.next(), other.next()) {
            (Some(one), Some(other)) => assert_same(&document, one, &again, other),
            (None, None) => break,
            (one, other) => panic!("{one:?} and {other:?}"),
        }
    }
    for method in [Method::Inclusive, Method::Inclusive11, Method::Exclusive] {
        assert_eq!(canonical(&document, method), canonical(&again, method), "{method:?}");
    }
});

fn written(document: &Document, node: NodeId) -> Vec<u8> {
    let mut out = Vec::new();
    write(document, node, &WriteOptions::default(), &mut out);
    out
}

/// The canonical form, or the relative namespace that stands against one.
fn canonical(document: &Document, method: Method) -> Result<String, String> {
    let mut out = Vec::new();
    let how = Canonical { comments: true, ..Canonical::new(method) };
    canonicalize(document, Subset { apex: document.document_node(), excluded: &[] }, &how, &mut out)
        .map(|()| String::from_utf8_lossy(&out).into_owned())
        .map_err(|error| error.to_string())
}

fn nodes(document: &Document) -> impl Iterator<Item = NodeId> {
    document.descendants(document.document_node())
}

fn assert_same(one: &Document, a: NodeId, other: &Document, b: NodeId) {
    assert_eq!(one.kind(a), other.kind(b));
    assert_eq!(one.value(a), other.value(b));
    let expanded = |document: &Document, node| {
        let name = document.qname(node);
        (name.namespace.to_owned(), name.local.to_owned())
    };
    assert_eq!(expanded(one, a), expanded(other, b));
    let attributes = |document: &Document, node| {
        let each = document.attributes(node);
        let mut all: Vec<_> =
            each.map(|attribute| (expanded(document, attribute), document.value(attribute).into_owned())).collect();
        all.sort();
        all
    };
    if one.kind(a) == Kind::Element {
        assert_eq!(attributes(one, a), attributes(other, b));
    }
}

/// Changes something about two of the nodes below the root; what makes no sense is refused.
fn apply(document: &mut Document, change: u8, one: u8, two: u8) {
    let Some(root) = document.root_element() else { return };
    let below: Vec<NodeId> = document.descendants(root).take(256).collect();
    if below.is_empty() {
        return;
    }
    let (one, two) = (below[usize::from(one) % below.len()], below[usize::from(two) % below.len()]);
    let (prefix, namespace) = NAMES[usize::from(change >> 4) % NAMES.len()];
    let _ = match change % 12 {
        0 => document.append(one, two),
        1 => document.insert_before(one, two),
        2 => document.insert_after(one, two),
        3 => document.replace(one, two),
        4 => {
            document.detach(one);
            Ok(())
        }
        5 => document.copy(one).and_then(|copy| document.insert_after(two, copy)),
        6 => {
            let other = document.clone();
            document.import(&other, one).and_then(|import| document.insert_after(two, import))
        }
        7 => document.rename(one, prefix, "n", namespace),
        8 => document.declare(one, prefix, namespace),
        9 => document.set_attribute(one, prefix, "n", namespace, "<\"\t").map(drop),
        10 => document.set_value(one, "]]>\r\n"),
        _ => {
            let first = document.attributes(one).next();
            first.inspect(|&attribute| document.detach(attribute));
            Ok(())
        }
    };
}

/// Texts next to each other read as one.
fn join_texts(document: &mut Document) {
    for node in nodes(document).collect::<Vec<_>>() {
        let previous = document.previous_sibling(node).filter(|&before| document.kind(before) == Kind::Text);
        if let Some(previous) = previous.filter(|_| document.kind(node) == Kind::Text) {
            let joined = format!("{}{}", document.value(previous), document.value(node));
            document.set_value(node, &joined).expect("both were texts");
            document.detach(previous);
        }
    }
}
