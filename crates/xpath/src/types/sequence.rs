//! Types of sequences: what kind of items, and how many (XPath 3.1 §2.5.4).

use std::fmt;

use super::AtomicType;
use crate::node_test::NodeTest;

/// What kind of items, and how many of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceType {
    /// `None`: `empty-sequence()`.
    pub item: Option<ItemType>,
    /// How many.
    pub occurrence: Occurrence,
}

/// A kind of items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemType {
    /// `item()`
    Any,
    /// Atomic values of a type.
    Atomic(AtomicType),
    /// Nodes that a test takes.
    Node(NodeTest),
    /// `function(*)`, or functions with a signature.
    Function(Option<Box<Signature>>),
    /// `map(*)`, or maps with keys and values of these types.
    Map(Option<Box<(AtomicType, SequenceType)>>),
    /// `array(*)`, or arrays with members of a type.
    Array(Option<Box<SequenceType>>),
}

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The types of its parameters.
    pub parameters: Vec<SequenceType>,
    /// The type of what it gives.
    pub result: SequenceType,
}

/// How many items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// Exactly one.
    One,
    /// `?`
    Optional,
    /// `*`
    Any,
    /// `+`
    Some,
}

impl SequenceType {
    /// `item()*`: anything.
    pub const ANY: SequenceType = SequenceType { item: Some(ItemType::Any), occurrence: Occurrence::Any };
}

impl SequenceType {
    /// Whether each value of this type is known to be one of `other`.
    ///
    /// Source: XPath 3.1 §2.5.6.1.
    pub fn is(&self, other: &SequenceType) -> bool {
        let (Some(item), Some(wanted)) = (&self.item, &other.item) else {
            return self.item.is_none() && (other.item.is_none() || other.occurrence.takes(0));
        };
        let counts = match self.occurrence {
            Occurrence::One => true,
            Occurrence::Optional => matches!(other.occurrence, Occurrence::Optional | Occurrence::Any),
            Occurrence::Any => other.occurrence == Occurrence::Any,
            Occurrence::Some => matches!(other.occurrence, Occurrence::Some | Occurrence::Any),
        };
        counts && item.is(wanted)
    }
}

impl ItemType {
    /// Whether each item of this type is known to be one of `other` (§2.5.6.2).
    fn is(&self, other: &ItemType) -> bool {
        use ItemType::{Any, Array, Atomic, Function, Map, Node};
        match (self, other) {
            (_, Any) | (Map(_), Map(None)) | (Array(_), Array(None)) => true,
            (Function(_) | Map(_) | Array(_), Function(None)) => true,
            (Atomic(one), Atomic(other)) => one.is(*other),
            (Node(one), Node(other)) => one.is(other),
            (Map(Some(one)), Map(Some(other))) => one.0.is(other.0) && one.1.is(&other.1),
            (Array(Some(one)), Array(Some(other))) => one.is(other),
            (Function(Some(one)), Function(Some(other))) => one.is(other),
            _ => false,
        }
    }
}

impl Signature {
    /// Whether a function with this signature can be used as one with the other: it takes no less and gives no more.
    pub fn is(&self, other: &Signature) -> bool {
        self.parameters.len() == other.parameters.len()
            && self.parameters.iter().zip(&other.parameters).all(|(own, other)| other.is(own))
            && self.result.is(&other.result)
    }
}

impl Occurrence {
    /// Whether so many items are as many as are wanted.
    pub fn takes(self, count: usize) -> bool {
        match self {
            Occurrence::One => count == 1,
            Occurrence::Optional => count <= 1,
            Occurrence::Any => true,
            Occurrence::Some => count > 0,
        }
    }
}

impl fmt::Display for SequenceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(item) = &self.item else { return f.write_str("empty-sequence()") };
        item.fmt(f)?;
        f.write_str(match self.occurrence {
            Occurrence::One => "",
            Occurrence::Optional => "?",
            Occurrence::Any => "*",
            Occurrence::Some => "+",
        })
    }
}

impl fmt::Display for ItemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ItemType::Any => f.write_str("item()"),
            ItemType::Atomic(atomic) => atomic.fmt(f),
            ItemType::Node(test) => test.fmt(f),
            ItemType::Function(None) => f.write_str("function(*)"),
            ItemType::Function(Some(signature)) => {
                f.write_str("function(")?;
                for (index, parameter) in signature.parameters.iter().enumerate() {
                    write!(f, "{}{parameter}", if index == 0 { "" } else { ", " })?;
                }
                write!(f, ") as {}", signature.result)
            }
            ItemType::Map(None) => f.write_str("map(*)"),
            ItemType::Map(Some(types)) => write!(f, "map({}, {})", types.0, types.1),
            ItemType::Array(None) => f.write_str("array(*)"),
            ItemType::Array(Some(members)) => write!(f, "array({members})"),
        }
    }
}
