//! Results that are written as they are put together, into the bytes that are sent.
//!
//! All is written in UTF-8, with references for what the encoding does not have; indentation and another encoding come
//! when the whole result is there: only then it is known which elements hold text beside elements.

mod content;
mod finish;
mod indentation;
mod prolog;

use std::ops::Range;

use myelin_xml::{Atom, Document, Name, NameId, Names, NodeId, XML_NAMESPACE};

use super::error::OutputError;
use super::escape::{Context, Repertoire, escape};
use super::html::{self, Traits};
use super::literal::LiteralStart;
use super::properties::OutputProperties;
use super::scope::{Chosen, Mark, Scopes};
use super::seen::Seen;
pub(crate) use finish::Finished;
use indentation::Indentation;
use prolog::{Early, Prolog};

/// The namespace of XHTML.
pub(super) const XHTML_NAMESPACE: &str = "http://www.w3.org/1999/xhtml";

/// A result as bytes, as far as it has come.
pub(super) struct Bytes<'o> {
    out: &'o mut Vec<u8>,
    /// Where the result begins.
    begin: usize,
    /// Where it has to end at the latest.
    end: usize,
    properties: &'o OutputProperties,
    names: Names,
    pub(super) scopes: Scopes<'o>,
    open: Vec<Open>,
    /// Whether the start tag of the innermost element is not closed yet.
    in_tag: bool,
    attributes: Seen<Range<usize>>,
    /// Attributes of the open tag that others took the place of.
    replaced: Vec<Range<usize>>,
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
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    /// Where its name stands in the result.
    name: usize,
    length: usize,
    mark: Mark,
    /// What HTML knows of it, where it is written as HTML or XHTML.
    traits: Traits,
    /// Whether it is written by the rules of HTML.
    html: bool,
    /// Whether its text is written in CDATA sections.
    cdata: bool,
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
        let mut names = Names::new();
        let mut scopes = Scopes::new();
        scopes.surround(&mut names, around.unwrap_or_default());
        let begin = out.len();
        let mut bytes = Bytes {
            out,
            begin,
            end: begin.saturating_add(limit_bytes),
            properties,
            names,
            scopes,
            open: Vec::new(),
            in_tag: false,
            attributes: Seen::default(),
            replaced: Vec::new(),
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
        };
        if let Some(method) = properties.method {
            bytes.begin(method);
        }
        bytes
    }

    #[inline]
    pub(super) fn start_literal(&mut self, literal: &'o LiteralStart) -> Result<(), OutputError> {
        if self.special || self.open.is_empty() {
            let name = literal.name();
            if !self.begin_element(&name.local, &name.namespace, literal.traits)? {
                return Ok(());
            }
        } else {
            self.begin_plain();
        }
        let at = self.out.len();
        self.out.extend_from_slice(literal.open.as_bytes());
        self.named(at);
        for &(prefix, namespace) in self.scopes.literal(&mut self.names, literal.namespaces()) {
            declare(&self.names, prefix, namespace, self.repertoire, self.out)?;
        }
        self.check(0)
    }

    pub(super) fn start(&mut self, name: Name<'_>) -> Result<(), OutputError> {
        if !self.begin_element(name.local, name.namespace, Traits::of(name.local))? {
            return Ok(());
        }
        let chosen = self.scopes.element(&mut self.names, name.prefix, name.namespace);
        self.start_chosen(chosen, name.local)
    }

    /// Starts an element with the name of one of a document, and with the namespaces in scope there if so wanted.
    pub(super) fn start_copy(
        &mut self,
        document: &'o Document,
        element: NodeId,
        name: NameId,
        namespaces: bool,
    ) -> Result<(), OutputError> {
        let local = document.names().get(name);
        if self.special || self.open.is_empty() {
            if !self.begin_element(local.local, local.namespace, Traits::of(local.local))? {
                return Ok(());
            }
        } else {
            self.begin_plain();
        }
        let chosen = self.scopes.copied(&mut self.names, document, name);
        self.start_chosen(chosen, local.local)?;
        if namespaces {
            for &(prefix, namespace) in self.scopes.source(&mut self.names, document, element) {
                declare(&self.names, prefix, namespace, self.repertoire, self.out)?;
            }
        }
        self.check(0)
    }

    pub(super) fn namespace(&mut self, prefix: &str, namespace: &str) -> Result<(), OutputError> {
        if !self.takes_attributes()? {
            return Ok(());
        }
        let chosen = self.scopes.require(&mut self.names, prefix, namespace)?;
        self.declare(chosen)?;
        self.check(0)
    }

    pub(super) fn attribute(&mut self, name: Name<'_>, value: &str) -> Result<(), OutputError> {
        if !self.takes_attributes()? {
            return Ok(());
        }
        let chosen = self.scopes.attribute(&mut self.names, name.prefix, name.namespace);
        self.declare(chosen)?;
        let start = self.out.len();
        self.out.push(b' ');
        push_name(&self.names, chosen.prefix, name.local, self.out);
        self.value(name, value)?;
        let key = (chosen.namespace, self.names.atom(name.local));
        if let Some(before) = self.attributes.put(key, start..self.out.len()) {
            self.replaced.push(before);
        }
        self.check(0)
    }

    pub(super) fn end_element(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if self.format == Format::Text {
            return;
        }
        if self.special {
            self.end_special(&open);
        } else if self.in_tag {
            self.in_tag = false;
            self.drop_replaced();
            self.out.extend_from_slice(b"/>");
        } else {
            self.end_tag(&open);
        }
        self.scopes.leave(open.mark);
        self.end_at_top();
    }

    /// Copies an element with all below it as it stands in its source, if that is what would be written, and declares
    /// what is in scope around it there and not here; whether it did.
    pub(super) fn copy_as_read(&mut self, document: &'o Document, element: NodeId) -> Result<bool, OutputError> {
        let name = document.qname(element);
        if self.format == Format::Undecided {
            self.decide_by(name.local, name.namespace)?;
        }
        if self.special {
            return Ok(false);
        }
        let (Some(source), Some(parent)) = (document.as_read(element), document.parent(element)) else {
            return Ok(false);
        };
        if self.scopes.has_default() && document.lookup_namespace(element, "").is_none() {
            // Whether the default has to end here or further below, each element has to say for itself.
            return Ok(false);
        }
        self.check(source.len())?;
        self.close_tag();
        if self.open.is_empty() {
            self.begin_at_top(name.local)?;
        }
        let name_length =
            if name.prefix.is_empty() { name.local.len() } else { name.prefix.len() + 1 + name.local.len() };
        let (start, rest) = source.split_at(1 + name_length);
        self.out.extend_from_slice(start.as_bytes());
        let mark = self.scopes.enter();
        for &(prefix, namespace) in self.scopes.source(&mut self.names, document, parent) {
            let own = self.names.text(prefix);
            if !document.declarations(element).any(|(prefix, _)| prefix == own) {
                declare(&self.names, prefix, namespace, self.repertoire, self.out)?;
            }
        }
        self.scopes.leave(mark);
        self.out.extend_from_slice(rest.as_bytes());
        self.end_at_top();
        self.check(0)?;
        Ok(true)
    }

    /// Notes where the first element ends that no other is around.
    #[inline]
    fn end_at_top(&mut self) {
        if self.open.is_empty()
            && let Some(root) = &mut self.root
            && root.end == 0
        {
            root.end = self.out.len();
        }
    }

    /// Errors unless so many more bytes may come.
    #[inline]
    fn check(&self, more: usize) -> Result<(), OutputError> {
        match self.end.checked_sub(self.out.len()) {
            Some(left) if left >= more => Ok(()),
            _ => Err(OutputError::TooLarge(self.end - self.begin)),
        }
    }

    /// Opens an element in another one, of a result that needs nothing but the rules of XML.
    #[inline]
    fn begin_plain(&mut self) {
        self.close_tag();
        let mark = self.scopes.enter();
        self.open.push(Open { mark, ..Open::default() });
    }

    /// Opens an element; whether elements are written at all.
    fn begin_element(&mut self, local: &str, namespace: &str, traits: Traits) -> Result<bool, OutputError> {
        if self.format == Format::Undecided {
            self.decide_by(local, namespace)?;
        }
        if self.format == Format::Text {
            self.open.push(Open::default());
            return Ok(false);
        }
        self.close_tag();
        if self.open.is_empty() {
            self.begin_at_top(local)?;
        }
        let html = match self.format {
            Format::Html => namespace.is_empty() || (namespace == XHTML_NAMESPACE && self.is_html5()),
            Format::Xhtml => namespace == XHTML_NAMESPACE,
            _ => false,
        };
        let traits = if html { traits } else { Traits::default() };
        let named = |name: &&crate::program::ExpandedName| name.local == local && name.namespace == namespace;
        if let Some(indentation) = &mut self.indentation {
            indentation.start(self.out.len() - self.begin, traits.any(Traits::INLINE));
            if traits.any(Traits::PREFORMATTED) || self.properties.suppress_indentation.iter().find(named).is_some() {
                indentation.keep();
            }
        }
        let mark = self.scopes.enter();
        let cdata = !(html && self.format == Format::Html)
            && self.properties.cdata_section_elements.iter().find(named).is_some();
        self.open.push(Open { mark, traits, html, cdata, ..Open::default() });
        Ok(true)
    }

    /// Writes the beginning of a start tag whose prefix is known.
    fn start_chosen(&mut self, chosen: Chosen, local: &str) -> Result<(), OutputError> {
        let at = self.out.len();
        self.out.push(b'<');
        push_name(&self.names, chosen.prefix, local, self.out);
        self.named(at);
        self.declare(chosen)
    }

    /// Notes the name of the element that was opened, which was written behind `at` and ends the result so far.
    #[inline]
    fn named(&mut self, at: usize) {
        if let Some(open) = self.open.last_mut() {
            open.name = at + 1;
            open.length = self.out.len() - at - 1;
        }
        self.in_tag = true;
        self.attributes.clear();
    }

    fn declare(&mut self, chosen: Chosen) -> Result<(), OutputError> {
        if chosen.declare {
            declare(&self.names, chosen.prefix, chosen.namespace, self.repertoire, self.out)?;
        }
        Ok(())
    }

    /// Whether an attribute would be written here.
    #[inline]
    fn takes_attributes(&self) -> Result<bool, OutputError> {
        match (self.in_tag, self.open.is_empty()) {
            (true, _) => Ok(true),
            (false, true) => Err(OutputError::AttributeOnDocument),
            (false, false) if self.format == Format::Text => Ok(false),
            (false, false) => Err(OutputError::AttributeLate),
        }
    }

    /// Writes the value of an attribute with its quotes.
    fn value(&mut self, name: Name<'_>, value: &str) -> Result<(), OutputError> {
        self.check(value.len())?;
        if !self.special {
            self.out.extend_from_slice(b"=\"");
            escape(value, Context::Attribute, Repertoire::Unicode, self.out)?;
            self.out.push(b'"');
            return Ok(());
        }
        if name.namespace == XML_NAMESPACE && name.local == "space" && value == "preserve" {
            self.indentation.iter_mut().for_each(Indentation::keep);
        }
        let Some(open) = self.open.last().copied() else { return Ok(()) };
        let html = open.html && name.namespace.is_empty();
        if html && open.traits.any(Traits::META) && name.local.eq_ignore_ascii_case("http-equiv") {
            self.says_content_type |= value.trim().eq_ignore_ascii_case("content-type");
        }
        if html && self.format == Format::Html && html::is_minimised(name.local, value) {
            return Ok(());
        }
        let context =
            if open.html && self.format == Format::Html { Context::HtmlAttribute } else { Context::Attribute };
        self.out.extend_from_slice(b"=\"");
        let element = String::from_utf8_lossy(&self.out[open.name..open.name + open.length]);
        if html && self.properties.escape_uri_attributes && html::is_uri(&element, name.local) {
            escape(&html::escape_uri(value), context, self.repertoire, self.out)?;
        } else {
            self.mapped(value, context)?;
        }
        self.out.push(b'"');
        Ok(())
    }

    /// Closes the start tag, if one is open.
    #[inline]
    fn close_tag(&mut self) {
        if self.in_tag {
            self.in_tag = false;
            self.drop_replaced();
            self.out.push(b'>');
            if self.special {
                self.begin_content();
            }
        }
    }

    /// Takes attributes out of the start tag that others took the place of.
    #[inline]
    fn drop_replaced(&mut self) {
        if !self.replaced.is_empty() {
            self.compact_tag();
        }
    }

    #[cold]
    fn compact_tag(&mut self) {
        self.replaced.sort_by_key(|range| range.start);
        let mut kept = self.replaced[0].start;
        for (place, gap) in self.replaced.iter().enumerate() {
            let next = self.replaced.get(place + 1).map_or(self.out.len(), |next| next.start);
            self.out.copy_within(gap.end..next, kept);
            kept += next - gap.end;
        }
        self.out.truncate(kept);
        self.replaced.clear();
    }

    #[inline]
    fn end_tag(&mut self, open: &Open) {
        self.out.extend_from_slice(b"</");
        self.out.extend_from_within(open.name..open.name + open.length);
        self.out.push(b'>');
    }

    /// Ends an element of a result that needs more than the rules of XML.
    fn end_special(&mut self, open: &Open) {
        let void = open.traits.any(Traits::VOID);
        if self.in_tag && self.drop_content_type(open) {
            return;
        }
        if self.in_tag && open.traits.any(Traits::HEAD) {
            // What it gets of its own makes it one with content.
            self.open.push(*open);
            self.close_tag();
            self.open.pop();
        }
        let empty = self.in_tag;
        if empty {
            self.in_tag = false;
            self.drop_replaced();
        }
        if let Some(indentation) = &mut self.indentation {
            indentation.end(self.out.len() - self.begin);
        }
        match (empty, open.html, self.format) {
            (true, false, _) => self.out.extend_from_slice(b"/>"),
            (true, true, Format::Xhtml) if void => self.out.extend_from_slice(b" />"),
            (true, true, _) => {
                self.out.push(b'>');
                if !void {
                    self.end_tag(open);
                }
            }
            (false, true, Format::Html) if void => {}
            (false, ..) => self.end_tag(open),
        }
    }
}

/// Writes a name.
#[inline]
fn push_name(names: &Names, prefix: Atom, local: &str, out: &mut Vec<u8>) {
    if prefix != Atom::EMPTY {
        out.extend_from_slice(names.text(prefix).as_bytes());
        out.push(b':');
    }
    out.extend_from_slice(local.as_bytes());
}

/// Writes a declaration.
fn declare(
    names: &Names,
    prefix: Atom,
    namespace: Atom,
    repertoire: Repertoire,
    out: &mut Vec<u8>,
) -> Result<(), OutputError> {
    out.extend_from_slice(if prefix == Atom::EMPTY { b" xmlns" } else { b" xmlns:" });
    out.extend_from_slice(names.text(prefix).as_bytes());
    out.extend_from_slice(b"=\"");
    escape(names.text(namespace), Context::Attribute, repertoire, out)?;
    out.push(b'"');
    Ok(())
}
