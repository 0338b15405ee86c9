//! Parts of a document's source, with other values in some places.

use std::ops::Range;

use myelin_xml::{Document, NodeId};

use crate::documents::{Documents, Member};
use crate::page::{Page, Scheme};
use crate::publish::{Links, Options};
use crate::{HTTP_BINDING, SOAP11_BINDING, SOAP12_BINDING, WSDL11, WSDL20, node, policies};

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

/// The edits that lead imports in a document to the pages of the service.
pub(crate) fn links(documents: &Documents, member: &Member, options: &Options<'_>) -> Vec<Edit> {
    let link = |(range, target): &(Range<usize>, usize)| {
        let target = &documents.list[*target];
        let question = if target.is_schema { "xsd" } else { "wsdl" };
        let mut with = Page::default();
        if options.links == Links::Absolute {
            with.push_base(None);
        }
        with.push_value(&format!("{}?{question}", options.service));
        // Back to the description itself.
        if !target.name.is_empty() {
            with.push_value(&format!("={}", target.name));
        }
        Edit { range: range.clone(), with }
    };
    member.imports.iter().map(link).collect()
}

/// A document as it came, with links and, where asked for, addresses of the service.
pub(crate) fn whole(documents: &Documents, member: &Member, options: &Options<'_>, with_addresses: bool) -> Page {
    let Member { tree, element, .. } = member;
    let mut edits = links(documents, member, options);
    if with_addresses && !member.is_schema {
        edits.extend(addresses(tree, *element, options));
    }
    if !options.keep_policies && !member.is_schema {
        edits.extend(policies::strip(tree, *element));
    }
    let mut page = Page::default();
    page.push("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    page.append(fragment(tree, *element, edits));
    page.push("\n");
    page
}

/// The edits that put the service's address in the place of those a description has.
fn addresses(tree: &Document, root: NodeId, options: &Options<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut address = |element: NodeId, attribute: &str| {
        let Some(attribute) = tree.attribute_node(element, "", attribute) else { return };
        let Some(range) = tree.value_range(attribute) else { return };
        let was = tree.value(attribute);
        let scheme = if was.trim_start().starts_with("https:") { Scheme::Https } else { Scheme::Http };
        let mut with = Page::default();
        with.push_base(Some(scheme));
        with.push_value(options.service);
        edits.push(Edit { range, with });
    };
    for service in node::named(tree, root, WSDL11, "service") {
        for port in node::named(tree, service, WSDL11, "port") {
            for namespace in [SOAP11_BINDING, SOAP12_BINDING, HTTP_BINDING] {
                node::named(tree, port, namespace, "address").for_each(|it| address(it, "location"));
            }
        }
    }
    for service in node::named(tree, root, WSDL20, "service") {
        node::named(tree, service, WSDL20, "endpoint").for_each(|it| address(it, "address"));
    }
    edits
}
