//! `exsl:node-set()` and `exsl:object-type()`.

use myelin_xml::{Arena, TreeBuilder};
use myelin_xpath::types::AtomicType;
use myelin_xpath::{Atomic, Error, Item, Value, Version};

use super::COMMON;
use crate::functions::call::unmade;
use crate::functions::{Call, Function};

pub(in crate::functions) const FUNCTIONS: &[Function] = &[
    Function { namespace: COMMON, name: "node-set", least: 1, most: 1, run: node_set },
    Function { namespace: COMMON, name: "object-type", least: 1, most: 1, run: object_type },
];

/// Nodes are what they are, and a result tree fragment is a document; anything else becomes a text node.
fn node_set<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    if call.value(0).is_nodes() {
        return Ok(call.value(0).clone());
    }
    let node = text_node(call, &call.any_text(0))?;
    // In 1.0 only a fragment of text alone, which is kept as that text, has no type.
    let is_fragment = matches!(call.value(0).get(0), Some(Item::Atomic(Atomic::Text(_, AtomicType::Untyped))));
    match node.get(0).and_then(|item| item.node()) {
        Some(text) if is_fragment && call.version() == Version::V1 => {
            Ok(Value::node(text.document, text.document.document_node()))
        }
        _ => Ok(node),
    }
}

/// A text node that stands alone in a document; no node for no text.
pub(super) fn text_node<'a>(call: &Call<'_, 'a>, text: &str) -> Result<Value<'a>, Error> {
    let mut tree = TreeBuilder::new(Arena::default());
    tree.text(text).map_err(unmade)?;
    let document = call.machine.keep(tree.finish())?;
    Ok(match document.first_child(document.document_node()) {
        Some(node) => Value::node(document, node),
        None => Value::EMPTY,
    })
}

fn object_type<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let value = call.value(0);
    let alone = match value.get(0) {
        Some(item) if value.len() == 1 => Some(item),
        _ => None,
    };
    Ok(Value::from(match alone {
        Some(Item::Node(node)) if node.parent().is_none() && call.machine.is_temporary(node.document) => "RTF",
        Some(Item::Atomic(Atomic::Boolean(_))) => "boolean",
        Some(Item::Atomic(atomic)) if atomic.is_numeric() => "number",
        Some(Item::Atomic(_)) => "string",
        _ => "node-set",
    }))
}
