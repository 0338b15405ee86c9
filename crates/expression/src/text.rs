//! The text that Synapse stores and prints for a value, which is not XPath's `string()`.
//!
//! Compare Synapse `SynapseXPath.stringValueOf`: all nodes count, each with the texts directly in it, and an element
//! without such text is written out as XML.

use std::borrow::Cow;

use myelin_content::Fragment;
use myelin_content::append_text;
use myelin_java_text::number;
use myelin_xml::{Kind, NodeId};
use myelin_xpath::{Atomic, Item, NodeRef, Value, Version};

/// The longest text that the nodes of a message may make: each of them is bounded by the limit for bodies already.
pub(super) const LIMIT_BYTES: usize = 16 << 20;

/// The text of a value; `None` where it is longer than [`LIMIT_BYTES`].
pub(super) fn of(value: Value<'_>) -> Option<Cow<'_, str>> {
    if let Value::Item(Item::Atomic(atomic)) = value {
        return Some(match atomic {
            Atomic::Double(double) => Cow::Owned(number::java(double)),
            other => other.into_text(Version::V1),
        });
    }
    let mut text = String::new();
    for item in value.into_items() {
        match item {
            Item::Node(NodeRef { document, node, .. }) => {
                if let Some(node) = node.tree() {
                    append_text(document, node, &mut text);
                }
            }
            Item::Atomic(atomic) => text.push_str(&atomic.text(Version::V1)),
            _ => {}
        }
        // Nodes within each other are written out again and again: a small message could fill the memory.
        if text.len() > LIMIT_BYTES {
            return None;
        }
    }
    Some(Cow::Owned(text))
}

/// An element, or the root element of a document, as a tree of its own.
pub fn fragment_of(node: NodeRef<'_>) -> Option<Fragment> {
    let document = node.document;
    let node: NodeId = node.node.tree()?;
    let element = match document.kind(node) {
        Kind::Element => node,
        Kind::Document => document.root_element()?,
        _ => return None,
    };
    Some(Fragment::copy(document, element))
}
