//! Changing a value: what is put in becomes text behind the source, read by the same reader.

use super::{NONE, NodeId, Span, Type, Value};
use crate::error::Error;
use crate::reader::Options;
use crate::text;

/// What is put into a value.
#[derive(Debug, Clone, Copy)]
pub enum New<'a> {
    /// A JSON text.
    Json(&'a [u8]),
    /// A text that becomes a string.
    Text(&'a str),
    /// A copy of a node of another value.
    Node(&'a Value, NodeId),
}

impl Value {
    /// Puts `new` in the place of `node`, which keeps its id, key and position.
    ///
    /// Errors: those of reading `new`: whose text it is; `Unchangeable` from 4 GiB on.
    pub fn replace(&mut self, node: NodeId, new: New<'_>) -> Result<(), Error> {
        let made = self.graft(new)?;
        // Who still holds the id of a node below must not reach the value through it.
        self.adopt(self.node(node).first, NONE);
        self.adopt(self.node(made).first, node.0);
        let made = self.node(made).clone();
        let old = self.node_mut(node);
        *old = super::Node {
            key: old.key,
            key_escaped: old.key_escaped,
            parent: old.parent,
            previous: old.previous,
            next: old.next,
            ..made
        };
        // The outermost text may stand among white space and is no longer what came.
        let parent = if node == self.root() { None } else { self.parent(node) };
        self.touch(parent);
        Ok(())
    }

    /// Puts `new` behind the last element of an array.
    ///
    /// Errors: as [`Value::replace`], and `Unchangeable` where `array` is none.
    pub fn push(&mut self, array: NodeId, new: New<'_>) -> Result<NodeId, Error> {
        if self.kind(array) != Type::Array {
            return Err(Error::Unchangeable("only an array takes elements"));
        }
        let made = self.graft(new)?;
        self.append(array, made);
        Ok(made)
    }

    /// Puts `new` behind the last member of an object; a member of the same key is not looked for.
    ///
    /// Errors: as [`Value::replace`], and `Unchangeable` where `object` is none.
    pub fn insert(&mut self, object: NodeId, key: &str, new: New<'_>) -> Result<NodeId, Error> {
        if self.kind(object) != Type::Object {
            return Err(Error::Unchangeable("only an object takes members"));
        }
        let made = self.graft(new)?;
        let start = self.text.len();
        text::write_string(key, &mut self.text);
        let key = self.span(start)?;
        let node = self.node_mut(made);
        node.key = key;
        node.key_escaped = true;
        self.append(object, made);
        Ok(made)
    }

    /// Takes `node` out of the array or object that holds it; the outermost value stays.
    pub fn remove(&mut self, node: NodeId) {
        let Some(parent) = self.parent(node) else { return };
        let (previous, next) = (self.node(node).previous, self.node(node).next);
        match self.nodes.get_mut(previous as usize) {
            Some(sibling) => sibling.next = next,
            None => self.node_mut(parent).first = next,
        }
        match self.nodes.get_mut(next as usize) {
            Some(sibling) => sibling.previous = previous,
            None => self.node_mut(parent).last = previous,
        }
        let node = self.node_mut(node);
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
        self.touch(Some(parent));
    }

    fn append(&mut self, parent: NodeId, node: NodeId) {
        let last = std::mem::replace(&mut self.node_mut(parent).last, node.0);
        match self.nodes.get_mut(last as usize) {
            Some(sibling) => sibling.next = node.0,
            None => self.node_mut(parent).first = node.0,
        }
        let entry = self.node_mut(node);
        entry.parent = parent.0;
        entry.previous = last;
        self.touch(Some(parent));
    }

    /// Makes `parent` that of `child` and of all siblings behind it.
    fn adopt(&mut self, mut child: u32, parent: u32) {
        while let Some(node) = self.nodes.get_mut(child as usize) {
            node.parent = parent;
            child = node.next;
        }
    }

    /// Notes that the text of `node`, and of all that hold it, is no longer its own.
    fn touch(&mut self, node: Option<NodeId>) {
        let mut next = node;
        while let Some(node) = next
            && !self.node(node).changed
        {
            self.node_mut(node).changed = true;
            next = self.parent(node);
        }
    }

    /// Reads `new` into nodes without a parent.
    fn graft(&mut self, new: New<'_>) -> Result<NodeId, Error> {
        let (base, nodes) = (self.text.len(), self.nodes.len());
        match new {
            New::Json(json) => self.text.extend_from_slice(json),
            New::Text(text) => text::write_string(text, &mut self.text),
            New::Node(value, node) => value.write(node, &mut self.text),
        }
        let built = self.span(base).and_then(|_| self.build(base, &Options::UNLIMITED));
        if built.is_err() {
            self.text.truncate(base);
            self.nodes.truncate(nodes);
        }
        built
    }

    /// The text from `start` to the end.
    fn span(&self, start: usize) -> Result<Span, Error> {
        match (u32::try_from(start), u32::try_from(self.text.len())) {
            (Ok(start), Ok(end)) if end != NONE => Ok(Span { start, end }),
            _ => Err(Error::Unchangeable("it would be larger than 4 GiB")),
        }
    }
}
