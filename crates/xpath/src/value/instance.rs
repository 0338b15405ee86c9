//! Which values are of which types (XPath 3.1 §2.5.5).

use std::cell::Cell;

use super::function::Body;
use super::{FunctionItem, Item, Node, NodeRef, Value};
use crate::context::Limits;
use crate::names::NameCache;
use crate::node_test::{Axis, NodeTest};
use crate::types::{AtomicType, ItemType, Occurrence, SequenceType, Signature};

/// Whether a value is of a type; one with more items inside it than an evaluation may visit is of none.
///
/// Arrays may share what is inside them, so that a small one can have more members than anybody can count.
pub(crate) fn is_instance(value: &Value<'_>, wanted: &SequenceType) -> bool {
    let names = NameCache::new(None);
    let check = Check::new(&names, Limits::default().steps);
    check.value(value, wanted) && check.left() > 0
}

/// A check of types, with the number of items it may still visit; at 0 its answer is worth nothing.
pub(crate) struct Check<'n, 'a> {
    names: &'n NameCache<'a>,
    left: Cell<u64>,
}

impl<'n, 'a> Check<'n, 'a> {
    /// A check that may visit so many items.
    pub(crate) fn new(names: &'n NameCache<'a>, left: u64) -> Check<'n, 'a> {
        Check { names, left: Cell::new(left) }
    }

    /// How many items it may still visit.
    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    /// Whether a value is of a type.
    pub(crate) fn value(&self, value: &Value<'a>, wanted: &SequenceType) -> bool {
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
                // The library's and the hosts' functions check what they are given.
                Body::Named { .. } | Body::Partial { .. } | Body::Foreign { .. } => true,
            },
        }
    }
}
