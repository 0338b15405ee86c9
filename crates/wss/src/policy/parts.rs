//! Parts of messages: what has to be signed, encrypted, or there (WS-SecurityPolicy §4).

use myelin_xml::{Document, NodeId};
use myelin_xpath::{Argument, Declared, Environment, Expression};

use super::normal::Assertion;
use super::reader::Reader;
use super::{ElementPart, HeaderPart, Parts};

/// Parts that one assertion may name.
const PARTS_MAX: usize = 256;

/// Which parts an assertion can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// `SignedParts`; without any part in it, the body and all header blocks.
    Signed,
    /// `EncryptedParts`; without any part in it, the body.
    Encrypted,
    /// `RequiredParts`: header blocks only.
    Required,
}

/// Reads an assertion of parts and adds them.
pub(super) fn read_parts(reader: &mut Reader<'_>, assertion: &Assertion, meaning: Meaning, parts: &mut Parts) {
    let named = members(reader, assertion);
    if named.is_empty() {
        match meaning {
            Meaning::Signed => (parts.body, parts.all_headers) = (true, true),
            Meaning::Encrypted => parts.body = true,
            Meaning::Required => reader.wrong(assertion.node, "RequiredParts without a Header"),
        }
    }
    for node in named {
        match reader.name(node).local {
            "Body" if meaning != Meaning::Required => parts.body = true,
            "Header" => {
                let local = reader.attribute(node, "Name").map(|local| local.trim().to_owned());
                let Some(namespace) = reader.attribute(node, "Namespace") else {
                    reader.wrong(node, "a Header without Namespace");
                    continue;
                };
                let local = local.filter(|local| !local.is_empty());
                parts.headers.push(HeaderPart { local, namespace: namespace.trim().to_owned() });
            }
            "Attachments" => reader.unsupported(node, "attachments are neither signed nor encrypted here"),
            other => reader.wrong(node, format!("{other} is no part of a message, expected Body or Header")),
        }
    }
    reader.without_nested(assertion);
}

/// Reads an assertion of elements that XPath finds, and adds them.
pub(super) fn read_elements(reader: &mut Reader<'_>, assertion: &Assertion, content: bool, parts: &mut Parts) {
    const XPATH_1: &str = "http://www.w3.org/TR/1999/REC-xpath-19991116";
    if let Some(version) = reader.attribute(assertion.node, "XPathVersion")
        && version.trim() != XPATH_1
    {
        reader.unsupported(assertion.node, format!("expressions of {version} are not supported, expected {XPATH_1}"));
        return;
    }
    let paths = members(reader, assertion);
    if paths.is_empty() {
        reader.wrong(assertion.node, format!("{} without an XPath", reader.name(assertion.node).local));
    }
    for node in paths {
        match reader.name(node).local {
            "XPath" => {
                let text = reader.text(node);
                match Expression::compile(&text, &mut Scope { document: reader.document, node }) {
                    Ok(expression) => parts.elements.push(ElementPart { text, expression, content }),
                    Err(error) => reader.wrong(node, format!("the expression is not valid: {error}")),
                }
            }
            "XPath2" => reader.unsupported(node, "XPath Filter 2.0 is not supported"),
            other => reader.wrong(node, format!("{other} does not stand here, expected XPath")),
        }
    }
    reader.without_nested(assertion);
}

/// What stands in an assertion of parts, as far as there is not too much of it.
fn members(reader: &mut Reader<'_>, assertion: &Assertion) -> Vec<NodeId> {
    let members: Vec<NodeId> = reader.parameters(assertion).take(PARTS_MAX + 1).collect();
    if members.len() > PARTS_MAX {
        reader.wrong(assertion.node, format!("more than {PARTS_MAX} parts in one assertion"));
    }
    members
}

/// What an expression in a policy may refer to: the prefixes of its element.
struct Scope<'d> {
    document: &'d Document,
    node: NodeId,
}

impl Environment for Scope<'_> {
    fn namespace(&self, prefix: &str) -> Option<String> {
        self.document.lookup_namespace(self.node, prefix).map(str::to_owned)
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        Err(format!("a policy has no variables, and ${local} is one"))
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}
