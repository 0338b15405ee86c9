//! Results that are written as they are put together, into the bytes that are sent.
//!
//! All is written in UTF-8, with references for what the encoding does not have; indentation and another encoding come
//! when the whole result is there: only then it is known which elements hold text beside elements.
//! A start tag is written with its `>` at once, and attributes are put in front of that: most elements have none.

mod attributes;
mod content;
mod copied;
mod finish;
mod indentation;
mod prolog;
mod tag;
mod tags;

use std::ops::Range;

use myelin_xml::{Atom, Names};

use super::error::OutputError;
use super::escape::Repertoire;
use super::html::Traits;
use super::literal::LiteralStart;
use super::properties::{Charset, OutputProperties};
use super::scope::{Mark, Scopes};
use super::spare::Spare;
pub(super) use copied::CopiedTags;
pub(crate) use finish::Finished;
use indentation::Indentation;
use tag::Attributes;

/// How many elements within each other there is room for at first.
const USUAL_DEPTH: usize = 16;

/// The namespace of XHTML.
const XHTML_NAMESPACE: &str = "http://www.w3.org/1999/xhtml";

/// A result as bytes, as far as it has come.
pub(super) struct Bytes<'o> {
    out: &'o mut Vec<u8>,
    /// Where the result begins.
    begin: usize,
    /// Where it has to end at the latest.
    end: usize,
    properties: &'o OutputProperties,
    names: Names,
    scopes: Scopes<'o>,
    open: Vec<Open<'o>>,
    /// Whether what was written last is the start tag of the innermost element.
    in_tag: bool,
    /// Whether all that comes is written by the rules of XML in UTF-8, and inside of an element.
    quick: bool,
    attributes: Attributes,
    copied: CopiedTags,
    format: Format,
    /// Whether each thing that comes may need more than the rules of XML in UTF-8.
    special: bool,
    repertoire: Repertoire,
    /// What came before it was clear how to write it.
    early: Vec<Early>,
    prolog: Prolog,
    indentation: Option<Indentation>,
    /// Where the CDATA section ends that was written last.
    cdata_end: usize,
    /// Whether the element that is open is a `meta` that says the content type, so that it would be said twice.
    says_content_type: bool,
    root: Option<Range<usize>>,
    loose_text: bool,
    /// Whether other elements are around the result.
    inside: bool,
    /// Where the declaration ends, or the result begins.
    declared: usize,
    /// The element and the prefix for whose sake HTML 5 was given a declaration that it can do without otherwise.
    redeclared: Option<(u32, Atom)>,
}

/// Something that came before it was clear how to write it.
#[derive(Debug)]
enum Early {
    /// White space.
    Text(String),
    Comment(String),
    Instruction(String, String),
}

/// How far the prolog is written.
#[derive(Debug, Default)]
struct Prolog {
    /// Whether the line of the declaration or document type is still to be ended: before text it must not be.
    line: bool,
    /// Whether the place of the document type is passed.
    doctype: bool,
}

/// How the result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// As the first element tells.
    Undecided,
    Xml,
    Html,
    Xhtml,
    Text,
}

/// An element that is open.
#[derive(Clone, Copy)]
struct Open<'o> {
    name: Written<'o>,
    /// Where its start tag begins, from the beginning of the result.
    at: u32,
    mark: Mark,
    /// What HTML knows of it, where it is written by the rules of HTML or XHTML.
    traits: Traits,
    html: bool,
    /// Whether its text is written in CDATA sections.
    cdata: bool,
}

/// Where the name of an element is written.
#[derive(Clone, Copy)]
enum Written<'o> {
    Literal(&'o LiteralStart),
    /// By number in [`CopiedTags`].
    Copied(u32),
    /// In the start tag; so many bytes.
    InTag(u32),
}

impl<'o> Bytes<'o> {
    /// `around`: what prefixes mean around the result, where it becomes part of a document; it is then in UTF-8 and
    /// has no prolog.
    pub(super) fn new(
        properties: &'o OutputProperties,
        around: Option<&[(&str, &str)]>,
        limit_bytes: usize,
        out: &'o mut Vec<u8>,
    ) -> Bytes<'o> {
        let Spare { mut names, tables, copied } = Spare::take();
        let mut scopes = Scopes::new(tables);
        scopes.surround(&mut names, around.unwrap_or_default());
        let begin = out.len();
        let mut bytes = Bytes {
            out,
            begin,
            // Places in the result have 32 bits.
            end: begin.saturating_add(limit_bytes.min(u32::MAX as usize)),
            properties,
            names,
            scopes,
            open: Vec::with_capacity(USUAL_DEPTH),
            in_tag: false,
            quick: false,
            attributes: Attributes::default(),
            copied: copied.cleared(),
            format: Format::Undecided,
            special: true,
            repertoire: Repertoire::Unicode,
            early: Vec::new(),
            prolog: Prolog::default(),
            indentation: None,
            cdata_end: 0,
            says_content_type: false,
            root: None,
            loose_text: false,
            inside: around.is_some(),
            declared: begin,
            redeclared: None,
        };
        if let Some(method) = properties.method {
            bytes.begin(method);
        }
        bytes
    }

    /// Whether nothing was written but a declaration.
    pub(super) fn is_untouched(&self) -> bool {
        self.out.len() == self.declared && self.early.is_empty()
    }

    /// Whether no element is open.
    pub(super) fn is_at_top(&self) -> bool {
        self.open.is_empty()
    }

    /// The encoding, which is that of the document around the result if there is one.
    fn charset(&self) -> Charset {
        if self.inside { Charset::Utf8 } else { self.properties.encoding }
    }

    /// Errors unless so many more bytes may come.
    #[inline]
    fn check(&self, more: usize) -> Result<(), OutputError> {
        match self.end.checked_sub(self.out.len()) {
            Some(left) if left >= more => Ok(()),
            _ => Err(OutputError::TooLarge(self.end - self.begin)),
        }
    }

    /// Writes something, all or nothing of it.
    #[inline]
    fn whole(&mut self, write: impl FnOnce(&mut Self) -> Result<(), OutputError>) -> Result<(), OutputError> {
        let before = self.out.len();
        let written = write(self).and_then(|()| self.check(0));
        if written.is_err() {
            self.out.truncate(before);
        }
        written
    }

    /// Notes where the first element ends that no other is around.
    fn end_at_top(&mut self) {
        self.quick = false;
        if let Some(root) = &mut self.root
            && root.end == 0
        {
            root.end = self.out.len();
        }
    }

    /// The local name of an element that is open, as far as HTML needs it.
    fn local<'s>(&'s self, open: &Open<'s>) -> &'s str {
        match open.name {
            Written::Literal(literal) => &literal.name().local,
            Written::Copied(number) => self.copied.name(number),
            Written::InTag(length) => {
                let start = self.begin + open.at as usize + 1;
                std::str::from_utf8(&self.out[start..start + length as usize]).unwrap_or_default()
            }
        }
    }
}
