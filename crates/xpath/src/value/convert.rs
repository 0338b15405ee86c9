//! Values as others want them: atomic, of a type, in document order.

use super::cast::cast;
use super::function::{Body, coerced};
use super::instance::is_instance;
use super::{Atomic, FunctionItem, Item, NodeRef, Value, node};
use crate::environment::Version;
use crate::error::Error;
use crate::types::{AtomicType as T, ItemType, Occurrence, SequenceType};

/// Arrays with more items inside them than this are not made atomic by a host.
const ARRAY_ITEMS: u64 = 1_000_000;

impl<'a> Value<'a> {
    /// The items as atomic values: a node gives its text, of a type unknown.
    /// An array gives what its members give.
    /// Errors: `FOTY0013` for any other function, [`Error::Steps`] for arrays with far too much inside.
    /// Source: Functions and Operators §2.4 (`fn:data`).
    pub fn atomized(self) -> Result<Value<'a>, Error> {
        match self {
            Value::Item(item @ (Item::Node(_) | Item::Atomic(_))) => item.atomize().map(Value::from),
            other => {
                let mut atomics = Vec::with_capacity(other.len());
                let mut left = ARRAY_ITEMS.max(other.len() as u64);
                atomize_into(&other, &mut atomics, &mut left)?;
                Ok(Value::from_items(atomics))
            }
        }
    }

    /// The nodes in document order, each once.
    ///
    /// Errors: `XPTY0004` where an item is no node.
    pub fn in_document_order(self) -> Result<Value<'a>, Error> {
        if self.len() < 2 && self.is_nodes() {
            return Ok(self);
        }
        let Some(mut nodes) = self.as_nodes() else {
            return Err(Error::value(
                "XPTY0004",
                "only nodes have an order in a document, and there is something else",
            ));
        };
        node::sort(&mut nodes);
        Ok(Value::from_nodes(nodes))
    }

    fn from_nodes(nodes: Vec<NodeRef<'a>>) -> Value<'a> {
        match nodes.as_slice() {
            [first, .., last] if std::ptr::eq(first.document, last.document) => {
                // In document order the nodes of one document stand together.
                Value::nodes(first.document, nodes.iter().map(|node| node.node).collect())
            }
            _ => Value::from_items(nodes.into_iter().map(Item::Node).collect()),
        }
    }

    /// Whether the value is of a type: `instance of`.
    ///
    /// Source: XPath 3.1 §2.5.5.
    pub fn is_instance(&self, wanted: &SequenceType) -> bool {
        is_instance(self, wanted)
    }

    /// The value as a parameter or variable of that type takes it.
    ///
    /// Nodes become atomic where that is wanted, texts of a type unknown what is wanted, and numbers are promoted.
    /// In version 1 the first item counts where one is wanted, and any value becomes a text or a number.
    /// Errors: `XPTY0004` where that does not make it fit, those of a cast for texts of a type unknown.
    /// Source: XPath 3.1 §3.1.5.2.
    pub fn convert(self, wanted: &SequenceType, version: Version) -> Result<Value<'a>, Error> {
        converted(self, wanted, version, &Value::atomized)
    }
}

/// The recursion is as deep as arrays stand within each other; `left` is how many items may still be visited, as arrays
/// may share what is inside them.
fn atomize_into<'a>(value: &Value<'a>, atomics: &mut Vec<Item<'a>>, left: &mut u64) -> Result<(), Error> {
    value.items().try_for_each(|item| {
        *left = left.checked_sub(1).ok_or(Error::Steps(ARRAY_ITEMS))?;
        match item {
            Item::Function(FunctionItem::Array(array)) => {
                array.members().try_for_each(|member| atomize_into(member, atomics, left))
            }
            other => {
                atomics.push(Item::Atomic(other.atomize()?));
                Ok(())
            }
        }
    })
}

/// The same, with `atomized` to make values atomic.
pub(crate) fn converted<'a>(
    value: Value<'a>,
    wanted: &SequenceType,
    version: Version,
    atomized: &dyn Fn(Value<'a>) -> Result<Value<'a>, Error>,
) -> Result<Value<'a>, Error> {
    if is_instance(&value, wanted) && !(calls_for_signature(wanted) && value.items().any(is_unchecked)) {
        return Ok(value);
    }
    let single = matches!(wanted.occurrence, Occurrence::One | Occurrence::Optional);
    let mut value = value;
    if version == Version::V1 && single && value.len() > 1 {
        value = value.first().map_or(Value::EMPTY, Value::Item);
    }
    if let Some(ItemType::Atomic(target)) = wanted.item {
        value = atomized(value)?;
        if version == Version::V1 && single && value.is_empty() && target == T::String {
            value = Value::from("");
        }
        let items: Result<Vec<_>, Error> = value
            .into_items()
            .map(|item| promoted(item.atomize()?, target, wanted, version).map(Item::Atomic))
            .collect();
        value = Value::from_items(items?);
    }
    if let Some(ItemType::Function(Some(signature))) = &wanted.item {
        let items: Result<Vec<_>, Error> = value
            .into_items()
            .map(|item| match item {
                Item::Function(function) if function.arity() == signature.parameters.len() => {
                    coerced(function, signature).map(Item::Function)
                }
                other => Ok(other),
            })
            .collect();
        value = Value::from_items(items?);
    }
    match is_instance(&value, wanted) {
        true => Ok(value),
        false => Err(unfit(wanted, &value)),
    }
}

fn calls_for_signature(wanted: &SequenceType) -> bool {
    matches!(wanted.item, Some(ItemType::Function(Some(_))))
}

/// Whether an item is a function of which nothing says what types it takes and gives.
fn is_unchecked(item: Item<'_>) -> bool {
    match item {
        Item::Function(FunctionItem::Closure(closure)) => {
            matches!(closure.body, Body::Named { .. } | Body::Partial { .. } | Body::Foreign { .. })
        }
        _ => false,
    }
}

/// One atomic value as one of the type `target`, if the rules let it become one.
fn promoted<'a>(atomic: Atomic<'a>, target: T, wanted: &SequenceType, version: Version) -> Result<Atomic<'a>, Error> {
    let found = atomic.atomic_type();
    if found.is(target) {
        return Ok(atomic);
    }
    let promotes = match target {
        T::Double => found.is(T::Numeric),
        T::Float => found.is(T::Decimal),
        T::String => found == T::AnyUri,
        _ => false,
    };
    match found {
        T::Untyped if matches!(target, T::QName | T::Notation) => {
            Err(Error::value("XPTY0117", format!("a text of a type unknown does not become {target}")))
        }
        T::Untyped if target == T::Numeric => cast(atomic, T::Double, version),
        _ if promotes || found == T::Untyped || version == Version::V1 => cast(atomic, target, version),
        _ => Err(unfit(wanted, &Value::from(atomic))),
    }
}

fn unfit(wanted: &SequenceType, value: &Value<'_>) -> Error {
    let found = match (value.len(), value.get(0)) {
        (1, Some(Item::Atomic(atomic))) => atomic.atomic_type().to_string(),
        (1, Some(Item::Function(_))) => "a function of another kind".to_owned(),
        (1, Some(Item::Node(_))) => "a node of another kind".to_owned(),
        (0, _) => "nothing".to_owned(),
        (count, _) => format!("a sequence of {count} items"),
    };
    Error::value("XPTY0004", format!("{wanted} is wanted here, and there is {found}"))
}
