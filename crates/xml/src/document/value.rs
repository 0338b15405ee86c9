//! Values of nodes: as they stand in the source, or with references and line ends replaced.

use std::borrow::Cow;

use super::node::{Flags, Node};
use super::{Document, Kind, NodeId};
use crate::value::{Space, normalise, normalise_lines};

const CDATA: &str = "<![CDATA[";
const CDATA_END: &str = "]]>";

impl Document {
    /// The value of a text, attribute, comment or instruction; empty for others.
    ///
    /// Borrowed unless references or line ends have to be replaced.
    #[inline]
    pub fn value(&self, node: NodeId) -> Cow<'_, str> {
        let node = self.at(node);
        if node.flags.any(Flags::VERBATIM) { Cow::Borrowed(self.raw(node)) } else { self.decoded(node) }
    }

    /// Of an element or the document node all text below it, one behind the other; of others their value.
    ///
    /// Borrowed where it is a single text that needs nothing replaced.
    /// Source: XPath 1.0 §5.
    pub fn string_value(&self, node: NodeId) -> Cow<'_, str> {
        if !self.at(node).is_parent() {
            return self.value(node);
        }
        let mut texts = self.descendants(node).filter(|&node| self.kind(node) == Kind::Text);
        let Some(first) = texts.next() else { return Cow::Borrowed("") };
        let mut value = self.value(first);
        for text in texts {
            value.to_mut().push_str(&self.value(text));
        }
        value
    }

    /// What stands between the quotes of an attribute or between the marks of a comment or instruction; for a text
    /// that is not verbatim all of it with its CDATA marks.
    #[inline]
    pub(super) fn raw(&self, node: &Node) -> &str {
        let text = if node.flags.any(Flags::MADE) { &self.made } else { &self.source };
        &text[node.first as usize..node.last as usize]
    }

    fn decoded(&self, node: &Node) -> Cow<'_, str> {
        match node.kind {
            Kind::Document | Kind::Element => Cow::Borrowed(""),
            Kind::Attribute if node.is_declaration() => Cow::Borrowed(self.names.text(node.binding().1)),
            Kind::Attribute => normalise(self.raw(node), Space::Attribute),
            Kind::Text => decode_text(self.raw(node)),
            Kind::Comment | Kind::Instruction => normalise_lines(self.raw(node)),
        }
    }
}

/// The value of text and CDATA sections in a row.
fn decode_text(raw: &str) -> Cow<'_, str> {
    // Only sections begin with a `<` here, and one character is found faster than the whole mark.
    let Some(mut start) = raw.find('<') else { return normalise(raw, Space::Lines) };
    let mut value = String::with_capacity(raw.len());
    let mut rest = raw;
    loop {
        value.push_str(&normalise(&rest[..start], Space::Lines));
        let section = &rest[start + CDATA.len()..];
        // The parser saw the end of each section it let through.
        let end = section.find(CDATA_END).unwrap_or(section.len());
        value.push_str(&normalise_lines(&section[..end]));
        rest = section.get(end + CDATA_END.len()..).unwrap_or_default();
        match rest.find('<') {
            Some(next) => start = next,
            None => break,
        }
    }
    value.push_str(&normalise(rest, Space::Lines));
    Cow::Owned(value)
}
