//! From an element of a tree to JSON, child by child.
//!
//! What an element is as a value shows at its first child that counts; whether a member is an array, at the sibling behind it.

mod attributes;
mod children;

use std::borrow::Cow;

use myelin_xml::{Document, Kind, NodeId};

use super::keys::{Key, Keys, Wrapper};
use super::primitive::write_text;
use super::{Switches, VALUE};
use crate::error::Error;
use crate::reader::{Options, Reader};
use crate::text::write_string;

const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

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
    let start = out.len();
    let mut writer = Writer {
        document,
        switches,
        keys: Keys::new(document.names(), switches),
        seen: Vec::new(),
        root: element,
        objects: 0,
        scattered: false,
        gathers: false,
        limit: start.saturating_add(limit_bytes),
        limit_bytes,
        out,
    };
    writer.outermost(element)?;
    if writer.scattered {
        // Hardly a document has siblings of one name apart, so none is searched for them beforehand.
        writer.out.truncate(start);
        writer.gathers = true;
        writer.outermost(element)?;
    }
    writer.check_length()
}

struct Writer<'a> {
    document: &'a Document,
    switches: &'a Switches,
    keys: Keys<'a>,
    /// The keys of the attributes of one element.
    seen: Vec<Key>,
    /// The outermost element.
    root: NodeId,
    /// How many objects were begun.
    objects: u32,
    /// Whether a key was written twice in one object, for siblings that do not stand behind each other.
    scattered: bool,
    /// Whether siblings of one name are brought together.
    gathers: bool,
    limit: usize,
    limit_bytes: usize,
    out: &'a mut Vec<u8>,
}

/// An element whose value is being written.
struct Open {
    element: NodeId,
    /// The number of the object.
    number: u32,
    /// The next child that counts.
    next: Option<NodeId>,
    /// Those behind it, the last first, where they come in another order than in the document.
    gathered: Option<Vec<NodeId>>,
    /// Whether the value is that of the children, which stand for something without a name.
    bare: bool,
    /// Whether something stands before the next member or element.
    comma: bool,
    /// The key of the elements of the array that is open.
    array: Option<Key>,
    /// Whether there was text.
    text: bool,
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
            self.out.extend_from_slice(text.as_bytes());
        } else {
            write_string(&text, self.out);
        }
    }

    /// Writes the value of an element with all that is below.
    fn tree(&mut self, element: NodeId, wrapper: Option<Wrapper>) -> Result<(), Error> {
        let mut open: Vec<Open> = self.begin(element, wrapper)?.into_iter().collect();
        while let Some(innermost) = open.last_mut() {
            match self.go_on(innermost)? {
                Some(inner) => open.push(inner),
                None => drop(open.pop()),
            }
        }
        Ok(())
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
        self.objects += 1;
        let number = self.objects;
        let mut open = Open { element, number, next, gathered: None, bare: false, comma, array: None, text: false };
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
        if self.gathers {
            open.gathered = self.gathered(first);
            // The first stays the first.
            open.gathered.as_mut().and_then(Vec::pop);
        }
        if let Some(text) = text {
            self.member_text(&text, &mut open);
        }
        Ok(Some(open))
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
            match self.document.kind(child) {
                Kind::Element => {
                    let key = self.key(child);
                    open.next = self.behind(child, open);
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
                Kind::Instruction => {
                    let key = self.instructed(child);
                    open.next = self.behind(child, open);
                    if let Some(key) = key.filter(|&key| open.array != Some(key)) {
                        self.begin_member(key, open);
                        self.begin_array(key, open);
                    }
                }
                _ => {
                    let (text, behind) = self.text_run(child);
                    open.next = open.gathered.as_mut().map_or(behind, Vec::pop);
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

    #[inline]
    fn behind(&self, child: NodeId, open: &mut Open) -> Option<NodeId> {
        match &mut open.gathered {
            Some(gathered) => gathered.pop(),
            None => self.counting(self.document.next_sibling(child)),
        }
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
            if self.switches.arrays && open.next.is_some_and(|next| self.member_key(next) == Some(key)) {
                self.begin_array(key, open);
            }
        }
        open.comma = true;
    }

    #[inline]
    fn begin_member(&mut self, key: Key, open: &mut Open) {
        self.end_array(open);
        self.scattered |= self.keys.met(key, open.number) && self.switches.arrays;
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
            match self.document.kind(child) {
                Kind::Element => elements += 1,
                Kind::Instruction => instructed = true,
                _ => return None,
            }
            if let Some(found) = self.member_key(child) {
                found.wrapper()?;
                if *key.get_or_insert(found) != found {
                    return None;
                }
            }
            next = self.counting(self.document.next_sibling(child));
        }
        let key = key?;
        let array = instructed
            || (wrapper == Some(Wrapper::Array) && key.wrapper() != Some(Wrapper::Array))
            || (elements > 1 && self.switches.arrays);
        (array || elements == 1).then_some((key, array))
    }

    #[inline]
    fn check_length(&self) -> Result<(), Error> {
        if self.out.len() > self.limit { Err(Error::Converted(self.limit_bytes)) } else { Ok(()) }
    }
}

fn is_json(text: &[u8]) -> bool {
    if text.starts_with(BYTE_ORDER_MARK) {
        return false;
    }
    let mut reader = Reader::new(Options::default());
    loop {
        match reader.next_of_whole(text) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Whether a text between elements says nothing.
///
/// Source: `java.lang.Character.isWhitespace`.
fn is_space(text: &str) -> bool {
    text.chars().all(|c| c <= ' ' || (c.is_whitespace() && !matches!(c, '\u{85}' | '\u{A0}' | '\u{2007}' | '\u{202F}')))
}
