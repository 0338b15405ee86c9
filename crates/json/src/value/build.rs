//! From events to nodes.

use super::{NONE, Node, NodeId, Span, Type, Value};
use crate::error::{Error, Limit};
use crate::reader::{Event, Kind, Options, Reader, Step};

/// Links and places are 32 bits wide, and one number stands for "none".
const LIMIT_BYTES: usize = u32::MAX as usize - 1;

/// Of a longer text the nodes are counted before they are made.
const COUNTED_BYTES: usize = 64 << 10;

impl Value {
    /// Reads the text from `base` on; gives the node of its outermost value, which has no parent yet.
    pub(super) fn build(&mut self, base: usize, options: &Options) -> Result<NodeId, Error> {
        let text = std::mem::take(&mut self.text);
        let built = self.build_from(&text, base, options);
        self.text = text;
        built
    }

    fn build_from(&mut self, text: &[u8], base: usize, options: &Options) -> Result<NodeId, Error> {
        let mut reader = Reader::new(options.clone());
        let input = &text[base..];
        if text.len() > LIMIT_BYTES {
            return Err(Error::TooLarge(Limit::SourceBytes(LIMIT_BYTES), reader.place(input, LIMIT_BYTES - base)));
        }
        if input.len() > COUNTED_BYTES {
            // An array that grows is there twice while it is copied.
            self.nodes.reserve_exact(Value::nodes_of(input).min(options.nodes.saturating_add(1)));
        }
        let root = self.nodes.len() as u32;
        let mut builder = Builder { nodes: &mut self.nodes, base: base as u32, open: NONE, key: None };
        while let Step::Event(event) = reader.next(input, true)? {
            builder.take(event);
            if builder.nodes.len() - root as usize > options.nodes {
                return Err(Error::TooLarge(Limit::Nodes(options.nodes), reader.place(input, event.start)));
            }
        }
        Ok(NodeId(root))
    }
}

struct Builder<'a> {
    nodes: &'a mut Vec<Node>,
    base: u32,
    /// The innermost array or object that is not closed.
    open: u32,
    /// The key of the value to come, and whether it has a backslash.
    key: Option<(Span, bool)>,
}

impl Builder<'_> {
    #[inline]
    fn take(&mut self, event: Event<'_>) {
        let start = self.base + event.start as u32;
        let span = Span { start, end: start + event.raw.len() as u32 };
        let kind = match event.kind {
            Kind::Key => {
                self.key = Some((span, event.escaped));
                return;
            }
            Kind::ObjectEnd | Kind::ArrayEnd => {
                let node = &mut self.nodes[self.open as usize];
                node.span.end = span.end;
                self.open = node.parent;
                return;
            }
            Kind::ObjectStart => Type::Object,
            Kind::ArrayStart => Type::Array,
            Kind::String => Type::String,
            Kind::Number => Type::Number,
            Kind::True => Type::True,
            Kind::False => Type::False,
            Kind::Null => Type::Null,
        };
        let (key, key_escaped) = self.key.take().unwrap_or_default();
        let index = self.nodes.len() as u32;
        let mut previous = NONE;
        if let Some(parent) = self.nodes.get_mut(self.open as usize) {
            previous = std::mem::replace(&mut parent.last, index);
            if previous == NONE {
                parent.first = index;
            }
        }
        if let Some(sibling) = self.nodes.get_mut(previous as usize) {
            sibling.next = index;
        }
        self.nodes.push(Node {
            kind,
            key_escaped,
            escaped: event.escaped,
            changed: false,
            key,
            span,
            parent: self.open,
            previous,
            next: NONE,
            first: NONE,
            last: NONE,
        });
        if matches!(kind, Type::Object | Type::Array) {
            self.open = index;
        }
    }
}
