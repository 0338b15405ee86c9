//! Start tags, end tags, and the namespaces they bring and take.

use std::borrow::Cow;

use super::stage::Stage;
use super::stop::{Stop, bad, forbidden, malformed};
use super::text::character;
use super::token::Token;
use super::{Binding, Open, Parser};
use crate::characters::is_space;
use crate::error::{ErrorKind, Limit};
use crate::event::{AttributeSpan, DeclarationSpan};
use crate::names::{Atom, NameId, Shape};
use crate::value::{self, Space};

/// Bytes behind which a name is over; whether what stands before is a name is another question.
const NAME_END: [bool; 256] = {
    let mut ends = [false; 256];
    let mut bytes: &[u8] = b" \t\r\n/>=";
    while let [byte, rest @ ..] = bytes {
        ends[*byte as usize] = true;
        bytes = rest;
    }
    ends
};

/// Bytes in attribute values that need a closer look; the closing quote is among them.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = true;
        byte += 1;
    }
    let mut bytes: &[u8] = b"\"'<&\xEF";
    while let [byte, rest @ ..] = bytes {
        special[*byte as usize] = true;
        bytes = rest;
    }
    special
};

impl Parser {
    /// The start tag that was foreseen, of an element that is known and has neither attributes nor declarations.
    ///
    /// Messages repeat: mostly it is the name that followed the last one before, too.
    #[inline(always)]
    pub(super) fn foreseen_start_tag(&mut self, window: &[u8]) -> Option<Token> {
        let start = self.at;
        let raw = self.names.follower(self.last_name);
        let at = self.names.end_at(raw, window, start + 1)?;
        let is_bounded = at - start - 1 <= self.options.name_bytes && self.open.len() < self.options.depth;
        if window.get(at) != Some(&b'>') || !is_bounded {
            return None;
        }
        let name = self.known_element(raw)?;
        self.last_name = raw;
        self.parts.attributes.clear();
        self.parts.declarations.clear();
        self.open.push(Open { raw, name, hidden: self.hidden.len() });
        self.at = at + 1;
        Some(Token::Start { name, range: start..at + 1, empty: false })
    }

    #[inline(never)]
    pub(super) fn start_tag(&mut self, window: &[u8]) -> Result<Token, Stop> {
        let start = self.at;
        if self.open.len() >= self.options.depth {
            return bad(ErrorKind::Limit(Limit::Depth(self.options.depth)), start);
        }
        let (raw, mut at) = self.name(window, start + 1, "the name of an element")?;
        self.parts.attributes.clear();
        self.parts.declarations.clear();
        if window.get(at) == Some(&b'>')
            && let Some(name) = self.known_element(raw)
        {
            self.open.push(Open { raw, name, hidden: self.hidden.len() });
            self.at = at + 1;
            self.stage = Stage::Content;
            return Ok(Token::Start { name, range: start..at + 1, empty: false });
        }
        let empty = loop {
            let before = at;
            at = skip_space(window, at);
            match window.get(at) {
                Some(b'>') => break false,
                Some(b'/') => match window.get(at + 1) {
                    Some(b'>') => break true,
                    _ => return malformed(window, at + 1, "'>' behind '/'"),
                },
                Some(_) if at == before => return malformed(window, at, "white space, '/' or '>'"),
                _ => at = self.attribute(window, at)?,
            }
        };
        let end = at + if empty { 2 } else { 1 };
        let name = self.enter(raw)?;
        self.at = end;
        self.stage = if empty { Stage::Closing } else { Stage::Content };
        Ok(Token::Start { name, range: start..end, empty })
    }

    /// The end of an empty-element tag.
    pub(super) fn close_empty(&mut self) -> Token {
        self.stage = Stage::Content;
        Token::End { name: self.leave(), range: self.at..self.at }
    }

    /// The end tag of the open element, without white space in it.
    #[inline(always)]
    pub(super) fn plain_end_tag(&mut self, window: &[u8]) -> Option<Token> {
        let start = self.at;
        let end = self.names.end_at(self.open.last()?.raw, window, start + "</".len())?;
        if window.get(end) != Some(&b'>') {
            return None;
        }
        self.at = end + 1;
        Some(Token::End { name: self.leave(), range: start..end + 1 })
    }

    #[inline(never)]
    pub(super) fn end_tag(&mut self, window: &[u8]) -> Result<Token, Stop> {
        let start = self.at;
        let name = start + "</".len();
        let open = match self.open.last() {
            Some(open) => open.raw,
            None => return forbidden("an end tag without an open element", start),
        };
        let Some(behind) = self.names.end_at(open, window, name) else { return self.mismatch(window, name) };
        let end = skip_space(window, behind);
        match window.get(end) {
            Some(b'>') => {}
            Some(byte) if end == behind && !NAME_END[*byte as usize] => return self.mismatch(window, name),
            _ => return malformed(window, end, "'>'"),
        }
        self.at = end + 1;
        Ok(Token::End { name: self.leave(), range: start..end + 1 })
    }

    /// Says what an end tag should have been, once its name is there.
    #[cold]
    #[inline(never)]
    fn mismatch(&mut self, window: &[u8], at: usize) -> Result<Token, Stop> {
        let (found, _) = self.name(window, at, "the name of the open element")?;
        let open = self.open.last().map_or("", |open| self.names.text(open.raw)).to_owned();
        bad(ErrorKind::Mismatch { open, found: self.names.text(found).to_owned() }, at)
    }

    /// Reads a qualified name; also gives the place behind it.
    #[inline(always)]
    fn name(&mut self, window: &[u8], start: usize, expected: &'static str) -> Result<(Atom, usize), Stop> {
        let foreseen = self.names.follower(self.last_name);
        if let Some(end) = self.names.end_at(foreseen, window, start)
            && window.get(end).is_some_and(|&byte| NAME_END[byte as usize])
            && end - start <= self.options.name_bytes
        {
            self.last_name = foreseen;
            return Ok((foreseen, end));
        }
        self.unforeseen_name(window, start, expected)
    }

    #[inline(never)]
    fn unforeseen_name(&mut self, window: &[u8], start: usize, expected: &'static str) -> Result<(Atom, usize), Stop> {
        let length = window.get(start..).and_then(|rest| rest.iter().position(|&byte| NAME_END[byte as usize]));
        let Some(length) = length else { return Err(Stop::Starved(expected)) };
        if length > self.options.name_bytes {
            return bad(ErrorKind::Limit(Limit::NameBytes(self.options.name_bytes)), start);
        }
        let end = start + length;
        match self.names.qualified(&window[start..end], self.options.namespaces) {
            Ok(atom) => {
                self.names.follow(self.last_name, atom);
                self.last_name = atom;
                Ok((atom, end))
            }
            Err(place) => malformed(window, start + place, expected),
        }
    }

    /// Reads one attribute or namespace declaration; gives the place behind it.
    #[inline]
    fn attribute(&mut self, window: &[u8], start: usize) -> Result<usize, Stop> {
        let (raw, end) = self.name(window, start, "an attribute")?;
        let equals = skip_space(window, end);
        if window.get(equals) != Some(&b'=') {
            return malformed(window, equals, "'='");
        }
        let opening = skip_space(window, equals + 1);
        let quote = match window.get(opening) {
            Some(&quote @ (b'"' | b'\'')) => quote,
            _ => return malformed(window, opening, "a quote"),
        };
        let value = opening + 1;
        if !matches!(self.names.shape(raw), Shape::Plain | Shape::Prefixed) {
            return self.declaration_of(window, raw, start, value, quote);
        }
        let (end, verbatim) = self.attribute_value(window, value, quote)?;
        if self.parts.attributes.len() >= self.options.attributes {
            return bad(ErrorKind::Limit(Limit::Attributes(self.options.attributes)), start);
        }
        // Places inside a token fit into 32 bits: the bound of a token does.
        let place = |at: usize| (at - self.at) as u32;
        let (start, value_start, value_end) = (place(start), place(value), place(end));
        let name = NameId::PENDING;
        self.parts.attributes.push(AttributeSpan { raw, name, start, value_start, value_end, verbatim });
        Ok(end + 1)
    }

    /// Reads the namespace declaration `raw`, which begins at `start` and its value at `value`; gives the place behind it.
    fn declaration_of(
        &mut self,
        window: &[u8],
        raw: Atom,
        start: usize,
        value: usize,
        quote: u8,
    ) -> Result<usize, Stop> {
        // Messages repeat: mostly it declares what it declared before, too.
        let foreseen = self.names.declared(raw);
        let text = self.names.bytes(foreseen);
        let is_foreseen = !text.is_empty()
            && window.get(value..value + text.len()) == Some(text)
            && window.get(value + text.len()) == Some(&quote);
        let (end, verbatim) =
            if is_foreseen { (value + text.len(), true) } else { self.attribute_value(window, value, quote)? };
        if self.parts.declarations.len() >= self.options.declarations {
            return bad(ErrorKind::Limit(Limit::Declarations(self.options.declarations)), start);
        }
        let prefix = match self.names.shape(raw) {
            Shape::DeclaresDefault => Atom::EMPTY,
            _ => self.names.local(raw),
        };
        let namespace = if is_foreseen && end - value <= self.options.name_bytes {
            foreseen
        } else {
            let written = value::text(&window[value..end]);
            let namespace = match verbatim {
                true => Cow::Borrowed(written),
                false => value::normalise(written, Space::Attribute),
            };
            if namespace.len() > self.options.name_bytes {
                return bad(ErrorKind::Limit(Limit::NameBytes(self.options.name_bytes)), value);
            }
            let namespace = self.names.atom(&namespace);
            if let Some(rule) = forbidden_binding(prefix, namespace) {
                return forbidden(rule, start);
            }
            // With a quote in it, it could be found again where the other kind of quote ends the value sooner.
            if verbatim && memchr::memchr2(b'"', b'\'', &window[value..end]).is_none() {
                self.names.declare(raw, namespace);
            }
            namespace
        };
        let place = |at: usize| (at - self.at) as u32;
        let (start, value_start, value_end) = (place(start), place(value), place(end));
        self.parts.declarations.push(DeclarationSpan { prefix, namespace, start, value_start, value_end });
        Ok(end + 1)
    }

    /// The place of the closing quote, and whether the value is what stands before.
    #[inline]
    fn attribute_value(&self, window: &[u8], start: usize, quote: u8) -> Result<(usize, bool), Stop> {
        let mut verbatim = true;
        let mut at = start;
        loop {
            let distance = window[at..].iter().position(|&byte| SPECIAL[byte as usize]);
            let Some(distance) = distance else { return Err(Stop::Starved("a closing quote")) };
            at += distance;
            match window[at] {
                byte if byte == quote => return Ok((at, verbatim)),
                b'"' | b'\'' => {}
                b'<' => return forbidden("'<' in an attribute's value, expected &lt;", at),
                b'&' => {
                    verbatim = false;
                    at = self.reference(window, at)?;
                    continue;
                }
                b'\t' | b'\n' | b'\r' => verbatim = false,
                _ => character(window, at)?,
            }
            at += 1;
        }
    }

    /// The name of an element without attributes and declarations, where nothing new has to be learnt for it.
    #[inline(always)]
    fn known_element(&self, raw: Atom) -> Option<NameId> {
        self.names.resolved(raw, |prefix| self.bindings.get(prefix.index())?.namespace)
    }

    /// Binds what a complete start tag declares, resolves its names and opens the element.
    #[inline]
    fn enter(&mut self, raw: Atom) -> Result<NameId, Stop> {
        let (atoms, bytes) = self.names.size();
        if atoms > self.options.names {
            return bad(ErrorKind::Limit(Limit::Names(self.options.names)), self.at);
        }
        if bytes > self.options.names_bytes {
            return bad(ErrorKind::Limit(Limit::NamesBytes(self.options.names_bytes)), self.at);
        }
        self.tag += 1;
        let hidden = self.hidden.len();
        if !self.parts.declarations.is_empty() {
            self.bind()?;
        }
        if self.names.shape(raw) == Shape::DeclaresPrefix {
            return forbidden("an element with the prefix xmlns", self.at);
        }
        let namespace = self.namespace(self.names.prefix(raw), self.at)?;
        let name = self.names.resolve(raw, namespace);
        if !self.parts.attributes.is_empty() {
            self.resolve_attributes()?;
        }
        self.open.push(Open { raw, name, hidden });
        Ok(name)
    }

    /// Closes the innermost element.
    #[inline(always)]
    fn leave(&mut self) -> NameId {
        let open = self.open.pop().expect("an element is open where its end is read");
        if self.hidden.len() > open.hidden {
            self.reveal(open.hidden);
        }
        if self.open.is_empty() {
            self.stage = Stage::Epilog;
        }
        open.name
    }

    /// Takes back all bindings from the one with this number on.
    pub(super) fn reveal(&mut self, from: usize) {
        while self.hidden.len() > from {
            if let Some((prefix, binding)) = self.hidden.pop() {
                self.bindings[prefix.index()] = binding;
            }
        }
    }

    fn bind(&mut self) -> Result<(), Stop> {
        for span in &self.parts.declarations {
            let place = span.prefix.index();
            if place >= self.bindings.len() {
                self.bindings.resize(place + 1, Binding::default());
            }
            let before = self.bindings[place];
            if before.tag == self.tag {
                let name = match self.names.text(span.prefix) {
                    "" => "xmlns".to_owned(),
                    prefix => format!("xmlns:{prefix}"),
                };
                return bad(ErrorKind::DuplicateAttribute(name), self.at + span.start as usize);
            }
            if self.hidden.len() >= self.options.open_declarations {
                let limit = Limit::OpenDeclarations(self.options.open_declarations);
                return bad(ErrorKind::Limit(limit), self.at + span.start as usize);
            }
            self.hidden.push((span.prefix, before));
            self.bindings[place] = Binding { namespace: Some(span.namespace), tag: self.tag };
        }
        Ok(())
    }

    /// What a prefix is bound to.
    #[inline]
    fn namespace(&self, prefix: Atom, at: usize) -> Result<Atom, Stop> {
        match self.bindings.get(prefix.index()) {
            Some(Binding { namespace: Some(namespace), .. }) => Ok(*namespace),
            _ => bad(ErrorKind::UndeclaredPrefix(self.names.text(prefix).to_owned()), at),
        }
    }

    /// Names the attributes, each once.
    #[inline]
    fn resolve_attributes(&mut self) -> Result<(), Stop> {
        for index in 0..self.parts.attributes.len() {
            let AttributeSpan { raw, start, .. } = self.parts.attributes[index];
            let at = self.at + start as usize;
            let name = match self.names.prefix(raw) {
                Atom::EMPTY => self.names.resolve_bare(raw),
                prefix => {
                    let namespace = self.namespace(prefix, at)?;
                    self.names.resolve(raw, namespace)
                }
            };
            self.parts.attributes[index].name = name;
            let expanded = self.names.expanded(name).index();
            if expanded >= self.last_use.len() {
                self.last_use.resize(self.names.expanded_count(), 0);
            }
            if std::mem::replace(&mut self.last_use[expanded], self.tag) == self.tag {
                return bad(ErrorKind::DuplicateAttribute(self.names.text(raw).to_owned()), at);
            }
        }
        Ok(())
    }
}

/// The rule of Namespaces in XML 1.0 (§3, §2.2) that a declaration breaks.
fn forbidden_binding(prefix: Atom, namespace: Atom) -> Option<&'static str> {
    match (prefix, namespace) {
        (Atom::XML, Atom::XML_NAMESPACE) => None,
        (Atom::XML, _) => Some("the prefix xml bound to another namespace"),
        (Atom::XMLNS, _) => Some("a declaration of the prefix xmlns"),
        (_, Atom::XML_NAMESPACE) => Some("the namespace of xml bound to another prefix"),
        (_, Atom::XMLNS_NAMESPACE) => Some("the namespace of xmlns bound to a prefix"),
        (Atom::EMPTY, _) => None,
        (_, Atom::EMPTY) => Some("a prefix bound to no namespace"),
        _ => None,
    }
}

#[inline]
fn skip_space(window: &[u8], mut at: usize) -> usize {
    while window.get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}
