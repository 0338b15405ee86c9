//! One stylesheet document, and from its bytes to lines and columns.

use std::cell::RefCell;
use std::collections::HashMap;

use myelin_xml::doctype::{self, Applied, DoctypeOptions, ElementSpace};
use myelin_xml::{DoctypePolicy, Document, ErrorKind, Limit, NodeId, Options, encoding};

use crate::resolver::{Entities, Resolver};
use crate::scope::At;

/// Elements of a stylesheet may be nested as deep as this; those of people nest to about 40.
///
/// The compiler, the machine and whatever drops a program recurse along this nesting.
const DEPTH: usize = 200;

/// What the document type of a stylesheet may add to it.
const LIMITS: DoctypeOptions = DoctypeOptions {
    expansion_bytes: 4 << 20,
    external_bytes: 16 << 20,
    declarations: 50_000,
    depth: 16,
    element_space: ElementSpace::Keep,
};

/// A stylesheet document.
pub(super) struct Module {
    pub(super) document: Document,
    /// Its number among the files.
    pub(super) file: u32,
    pub(super) uri: String,
    lines: Lines,
    /// What shadow attributes say, such as `_select` (XSLT 3.0 §3.13.2), by their nodes.
    shadows: RefCell<HashMap<NodeId, String>>,
    /// The source before its entities were replaced, where it had any.
    original: Option<(Applied, String)>,
}

impl Module {
    /// Reads a stylesheet document, with what its document type declares: it is its author's, and no message.
    ///
    /// Errors: its place, and a sentence for the author.
    pub(super) fn parse(bytes: &[u8], uri: &str, file: u32, resolver: &dyn Resolver) -> Result<Module, (At, String)> {
        let (decoded, declared_encoding) = encoding::decode(None, bytes).map_err(|error| {
            let at = At { file, line: error.line as u32, column: error.column as u32 };
            (at, error.kind.to_string())
        })?;
        let options = Options {
            depth: DEPTH,
            doctype: DoctypePolicy::Skip,
            declared_encoding,
            nodes: 1_000_000,
            total_bytes: 16 << 20,
            ..Options::default()
        };
        let source = String::from_utf8_lossy(&decoded);
        let lines = Lines::new(&source);
        let at = |offset| lines.at(file, &source, offset);
        let applied = doctype::apply(&source, uri, &Entities(resolver), &LIMITS)
            .map_err(|error| (at(error.offset), sentence(&error.kind)))?;
        let text = match applied.as_ref().and_then(|applied| applied.text.as_ref()) {
            Some(text) => text.clone().into_bytes(),
            // What is no text is for the parser to refuse.
            None => decoded.clone().into_owned(),
        };
        let applied = applied.filter(|applied| applied.text.is_some());
        match Document::parse(text, &options) {
            Ok(document) => {
                let original = applied.map(|applied| (applied, source.into_owned()));
                Ok(Module { document, file, uri: uri.to_owned(), lines, shadows: RefCell::default(), original })
            }
            Err(error) => {
                let offset = applied.as_ref().map_or(error.offset, |it| it.source_offset(error.offset));
                Err((at(offset), sentence(&error.kind)))
            }
        }
    }

    /// Whether there are shadow attributes, as far as they have been read.
    pub(super) fn has_shadows(&self) -> bool {
        !self.shadows.borrow().is_empty()
    }

    /// Whether there are attributes that could be shadow attributes.
    pub(super) fn may_have_shadows(&self) -> bool {
        let document = &self.document;
        let mut attributes = document.descendants(document.document_node()).flat_map(|node| document.attributes(node));
        attributes.any(|attribute| document.qname(attribute).local.starts_with('_'))
    }

    /// Notes what a shadow attribute says.
    pub(super) fn set_shadow(&self, attribute: NodeId, value: String) {
        self.shadows.borrow_mut().insert(attribute, value);
    }

    /// What a shadow attribute says; `None`: it is an attribute like others.
    pub(super) fn shadow(&self, attribute: NodeId) -> Option<String> {
        self.shadows.borrow().get(&attribute).cloned()
    }

    /// The line and column of a byte of the source.
    pub(super) fn at(&self, offset: usize) -> At {
        match &self.original {
            Some((applied, source)) => self.lines.at(self.file, source, applied.source_offset(offset)),
            None => self.lines.at(self.file, self.document.source(), offset),
        }
    }
}

fn sentence(kind: &ErrorKind) -> String {
    match kind {
        ErrorKind::EntityNotExpanded(name) => format!(
            "the entity &{name}; is not declared: write the character itself or its number, such as &#160; for &nbsp;"
        ),
        ErrorKind::Limit(Limit::Depth(bound)) => {
            format!("more than {bound} elements of a stylesheet inside each other")
        }
        other => other.to_string(),
    }
}

/// Where lines begin, and how many characters come before each stretch of the source, so that a place costs the same
/// wherever it is.
struct Lines {
    starts: Vec<u32>,
    /// The characters before each [`STRETCH`] bytes.
    characters: Vec<u32>,
}

const STRETCH: usize = 1_024;

impl Lines {
    fn new(source: &str) -> Lines {
        let bytes = source.as_bytes();
        let mut starts = vec![if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() as u32 } else { 0 }];
        for end in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let pair = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
            if !pair {
                starts.push(end as u32 + 1);
            }
        }
        let stretches = bytes.chunks(STRETCH).scan(0, |before, stretch| {
            let count = *before;
            *before += characters(stretch);
            Some(count)
        });
        Lines { starts, characters: stretches.collect() }
    }

    fn at(&self, file: u32, source: &str, offset: usize) -> At {
        let line = self.starts.partition_point(|&start| start as usize <= offset).max(1);
        let start = self.starts[line - 1] as usize;
        let before = |offset: usize| {
            let stretch = (offset / STRETCH).min(self.characters.len().saturating_sub(1));
            let counted = self.characters.get(stretch).copied().unwrap_or_default();
            counted + characters(source.as_bytes().get(stretch * STRETCH..offset).unwrap_or_default())
        };
        At { file, line: line as u32, column: before(offset).saturating_sub(before(start)) + 1 }
    }
}

/// Each character has one byte that is not a continuation.
fn characters(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::NoResolver;

    #[test]
    fn places_are_those_of_the_document() {
        let mut source = String::from("<a>\r\n<b ä='1'/>\r  ");
        source.push_str(&"é<c/>".repeat(700));
        source.push_str("\n\n<d/></a>");
        let module = Module::parse(source.as_bytes(), "x", 0, &NoResolver).expect("a document");
        let document = &module.document;
        for node in document.descendants(document.document_node()) {
            let range = document.range(node).expect("as read");
            let At { line, column, .. } = module.at(range.start);
            assert_eq!(Some((u64::from(line), u64::from(column))), document.location(node));
        }
    }

    #[test]
    fn an_entity_that_is_declared_elsewhere_is_named() {
        let source = b"<!DOCTYPE a SYSTEM 'a.dtd'>\n<a>&nbsp;</a>";
        let Err((at, message)) = Module::parse(source, "x", 3, &NoResolver) else { panic!("a document") };
        assert_eq!((at.file, at.line), (3, 2));
        assert!(message.contains("&nbsp;"), "{message}");
    }
}
