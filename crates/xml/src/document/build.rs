//! From the parser's events to nodes.

use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

use super::node::{Flags, Node};
use super::{Document, Kind, NodeId, Prolog, Serial};
use crate::event::{End, Event, Start, Text};
use crate::handler::{Handler, Reached};
use crate::parser::place::Place;
use crate::{Error, ErrorKind, Limit, NameId, Names, Options, Parser};

/// The memory of a document that is not needed any more, for the next one of the same thread.
///
/// The large arrays and the names stay, so that documents like those before are read without growing anything.
#[derive(Debug, Default)]
pub struct Arena {
    nodes: Vec<Node>,
    made: String,
    names: Names,
}

impl Arena {
    /// How much memory it holds, about.
    pub fn size_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.made.capacity() + self.names.memory_bytes()
    }
}

/// Names that an arena keeps for the next document; more would let one document slow down those behind it.
const KEPT_NAMES: usize = 4_096;

/// How many nodes are made room for before any was seen.
const GUESSED_NODES: usize = 4_096;

impl Document {
    /// Reads a whole document in UTF-8. The source stays inside; nothing of it is copied.
    ///
    /// Units: at most 4 GiB, as ranges have 32 bits.
    /// Errors: as the parser's; `TotalBytes` for a source that is too large, `Nodes` for a tree that is.
    pub fn parse(source: Vec<u8>, options: &Options) -> Result<Document, Error> {
        Document::parse_in(source, options, Arena::default())
    }

    /// How many bytes the nodes of a document take at most that is read of `source`, without `source` itself.
    pub fn nodes_bytes_of(source: &[u8], options: &Options) -> usize {
        nodes_of(source).min(options.nodes) * size_of::<Node>()
    }

    /// As [`parse`](Document::parse), in memory that was used before.
    pub fn parse_in(mut source: Vec<u8>, options: &Options, arena: Arena) -> Result<Document, Error> {
        Document::take(&mut source, options, arena)
    }

    /// As [`parse_in`](Document::parse_in), of a source that stays where it is unless it is understood.
    pub fn take(source: &mut Vec<u8>, options: &Options, arena: Arena) -> Result<Document, Error> {
        let mut document = Document::in_arena(arena);
        let total_bytes = options.total_bytes.min(u32::MAX as usize);
        let mut parser = Parser::with_names(Options { total_bytes, ..options.clone() }, document.names);
        // Most documents have a node for every dozen bytes. For a large one they are counted: an array that grows is there
        // twice while it is copied.
        let nodes = source.len() / 12;
        document.nodes.reserve(if nodes > GUESSED_NODES {
            nodes_of(source).min(options.nodes.saturating_add(2))
        } else {
            nodes
        });
        let mut reading = Reading { builder: Builder::new(document.nodes), bound: options.nodes.saturating_add(2) };
        if parser.read(source, true, &mut reading)? == Reached::Enough {
            return Err(too_many_nodes(options.nodes, &source[..parser.position()]));
        }
        let builder = reading.builder;
        (document.names, document.nodes, document.prolog) = (parser.into_names(), builder.nodes, builder.prolog);
        document.lay_over(String::from_utf8(std::mem::take(source)).expect("the parser has checked each byte"));
        document.name_instructions(&builder.instructions);
        Ok(document)
    }

    /// Gives the nodes the source that they were noted in.
    pub(super) fn lay_over(&mut self, source: String) {
        self.source = source;
        let length = self.source.len() as u32;
        let top = self.at_mut(NodeId::DOCUMENT);
        top.end = length;
        top.flags.set(Flags::SOURCE);
    }

    /// An empty document, to be built by a program.
    pub fn new() -> Document {
        Document::in_arena(Arena::default())
    }

    /// An empty document in memory that was used before.
    pub fn in_arena(arena: Arena) -> Document {
        let Arena { mut nodes, mut made, mut names } = arena;
        nodes.clear();
        nodes.extend([Node::blank(Kind::Document, Flags::default()); 2]);
        made.clear();
        if names.size().0 > KEPT_NAMES {
            // Without its memory: an arena that knows few names is thought to be a small one.
            names = Names::new();
        }
        Document {
            source: String::new(),
            made,
            nodes,
            known_bytes: names.memory_bytes(),
            names,
            prolog: Prolog::default(),
            relinked: false,
            order: OnceLock::new(),
            fixups: OnceLock::new(),
            inherited: Vec::new(),
            hides_space: false,
            seen_elsewhere: false,
            declarations: None,
            serial: Serial::next(),
        }
    }

    /// A number that no other document has: of those of one thread, the later a document is begun, the higher.
    pub fn serial(&self) -> u64 {
        self.serial.0
    }

    /// Drops what the document says and keeps its memory.
    pub fn into_arena(self) -> Arena {
        self.into_parts().1
    }

    /// Gives the source back, and the memory of the tree.
    pub fn into_parts(self) -> (Vec<u8>, Arena) {
        let read_bytes = self.read_bytes();
        let Document { mut source, nodes, made, names, .. } = self;
        source.truncate(read_bytes);
        (source.into_bytes(), Arena { nodes, made, names })
    }

    /// The parser gives targets as text, as its names are of elements and attributes.
    fn name_instructions(&mut self, instructions: &[NodeId]) {
        for &instruction in instructions {
            let node = self.at(instruction);
            let inside = &self.source[node.start as usize + 2..node.first as usize];
            let target = inside.trim_end();
            let name = self.names.intern("", target, "").index() as u32;
            self.at_mut(instruction).name = name;
        }
    }
}

/// How many nodes a document has at most that is read of `source`.
///
/// Each tag is an element or the end of one, with one text before it; each `=` is an attribute or a declaration.
fn nodes_of(source: &[u8]) -> usize {
    let next = source.get(1..).unwrap_or_default();
    // Sums of so few fit into a byte, and the compiler turns them into wide comparisons.
    let few = usize::from(u8::MAX) / 2;
    let of_pairs = source.chunks(few).zip(next.chunks(few)).map(|(bytes, next)| {
        let of = |(&byte, &next): (&u8, &u8)| {
            let (tag, end) = (u8::from(byte == b'<'), u8::from(next == b'/'));
            2 * tag - (tag & end) + u8::from(byte == b'=')
        };
        usize::from(bytes.iter().zip(next).map(of).sum::<u8>())
    });
    // With the filler and the document node, and what the last byte may begin.
    2 + of_pairs.sum::<usize>() + 2
}

fn too_many_nodes(bound: usize, read: &[u8]) -> Error {
    let mut place = Place::default();
    place.pass(read, true);
    let Place { line, column, .. } = place;
    Error { kind: ErrorKind::Limit(Limit::Nodes(bound)), line, column, offset: read.len() }
}

impl Default for Document {
    fn default() -> Document {
        Document::new()
    }
}

/// Puts nodes behind each other and links them. Ranges fit in 32 bits as the parser was told so.
#[derive(Debug)]
pub(super) struct Builder {
    pub(super) nodes: Vec<Node>,
    /// The element that is open, or the document node.
    open: u32,
    instructions: Vec<NodeId>,
    prolog: Prolog,
}

/// Builds what is read, while there are not too many nodes.
struct Reading {
    builder: Builder,
    /// More are too many.
    bound: usize,
}

impl Builder {
    /// Begins in an array that has the filler and the document node.
    pub(super) fn new(nodes: Vec<Node>) -> Builder {
        Builder { nodes, open: NodeId::DOCUMENT.link(), instructions: Vec::new(), prolog: Prolog::default() }
    }

    #[inline(always)]
    fn start(&mut self, start: &Start<'_>) {
        let element = self.element(start.name, start.range.clone());
        let mut previous = 0;
        for declaration in start.declarations() {
            let mut node = Node::declaration((declaration.prefix, declaration.namespace));
            node.flags.set(Flags::SOURCE);
            (node.start, node.end) = (declaration.range.start as u32, declaration.range.end as u32);
            previous = self.chained(element, previous, node);
        }
        for attribute in start.attributes() {
            let mut node = placed(Kind::Attribute, attribute.range, attribute.value_range, attribute.verbatim);
            node.name = attribute.name.index() as u32;
            previous = self.chained(element, previous, node);
        }
    }

    /// Opens an element.
    #[inline]
    pub(super) fn element(&mut self, name: NameId, range: Range<usize>) -> u32 {
        let mut node = Node::blank(Kind::Element, Flags::SOURCE);
        node.name = name.index() as u32;
        (node.start, node.end) = (range.start as u32, range.end as u32);
        self.open = self.child(node);
        self.open
    }

    /// Closes what is open.
    #[inline]
    pub(super) fn end(&mut self, end: usize) {
        let node = &mut self.nodes[self.open as usize];
        node.end = end as u32;
        self.open = node.parent;
    }

    /// Whether the last child of what is open is a text.
    #[inline]
    pub(super) fn ends_in_text(&self) -> bool {
        let last = self.nodes[self.open as usize].last as usize;
        last != 0 && self.nodes[last].kind == Kind::Text
    }

    /// Text and CDATA sections in a row are one text, as XPath wants it.
    #[inline]
    fn text(&mut self, text: &Text<'_>) {
        let last = self.nodes[self.open as usize].last as usize;
        if last != 0 {
            let before = &mut self.nodes[last];
            if before.kind == Kind::Text && before.end == text.range.start as u32 {
                before.flags.clear(Flags::VERBATIM);
                before.end = text.range.end as u32;
                (before.first, before.last) = (before.start, before.end);
                return;
            }
        }
        // An empty section alone is no text: a text has a character at least.
        if text.cdata && text.bytes().is_empty() {
            return;
        }
        let value = if text.verbatim { text.value_range() } else { text.range.clone() };
        self.valued(Kind::Text, text.range.clone(), value, text.verbatim);
    }

    #[inline]
    pub(super) fn valued(&mut self, kind: Kind, range: Range<usize>, value: Range<usize>, verbatim: bool) {
        self.child(placed(kind, range, value, verbatim));
    }

    /// Takes what is rare.
    fn other(&mut self, event: Event<'_>) {
        match event {
            Event::Comment(comment) => {
                let value = comment.range.start + "<!--".len()..comment.range.end - "-->".len();
                self.valued(Kind::Comment, comment.range, value, !comment.raw.contains('\r'));
            }
            Event::Instruction(instruction) => {
                let end = instruction.range.end - "?>".len();
                let value = end - instruction.raw.len()..end;
                self.instructions.extend(NodeId::from_link(self.nodes.len() as u32));
                self.valued(Kind::Instruction, instruction.range, value, !instruction.raw.contains('\r'));
            }
            Event::Declaration(declaration) => {
                self.prolog.other_encoding =
                    declaration.encoding.is_some_and(|name| !name.eq_ignore_ascii_case("UTF-8"));
                self.prolog.declaration = Some(declaration.range);
            }
            Event::Doctype(doctype) => self.prolog.doctype = Some(doctype.range),
            Event::Start(_) | Event::End(_) | Event::Text(_) => {}
        }
    }

    /// Puts a node behind the last child of what is open.
    #[inline]
    fn child(&mut self, mut node: Node) -> u32 {
        let link = self.nodes.len() as u32;
        let open = &mut self.nodes[self.open as usize];
        (node.parent, node.previous) = (self.open, open.last);
        open.last = link;
        if node.previous == 0 {
            open.first = link;
        } else {
            self.nodes[node.previous as usize].next = link;
        }
        self.nodes.push(node);
        link
    }

    /// Puts a declaration or attribute behind the previous one of its element.
    #[inline]
    pub(super) fn chained(&mut self, element: u32, previous: u32, mut node: Node) -> u32 {
        let link = self.nodes.len() as u32;
        (node.parent, node.previous) = (element, previous);
        let before = if previous == 0 { element } else { previous };
        let before = &mut self.nodes[before as usize];
        *(if previous == 0 { &mut before.attributes } else { &mut before.next }) = link;
        self.nodes.push(node);
        link
    }
}

impl Reading {
    #[inline(always)]
    fn flow(&self) -> ControlFlow<()> {
        if self.builder.nodes.len() > self.bound { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Handler for Reading {
    #[inline(always)]
    fn start(&mut self, start: Start<'_>) -> ControlFlow<()> {
        self.builder.start(&start);
        self.flow()
    }

    #[inline(always)]
    fn end(&mut self, end: End) -> ControlFlow<()> {
        self.builder.end(end.range.end);
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn text(&mut self, text: Text<'_>) -> ControlFlow<()> {
        self.builder.text(&text);
        self.flow()
    }

    fn other(&mut self, event: Event<'_>) -> ControlFlow<()> {
        self.builder.other(event);
        self.flow()
    }
}

/// A node that has its value in the source.
#[inline]
pub(super) fn placed(kind: Kind, range: Range<usize>, value: Range<usize>, verbatim: bool) -> Node {
    let flags = if verbatim { Flags::SOURCE.with(Flags::VERBATIM) } else { Flags::SOURCE };
    let mut node = Node::blank(kind, flags);
    (node.start, node.end) = (range.start as u32, range.end as u32);
    (node.first, node.last) = (value.start as u32, value.end as u32);
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_made_for_all_nodes_and_few_more() {
        let content = "<a b='1' xmlns:c='u'>t<d/></a>".repeat(1_000);
        for cut in 0..300 {
            let document = format!("<r>{}{content}</r>", " ".repeat(cut));
            let read = Document::parse(document.clone().into_bytes(), &Options::default()).unwrap();
            let room = nodes_of(document.as_bytes());
            // The text behind an empty element is one that might be there.
            assert!((read.nodes.len()..read.nodes.len() + 2_010).contains(&room), "{room} for {}", read.nodes.len());
        }
        assert!(nodes_of(b"") >= 2 && nodes_of(b"<") >= 4);
    }
}
