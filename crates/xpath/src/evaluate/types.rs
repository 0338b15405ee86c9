//! `instance of`, `treat as`, `cast as`, `castable as`.

use std::cell::Cell;

use super::names::NameCache;
use super::{Focus, Run};
use crate::ast::{Axis, Expr, NodeTest};
use crate::context::Limits;
use crate::error::Error;
use crate::types::{AtomicType, ItemType, Occurrence, SequenceType, Signature};
use crate::value::cast::cast;
use crate::value::function::Body;
use crate::value::{FunctionItem, Item, Node, NodeRef, Value};

/// Whether a value is of a type; one with more items inside it than an evaluation may visit is of none.
///
/// Arrays may share what is inside them, so that a small one can have more members than anybody can count.
pub(crate) fn is_instance(value: &Value<'_>, wanted: &SequenceType) -> bool {
    let check = Check { names: &NameCache::new(None), left: Cell::new(Limits::default().steps) };
    check.value(value, wanted) && check.left.get() > 0
}

/// A check of types, with the number of items it may still visit; at 0 its answer is worth nothing.
struct Check<'n, 'a> {
    names: &'n NameCache<'a>,
    left: Cell<u64>,
}

impl<'a> Check<'_, 'a> {
    fn value(&self, value: &Value<'a>, wanted: &SequenceType) -> bool {
        let Some(item_type) = &wanted.item else { return value.is_empty() };
        wanted.occurrence.takes(value.len()) && value.items().all(|item| self.item(&item, item_type))
    }

    fn item(&self, item: &Item<'a>, wanted: &ItemType) -> bool {
        self.left.set(self.left.get().saturating_sub(1));
        match (wanted, item) {
            _ if self.left.get() == 0 => false,
            (ItemType::Any, _) => true,
            (ItemType::Atomic(wanted), Item::Atomic(atomic)) => atomic.atomic_type().is(*wanted),
            (ItemType::Node(test), Item::Node(node)) => self.node(test, *node),
            (_, Item::Function(function)) => self.function(function, wanted),
            _ => false,
        }
    }

    fn node(&self, test: &NodeTest, node: NodeRef<'a>) -> bool {
        match node.node {
            Node::Tree(tree) => self.names.resolve(test, Axis::Self_, node.document).takes(node.document, tree),
            Node::Namespace { .. } => matches!(test, NodeTest::Any | NodeTest::Namespace),
        }
    }

    fn function(&self, function: &FunctionItem<'a>, wanted: &ItemType) -> bool {
        match (wanted, function) {
            (ItemType::Function(None), _) => true,
            (ItemType::Function(Some(signature)), _) => self.signature(function, signature),
            (ItemType::Map(None), FunctionItem::Map(_)) | (ItemType::Array(None), FunctionItem::Array(_)) => true,
            (ItemType::Map(Some(types)), FunctionItem::Map(map)) => {
                let (keys, values) = &**types;
                map.entries().all(|(key, value)| key.atomic_type().is(*keys) && self.value(value, values))
            }
            (ItemType::Array(Some(wanted)), FunctionItem::Array(array)) => {
                array.members().all(|member| self.value(member, wanted))
            }
            _ => false,
        }
    }

    /// What is known of the types that a function takes and gives.
    fn signature(&self, function: &FunctionItem<'a>, wanted: &Signature) -> bool {
        if function.arity() != wanted.parameters.len() {
            return false;
        }
        let takes = |atomic: AtomicType| {
            let own = SequenceType { item: Some(ItemType::Atomic(atomic)), occurrence: Occurrence::One };
            wanted.parameters.iter().all(|parameter| parameter.is(&own))
        };
        match function {
            FunctionItem::Map(map) => {
                // What is in no map is the empty sequence.
                let empty = wanted.result.occurrence.takes(0) || wanted.result.item.is_none();
                takes(AtomicType::AnyAtomic)
                    && empty
                    && map.entries().all(|(_, value)| self.value(value, &wanted.result))
            }
            FunctionItem::Array(array) => {
                takes(AtomicType::Integer) && array.members().all(|member| self.value(member, &wanted.result))
            }
            FunctionItem::Closure(closure) => match &closure.body {
                Body::Inline { function, .. } => {
                    let mut parameters = function.parameters.iter().zip(&wanted.parameters);
                    parameters.all(|(own, wanted)| wanted.is(own)) && function.result.is(&wanted.result)
                }
                Body::Coerced { signature, .. } => signature.is(wanted),
                // The library's and the host's functions check what they are given.
                Body::Named { .. } | Body::Partial { .. } => true,
            },
        }
    }
}

impl<'a> Run<'a> {
    /// Whether a value is of a type.
    pub(super) fn instance(&self, value: &Value<'a>, wanted: &SequenceType) -> Result<bool, Error> {
        let before = self.steps_left.get();
        let check = Check { names: &self.names, left: Cell::new(before) };
        let fits = check.value(value, wanted);
        self.step(before - check.left.get())?;
        // Whoever has used up everything does not know.
        if check.left.get() == 0 { self.step(1).map(|()| fits) } else { Ok(fits) }
    }

    pub(super) fn treat(
        &self,
        inside: &'a Expr,
        wanted: &SequenceType,
        focus: &Focus<'_, 'a>,
    ) -> Result<Value<'a>, Error> {
        let value = self.value(inside, focus)?;
        if self.instance(&value, wanted)? {
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
