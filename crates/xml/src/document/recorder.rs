//! The tree of a document that a program writes as XML, noted while it writes: nobody has to read it again.

use std::ops::Range;

use super::build::{Builder, placed};
use super::node::Node;
use super::{Arena, Document, Kind, NodeId};
use crate::names::Shape;
use crate::{Atom, Error, Options};

/// Larger documents are not compared with what the parser makes of them: it takes as much memory again.
const CHECKED_BYTES: usize = 256 << 10;

/// Where the elements, attributes and texts stand that a program writes.
///
/// The caller sees to it that what it writes is well-formed, that each of its elements, attributes and texts is told of
/// in the order of the document, and that no attribute stands twice on an element.
/// Units: all places count bytes of what is written, from its start.
#[derive(Debug)]
pub struct TreeRecorder<'o> {
    options: &'o Options,
    /// All but its nodes, which the builder has.
    document: Document,
    builder: Builder,
    /// Elements that are open.
    depth: usize,
    tag: Tag,
    /// Whether something was written that only the parser understands, or judges.
    unread: bool,
}

/// The start tag that was told of last.
#[derive(Debug, Default)]
struct Tag {
    start: usize,
    element: u32,
    /// Its last attribute so far, and how many there are.
    attribute: u32,
    attributes: usize,
}

impl<'o> TreeRecorder<'o> {
    /// Begins a document, in memory that was used before.
    pub fn new(options: &'o Options, arena: Arena) -> TreeRecorder<'o> {
        let mut document = Document::in_arena(arena);
        let builder = Builder::new(std::mem::take(&mut document.nodes));
        TreeRecorder { options, document, builder, depth: 0, tag: Tag::default(), unread: false }
    }

    /// An element whose start tag begins at `start`.
    #[inline]
    pub fn start(&mut self, name: &[u8], start: usize) {
        if self.depth >= self.options.depth {
            self.unread = true;
        }
        let Some(raw) = self.plain_name(name) else { return };
        let name = self.document.names.resolve(raw, Atom::EMPTY);
        self.depth += 1;
        let element = self.builder.element(name, start..start);
        self.tag = Tag { start, element, ..Tag::default() };
    }

    /// An attribute of the element that began last, and between its quotes the value.
    #[inline]
    pub fn attribute(&mut self, name: &[u8], range: Range<usize>, value: Range<usize>, verbatim: bool) {
        let Some(raw) = self.plain_name(name) else { return };
        let name = self.document.names.resolve_bare(raw);
        self.tag.attributes += 1;
        if self.tag.attributes > self.options.attributes || range.end - self.tag.start >= self.options.token_bytes {
            self.unread = true;
        }
        let mut node = placed(Kind::Attribute, range, value, verbatim);
        node.name = name.index() as u32;
        self.tag.attribute = self.builder.chained(self.tag.element, self.tag.attribute, node);
    }

    /// Text, which is `verbatim` if there is no reference and no carriage return in it.
    #[inline]
    pub fn text(&mut self, range: Range<usize>, verbatim: bool) {
        if self.unread || range.is_empty() {
            return;
        }
        // Texts behind each other are one, of which the parser knows best.
        self.unread = range.len() >= self.options.token_bytes || self.builder.ends_in_text();
        self.builder.valued(Kind::Text, range.clone(), range, verbatim);
    }

    /// The end of the element that is open: its end tag, or its empty one, ends at `end`.
    #[inline]
    pub fn end(&mut self, end: usize) {
        if !self.unread {
            self.builder.end(end);
            self.depth -= 1;
        }
    }

    /// Says that something was written which is none of these: the document is read in the end.
    pub fn leave_to_parser(&mut self) {
        self.unread = true;
    }

    /// The document, whose source this is; it stays where it is unless it is understood.
    ///
    /// Errors: the parser's, for a document that breaks a bound.
    pub fn finish(self, source: &mut Vec<u8>) -> Result<Document, Error> {
        let TreeRecorder { options, builder, mut document, .. } = self;
        let bounded = source.len() <= options.total_bytes.min(u32::MAX as usize)
            && builder.nodes.len() <= options.nodes.saturating_add(2);
        document.nodes = builder.nodes;
        if !self.unread && bounded && self.depth == 0 {
            match String::from_utf8(std::mem::take(source)) {
                Ok(text) => {
                    document.lay_over(text);
                    debug_assert!(
                        document.source.len() > CHECKED_BYTES || is_as_parsed(&document, options),
                        "not what the parser sees: {}",
                        document.source
                    );
                    return Ok(document);
                }
                Err(error) => *source = error.into_bytes(),
            }
        }
        Document::take(source, options, document.into_arena())
    }

    /// The number of a name that has no prefix and declares nothing.
    #[inline]
    fn plain_name(&mut self, name: &[u8]) -> Option<Atom> {
        if self.unread {
            return None;
        }
        let raw = self
            .document
            .names
            .qualified(name, self.options.namespaces)
            .ok()
            .filter(|&raw| self.document.names.shape(raw) == Shape::Plain);
        let (count, bytes) = self.document.names.size();
        let options = self.options;
        let bounded = name.len() <= options.name_bytes && count <= options.names && bytes <= options.names_bytes;
        self.unread = raw.is_none() || !bounded;
        raw
    }
}

/// Whether the parser makes the very same of the source.
fn is_as_parsed(document: &Document, options: &Options) -> bool {
    let Ok(parsed) = Document::parse(document.source.clone().into_bytes(), options) else { return false };
    let unnamed = |node: &Node| Node { name: 0, ..*node };
    document.nodes.len() == parsed.nodes.len()
        && document.nodes.iter().zip(&parsed.nodes).all(|(ours, theirs)| unnamed(ours) == unnamed(theirs))
        && document.descendants(NodeId::DOCUMENT).all(|node| {
            let names = |of: &Document| {
                of.attributes(node).map(|attribute| format!("{:?}", of.qname(attribute))).collect::<Vec<_>>()
            };
            document.qname(node) == parsed.qname(node) && names(document) == names(&parsed)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Limit};

    /// Writes an element with an attribute and a text in as many others, and tells of all of it.
    fn written(options: &Options, depth: usize, name: &str, value: &str) -> Result<Document, Error> {
        let mut source = Vec::new();
        let mut outline = TreeRecorder::new(options, Arena::default());
        for _ in 0..depth {
            outline.start(name.as_bytes(), source.len());
            source.extend_from_slice(format!("<{name} a=\"").as_bytes());
            let (start, verbatim) = (source.len(), !value.contains('&'));
            source.extend_from_slice(value.as_bytes());
            let value = start..source.len();
            outline.attribute(b"a", start - 3..source.len() + 1, value, verbatim);
            source.extend_from_slice(b"\">");
        }
        let start = source.len();
        source.extend_from_slice(value.as_bytes());
        outline.text(start..source.len(), !value.contains('&'));
        for _ in 0..depth {
            source.extend_from_slice(format!("</{name}>").as_bytes());
            outline.end(source.len());
        }
        outline.finish(&mut source)
    }

    #[test]
    fn what_is_told_of_is_what_the_parser_sees() {
        for value in ["1", "a &lt; b", "", "Zürich"] {
            let document = written(&Options::default(), 3, "é", value).unwrap();
            let root = document.root_element().unwrap();
            assert_eq!(document.string_value(root), value.replace("&lt;", "<"));
            assert!(document.is_as_read() && is_as_parsed(&document, &Options::default()));
        }
    }

    #[test]
    fn the_parser_has_the_last_word_on_what_is_more_than_a_plain_name_or_breaks_a_bound() {
        let error = |options: &Options, name: &str| written(options, 3, name, "1").unwrap_err().kind;
        let few = Options { depth: 2, ..Options::default() };
        assert_eq!(error(&few, "e"), ErrorKind::Limit(Limit::Depth(2)));
        let few = Options { nodes: 6, ..Options::default() };
        assert_eq!(error(&few, "e"), ErrorKind::Limit(Limit::Nodes(6)));
        let few = Options { attributes: 0, ..Options::default() };
        assert_eq!(error(&few, "e"), ErrorKind::Limit(Limit::Attributes(0)));
        let few = Options { name_bytes: 4, ..Options::default() };
        assert_eq!(error(&few, "names"), ErrorKind::Limit(Limit::NameBytes(4)));
        let few = Options { token_bytes: 4, ..Options::default() };
        assert_eq!(error(&few, "e"), ErrorKind::Limit(Limit::TokenBytes(4)));
        assert!(matches!(error(&Options::default(), "p:e"), ErrorKind::UndeclaredPrefix(_)));
        assert_eq!(written(&Options::default(), 1, "xml:e", "1").unwrap().source(), "<xml:e a=\"1\">1</xml:e>");
    }

    #[test]
    fn what_it_is_not_told_of_is_read() {
        let mut source = b"<a><!-- c --></a>".to_vec();
        let options = Options::default();
        let mut outline = TreeRecorder::new(&options, Arena::default());
        outline.leave_to_parser();
        assert_eq!(outline.finish(&mut source).unwrap().node_count(), 3);
    }
}
