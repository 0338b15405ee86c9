//! Canonical XML: the one form in which documents that say the same have the same bytes, for signatures.
//!
//! Canonical XML 1.0 and 1.1 and Exclusive Canonical XML 1.0, each with or without comments, of a document, of a
//! subtree with others taken out of it ([`canonicalize`]), or of any set of nodes ([`canonicalize_nodes`]).
//! The bytes go to a [`Sink`], piece by piece, so that a digest needs no buffer for the whole.
//! A tree that programs changed has the canonical form of what would be written of it.

mod attributes;
mod base;
mod namespaces;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;

pub use crate::writer::{escape_attribute, escape_text};
use crate::{Document, Kind, NodeId};
use walk::Walk;

/// Takes the bytes of a canonical form, piece by piece: a buffer, or a digest.
pub trait Sink {
    /// Takes the next bytes.
    fn write(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Which of the standards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Canonical XML 1.0: all namespaces in scope, all `xml:` attributes of ancestors.
    Inclusive,
    /// Canonical XML 1.1: as 1.0, but `xml:id` stays where it is and `xml:base` is joined.
    Inclusive11,
    /// Exclusive Canonical XML 1.0: only the namespaces that names use, nothing of ancestors.
    Exclusive,
}

/// How a canonical form is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// By which standard.
    pub method: Method,
    /// Whether comments stay.
    pub comments: bool,
    /// For the exclusive method: prefixes treated as the inclusive ones treat all, the empty one for `#default`.
    pub inclusive_prefixes: Vec<String>,
}

const INCLUSIVE: &str = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315";
const INCLUSIVE_11: &str = "http://www.w3.org/2006/12/xml-c14n11";
const EXCLUSIVE: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";

impl Canonical {
    /// Without comments and without inclusive prefixes.
    pub fn new(method: Method) -> Canonical {
        Canonical { method, comments: false, inclusive_prefixes: Vec::new() }
    }

    /// What the identifier of an algorithm in a signature means; `None` for one that is none of these.
    ///
    /// Source: XML Signature 1.1 §6.5.
    pub fn from_uri(uri: &str) -> Option<Canonical> {
        let (algorithm, comments) = match uri.strip_suffix("WithComments") {
            // The exclusive identifier has the `#` already.
            Some(EXCLUSIVE) => (EXCLUSIVE, true),
            Some(rest) => (rest.strip_suffix('#')?, true),
            None => (uri, false),
        };
        let method = match algorithm {
            INCLUSIVE => Method::Inclusive,
            INCLUSIVE_11 => Method::Inclusive11,
            EXCLUSIVE if uri.starts_with(EXCLUSIVE) => Method::Exclusive,
            _ => return None,
        };
        Some(Canonical { comments, ..Canonical::new(method) })
    }
}

/// A node and all below it, without some of the subtrees in it: what most signatures cover.
#[derive(Clone, Copy, Debug)]
pub struct Subset<'a> {
    /// The document node, or the node that is signed.
    pub apex: NodeId,
    /// Nodes that are left out with all below them, such as the signature itself; attributes too.
    pub excluded: &'a [NodeId],
}

/// A node that a set can hold or not: one of the tree, or a namespace node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeRef<'a> {
    /// An element, attribute, text, comment or instruction.
    Node(NodeId),
    /// What a prefix means at an element, declared there or above.
    Namespace {
        /// The element.
        element: NodeId,
        /// The prefix, empty for the default namespace.
        prefix: &'a str,
    },
}

/// A namespace that is a relative reference: such documents have no canonical form. The document's author is to blame.
///
/// Source: Canonical XML 1.1 §1.3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelativeNamespace(pub String);

impl fmt::Display for RelativeNamespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "namespace {:?} is relative, expected one with a scheme: it has no canonical form", self.0)
    }
}

impl std::error::Error for RelativeNamespace {}

/// Writes the canonical form of a subset.
///
/// Errors: a namespace to be shown is relative; what was written until then is of no use.
/// Source: Canonical XML 1.0, Canonical XML 1.1, Exclusive XML Canonicalization 1.0.
pub fn canonicalize(
    document: &Document,
    subset: Subset<'_>,
    how: &Canonical,
    sink: &mut dyn Sink,
) -> Result<(), RelativeNamespace> {
    let excluded = subset.excluded.iter().copied().collect();
    Walk::run(document, subset.apex, &Selection::Subtree { excluded }, how, sink)
}

/// Writes the canonical form of the nodes that `include` says are in the set.
///
/// `include` is asked for each node of the document that holds `any`, and for each namespace in scope of each of its
/// elements: what it costs grows with the product of both.
/// Errors: as for [`canonicalize`].
pub fn canonicalize_nodes(
    document: &Document,
    any: NodeId,
    include: &dyn Fn(NodeRef<'_>) -> bool,
    how: &Canonical,
    sink: &mut dyn Sink,
) -> Result<(), RelativeNamespace> {
    let top = std::iter::successors(Some(any), |&node| document.parent(node)).last().unwrap_or(any);
    Walk::run(document, top, &Selection::Nodes(include), how, sink)
}

/// Which nodes are in the set.
enum Selection<'a> {
    Subtree { excluded: HashSet<NodeId> },
    Nodes(&'a dyn Fn(NodeRef<'_>) -> bool),
}

impl Selection<'_> {
    /// Whether the node and all below it are left out without a further look.
    #[inline]
    fn skips(&self, node: NodeId) -> bool {
        match self {
            Selection::Subtree { excluded } => !excluded.is_empty() && excluded.contains(&node),
            Selection::Nodes(_) => false,
        }
    }

    /// Whether the node is in the set; that a node is not below a skipped one is known.
    #[inline]
    fn holds(&self, node: NodeId) -> bool {
        match self {
            Selection::Subtree { .. } => !self.skips(node),
            Selection::Nodes(include) => include(NodeRef::Node(node)),
        }
    }

    /// Whether an element above the apex, or above an element in the set, is in the set itself.
    fn holds_ancestor(&self, ancestor: NodeId) -> bool {
        match self {
            Selection::Subtree { .. } => false,
            Selection::Nodes(include) => include(NodeRef::Node(ancestor)),
        }
    }
}

/// Whether the node stands at the top of its document.
fn is_top_level(document: &Document, node: NodeId) -> bool {
    document.parent(node).is_some_and(|parent| document.kind(parent) == Kind::Document)
}
