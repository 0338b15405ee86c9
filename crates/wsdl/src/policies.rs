//! Policies in descriptions (WS-PolicyAttachment 1.2 and 1.5): kept or taken out.

use myelin_xml::{Document, NodeId};

use crate::documents::Documents;
use crate::fragment::{Edit, fragment};
use crate::node::{elements, named};
use crate::page::Page;
use crate::{WSDL11, node};

/// The namespaces of WS-Policy.
const POLICY: [&str; 2] = ["http://schemas.xmlsoap.org/ws/2004/09/policy", "http://www.w3.org/ns/ws-policy"];

fn is_policy(tree: &Document, node: NodeId) -> bool {
    POLICY.contains(&tree.qname(node).namespace)
}

/// The edits that take policies, and references to them, out of a description.
pub(crate) fn strip(tree: &Document, root: NodeId) -> Vec<Edit> {
    let mut edits = Vec::new();
    for element in tree.descendants(root).filter(|&it| tree.kind(it) == myelin_xml::Kind::Element) {
        let attributes = tree.attributes(element).filter(|&attribute| is_policy(tree, attribute));
        let gone = attributes.chain(Some(element).filter(|&element| is_policy(tree, element)));
        edits.extend(gone.filter_map(|node| Some(Edit { range: tree.range(node)?, with: Page::default() })));
    }
    edits
}

/// What stands of policies directly below an element.
fn directly(tree: &Document, element: NodeId, page: &mut Page) {
    for policy in elements(tree, element).filter(|&child| is_policy(tree, child)) {
        page.append(fragment(tree, policy, Vec::new()));
    }
}

/// The policies that descriptions hold for others to refer to.
pub(crate) fn definitions(documents: &Documents, page: &mut Page) {
    for (_, member) in documents.descriptions() {
        directly(&member.tree, member.element, page);
    }
}

/// The policies that a binding attaches: to itself, or to one of its operations, or to a message of that.
pub(crate) fn attached(
    documents: &Documents,
    binding: Option<(usize, NodeId)>,
    operation: Option<(&str, Option<&str>)>,
    page: &mut Page,
) {
    let Some((index, binding)) = binding else { return };
    let tree = &documents.list[index].tree;
    let Some((name, direction)) = operation else { return directly(tree, binding, page) };
    let mut all = named(tree, binding, WSDL11, "operation");
    let Some(found) = all.find(|&it| node::text(tree, it, "name").as_deref() == Some(name)) else { return };
    match direction {
        None => directly(tree, found, page),
        Some(direction) => named(tree, found, WSDL11, direction).for_each(|it| directly(tree, it, page)),
    }
}
