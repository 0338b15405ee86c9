//! From an element of a tree to JSON, child by child.
//!
//! What an element is as a value shows at its first child that counts; whether a member is an array, at the sibling behind it.

mod attributes;

use std::borrow::Cow;

use myelin_xml::{Document, Kind, NodeId};

use self::attributes::Attributes;
use super::keys::{Key, Keys, Wrapper};
use super::names::decode;
use super::primitive::write_text;
use super::{MULTIPLE, Switches, VALUE};
use crate::error::Error;
use crate::reader::{Options, Reader};
use crate::text::write_string;

/// Writes an element as a JSON text.
///
/// Shape: an object with the element as its member; `jsonObject`, `jsonArray`, `jsonElement` and `jsonValue` are what they stand for.
/// Units: at most `limit_bytes` bytes are written.
/// Errors: `Mixed` and `Duplicate` for what JSON cannot hold: the sender's; `Converted` for more bytes than allowed.
/// Source: `JsonUtil.writeAsJson` of wso2-synapse.
pub fn to_json(
    document: &Document,
    element: NodeId,
    switches: &Switches,
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let limit = out.len().saturating_add(limit_bytes);
    let keys = Keys::new(document.names(), switches);
    let mut writer = Writer { document, switches, keys, attributes: Attributes::default(), limit, limit_bytes, out };
    writer.outermost(element)?;
    writer.check_length()
}

struct Writer<'a> {
    document: &'a Document,
    switches: &'a Switches,
    keys: Keys<'a>,
    attributes: Attributes,
    limit: usize,
    limit_bytes: usize,
    out: &'a mut Vec<u8>,
}

/// An element whose value is being written.
struct Open {
    element: NodeId,
    /// The next child that counts.
    next: Option<NodeId>,
    /// Whether the value is that of the children, which stand for something without a name.
    bare: bool,
    /// Whether something stands before the next member or element.
    comma: bool,
    /// The key of the elements of the array that is open.
    array: Option<Key>,
    /// Whether there was text.
    text: bool,
}

/// What a child is that counts.
#[derive(Clone, Copy)]
enum Child {
    Element(Key),
    Text,
    /// The instruction that an array begins, and its key if it has one.
    Array(Option<Key>),
}

impl<'a> Writer<'a> {
    fn outermost(&mut self, element: NodeId) -> Result<(), Error> {
        if self.document.qname(element).local == VALUE {
            self.json_value(element);
            return Ok(());
        }
        let key = self.key(element);
        match key.wrapper() {
            Some(wrapper) => self.tree(element, Some(wrapper)),
            None => {
                self.out.push(b'{');
                self.out.extend_from_slice(self.keys.written(key));
                self.tree(element, None)?;
                self.out.push(b'}');
                Ok(())
            }
        }
    }

    /// Writes what `jsonValue` holds: a JSON text, or else a text.
    fn json_value(&mut self, element: NodeId) {
        let text = self.document.string_value(element);
        if is_json(text.as_bytes()) {
            self.out.extend_from_slice(text.trim().as_bytes());
        } else {
            write_string(&text, self.out);
        }
    }

    /// Writes the value of an element with all that is below.
    fn tree(&mut self, element: NodeId, wrapper: Option<Wrapper>) -> Result<(), Error> {
        let mut above: Vec<Open> = Vec::new();
        let mut current = self.begin(element, wrapper)?;
        loop {
            current = match current {
                None => match above.pop() {
                    None => return Ok(()),
                    open => open,
                },
                Some(mut open) => {
                    let inner = self.go_on(&mut open)?;
                    if inner.is_some() {
                        above.push(open);
                    }
                    inner
                }
            };
        }
    }

    /// Writes the value of an element, or the beginning of it where there are elements below.
    fn begin(&mut self, element: NodeId, wrapper: Option<Wrapper>) -> Result<Option<Open>, Error> {
        let comma = match self.write_attributes(element)? {
            Some(written) => written,
            None => {
                self.out.extend_from_slice(b"null");
                return Ok(None);
            }
        };
        let mut next = self.counting(self.document.first_child(element));
        let mut text = None;
        if let Some(first) = next.filter(|&first| self.document.kind(first) == Kind::Text) {
            let (run, behind) = self.text_run(first);
            text = Some(run);
            next = behind;
        }
        let Some(first) = next else {
            self.plain(text, comma, wrapper);
            return Ok(None);
        };
        let mut open = Open { element, next, bare: false, comma, array: None, text: false };
        let text = text.filter(|text| !is_space(text));
        if !comma {
            if text.is_none()
                && let Some((key, array)) = self.bare(first, wrapper)
            {
                open.bare = true;
                if array {
                    self.out.push(b'[');
                    open.array = Some(key);
                }
                return Ok(Some(open));
            }
            self.out.push(b'{');
        }
        if let Some(text) = text {
            self.member_text(&text, &mut open);
        }
        Ok(Some(open))
    }

    /// The text of an element that has nothing else, as most have.
    #[inline]
    fn only_text(&self, element: NodeId) -> Option<Cow<'a, str>> {
        let document = self.document;
        let only = document.first_child(element)?;
        let plain = document.kind(only) == Kind::Text
            && document.next_sibling(only).is_none()
            && document.attributes(element).next().is_none()
            && !(self.switches.prefixes && self.switches.declarations);
        let text = plain.then(|| document.value(only))?;
        (text.bytes().any(|byte| byte > b' ')).then_some(text)
    }

    /// Writes the value of an element without elements, whose attributes are written if `members` says so.
    #[inline]
    fn plain(&mut self, text: Option<Cow<'a, str>>, members: bool, wrapper: Option<Wrapper>) {
        match text {
            Some(text) if members => {
                self.out.extend_from_slice(b",\"$\":");
                write_text(&text, self.switches, self.out);
                self.out.push(b'}');
            }
            Some(text) => write_text(&text, self.switches, self.out),
            None if members => self.out.push(b'}'),
            None => self.out.extend_from_slice(match wrapper {
                Some(Wrapper::Object) => b"{}",
                Some(Wrapper::Array) => b"[]",
                _ if self.switches.empty_is_null && !self.switches.nil => b"null",
                _ => b"\"\"",
            }),
        }
    }

    /// Writes on to the next element that has elements below, which is begun, or to the end.
    fn go_on(&mut self, open: &mut Open) -> Result<Option<Open>, Error> {
        while let Some(child) = open.next {
            self.check_length()?;
            match self.what(child) {
                Child::Element(key) => {
                    open.next = self.counting(self.document.next_sibling(child));
                    self.write_place(key, open);
                    if let Some(text) = self.only_text(child) {
                        write_text(&text, self.switches, self.out);
                        continue;
                    }
                    let wrapper = if open.bare { key.wrapper() } else { None };
                    let inner = self.begin(child, wrapper)?;
                    if inner.is_some() {
                        return Ok(inner);
                    }
                }
                Child::Array(key) => {
                    open.next = self.counting(self.document.next_sibling(child));
                    let key = key.or_else(|| self.element_key(open.next?));
                    if let Some(key) = key.filter(|&key| open.array != Some(key)) {
                        self.begin_member(key, open);
                        self.begin_array(key, open);
                    }
                }
                Child::Text => {
                    let (text, behind) = self.text_run(child);
                    open.next = behind;
                    if !is_space(&text) {
                        if open.text || open.next.is_some() {
                            let element = self.document.qname(open.element).local.to_owned();
                            return Err(Error::Mixed { element });
                        }
                        self.member_text(&text, open);
                    }
                }
            }
        }
        self.end_array(open);
        if !open.bare {
            self.out.push(b'}');
        }
        Ok(None)
    }

    /// Writes what stands before the value of an element: a comma, its key, the beginning of an array.
    #[inline]
    fn write_place(&mut self, key: Key, open: &mut Open) {
        if open.bare || open.array == Some(key) {
            if open.comma {
                self.out.push(b',');
            }
        } else {
            self.begin_member(key, open);
            if self.switches.arrays && open.next.is_some_and(|next| self.element_key(next) == Some(key)) {
                self.begin_array(key, open);
            }
        }
        open.comma = true;
    }

    #[inline]
    fn begin_member(&mut self, key: Key, open: &mut Open) {
        self.end_array(open);
        if open.comma {
            self.out.push(b',');
        }
        self.out.extend_from_slice(self.keys.written(key));
    }

    fn begin_array(&mut self, key: Key, open: &mut Open) {
        self.out.push(b'[');
        open.array = Some(key);
        open.comma = false;
    }

    #[inline]
    fn end_array(&mut self, open: &mut Open) {
        if open.array.take().is_some() {
            self.out.push(b']');
            open.comma = true;
        }
    }

    fn member_text(&mut self, text: &str, open: &mut Open) {
        self.end_array(open);
        self.out.extend_from_slice(if open.comma { b",\"$\":" } else { b"\"$\":" });
        write_text(text, self.switches, self.out);
        (open.comma, open.text) = (true, true);
    }

    /// Whether the value of an element is that of its children, of what key these are, and whether they are an array.
    ///
    /// Synapse leaves away the braces and the first name wherever an object begins with such a name; here nothing else may stand in it.
    fn bare(&mut self, first: NodeId, wrapper: Option<Wrapper>) -> Option<(Key, bool)> {
        let mut key = None;
        let (mut elements, mut instructed) = (0, false);
        let mut next = Some(first);
        while let Some(child) = next {
            let kind = self.what(child);
            match kind {
                Child::Element(found) | Child::Array(Some(found)) => {
                    found.wrapper()?;
                    if *key.get_or_insert(found) != found {
                        return None;
                    }
                }
                Child::Array(None) => {}
                Child::Text => return None,
            }
            match kind {
                Child::Element(_) => elements += 1,
                _ => instructed = true,
            }
            next = self.counting(self.document.next_sibling(child));
        }
        let key = key?;
        let array = instructed
            || (wrapper == Some(Wrapper::Array) && key.wrapper() != Some(Wrapper::Array))
            || (elements > 1 && self.switches.arrays);
        (array || elements == 1).then_some((key, array))
    }

    /// The first child from `next` on that counts: no comment, no other instruction, no white space alone.
    #[inline]
    fn counting(&self, mut next: Option<NodeId>) -> Option<NodeId> {
        while let Some(child) = next {
            let counts = match self.document.kind(child) {
                Kind::Element => true,
                Kind::Text => self.counts(child),
                Kind::Instruction => self.switches.read_instructions && self.document.qname(child).local == MULTIPLE,
                Kind::Document | Kind::Attribute | Kind::Comment => false,
            };
            if counts {
                break;
            }
            next = self.document.next_sibling(child);
        }
        next
    }

    /// What a child is that counts.
    #[inline]
    fn what(&mut self, child: NodeId) -> Child {
        match self.document.kind(child) {
            Kind::Element => Child::Element(self.key(child)),
            Kind::Instruction => Child::Array(self.instructed(child)),
            _ => Child::Text,
        }
    }

    /// Whether a text is more than white space, or is to be kept as all there is.
    #[inline]
    fn counts(&self, text: NodeId) -> bool {
        let document = self.document;
        // As Java's `String.trim` has it.
        document.value(text).bytes().any(|byte| byte > b' ')
            || (self.switches.spaces
                && document.previous_sibling(text).is_none()
                && document.next_sibling(text).is_none())
    }

    /// The key of the array that an instruction begins; without one it is that of the next element.
    fn instructed(&mut self, instruction: NodeId) -> Option<Key> {
        let data = self.document.value(instruction);
        let data = data.trim();
        let name = match data.rsplit_once(':') {
            Some((_, local)) if !self.switches.prefixes => local,
            _ => data,
        };
        (!data.is_empty()).then(|| self.keys.of_text(&decode(name)))
    }

    /// A text with those behind it up to the next element, and the next child that counts.
    fn text_run(&self, first: NodeId) -> (Cow<'a, str>, Option<NodeId>) {
        let mut text = self.document.value(first);
        let mut next = self.counting(self.document.next_sibling(first));
        while let Some(child) = next.filter(|&child| self.document.kind(child) == Kind::Text) {
            text.to_mut().push_str(&self.document.value(child));
            next = self.counting(self.document.next_sibling(child));
        }
        (text, next)
    }

    /// The key of a child, if that is an element.
    #[inline]
    fn element_key(&mut self, child: NodeId) -> Option<Key> {
        (self.document.kind(child) == Kind::Element).then(|| self.key(child))
    }

    #[inline]
    fn key(&mut self, element: NodeId) -> Key {
        let name = self.document.name(element).expect("an element has a name");
        self.keys.of_element(name)
    }

    #[inline]
    fn check_length(&self) -> Result<(), Error> {
        if self.out.len() > self.limit { Err(Error::Converted(self.limit_bytes)) } else { Ok(()) }
    }
}

/// Whether a text between elements says nothing.
///
/// Source: `java.lang.Character.isWhitespace`.
fn is_space(text: &str) -> bool {
    text.chars().all(|c| c <= ' ' || (c.is_whitespace() && !matches!(c, '\u{85}' | '\u{A0}' | '\u{2007}' | '\u{202F}')))
}

fn is_json(text: &[u8]) -> bool {
    let mut reader = Reader::new(Options::default());
    loop {
        match reader.next_of_whole(text) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}
