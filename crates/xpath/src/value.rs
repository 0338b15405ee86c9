//! The values of expressions: sequences of nodes and atomic values (XPath 1.0 §1, XPath 3.1 §2).

pub(crate) mod atomic;
pub(crate) mod binary;
pub(crate) mod calendar;
pub(crate) mod cast;
pub(crate) mod convert;
pub(crate) mod decimal;
mod distinct;
pub(crate) mod function;
pub(crate) mod instance;
pub(crate) mod key;
mod list;
pub(crate) mod node;
pub(crate) mod number;
mod tree;

use std::borrow::Cow;

use myelin_xml::Document;

use crate::environment::Version;
use crate::error::Error;
pub use atomic::{Atomic, QName};
pub use calendar::{Duration, Moment};
pub(crate) use cast::whole;
pub use decimal::Decimal;
pub use distinct::Distinct;
pub use function::{Array, Closure, FunctionItem, Map};
pub use list::List;
pub use node::{Node, NodeRef};

/// One node or one atomic value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A node of some document.
    Node(NodeRef<'a>),
    /// A text, a number, a date …
    Atomic(Atomic<'a>),
    /// A map, an array or another function.
    Function(FunctionItem<'a>),
}

/// What an expression gives: a sequence of items.
///
/// A node-set of XPath 1.0 is a sequence of nodes in document order; its strings, numbers and booleans are sequences
/// of one item, for which nothing is allocated.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// One item.
    Item(Item<'a>),
    /// Nodes of one document, in the order of the sequence; empty for the empty sequence.
    Nodes(Option<&'a Document>, List<Node>),
    /// Anything else.
    Items(List<Item<'a>>),
}

impl<'a> Item<'a> {
    /// The text of the item; of a function, which has none, the empty text.
    ///
    /// Source: XPath 1.0 §4.2.
    pub fn text(&self, version: Version) -> Cow<'_, str> {
        match self {
            Item::Node(node) => node.string_value(),
            Item::Atomic(atomic) => atomic.text(version),
            Item::Function(_) => Cow::Borrowed(""),
        }
    }

    /// The same, of an item that is not needed any more.
    pub fn into_text(self, version: Version) -> Cow<'a, str> {
        match self {
            Item::Node(node) => node.string_value(),
            Item::Atomic(atomic) => atomic.into_text(version),
            Item::Function(_) => Cow::Borrowed(""),
        }
    }

    /// The item as a number by XPath 1.0 §4.4.
    pub fn number(&self) -> f64 {
        match self {
            Item::Node(node) => number::parse_v1(&node.string_value()),
            Item::Atomic(atomic) => atomic.number(),
            Item::Function(_) => f64::NAN,
        }
    }

    /// The item as an atomic value: a node gives its text, of a type unknown.
    ///
    /// Errors: `FOTY0013` for a function, also for an array: [`Value::atomized`] gives what is in it.
    pub fn atomize(self) -> Result<Atomic<'a>, Error> {
        match self {
            Item::Atomic(atomic) => Ok(atomic),
            Item::Function(_) => Err(no_value()),
            // Comments, instructions and namespaces never get a type from a schema: they are texts (§2.5.2 of 3.1).
            Item::Node(node) => Ok(match node.kind() {
                Some(myelin_xml::Kind::Comment | myelin_xml::Kind::Instruction) | None => node.string_value().into(),
                Some(_) => Atomic::untyped(node.string_value()),
            }),
        }
    }

    /// The node, if it is one.
    pub fn node(&self) -> Option<NodeRef<'a>> {
        match self {
            Item::Node(node) => Some(*node),
            Item::Atomic(_) | Item::Function(_) => None,
        }
    }
}

impl<'a> Value<'a> {
    /// The empty sequence, which is also the empty node-set.
    pub const EMPTY: Value<'static> = Value::Nodes(None, List::Owned(Vec::new()));

    /// A sequence of these items.
    pub fn from_items(mut items: Vec<Item<'a>>) -> Value<'a> {
        match items.len() {
            0 => Value::EMPTY,
            1 => items.pop().map_or(Value::EMPTY, Value::Item),
            _ => Value::Items(items.into()),
        }
    }

    /// One node.
    pub fn node(document: &'a Document, node: impl Into<Node>) -> Value<'a> {
        Value::Item(Item::Node(NodeRef::new(document, node)))
    }

    /// Nodes of one document; in document order, unless the order says something else.
    pub fn nodes(document: &'a Document, nodes: Vec<Node>) -> Value<'a> {
        Value::Nodes(Some(document), nodes.into())
    }

    /// The same value, of which a clone copies no list: for variables, and whatever else is asked for often.
    #[must_use]
    pub fn shared(self) -> Value<'a> {
        match self {
            Value::Item(item) => Value::Item(item),
            Value::Nodes(document, nodes) => Value::Nodes(document, nodes.shared()),
            Value::Items(items) => Value::Items(items.shared()),
        }
    }

    /// How many items.
    pub fn len(&self) -> usize {
        match self {
            Value::Item(_) => 1,
            Value::Nodes(_, nodes) => nodes.len(),
            Value::Items(items) => items.len(),
        }
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at an index, counted from 0.
    pub fn get(&self, index: usize) -> Option<Item<'a>> {
        match self {
            Value::Item(item) => (index == 0).then(|| item.clone()),
            Value::Nodes(document, nodes) => {
                let (document, node) = ((*document)?, *nodes.get(index)?);
                Some(Item::Node(NodeRef { document, node }))
            }
            Value::Items(items) => items.get(index).cloned(),
        }
    }

    /// The items in their order.
    pub fn items(&self) -> impl DoubleEndedIterator<Item = Item<'a>> + ExactSizeIterator {
        (0..self.len()).map(|index| self.get(index).expect("the index is below the length"))
    }

    /// The items, of a value that is not needed any more.
    pub fn into_items(self) -> impl Iterator<Item = Item<'a>> {
        let (one, document, nodes, items) = match self {
            Value::Item(item) => (Some(item), None, List::Owned(Vec::new()), List::Owned(Vec::new())),
            Value::Nodes(document, nodes) => (None, document, nodes, List::Owned(Vec::new())),
            Value::Items(items) => (None, None, List::Owned(Vec::new()), items),
        };
        let nodes = nodes.into_iter().zip(std::iter::repeat(document));
        let nodes = nodes.filter_map(|(node, document)| Some(Item::Node(NodeRef { document: document?, node })));
        one.into_iter().chain(nodes).chain(items)
    }

    /// The first item.
    pub fn first(self) -> Option<Item<'a>> {
        match self {
            Value::Item(item) => Some(item),
            Value::Nodes(document, nodes) => Some(Item::Node(NodeRef { document: document?, node: *nodes.first()? })),
            Value::Items(items) => items.into_iter().next(),
        }
    }

    /// The nodes, if all items are nodes.
    pub fn as_nodes(&self) -> Option<Vec<NodeRef<'a>>> {
        self.items().map(|item| item.node()).collect()
    }

    /// Whether all items are nodes, as of a node-set of XPath 1.0; true of an empty sequence.
    pub fn is_nodes(&self) -> bool {
        match self {
            Value::Nodes(..) => true,
            Value::Item(item) => item.node().is_some(),
            Value::Items(items) => items.iter().all(|item| item.node().is_some()),
        }
    }

    /// The value as a string: of a sequence its first item, of nothing the empty text.
    ///
    /// Source: XPath 1.0 §4.2.
    pub fn string(self) -> Cow<'a, str> {
        self.first().map_or(Cow::Borrowed(""), |item| item.into_text(Version::V1))
    }

    /// The value as a number: of a sequence its first item, of nothing NaN.
    ///
    /// Source: XPath 1.0 §4.4.
    pub fn number(&self) -> f64 {
        match self {
            Value::Item(item) => item.number(),
            other => other.get(0).map_or(f64::NAN, |item| item.number()),
        }
    }

    /// The value as a condition: of a sequence whether there is a node first, or what its only item says.
    ///
    /// What later versions refuse, such as a date, is true here, as all but the empty is.
    /// Source: XPath 1.0 §4.3.
    pub fn boolean(&self) -> bool {
        match self {
            Value::Item(Item::Node(_)) => true,
            Value::Item(Item::Atomic(atomic)) => atomic.condition().unwrap_or(true),
            other => !other.is_empty(),
        }
    }
}

impl<'a, A: Into<Atomic<'a>>> From<A> for Value<'a> {
    fn from(atomic: A) -> Value<'a> {
        Value::Item(Item::Atomic(atomic.into()))
    }
}

impl<'a> From<Map<'a>> for Value<'a> {
    fn from(map: Map<'a>) -> Value<'a> {
        Value::Item(Item::Function(FunctionItem::Map(map)))
    }
}

impl<'a> From<Array<'a>> for Value<'a> {
    fn from(array: Array<'a>) -> Value<'a> {
        Value::Item(Item::Function(FunctionItem::Array(array)))
    }
}

impl<'a> From<Item<'a>> for Value<'a> {
    fn from(item: Item<'a>) -> Value<'a> {
        Value::Item(item)
    }
}

impl<'a> From<NodeRef<'a>> for Value<'a> {
    fn from(node: NodeRef<'a>) -> Value<'a> {
        Value::Item(Item::Node(node))
    }
}

/// Why a function does not become an atomic value.
pub(crate) fn no_value() -> Error {
    Error::value("FOTY0013", "a map or another function has no value to compare or calculate with")
}
