//! Small questions to a tree.

use std::borrow::Cow;

use myelin_xml::{Document, Kind, NodeId};

use crate::qname::QName;

/// The elements directly below one.
pub(crate) fn elements(tree: &Document, node: NodeId) -> impl Iterator<Item = NodeId> {
    tree.children(node).filter(|&child| tree.kind(child) == Kind::Element)
}

/// Whether an element has that name.
pub(crate) fn is(tree: &Document, node: NodeId, namespace: &str, local: &str) -> bool {
    let name = tree.qname(node);
    name.local == local && name.namespace == namespace
}

/// The elements of that name directly below one.
pub(crate) fn named<'a>(
    tree: &'a Document,
    node: NodeId,
    namespace: &'a str,
    local: &'a str,
) -> impl Iterator<Item = NodeId> + 'a {
    elements(tree, node).filter(move |&child| is(tree, child, namespace, local))
}

/// The first of them.
pub(crate) fn child(tree: &Document, node: NodeId, namespace: &str, local: &str) -> Option<NodeId> {
    elements(tree, node).find(|&child| is(tree, child, namespace, local))
}

/// The value of an attribute without namespace, white space around it left out.
pub(crate) fn text<'a>(tree: &'a Document, node: NodeId, name: &str) -> Option<Cow<'a, str>> {
    let value = tree.attribute(node, "", name)?;
    Some(match value {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    })
}

/// The same as a text of its own; empty where it is not there.
pub(crate) fn owned(tree: &Document, node: NodeId, name: &str) -> String {
    text(tree, node, name).unwrap_or_default().into_owned()
}

/// What a qualified name in an attribute means.
pub(crate) fn reference(tree: &Document, node: NodeId, attribute: &str) -> Option<QName> {
    text(tree, node, attribute).map(|value| qualified(tree, node, &value))
}

/// What a qualified name means at an element; a prefix that nothing declares means no namespace.
pub(crate) fn qualified(tree: &Document, node: NodeId, value: &str) -> QName {
    let (prefix, local) = value.split_once(':').unwrap_or(("", value));
    let namespace = tree.lookup_namespace(node, prefix).unwrap_or_default();
    QName { namespace: namespace.to_owned(), local: local.to_owned() }
}

/// What a documentation element below one says, as text.
pub(crate) fn documentation(tree: &Document, element: NodeId, namespace: &str) -> Option<String> {
    let found = child(tree, element, namespace, "documentation")?;
    let text = tree.string_value(found);
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
