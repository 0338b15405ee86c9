//! Reading elements of security strictly: their children in the order of their schema, and nothing else in between.
//!
//! What would be passed over in silence is what attackers hide things in, so an element that is not expected is a
//! refusal.
//! White space, comments and instructions between elements say nothing and are skipped; so are comments in texts.

use std::borrow::Cow;

use myelin_xml::{Document, Kind, NodeId};

use crate::error::{Refusal, Rule};

/// Whether the node is the element of that name.
#[inline]
pub(crate) fn is(document: &Document, node: NodeId, namespace: &str, local: &str) -> bool {
    let name = document.qname(node);
    document.kind(node) == Kind::Element && name.local == local && name.namespace == namespace
}

/// The children of an element, to be taken in the order of its schema.
pub(crate) struct Children<'a> {
    document: &'a Document,
    parent: NodeId,
    next: Option<NodeId>,
}

impl<'a> Children<'a> {
    pub(crate) fn of(document: &'a Document, parent: NodeId) -> Children<'a> {
        Children { document, parent, next: document.first_child(parent) }
    }

    /// The next child that says something: an element, or a text that is not white space alone.
    fn peek(&mut self) -> Option<NodeId> {
        while let Some(node) = self.next {
            let says_something = match self.document.kind(node) {
                Kind::Text => !is_space(&self.document.value(node)),
                kind => kind == Kind::Element,
            };
            if says_something {
                return Some(node);
            }
            self.next = self.document.next_sibling(node);
        }
        None
    }

    /// Takes the next child if it is the element of that name.
    pub(crate) fn take(&mut self, namespace: &str, local: &str) -> Option<NodeId> {
        let node = self.peek().filter(|&node| is(self.document, node, namespace, local))?;
        self.next = self.document.next_sibling(node);
        Some(node)
    }

    /// Takes the next child, which has to be the element of that name.
    pub(crate) fn require(&mut self, namespace: &str, local: &str) -> Result<NodeId, Refusal> {
        self.take(namespace, local).ok_or_else(|| {
            let parent = self.document.qname(self.parent).local;
            let found = match self.peek() {
                Some(node) if self.document.kind(node) == Kind::Element => self.document.qname(node).local,
                Some(_) => "text",
                None => "its end",
            };
            Refusal::new(Rule::Malformed, format!("expected {local} in {parent}, found {found}"))
        })
    }

    /// Takes the next child, whatever element it is; `None` at the end.
    pub(crate) fn any(&mut self) -> Result<Option<NodeId>, Refusal> {
        let Some(node) = self.peek() else { return Ok(None) };
        if self.document.kind(node) != Kind::Element {
            return Err(self.unexpected(node));
        }
        self.next = self.document.next_sibling(node);
        Ok(Some(node))
    }

    /// Checks that nothing is left.
    pub(crate) fn end(mut self) -> Result<(), Refusal> {
        match self.peek() {
            Some(node) => Err(self.unexpected(node)),
            None => Ok(()),
        }
    }

    fn unexpected(&self, node: NodeId) -> Refusal {
        let parent = self.document.qname(self.parent).local;
        match self.document.kind(node) {
            Kind::Element => {
                let name = self.document.qname(node);
                let detail = format!("{{{}}}{} does not belong in {parent}", name.namespace, name.local);
                Refusal::new(Rule::UnknownElement, detail)
            }
            _ => Refusal::new(Rule::Malformed, format!("text between the elements of {parent}")),
        }
    }
}

/// The attribute without a namespace, which the element has to have.
pub(crate) fn required_attribute<'a>(
    document: &'a Document,
    element: NodeId,
    local: &str,
) -> Result<Cow<'a, str>, Refusal> {
    document.attribute(element, "", local).ok_or_else(|| {
        Refusal::new(Rule::Malformed, format!("{} has no attribute {local}", document.qname(element).local))
    })
}

/// The text of an element that has no element in it; comments and instructions are no part of it.
pub(crate) fn text(document: &Document, element: NodeId) -> Result<Cow<'_, str>, Refusal> {
    let mut whole = Cow::Borrowed("");
    for piece in pieces(document, element) {
        let piece = piece?;
        if whole.is_empty() {
            whole = piece;
        } else {
            whole.to_mut().push_str(&piece);
        }
    }
    Ok(whole)
}

/// The texts of an element that has no element in it, one after the other.
pub(crate) fn pieces(document: &Document, element: NodeId) -> impl Iterator<Item = Result<Cow<'_, str>, Refusal>> {
    document.children(element).filter_map(move |child| match document.kind(child) {
        Kind::Text => Some(Ok(document.value(child))),
        Kind::Element => {
            let (outer, inner) = (document.qname(element).local, document.qname(child).local);
            Some(Err(Refusal::new(Rule::UnknownElement, format!("{inner} in {outer}, which holds text"))))
        }
        _ => None,
    })
}

pub(crate) fn is_space(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use myelin_xml::Options;

    fn read(text: &str) -> (Document, NodeId) {
        let document = Document::parse(text.into(), &Options::default()).expect("it is well-formed");
        let root = document.root_element().expect("it has a root");
        (document, root)
    }

    #[test]
    fn children_come_in_order_past_space_and_comments() {
        let (document, root) = read("<e xmlns='u'> <!-- c --><a/>\n<?p?><b/> </e>");
        let mut children = Children::of(&document, root);
        assert!(children.take("u", "b").is_none() && children.take("", "a").is_none());
        assert!(children.take("u", "a").is_some() && children.require("u", "b").is_ok());
        assert!(children.end().is_ok());
    }

    #[test]
    fn what_is_not_expected_is_refused() {
        let (document, root) = read("<e><a/>text</e>");
        let mut children = Children::of(&document, root);
        assert_eq!(children.require("", "b").expect_err("it is a").rule, Rule::Malformed);
        assert_eq!(Children::of(&document, root).end().expect_err("a is left").rule, Rule::UnknownElement);
        assert!(children.take("", "a").is_some());
        assert_eq!(children.any().expect_err("it is text").rule, Rule::Malformed);
        assert_eq!(children.end().expect_err("text is left").rule, Rule::Malformed);
    }

    #[test]
    fn a_text_is_one_whatever_stands_in_it() {
        let (document, root) = read("<e>a<!-- c -->b<?p?>&#99;<![CDATA[d]]></e>");
        assert_eq!(text(&document, root).expect("it is text"), "abcd");
        let (document, root) = read("<e>a<b/></e>");
        assert!(text(&document, root).is_err());
    }
}
