//! Types of sequences: what kind of items, and how many (XPath 3.1 §2.5.4).

use std::fmt;

use super::AtomicType;
use crate::ast::{NameTest, NodeTest};
use crate::environment::Environment;
use crate::error::SyntaxError;
use crate::parser;

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
    /// Reads a type as `as="…"` has it: `xs:string?`, `element(order)*`.
    ///
    /// Errors: what is wrong and at which byte of `text`: the author's.
    /// Source: XPath 3.1 §2.5.4.
    pub fn parse(text: &str, environment: &mut dyn Environment) -> Result<SequenceType, SyntaxError> {
        parser::parse_type(text, environment)
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
        }
    }
}

impl fmt::Display for NodeTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeTest::Any => f.write_str("node()"),
            NodeTest::Name(name) => name.fmt(f),
            NodeTest::Text => f.write_str("text()"),
            NodeTest::Comment => f.write_str("comment()"),
            NodeTest::Instruction(None) => f.write_str("processing-instruction()"),
            NodeTest::Instruction(Some(target)) => write!(f, "processing-instruction({target})"),
            NodeTest::Element(NameTest::Any) => f.write_str("element()"),
            NodeTest::Element(name) => write!(f, "element({name})"),
            NodeTest::Attribute(NameTest::Any) => f.write_str("attribute()"),
            NodeTest::Attribute(name) => write!(f, "attribute({name})"),
            NodeTest::Document(None) => f.write_str("document-node()"),
            NodeTest::Document(Some(name)) => write!(f, "document-node(element({name}))"),
            NodeTest::Namespace => f.write_str("namespace-node()"),
        }
    }
}

impl fmt::Display for NameTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameTest::Any => f.write_str("*"),
            NameTest::InNamespace(uri) => write!(f, "Q{{{uri}}}*"),
            NameTest::Local(local) => write!(f, "*:{local}"),
            NameTest::Name { namespace, local, .. } if namespace.is_empty() => f.write_str(local),
            NameTest::Name { namespace, local, .. } => write!(f, "Q{{{namespace}}}{local}"),
        }
    }
}
