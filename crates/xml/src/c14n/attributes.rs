//! The attribute axis: in canonical order, with what an element inherits from ancestors that are left out.

use super::base::join;
use super::canonical::Method;
use super::selection::Selection;
use crate::{Document, NodeId, XML_NAMESPACE};

/// An attribute to be written.
pub(super) struct Item<'a> {
    namespace: &'a str,
    local: &'a str,
    /// The attribute whose name it has and, unless `value` is given, its value.
    pub(super) node: NodeId,
    pub(super) value: Option<String>,
}

/// Finds the attributes of an element in the set; `orphan` is whether its parent is not.
pub(super) fn collect<'a>(
    document: &'a Document,
    element: NodeId,
    orphan: bool,
    selection: &Selection<'_>,
    method: Method,
    items: &mut Vec<Item<'a>>,
) {
    items.clear();
    for attribute in document.attributes(element).filter(|&attribute| selection.holds(attribute)) {
        items.push(item(document, attribute));
    }
    if orphan {
        match method {
            Method::Exclusive => {}
            Method::Inclusive => inherit(document, element, |_| true, items),
            Method::Inclusive11 => {
                inherit(document, element, |local| matches!(local, "lang" | "space"), items);
                join_bases(document, element, selection, items);
            }
        }
    }
    if items.len() > 1 {
        items.sort_by(|one, other| (one.namespace, one.local).cmp(&(other.namespace, other.local)));
    }
}

fn item(document: &Document, node: NodeId) -> Item<'_> {
    let name = document.qname(node);
    Item { namespace: name.namespace, local: name.local, node, value: None }
}

/// Adds the nearest `xml:` attributes of ancestors that the element has not.
///
/// Source: Canonical XML 1.0 §2.4, Canonical XML 1.1 §2.4.
fn inherit<'a>(document: &'a Document, element: NodeId, heritable: impl Fn(&str) -> bool, items: &mut Vec<Item<'a>>) {
    let own = items.len();
    for ancestor in std::iter::successors(document.parent(element), |&node| document.parent(node)) {
        for attribute in document.attributes(ancestor) {
            let item = item(document, attribute);
            let nearer = items[own..].iter().any(|nearer| nearer.local == item.local);
            if item.namespace == XML_NAMESPACE
                && heritable(item.local)
                && !nearer
                && document.attribute_node(element, XML_NAMESPACE, item.local).is_none()
            {
                items.push(item);
            }
        }
    }
}

/// Joins the element's `xml:base` with those of the ancestors directly above it that are left out.
///
/// Source: Canonical XML 1.1 §2.4.
fn join_bases<'a>(document: &'a Document, element: NodeId, selection: &Selection<'_>, items: &mut Vec<Item<'a>>) {
    let base_of = |node| document.attribute_node(node, XML_NAMESPACE, "base");
    let own = base_of(element);
    let mut joined = own.map(|node| (node, document.value(node).into_owned()));
    let above = std::iter::successors(document.parent(element), |&node| document.parent(node));
    let mut left_out = above.take_while(|&node| !selection.holds_ancestor(node)).filter_map(base_of).peekable();
    if left_out.peek().is_none() {
        return;
    }
    for outer in left_out {
        joined = match joined {
            Some((node, inner)) => Some((node, join(&document.value(outer), &inner))),
            None => Some((outer, document.value(outer).into_owned())),
        };
    }
    items.retain(|item| Some(item.node) != own);
    if let Some((node, value)) = joined.filter(|(_, value)| !value.is_empty()) {
        items.push(Item { value: Some(value), ..item(document, node) });
    }
}
