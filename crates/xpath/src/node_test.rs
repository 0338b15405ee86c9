//! What steps of paths and types of nodes take: axes, kinds and names (XPath 1.0 §2.2 and §2.3).

use std::fmt;

/// The axes (XPath 1.0 §2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the standard's own names say it")]
pub enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Attribute,
    Self_,
    Parent,
    Ancestor,
    AncestorOrSelf,
    Following,
    FollowingSibling,
    Preceding,
    PrecedingSibling,
    Namespace,
}

impl Axis {
    /// Whether positions count against document order (§2.4).
    pub fn is_reverse(self) -> bool {
        use Axis::{Ancestor, AncestorOrSelf, Parent, Preceding, PrecedingSibling};
        matches!(self, Parent | Ancestor | AncestorOrSelf | Preceding | PrecedingSibling)
    }
}

/// What a step takes of the nodes on its axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeTest {
    /// `node()`
    Any,
    /// A name test: nodes of the axis's principal kind with that name.
    Name(NameTest),
    /// `text()`
    Text,
    /// `comment()`
    Comment,
    /// `processing-instruction()`, perhaps with a target.
    Instruction(Option<String>),
    /// `element()`, `element(name)`
    Element(NameTest),
    /// `attribute()`, `attribute(name)`
    Attribute(NameTest),
    /// `document-node()`, `document-node(element(name))`
    Document(Option<NameTest>),
    /// `namespace-node()`
    Namespace,
}

/// Which names a name test takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameTest {
    /// `*`
    Any,
    /// `prefix:*`, with the namespace that the prefix stands for.
    InNamespace(String),
    /// `*:local`
    Local(String),
    /// `local` or `prefix:local`
    Name {
        /// Empty: no namespace.
        namespace: String,
        /// The part behind the colon.
        local: String,
        /// Numbers the exact names of an expression from 0 on, so that each is looked up once in a document.
        index: u32,
    },
}

impl NodeTest {
    /// Whether each node that this takes is one that the other takes.
    pub(crate) fn is(&self, other: &NodeTest) -> bool {
        let wider = |own: &NameTest, other: &NameTest| *other == NameTest::Any || own.is(other);
        match (self, other) {
            (_, NodeTest::Any) | (NodeTest::Instruction(_), NodeTest::Instruction(None)) => true,
            (NodeTest::Document(_), NodeTest::Document(None)) => true,
            (NodeTest::Element(own), NodeTest::Element(other)) => wider(own, other),
            (NodeTest::Attribute(own), NodeTest::Attribute(other)) => wider(own, other),
            (own, other) => own == other,
        }
    }
}

impl NameTest {
    fn is(&self, other: &NameTest) -> bool {
        match (self, other) {
            // The same name may have two numbers.
            (NameTest::Name { namespace, local, .. }, NameTest::Name { namespace: other, local: name, .. }) => {
                namespace == other && local == name
            }
            (own, other) => own == other,
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
