//! Documents as they came, with the links and addresses of the service.

use std::ops::Range;

use myelin_xml::{Document, NodeId};

use crate::documents::{Documents, Member};
use crate::fragment::{Edit, fragment};
use crate::options::{Links, Options};
use crate::page::{Page, Scheme};
use crate::{HTTP_BINDING, SOAP11_BINDING, SOAP12_BINDING, WSDL11, WSDL20, node, policies};

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
