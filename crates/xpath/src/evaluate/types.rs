//! `instance of`, `treat as`, `cast as`, `castable as`.

use super::names::NameCache;
use super::{Focus, Run};
use crate::ast::{Axis, Expr, NodeTest};
use crate::error::Error;
use crate::types::{AtomicType, ItemType, SequenceType};
use crate::value::cast::cast;
use crate::value::{Item, Node, NodeRef, Value};

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
            _ => false,
        })
}

fn node_is<'a>(test: &NodeTest, node: NodeRef<'a>, names: &NameCache<'a>) -> bool {
    match node.node {
        Node::Tree(tree) => names.resolve(test, Axis::Self_, node.document).takes(node.document, tree),
        Node::Namespace { .. } => matches!(test, NodeTest::Any | NodeTest::Namespace),
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
        let value = self.value(inside, focus)?;
        match value.len() {
            0 => Ok(optional),
            1 => match value.first() {
                Some(item) => Ok(cast(self.atomize(item)?, target, self.version).is_ok()),
                None => Ok(false),
            },
            _ => Ok(false),
        }
    }
}
