//! Texts of nodes, paid for: an element's text is all below it, and asking each element for it would cost the
//! document's size times its depth.

use std::borrow::Cow;

use myelin_xml::Kind;

use crate::environment::Version;
use crate::error::Error;
use crate::run::{Flow, Run, finish};
use crate::value::{Atomic, FunctionItem, Item, Node, NodeRef, Value, no_value};

/// How much text costs as much as a node.
pub(super) const BYTES_A_STEP: u64 = 16;

impl<'a> Run<'_, 'a> {
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

    /// An item as an atomic value; of an array its only one.
    pub(crate) fn atomize(&self, item: Item<'a>) -> Result<Atomic<'a>, Error> {
        match item {
            Item::Atomic(atomic) => Ok(atomic),
            Item::Function(FunctionItem::Array(_)) => {
                let only = self.only_atomic(&Value::Item(item))?;
                only.ok_or_else(|| Error::value("XPTY0004", "one value is wanted here, and there is an empty array"))
            }
            Item::Function(_) => Err(no_value()),
            // Comments, instructions and namespaces never get a type from a schema: they are texts (§2.5.2 of 3.1).
            Item::Node(node) => match node.kind() {
                Some(Kind::Comment | Kind::Instruction) | None => Ok(node.string_value().into()),
                Some(_) => Ok(Atomic::untyped(self.string_value(node)?)),
            },
        }
    }

    /// The atomic values of an item one by one: those of all its members, if it is an array.
    #[inline]
    pub(crate) fn each_atomic<F: FnMut(Atomic<'a>) -> Flow>(&self, item: Item<'a>, sink: &mut F) -> Flow {
        let Item::Function(FunctionItem::Array(array)) = item else { return sink(self.atomize(item)?) };
        array.members().flat_map(Value::items).try_for_each(|item| {
            self.step(1)?;
            self.each_atomic(item, sink)
        })
    }

    /// The items of a value as atomic values.
    pub(crate) fn atomics(&self, value: &Value<'a>) -> Result<Vec<Atomic<'a>>, Error> {
        let mut atomics = Vec::with_capacity(value.len());
        finish(value.items().try_for_each(|item| {
            self.each_atomic(item, &mut |atomic| {
                if !atomics.is_empty() {
                    self.build(size_of::<Atomic<'_>>())?;
                }
                atomics.push(atomic);
                Ok(())
            })
        }))?;
        Ok(atomics)
    }

    /// The same, as a value.
    pub(super) fn atomized(&self, value: Value<'a>) -> Result<Value<'a>, Error> {
        match value {
            Value::Item(Item::Atomic(atomic)) => Ok(Value::from(atomic)),
            other => Ok(Value::from_items(self.atomics(&other)?.into_iter().map(Item::Atomic).collect())),
        }
    }

    /// The only atomic value of a value, or none.
    pub(super) fn only_atomic(&self, value: &Value<'a>) -> Result<Option<Atomic<'a>>, Error> {
        let mut atomics = self.atomics(value)?;
        match atomics.len() {
            0 | 1 => Ok(atomics.pop()),
            count if self.version != Version::V1 => {
                Err(Error::value("XPTY0004", format!("one value is wanted here, and there are {count}")))
            }
            _ => Ok(atomics.into_iter().next()),
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
