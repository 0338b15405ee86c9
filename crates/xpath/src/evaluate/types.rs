//! `instance of`, `treat as`, `cast as`, `castable as`.

use super::functions::has_signature;
use super::names::NameCache;
use super::{Focus, Run};
use crate::ast::{Axis, Expr, NodeTest};
use crate::error::Error;
use crate::types::{AtomicType, ItemType, SequenceType};
use crate::value::cast::cast;
use crate::value::{FunctionItem, Item, Node, NodeRef, Value};

/// Whether a value is of a type.
pub(crate) fn is_instance(value: &Value<'_>, wanted: &SequenceType) -> bool {
    instance(value, wanted, &NameCache::new(None))
}

fn instance<'a>(value: &Value<'a>, wanted: &SequenceType, names: &NameCache<'a>) -> bool {
    let Some(item_type) = &wanted.item else { return value.is_empty() };
    wanted.occurrence.takes(value.len())
        && value.items().all(|item| match (item_type, &item) {
            (ItemType::Any, _) => true,
            (ItemType::Atomic(wanted), Item::Atomic(atomic)) => atomic.atomic_type().is(*wanted),
            (ItemType::Node(test), Item::Node(node)) => node_is(test, *node, names),
            (_, Item::Function(function)) => function_is(item_type, function),
            _ => false,
        })
}

fn node_is<'a>(test: &NodeTest, node: NodeRef<'a>, names: &NameCache<'a>) -> bool {
    match node.node {
        Node::Tree(tree) => names.resolve(test, Axis::Self_, node.document).takes(node.document, tree),
        Node::Namespace { .. } => matches!(test, NodeTest::Any | NodeTest::Namespace),
    }
}

fn function_is(wanted: &ItemType, function: &FunctionItem<'_>) -> bool {
    match (wanted, function) {
        (ItemType::Function(None), _) => true,
        (ItemType::Function(Some(signature)), _) => has_signature(function, signature),
        (ItemType::Map(None), FunctionItem::Map(_)) | (ItemType::Array(None), FunctionItem::Array(_)) => true,
        (ItemType::Map(Some(types)), FunctionItem::Map(map)) => {
            let (keys, values) = &**types;
            map.entries().all(|(key, value)| key.atomic_type().is(*keys) && is_instance(value, values))
        }
        (ItemType::Array(Some(wanted)), FunctionItem::Array(array)) => {
            array.members().all(|member| is_instance(member, wanted))
        }
        _ => false,
    }
}

impl<'a> Run<'a> {
    /// Whether a value is of a type.
    pub(super) fn instance(&self, value: &Value<'a>, wanted: &SequenceType) -> bool {
        instance(value, wanted, &self.names)
    }

    pub(super) fn treat(
        &self,
        inside: &'a Expr,
        wanted: &SequenceType,
        focus: &Focus<'_, 'a>,
    ) -> Result<Value<'a>, Error> {
        let value = self.value(inside, focus)?;
        if self.instance(&value, wanted) {
            return Ok(value);
        }
        Err(Error::value("XPDY0050", "the value is not of the type it is treated as"))
    }

    pub(super) fn cast(
        &self,
        inside: &'a Expr,
        target: AtomicType,
        optional: bool,
        focus: &Focus<'_, 'a>,
    ) -> Result<Value<'a>, Error> {
        match self.operand(inside, focus)? {
            Some(atomic) => cast(atomic, target, self.version).map(Value::from),
            None if optional => Ok(Value::EMPTY),
            None => Err(Error::value("XPTY0004", format!("nothing cannot be cast to {target}"))),
        }
    }

    pub(super) fn castable(
        &self,
        inside: &'a Expr,
        target: AtomicType,
        optional: bool,
        focus: &Focus<'_, 'a>,
    ) -> Result<bool, Error> {
        let atomics = self.atomics(&self.value(inside, focus)?)?;
        match <[_; 1]>::try_from(atomics) {
            Ok([atomic]) => Ok(cast(atomic, target, self.version).is_ok()),
            Err(others) => Ok(optional && others.is_empty()),
        }
    }
}
