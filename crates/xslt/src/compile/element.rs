//! Elements of a stylesheet and their attributes, with their places.

use std::borrow::Cow;

use myelin_xml::{Kind, Name, NodeId};

use super::module::Module;
use crate::scope::At;

/// The namespace of XSLT.
pub(super) const XSLT: &str = "http://www.w3.org/1999/XSL/Transform";

/// The namespace of EXSLT's functions and of the element that declares more of them.
pub(super) const EXSLT: &str = "http://exslt.org/functions";

/// Namespaces in which nothing can be declared (XSLT 3.0 §3.2).
pub(super) const RESERVED: [&str; 9] = [
    XSLT,
    myelin_xml::XML_NAMESPACE,
    "http://www.w3.org/2001/XMLSchema",
    "http://www.w3.org/2001/XMLSchema-instance",
    "http://www.w3.org/2005/xpath-functions",
    "http://www.w3.org/2005/xpath-functions/math",
    "http://www.w3.org/2005/xpath-functions/map",
    "http://www.w3.org/2005/xpath-functions/array",
    "http://www.w3.org/2005/xqt-errors",
];

/// An element of a stylesheet.
#[derive(Clone, Copy)]
pub(super) struct Element<'s> {
    pub(super) module: &'s Module,
    pub(super) node: NodeId,
}

/// An attribute of a stylesheet's element, or one of its texts: a value with its place.
#[derive(Clone)]
pub(super) struct Attribute<'s> {
    module: &'s Module,
    node: NodeId,
    pub(super) value: Cow<'s, str>,
    /// Whether it stands for the attribute whose name comes behind the underscore.
    is_shadow: bool,
}

/// What stands inside an element, comments and instructions left out.
pub(super) enum Child<'s> {
    Element(Element<'s>),
    /// A run of text.
    Text(Attribute<'s>),
}

impl<'s> Element<'s> {
    pub(super) fn name(self) -> Name<'s> {
        self.module.document.qname(self.node)
    }

    /// The name as it is written.
    pub(super) fn written(self) -> String {
        written(self.name())
    }

    /// The local name of an element of XSLT.
    pub(super) fn xslt(self) -> Option<&'s str> {
        let name = self.name();
        (name.namespace == XSLT).then_some(name.local)
    }

    pub(super) fn is(self, local: &str) -> bool {
        self.xslt() == Some(local)
    }

    pub(super) fn at(self) -> At {
        let range = self.module.document.range(self.node);
        self.module.at(range.map_or(0, |range| range.start))
    }

    pub(super) fn parent(self) -> Option<Element<'s>> {
        let node = self.module.document.parent(self.node)?;
        (self.module.document.kind(node) == Kind::Element).then_some(Element { node, ..self })
    }

    /// The attribute of that name in no namespace.
    pub(super) fn attribute(self, local: &str) -> Option<Attribute<'s>> {
        self.attribute_in("", local)
    }

    pub(super) fn attribute_in(self, namespace: &str, local: &str) -> Option<Attribute<'s>> {
        if !self.module.has_shadows() {
            let node = self.module.document.attribute_node(self.node, namespace, local);
            return node.map(|node| Attribute::new(self.module, node));
        }
        self.attributes().find(|attribute| {
            let name = attribute.name();
            name.local == local && name.namespace == namespace
        })
    }

    /// The attributes, those that shadow others in place of them.
    pub(super) fn attributes(self) -> impl Iterator<Item = Attribute<'s>> {
        let document = &self.module.document;
        let shadows = self.module.has_shadows();
        let shown = move |&node: &NodeId| {
            if !shadows {
                return true;
            }
            let shadow = document.attribute_node(self.node, "", &format!("_{}", document.qname(node).local));
            shadow.is_none_or(|shadow| self.module.shadow(shadow).is_none())
        };
        document.attributes(self.node).filter(shown).map(move |node| Attribute::new(self.module, node))
    }

    pub(super) fn elements(self) -> impl Iterator<Item = Element<'s>> {
        let document = &self.module.document;
        let elements = document.children(self.node).filter(|&node| document.kind(node) == Kind::Element);
        elements.map(move |node| Element { node, ..self })
    }
}

impl<'s> Attribute<'s> {
    pub(super) fn new(module: &'s Module, node: NodeId) -> Attribute<'s> {
        match module.shadow(node) {
            Some(value) => Attribute { module, node, value: Cow::Owned(value), is_shadow: true },
            None => Attribute { module, node, value: module.document.value(node), is_shadow: false },
        }
    }

    /// Lets a shadow attribute stand for the one it shadows, from now on.
    pub(super) fn shadow(&self, value: String) {
        self.module.set_shadow(self.node, value);
    }

    /// The same attribute with a value of which this is a part or from which it was made.
    pub(super) fn with_value(&self, value: String) -> Attribute<'s> {
        Attribute { value: Cow::Owned(value), ..*self }
    }

    pub(super) fn name(&self) -> Name<'s> {
        let name = self.module.document.qname(self.node);
        let local = if self.is_shadow { name.local.trim_start_matches('_') } else { name.local };
        Name { local, ..name }
    }

    /// The name as it is written.
    pub(super) fn written(&self) -> String {
        written(self.name())
    }

    /// Without white space around it.
    pub(super) fn trimmed(&self) -> &str {
        self.value.trim_matches(WHITE)
    }

    /// The words between white space.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.value.split(WHITE).filter(|word| !word.is_empty())
    }

    /// Where the attribute begins.
    pub(super) fn at(&self) -> At {
        let range = self.module.document.range(self.node);
        self.module.at(range.map_or(0, |range| range.start))
    }

    /// Where the first character stands that is no white space.
    pub(super) fn visible(&self) -> At {
        self.inside(self.value.len() - self.value.trim_start_matches(WHITE).len())
    }

    /// Where a byte of the value stands.
    pub(super) fn inside(&self, offset: usize) -> At {
        let document = &self.module.document;
        let range = document.value_range(self.node).or_else(|| document.range(self.node)).unwrap_or_default();
        let raw = &document.source()[range.clone()];
        self.module.at(range.start + source_offset(raw, offset))
    }
}

/// White space of XML.
pub(super) const WHITE: [char; 4] = [' ', '\t', '\r', '\n'];

/// Whether a text is nothing but white space of XML.
pub(super) fn is_white(text: &str) -> bool {
    text.bytes().all(|byte| b" \t\r\n".contains(&byte))
}

fn written(name: Name<'_>) -> String {
    if name.prefix.is_empty() { name.local.to_owned() } else { format!("{}:{}", name.prefix, name.local) }
}

/// Where the byte of a value stands in the source of that value, in which references stand for characters.
fn source_offset(raw: &str, offset: usize) -> usize {
    let (mut value, mut at) = (0, 0);
    while value < offset
        && let Some(letter) = raw[at..].chars().next()
    {
        let reference = if letter == '&' { raw[at..].find(';') } else { None };
        // What a reference stands for is longer than one byte only where it is a number, and then a place near by will do.
        let (read, made) = match reference {
            Some(end) => (end + 1, 1),
            None if raw[at..].starts_with("\r\n") => (2, 1),
            None => (letter.len_utf8(), letter.len_utf8()),
        };
        at += read;
        value += made;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_value_counts_references_as_they_are_written() {
        let check =
            |raw: &str, offset: usize, expected: usize| assert_eq!(source_offset(raw, offset), expected, "{raw}");
        check("a &lt; b", 4, 7);
        check("a b", 2, 2);
        check("ä b", 3, 3);
        check("a\r\nb", 2, 3);
        check("ab", 9, 2);
    }
}
