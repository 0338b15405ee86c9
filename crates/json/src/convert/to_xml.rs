//! From a JSON text to XML, token by token.
//!
//! What an element is called is known when it starts: the names of all that is open stand one behind the other, and arrays lend theirs to their elements.
//! A member whose key starts with `@` is an attribute wherever it stands in its object: those behind an element are put into the start tag in the end.

mod attributes;
mod characters;

use std::ops::Range;

use self::attributes::{Attributes, Mark};
use self::characters::{Context, plain_text, write_characters, write_string};
use super::names::{encode, is_plain, without_mark};
use super::{ELEMENT, MULTIPLE, OBJECT, Switches, VALUE};
use crate::error::Error;
use crate::reader::{Event, Kind, Options, Reader};

/// Writes a JSON text as an XML element, in UTF-8 and without an XML declaration.
///
/// Shape: an object becomes `jsonObject` with an element for each member, an array `jsonArray` with `jsonElement`s, all else `jsonValue` with the JSON text in it; it is well-formed, and so are its namespaces.
/// Units: at most `limit_bytes` bytes are written.
/// Errors: those of [`Reader::next`]; `Character` for what XML cannot hold, `Duplicate` for an attribute: the sender's; `Converted` for more bytes than allowed.
/// Source: `JsonUtil.toXml` of wso2-synapse.
pub fn to_xml(
    json: &[u8],
    switches: &Switches,
    options: &Options,
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let limit = out.len().saturating_add(limit_bytes);
    let mut reader = Reader::new(options.clone());
    let mut writer = Writer {
        switches,
        names: Vec::with_capacity(256),
        open: Vec::with_capacity(16),
        member: Member::Element,
        member_name: 0,
        attribute: String::new(),
        attributes: Attributes::default(),
        out,
    };
    while let Some(event) = reader.next_of_whole(json).map_err(|error| *error)? {
        if let Err(refused) = writer.take(&event) {
            return Err(refused.at(&reader, json, event.start));
        }
        if writer.out.len() > limit {
            return Err(Error::Converted(limit_bytes));
        }
    }
    writer.attributes.put_in_late(writer.out);
    if out.len() > limit { Err(Error::Converted(limit_bytes)) } else { Ok(()) }
}

/// Why a token cannot be written.
enum Refused {
    /// A character that XML cannot hold.
    Character(char),
    /// An attribute stands twice on an element.
    Twice(String),
}

impl Refused {
    #[cold]
    fn character(character: char) -> Box<Refused> {
        Box::new(Refused::Character(character))
    }

    #[cold]
    fn at(self, reader: &Reader, json: &[u8], start: usize) -> Error {
        match self {
            Refused::Character(character) => Error::Character(reader.place(json, start), character),
            Refused::Twice(key) => Error::Duplicate { key },
        }
    }
}

struct Writer<'a> {
    switches: &'a Switches,
    /// The names of what is open, and of the member whose value comes, one behind the other.
    names: Vec<u8>,
    open: Vec<Open>,
    member: Member,
    /// Where the name of the member starts.
    member_name: usize,
    /// The key of the attribute whose value comes, without its `@`.
    attribute: String,
    attributes: Attributes,
    out: &'a mut Vec<u8>,
}

/// An array or object that is open.
struct Open {
    shape: Shape,
    /// Where the name stands of the element that it is, or of the elements of an array.
    name: Range<usize>,
    /// How many bytes of names there were before it.
    names: usize,
    attributes: Mark,
}

#[derive(Clone, Copy)]
enum Shape {
    /// An object whose start tag may still get attributes, and its name at this place:
    /// whether its prefix is one may depend on what the object declares itself.
    Unnamed(usize),
    /// An object whose start tag may still get attributes.
    Tag,
    /// An object whose start tag has its `>` at this place.
    Content(usize),
    /// An array whose elements stand where a member would.
    Array,
    /// An array in an array, or the outermost: it has an element of its own.
    Wrapped,
}

/// What the last key makes of its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Member {
    /// An element; its name is the last one.
    Element,
    /// An element; the last name is its key, which has a colon.
    Prefixed,
    /// An attribute if the value is plain, else an element.
    Attribute,
    /// Text of the object if the value is plain, else an element.
    Text,
}

impl Writer<'_> {
    #[inline]
    fn take(&mut self, event: &Event<'_>) -> Result<(), Box<Refused>> {
        match event.kind {
            Kind::Key => self.take_key(event),
            Kind::ObjectStart => self.start_object(),
            Kind::ArrayStart => self.start_array(),
            Kind::ObjectEnd | Kind::ArrayEnd => return self.end(),
            Kind::String | Kind::Number | Kind::True | Kind::False | Kind::Null => return self.take_plain(event),
        }
        Ok(())
    }

    #[inline]
    fn take_key(&mut self, event: &Event<'_>) {
        self.member_name = self.names.len();
        let raw = event.inner();
        if is_plain(raw) {
            self.member = Member::Element;
            self.content();
            self.names.extend_from_slice(raw);
        } else {
            self.take_other_key(&event.text());
        }
    }

    fn take_other_key(&mut self, key: &str) {
        match key.strip_prefix('@') {
            Some(attribute) if !attribute.is_empty() => {
                self.member = Member::Attribute;
                self.attribute.clear();
                self.attribute.push_str(attribute);
            }
            _ if key == "$" => self.member = Member::Text,
            _ if key.contains(':') && !self.switches.plain_names => {
                self.member = Member::Prefixed;
                self.content();
                self.names.extend_from_slice(key.as_bytes());
            }
            _ => {
                self.member = Member::Element;
                self.content();
                encode(key, &mut self.names);
            }
        }
    }

    /// Sees to it that the object has its start tag behind it.
    #[inline]
    fn content(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        match open.shape {
            Shape::Tag => {}
            Shape::Unnamed(_) => return self.name_content(),
            Shape::Content(_) | Shape::Array | Shape::Wrapped => return,
        }
        open.shape = Shape::Content(self.out.len());
        self.out.push(b'>');
    }

    #[cold]
    fn name_content(&mut self) {
        self.name_tag();
        self.content();
        // The name that it has now may be longer than the key.
        self.member_name = self.names.len();
    }

    /// Puts the name into the start tag that is complete but for it.
    fn name_tag(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        let Shape::Unnamed(at) = open.shape else { return };
        open.shape = Shape::Tag;
        open.name = settle(open.name.start, &mut self.names, &self.attributes);
        self.out.splice(at..at, self.names[open.name.clone()].iter().copied());
    }

    fn start_object(&mut self) {
        let (name, names, unsettled) = self.container_name();
        self.out.push(b'<');
        let shape = if unsettled {
            Shape::Unnamed(self.out.len())
        } else {
            self.out.extend_from_slice(&self.names[name.clone()]);
            Shape::Tag
        };
        self.open.push(Open { shape, name, names, attributes: self.attributes.mark() });
    }

    fn start_array(&mut self) {
        let within = matches!(self.open.last(), Some(Open { shape: Shape::Array | Shape::Wrapped, .. }));
        let outermost = self.open.is_empty();
        let (mut name, names, unsettled) = self.container_name();
        if unsettled {
            name = settle(name.start, &mut self.names, &self.attributes);
        }
        let mut shape = Shape::Array;
        if within || outermost {
            shape = Shape::Wrapped;
            if within {
                self.tag(b"<", name);
            }
            self.out.extend_from_slice(b"<jsonArray>");
            name = self.names.len()..self.names.len() + ELEMENT.len();
            self.names.extend_from_slice(ELEMENT.as_bytes());
        }
        if self.switches.instructions {
            let key = without_mark(&self.names[name.clone()]);
            for part in [b"<?", MULTIPLE.as_bytes(), b" ", &key, b"?>"] {
                self.out.extend_from_slice(part);
            }
        }
        self.open.push(Open { shape, name, names, attributes: self.attributes.mark() });
    }

    /// What an array or object is called, how many bytes of names there were before, and whether that is still its key.
    fn container_name(&mut self) -> (Range<usize>, usize, bool) {
        let names = self.names.len();
        match self.open.last() {
            None => {
                self.names.extend_from_slice(OBJECT.as_bytes());
                (0..self.names.len(), 0, false)
            }
            Some(Open { shape: Shape::Array | Shape::Wrapped, name, .. }) => (name.clone(), names, false),
            Some(_) => {
                match self.member {
                    Member::Element | Member::Prefixed => {}
                    Member::Attribute => {
                        self.content();
                        self.attribute.insert(0, '@');
                        encode(&self.attribute, &mut self.names);
                    }
                    Member::Text => {
                        self.content();
                        encode("$", &mut self.names);
                    }
                }
                (self.member_name..self.names.len(), self.member_name, self.member == Member::Prefixed)
            }
        }
    }

    fn end(&mut self) -> Result<(), Box<Refused>> {
        self.name_tag();
        let Some(open) = self.open.pop() else { return Ok(()) };
        match open.shape {
            Shape::Tag | Shape::Unnamed(_) => self.out.extend_from_slice(b"/>"),
            Shape::Content(_) => self.tag(b"</", open.name),
            Shape::Array => {}
            Shape::Wrapped => {
                self.out.extend_from_slice(b"</jsonArray>");
                if let Some(Open { name, .. }) = self.open.last() {
                    self.tag(b"</", name.clone());
                }
            }
        }
        self.names.truncate(open.names);
        self.attributes.end(open.attributes)
    }

    /// Writes a tag with nothing in it but a name.
    #[inline]
    fn tag(&mut self, start: &[u8], name: Range<usize>) {
        self.out.extend_from_slice(start);
        self.out.extend_from_slice(&self.names[name]);
        self.out.push(b'>');
    }

    /// Writes a text, number, `true`, `false` or `null`.
    #[inline]
    fn take_plain(&mut self, event: &Event<'_>) -> Result<(), Box<Refused>> {
        match self.open.last() {
            None => self.outermost(event),
            Some(Open { shape: Shape::Array | Shape::Wrapped, name, .. }) => self.element(name.clone(), event),
            Some(_) => match self.member {
                Member::Attribute => self.write_attribute(event),
                Member::Text => {
                    self.content();
                    write_string(event, Context::Text, self.out).map_err(Refused::character)
                }
                Member::Element => {
                    let written = self.element(self.member_name..self.names.len(), event);
                    self.names.truncate(self.member_name);
                    written
                }
                Member::Prefixed => {
                    let name = settle(self.member_name, &mut self.names, &self.attributes);
                    let written = self.element(name, event);
                    self.names.truncate(self.member_name);
                    written
                }
            },
        }
    }

    #[inline]
    fn element(&mut self, name: Range<usize>, event: &Event<'_>) -> Result<(), Box<Refused>> {
        if event.kind == Kind::Null {
            self.out.push(b'<');
            self.out.extend_from_slice(&self.names[name]);
            self.out.extend_from_slice(if self.switches.nil { b" nil=\"true\"/>" } else { b"/>" });
            return Ok(());
        }
        self.tag(b"<", name.clone());
        write_string(event, Context::Text, self.out).map_err(Refused::character)?;
        self.tag(b"</", name);
        Ok(())
    }

    /// Writes a plain value that is all there is: its JSON text is what the element holds.
    fn outermost(&mut self, event: &Event<'_>) -> Result<(), Box<Refused>> {
        self.names.extend_from_slice(VALUE.as_bytes());
        self.tag(b"<", 0..VALUE.len());
        write_characters(event.raw, false, Context::Text, self.out).map_err(Refused::character)?;
        self.tag(b"</", 0..VALUE.len());
        Ok(())
    }

    fn write_attribute(&mut self, event: &Event<'_>) -> Result<(), Box<Refused>> {
        let late = match self.open.last() {
            Some(Open { shape: Shape::Content(at), .. }) => Some(*at),
            _ => None,
        };
        let name = self.attributes.name(&self.attribute, || plain_text(event), late.is_some());
        self.attributes.write(name, late, event, self.out).map_err(Refused::character)
    }
}

/// The name at the end of `names` that is a key with a colon becomes a name with a prefix, or one without.
fn settle(start: usize, names: &mut Vec<u8>, attributes: &Attributes) -> Range<usize> {
    let key = String::from_utf8_lossy(&names[start..]).into_owned();
    if !attributes.is_prefixed(&key) {
        names.truncate(start);
        encode(&key, names);
    }
    start..names.len()
}
