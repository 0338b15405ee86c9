//! What a parser gives: steps, events and what hangs on them.

use std::borrow::Cow;
use std::ops::Range;

use crate::names::{Atom, NameId, Names};
use crate::value::{self, Space};

/// What a call of [`Parser::next`](crate::Parser::next) came to.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// The next event.
    Event(Event<'a>),
    /// The input ends before the next event does: call again with more.
    More,
    /// The document is complete and well formed.
    End,
}

/// A piece of a document.
///
/// Units: all ranges count bytes of the document in UTF-8 from its very beginning, whatever was forgotten since.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// `<?xml version="1.0"?>`, at the very start.
    Declaration(XmlDeclaration<'a>),
    /// A document type declaration that was skipped.
    Doctype(Doctype<'a>),
    /// A start tag, or an empty-element tag: then an end follows at once.
    Start(Start<'a>),
    /// An end tag, or the end of an empty-element tag.
    End(End),
    /// Text between two tags, comments or instructions, or a CDATA section, which is always an event of its own.
    Text(Text<'a>),
    /// A comment.
    Comment(Comment<'a>),
    /// A processing instruction.
    Instruction(Instruction<'a>),
}

/// The XML declaration.
#[derive(Clone, Debug)]
pub struct XmlDeclaration<'a> {
    /// From `<?xml` to behind `?>`.
    pub range: Range<usize>,
    /// `1.` and digits.
    pub version: &'a str,
    /// As written.
    pub encoding: Option<&'a str>,
    /// Whether it says that nothing outside the document matters.
    pub standalone: Option<bool>,
}

/// A document type declaration, skipped.
#[derive(Clone, Debug)]
pub struct Doctype<'a> {
    /// From `<!DOCTYPE` to behind `>`.
    pub range: Range<usize>,
    /// All of it.
    pub raw: &'a str,
}

/// A start tag.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The element's name.
    pub name: NameId,
    /// Whether it is an empty-element tag.
    pub empty: bool,
    /// From `<` to behind `>`.
    pub range: Range<usize>,
    /// The document as far as it is there, and where that begins: the tag is cut out of it when somebody looks at it.
    pub(crate) input: &'a [u8],
    pub(crate) base: usize,
    pub(crate) parts: &'a TagParts,
    pub(crate) names: &'a Names,
}

/// What stands in a start tag besides its name.
#[derive(Clone, Debug, Default)]
pub(crate) struct TagParts {
    pub(crate) attributes: Vec<AttributeSpan>,
    pub(crate) declarations: Vec<DeclarationSpan>,
}

/// Where an attribute stands; places count from the tag's `<`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributeSpan {
    /// As written, until the tag's declarations are known.
    pub(crate) raw: Atom,
    pub(crate) name: NameId,
    pub(crate) start: u32,
    pub(crate) value_start: u32,
    pub(crate) value_end: u32,
    pub(crate) verbatim: bool,
}

/// Where a namespace declaration stands; places count from the tag's `<`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeclarationSpan {
    pub(crate) prefix: Atom,
    pub(crate) namespace: Atom,
    pub(crate) start: u32,
    pub(crate) value_start: u32,
    pub(crate) value_end: u32,
}

impl<'a> Start<'a> {
    /// The names of the parser, which cannot be asked while the event is in use.
    #[inline]
    pub fn names(&self) -> &'a Names {
        self.names
    }

    /// The attributes in their order, without namespace declarations.
    #[inline]
    pub fn attributes(&self) -> Attributes<'a> {
        let (spans, start) = (self.parts.attributes.iter(), self.range.start);
        Attributes { spans, input: self.input, base: self.base, start }
    }

    /// The namespace declarations in their order.
    #[inline]
    pub fn declarations(&self) -> NamespaceDeclarations<'a> {
        NamespaceDeclarations { spans: self.parts.declarations.iter(), start: self.range.start, names: self.names }
    }

    /// The tag as written, from `<` to `>`.
    pub fn raw(&self) -> &'a str {
        value::text(&self.input[self.range.start - self.base..self.range.end - self.base])
    }
}

/// The attributes of a start tag.
#[derive(Clone, Debug)]
pub struct Attributes<'a> {
    spans: std::slice::Iter<'a, AttributeSpan>,
    input: &'a [u8],
    base: usize,
    start: usize,
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    #[inline]
    fn next(&mut self) -> Option<Attribute<'a>> {
        let span = self.spans.next()?;
        let value_range = self.start + span.value_start as usize..self.start + span.value_end as usize;
        Some(Attribute {
            name: span.name,
            verbatim: span.verbatim,
            range: self.start + span.start as usize..value_range.end + 1,
            bytes: &self.input[value_range.start - self.base..value_range.end - self.base],
            value_range,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.spans.size_hint()
    }
}

impl ExactSizeIterator for Attributes<'_> {}

/// An attribute of a start tag.
#[derive(Clone, Debug)]
pub struct Attribute<'a> {
    /// Its name.
    pub name: NameId,
    /// Whether the value is what stands there: no reference, no white space but spaces.
    pub verbatim: bool,
    /// From the name to behind the closing quote.
    pub range: Range<usize>,
    /// Between the quotes.
    pub value_range: Range<usize>,
    bytes: &'a [u8],
}

impl<'a> Attribute<'a> {
    /// What stands between the quotes, as bytes of UTF-8.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// What stands between the quotes.
    #[inline]
    pub fn raw(&self) -> &'a str {
        value::text(self.bytes)
    }

    /// The value: references replaced, each white space a space.
    pub fn value(&self) -> Cow<'a, str> {
        if self.verbatim { Cow::Borrowed(self.raw()) } else { value::normalise(self.raw(), Space::Attribute) }
    }
}

/// The namespace declarations of a start tag.
#[derive(Clone, Debug)]
pub struct NamespaceDeclarations<'a> {
    spans: std::slice::Iter<'a, DeclarationSpan>,
    start: usize,
    names: &'a Names,
}

impl<'a> Iterator for NamespaceDeclarations<'a> {
    type Item = NamespaceDeclaration<'a>;

    #[inline]
    fn next(&mut self) -> Option<NamespaceDeclaration<'a>> {
        let span = self.spans.next()?;
        let value_end = self.start + span.value_end as usize;
        Some(NamespaceDeclaration {
            prefix: span.prefix,
            namespace: span.namespace,
            range: self.start + span.start as usize..value_end + 1,
            value_range: self.start + span.value_start as usize..value_end,
            names: self.names,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.spans.size_hint()
    }
}

impl ExactSizeIterator for NamespaceDeclarations<'_> {}

/// A namespace declaration: an `xmlns` attribute.
#[derive(Clone, Debug)]
pub struct NamespaceDeclaration<'a> {
    /// The prefix it binds; empty for the default namespace.
    pub prefix: Atom,
    /// What it binds it to; empty where the default namespace ends.
    pub namespace: Atom,
    /// From the name to behind the closing quote.
    pub range: Range<usize>,
    /// Between the quotes.
    pub value_range: Range<usize>,
    names: &'a Names,
}

impl<'a> NamespaceDeclaration<'a> {
    /// The text of the prefix.
    pub fn prefix(&self) -> &'a str {
        self.names.text(self.prefix)
    }

    /// The text of the namespace.
    pub fn namespace(&self) -> &'a str {
        self.names.text(self.namespace)
    }
}

/// The end of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The element's name.
    pub name: NameId,
    /// From `<` to behind `>`; empty, behind the tag, for an empty-element tag.
    pub range: Range<usize>,
}

/// Text, or a CDATA section.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    /// Whether it is a CDATA section.
    pub cdata: bool,
    /// Whether the value is what stands there: no reference, no carriage return.
    pub verbatim: bool,
    /// All of it, with the marks of a CDATA section.
    pub range: Range<usize>,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Text<'a> {
    /// What stands there without the marks of a CDATA section, as bytes of UTF-8.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// What stands there, without the marks of a CDATA section.
    #[inline]
    pub fn raw(&self) -> &'a str {
        value::text(self.bytes)
    }

    /// The text: references replaced, line ends LF.
    pub fn value(&self) -> Cow<'a, str> {
        match (self.verbatim, self.cdata) {
            (true, _) => Cow::Borrowed(self.raw()),
            (false, true) => value::normalise_lines(self.raw()),
            (false, false) => value::normalise(self.raw(), Space::Lines),
        }
    }

    /// The same as bytes of UTF-8.
    #[inline]
    pub fn value_bytes(&self) -> Cow<'a, [u8]> {
        if self.verbatim {
            return Cow::Borrowed(self.bytes);
        }
        match self.value() {
            Cow::Borrowed(value) => Cow::Borrowed(value.as_bytes()),
            Cow::Owned(value) => Cow::Owned(value.into_bytes()),
        }
    }

    /// Where [`bytes`](Text::bytes) stand.
    pub fn value_range(&self) -> Range<usize> {
        let start = self.range.start + if self.cdata { "<![CDATA[".len() } else { 0 };
        start..start + self.bytes.len()
    }
}

/// A comment.
#[derive(Clone, Debug)]
pub struct Comment<'a> {
    /// From `<!--` to behind `-->`.
    pub range: Range<usize>,
    /// What stands between the marks.
    pub raw: &'a str,
}

impl<'a> Comment<'a> {
    /// The text, line ends LF.
    pub fn value(&self) -> Cow<'a, str> {
        value::normalise_lines(self.raw)
    }
}

/// A processing instruction.
#[derive(Clone, Debug)]
pub struct Instruction<'a> {
    /// From `<?` to behind `?>`.
    pub range: Range<usize>,
    /// Whom it is for.
    pub target: &'a str,
    /// What stands behind the target and its white space; empty where there is nothing.
    pub raw: &'a str,
}

impl<'a> Instruction<'a> {
    /// The data, line ends LF.
    pub fn value(&self) -> Cow<'a, str> {
        value::normalise_lines(self.raw)
    }
}
