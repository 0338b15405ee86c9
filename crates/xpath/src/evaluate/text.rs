//! Texts of nodes, paid for: an element's text is all below it, and asking each element for it would cost the
//! document's size times its depth.

use std::borrow::Cow;

use myelin_xml::Kind;

use super::Run;
use crate::error::Error;
use crate::value::{Atomic, Item, Node, NodeRef};

/// How much text costs as much as a node.
pub(super) const BYTES_A_STEP: u64 = 16;

impl<'a> Run<'a> {
    /// The text of a node and all below it (XPath 1.0 §5).
    pub(crate) fn string_value(&self, node: NodeRef<'a>) -> Result<Cow<'a, str>, Error> {
        let document = node.document;
        let top = match node.node {
            Node::Tree(tree) if matches!(document.kind(tree), Kind::Element | Kind::Document) => tree,
            _ => return Ok(node.string_value()),
        };
        let mut text = Cow::Borrowed("");
        for below in document.descendants(top) {
            self.step(1)?;
            if document.kind(below) == Kind::Text {
                let piece = document.value(below);
                if text.is_empty() {
                    text = piece;
                } else {
                    self.build(piece.len())?;
                    text.to_mut().push_str(&piece);
                }
            }
        }
        // Whoever asks for a text reads it, so that elements within each other cost their depth times their text.
        self.step(text.len() as u64 / BYTES_A_STEP)?;
        Ok(text)
    }

    /// An item as an atomic value.
    pub(crate) fn atomize(&self, item: Item<'a>) -> Result<Atomic<'a>, Error> {
        match item {
            Item::Atomic(atomic) => Ok(atomic),
            // Comments, instructions and namespaces never get a type from a schema: they are texts (§2.5.2 of 3.1).
            Item::Node(node) => match node.kind() {
                Some(Kind::Comment | Kind::Instruction) | None => Ok(node.string_value().into()),
                Some(_) => Ok(Atomic::untyped(self.string_value(node)?)),
            },
        }
    }

    /// An item as a text, by the rules of `string()`.
    pub(crate) fn item_text(&self, item: Item<'a>) -> Result<Cow<'a, str>, Error> {
        Ok(self.atomize(item)?.into_text(self.version))
    }

    /// An item as a number of XPath 1.0.
    pub(crate) fn item_number(&self, item: Item<'a>) -> Result<f64, Error> {
        Ok(self.atomize(item)?.number())
    }
}
