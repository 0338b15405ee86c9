//! Trees made by programs from front to back: what a transformation keeps in a variable.
//!
//! Nodes come in document order, so that their numbers are that order, as in a tree that was read.

use super::node::{Flags, Node};
use super::{Arena, Document, Kind, NodeId, Refusal};
use crate::{Atom, NameId, Names};

/// Puts nodes behind each other, each as the last child of what is open; nothing can be changed on the way.
///
/// The caller sees to it that names and targets are names, that no attribute or declaration stands twice on an
/// element, and that declarations give prefixes the meaning that names have; writing declares what is missing.
#[derive(Debug)]
pub struct TreeBuilder {
    document: Document,
    /// The element that is open, or the document node.
    open: u32,
    /// Where the next declaration or attribute is linked.
    chain: Chain,
}

/// How far the start tag of what is open has come.
#[derive(Clone, Copy, Debug)]
enum Chain {
    /// It is complete, or what is open is the document node.
    Closed,
    /// It has only declarations, if any; the last of them.
    Declarations(u32),
    /// It has attributes; the last of them.
    Attributes(u32),
}

impl TreeBuilder {
    /// Begins an empty document, in memory that was used before.
    pub fn new(arena: Arena) -> TreeBuilder {
        TreeBuilder { document: Document::in_arena(arena), open: NodeId::DOCUMENT.link(), chain: Chain::Closed }
    }

    /// The names of the document, to number those that nodes get.
    #[inline]
    pub fn names(&mut self) -> &mut Names {
        &mut self.document.names
    }

    /// As [`Document::size_bytes`], of the document so far.
    #[inline]
    pub fn size_bytes(&self) -> usize {
        self.document.size_bytes()
    }

    /// Opens an element.
    #[inline]
    pub fn start(&mut self, name: NameId) -> Result<(), Refusal> {
        let name = name.index() as u32;
        self.open = self.child(Node { name, ..Node::blank(Kind::Element, Flags::default()) })?;
        self.chain = Chain::Declarations(0);
        Ok(())
    }

    /// Declares a namespace on the element that was just opened.
    ///
    /// Errors: `Place` behind an attribute or content.
    pub fn declare(&mut self, prefix: Atom, namespace: Atom) -> Result<(), Refusal> {
        let Chain::Declarations(previous) = self.chain else { return Err(Refusal::Place) };
        self.chain = Chain::Declarations(self.chained(previous, Node::declaration((prefix, namespace)))?);
        Ok(())
    }

    /// Gives the element that was just opened an attribute.
    ///
    /// Errors: `Place` behind content.
    pub fn attribute(&mut self, name: NameId, value: &str) -> Result<(), Refusal> {
        let (Chain::Declarations(previous) | Chain::Attributes(previous)) = self.chain else {
            return Err(Refusal::Place);
        };
        let node = self.valued(Kind::Attribute, name.index() as u32, value)?;
        self.chain = Chain::Attributes(self.chained(previous, node)?);
        Ok(())
    }

    /// Adds text; it joins the text in front of it, and an empty one is none.
    pub fn text(&mut self, text: &str) -> Result<(), Refusal> {
        if text.is_empty() {
            return Ok(());
        }
        self.chain = Chain::Closed;
        let last = self.document.nodes[self.open as usize].last as usize;
        // A last child without anything below it is the last of all nodes, and its value the last of all values.
        if last != 0 && self.document.nodes[last].kind == Kind::Text {
            let (_, end) = self.document.make_value(Kind::Text, text)?;
            self.document.nodes[last].last = end;
            return Ok(());
        }
        let node = self.valued(Kind::Text, 0, text)?;
        self.child(node).map(drop)
    }

    /// Adds a comment.
    pub fn comment(&mut self, text: &str) -> Result<(), Refusal> {
        let node = self.valued(Kind::Comment, 0, text)?;
        self.child(node).map(drop)
    }

    /// Adds a processing instruction.
    pub fn instruction(&mut self, target: &str, data: &str) -> Result<(), Refusal> {
        let target = self.document.checked_target(target)?;
        let node = self.valued(Kind::Instruction, target, data)?;
        self.child(node).map(drop)
    }

    /// Closes the element that is open; at the document node there is none, and nothing happens.
    #[inline]
    pub fn end(&mut self) {
        let parent = self.document.nodes[self.open as usize].parent;
        if parent != 0 {
            self.open = parent;
        }
        self.chain = Chain::Closed;
    }

    /// The document, with whatever is still open closed.
    pub fn finish(self) -> Document {
        self.document
    }

    fn valued(&mut self, kind: Kind, name: u32, value: &str) -> Result<Node, Refusal> {
        let (first, last) = self.document.make_value(kind, value)?;
        Ok(Node { name, first, last, ..Node::blank(kind, Flags::VERBATIM.with(Flags::MADE)) })
    }

    /// Puts a node behind the last child of what is open.
    #[inline]
    fn child(&mut self, mut node: Node) -> Result<u32, Refusal> {
        let nodes = &mut self.document.nodes;
        let link = u32::try_from(nodes.len()).map_err(|_| Refusal::Full)?;
        let open = &mut nodes[self.open as usize];
        (node.parent, node.previous) = (self.open, open.last);
        open.last = link;
        if node.previous == 0 {
            open.first = link;
        } else {
            nodes[node.previous as usize].next = link;
        }
        nodes.push(node);
        self.chain = Chain::Closed;
        Ok(link)
    }

    /// Puts a declaration or attribute behind the previous one of what is open.
    #[inline]
    fn chained(&mut self, previous: u32, mut node: Node) -> Result<u32, Refusal> {
        let nodes = &mut self.document.nodes;
        let link = u32::try_from(nodes.len()).map_err(|_| Refusal::Full)?;
        (node.parent, node.previous) = (self.open, previous);
        match previous {
            0 => nodes[self.open as usize].attributes = link,
            _ => nodes[previous as usize].next = link,
        }
        nodes.push(node);
        Ok(link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::tests::shape;
    use crate::{Options, WriteOptions, write};

    fn name(builder: &mut TreeBuilder, text: &str) -> NameId {
        builder.names().intern("", text, "")
    }

    /// What XPath could tell of the tree, with the namespaces of its root element.
    fn dump(document: &Document) -> String {
        let namespaces = document.root_element().map(|root| document.namespaces_in_scope(root));
        format!("{} {namespaces:?}", shape(document, document.document_node()))
    }

    fn build(arena: Arena) -> Document {
        let mut builder = TreeBuilder::new(arena);
        let (prefix, namespace) = (builder.names().atom("p"), builder.names().atom("urn:p"));
        builder.comment("c").unwrap();
        let a = builder.names().intern("p", "a", "urn:p");
        builder.start(a).unwrap();
        builder.declare(prefix, namespace).unwrap();
        let b = name(&mut builder, "b");
        builder.attribute(b, "1 <").unwrap();
        builder.text("x").unwrap();
        builder.text("").unwrap();
        builder.text("y & z").unwrap();
        builder.start(b).unwrap();
        builder.end();
        builder.text("t").unwrap();
        builder.instruction("i", "d").unwrap();
        builder.end();
        builder.end();
        builder.finish()
    }

    #[test]
    fn what_is_built_is_what_is_read_from_its_written_form() {
        let built = build(Arena::default());
        let mut written = Vec::new();
        write(&built, built.document_node(), &WriteOptions::default(), &mut written);
        assert_eq!(
            String::from_utf8_lossy(&written),
            r#"<!--c--><p:a xmlns:p="urn:p" b="1 &lt;">xy &amp; z<b/>t<?i d?></p:a>"#
        );
        let read = Document::parse(written, &Options::default()).unwrap();
        assert_eq!(dump(&built), dump(&read));
        let again = build(built.into_arena());
        assert_eq!(dump(&again), dump(&read));
    }

    #[test]
    fn numbers_are_document_order() {
        let document = build(Arena::default());
        let nodes: Vec<NodeId> = document.descendants(document.document_node()).collect();
        assert!(nodes.is_sorted_by_key(|node| node.index()), "{nodes:?}");
        assert!(!document.relinked);
    }

    #[test]
    fn nothing_comes_too_late_and_nothing_that_xml_cannot_say() {
        let mut builder = TreeBuilder::new(Arena::default());
        let a = name(&mut builder, "a");
        let atom = builder.names().atom("p");
        assert_eq!(builder.attribute(a, ""), Err(Refusal::Place));
        builder.start(a).unwrap();
        builder.attribute(a, "").unwrap();
        assert_eq!(builder.declare(atom, atom), Err(Refusal::Place));
        assert_eq!(builder.text("\u{1}"), Err(Refusal::Character(1)));
        assert_eq!(builder.text("\u{FFFE}"), Err(Refusal::Character(0xFFFE)));
        assert_eq!(builder.comment("--"), Err(Refusal::Comment));
        assert_eq!(builder.instruction("XML", ""), Err(Refusal::Instruction));
        builder.text("\u{FFFD}\u{10000}").unwrap();
        assert_eq!(builder.attribute(a, ""), Err(Refusal::Place));
    }

    #[test]
    fn the_size_grows_with_all_that_is_put_in() {
        let mut builder = TreeBuilder::new(Arena::default());
        let mut size = builder.size_bytes();
        for step in 0..100 {
            let element = name(&mut builder, &format!("n{step}"));
            builder.start(element).unwrap();
            assert!(builder.size_bytes() >= size + 40 + 96);
            size = builder.size_bytes();
            builder.text("text").unwrap();
            assert!(builder.size_bytes() >= size + 44);
            size = builder.size_bytes();
        }
    }
}
