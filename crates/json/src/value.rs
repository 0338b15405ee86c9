//! A value as a tree over its text.
//!
//! Nodes are entries of one flat array that point into the text: numbers stay as written, keys in their order, duplicates included.
//! What nobody changed is written by copying its range, so an unchanged value comes out as the very bytes that came.
//! Dropping it frees two arrays; nothing recurses.

mod build;
mod edit;
#[cfg(test)]
pub(crate) mod tests;
mod write;

use std::borrow::Cow;
use std::ops::Range;

pub use edit::New;

use crate::error::Error;
use crate::reader::Options;
use crate::text;

/// A node of one [`Value`]; stays valid while the value is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(u32);

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Members in order.
    Object,
    /// Elements in order.
    Array,
    /// Text in quotes.
    String,
    /// A number, as written.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

/// A range of the text in half the space.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// Stands for "no node" in links.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
struct Node {
    kind: Type,
    /// Whether the key or the text has a backslash.
    key_escaped: bool,
    escaped: bool,
    /// Whether this node or one below it was changed, so that `span` no longer holds its text.
    changed: bool,
    /// The key with its quotes; empty for what is not a member.
    key: Span,
    /// The text, from the first byte of the token to the last of its closing bracket.
    span: Span,
    parent: u32,
    previous: u32,
    next: u32,
    first: u32,
    last: u32,
}

/// A JSON value and the text it came from.
#[derive(Debug, Clone)]
pub struct Value {
    /// The text that came; behind it the text of what was put in later.
    text: Vec<u8>,
    /// Bytes of the text that came.
    source_bytes: usize,
    nodes: Vec<Node>,
}

impl Value {
    /// How much memory a node takes.
    pub const NODE_BYTES: usize = size_of::<Node>();

    /// Reads a whole text; it stays inside, and [`Value::into_source`] gives it back.
    ///
    /// Errors: those of [`crate::Reader::next`]; `TooLarge` from 4 GiB on: the sender's.
    pub fn parse(mut source: Vec<u8>, options: &Options) -> Result<Value, Error> {
        Value::take(&mut source, options)
    }

    /// As [`Value::parse`], of a text that stays where it is unless it is understood.
    pub fn take(source: &mut Vec<u8>, options: &Options) -> Result<Value, Error> {
        let mut value = Value { source_bytes: source.len(), text: std::mem::take(source), nodes: Vec::new() };
        match value.build(0, options) {
            Ok(_) => Ok(value),
            Err(error) => {
                *source = value.text;
                Err(error)
            }
        }
    }

    /// The outermost value.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// The text that was read, as it came.
    pub fn source(&self) -> &[u8] {
        &self.text[..self.source_bytes]
    }

    /// Gives the text back.
    pub fn into_source(mut self) -> Vec<u8> {
        self.text.truncate(self.source_bytes);
        self.text
    }

    /// How many nodes it holds, those that were taken out included: what it takes of memory apart from its text.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// How many bytes of memory it takes.
    pub fn memory_bytes(&self) -> usize {
        self.text.capacity() + self.nodes.capacity() * size_of::<Node>()
    }

    /// How many bytes the nodes of a value take at most that is read of `source`, without `source` itself.
    ///
    /// Each value but the outermost stands behind a comma or an opening bracket.
    pub fn nodes_bytes_of(source: &[u8], options: &Options) -> usize {
        Value::nodes_of(source).min(options.nodes) * size_of::<Node>()
    }

    fn nodes_of(source: &[u8]) -> usize {
        // They may stand close together: a search for the next one would be slower than a look at each byte.
        1 + source.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
    }

    /// What `node` is.
    pub fn kind(&self, node: NodeId) -> Type {
        self.node(node).kind
    }

    /// The key under which `node` stands in an object.
    pub fn key(&self, node: NodeId) -> Option<Cow<'_, str>> {
        let key = self.node(node).key;
        (!key.is_empty()).then(|| text::unescape(self.inside(key)))
    }

    /// Whether `node` stands in an object under `key`.
    pub fn has_key(&self, node: NodeId, key: &str) -> bool {
        let node = self.node(node);
        !node.key.is_empty() && text::means(self.inside(node.key), node.key_escaped, key)
    }

    /// The text of a string, escapes resolved; numbers and words as written.
    ///
    /// `None` for arrays and objects: [`Value::write`] gives theirs.
    pub fn scalar(&self, node: NodeId) -> Option<Cow<'_, str>> {
        let entry = self.node(node);
        match entry.kind {
            Type::Object | Type::Array => None,
            Type::String if entry.escaped => Some(text::unescape(self.inside(entry.span))),
            Type::String => Some(String::from_utf8_lossy(self.inside(entry.span))),
            _ => Some(String::from_utf8_lossy(&self.text[entry.span.range()])),
        }
    }

    /// How many bytes a scalar takes in its text; none of arrays and objects.
    pub(crate) fn scalar_bytes(&self, node: NodeId) -> usize {
        let entry = self.node(node);
        if matches!(entry.kind, Type::Object | Type::Array) { 0 } else { entry.span.range().len() }
    }

    /// Where `node` stands in the text that came; `None` if it was put in or changed.
    pub fn range(&self, node: NodeId) -> Option<Range<usize>> {
        let entry = self.node(node);
        let range = entry.span.range();
        (!entry.changed && range.end <= self.source_bytes).then_some(range)
    }

    /// The array or object that holds `node`.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        link(self.node(node).parent)
    }

    /// The first element or member.
    pub fn first_child(&self, node: NodeId) -> Option<NodeId> {
        link(self.node(node).first)
    }

    /// The next element or member of the same array or object.
    pub fn next_sibling(&self, node: NodeId) -> Option<NodeId> {
        link(self.node(node).next)
    }

    /// Elements or members in order, duplicates included.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(node), |&child| self.next_sibling(child))
    }

    fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.0 as usize]
    }

    fn node_mut(&mut self, node: NodeId) -> &mut Node {
        &mut self.nodes[node.0 as usize]
    }

    /// What stands between the quotes of a key or string.
    fn inside(&self, span: Span) -> &[u8] {
        &self.text[span.start as usize + 1..span.end as usize - 1]
    }
}

fn link(index: u32) -> Option<NodeId> {
    (index != NONE).then_some(NodeId(index))
}
