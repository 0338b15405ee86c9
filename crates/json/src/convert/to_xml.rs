//! From a JSON text to XML, token by token.
//!
//! What an element is called is known when it starts: the names of all that is open stand one behind the other, and arrays lend theirs to their elements.
//! A member whose key starts with `@` is an attribute wherever it stands in its object: those behind an element are put into the start tag in the end.

mod attributes;
mod characters;
mod nodes;
mod refused;

use std::fmt;
use std::ops::Range;

use myelin_xml::{Arena, Document, TreeRecorder};

use self::attributes::{Attributes, Mark};
use self::characters::{Context, plain_text, write_characters, write_string};
use self::nodes::Nodes;
use self::refused::Refused;
use super::names::{encode, is_plain, without_mark};
use super::{ARRAY, ELEMENT, MULTIPLE, OBJECT, Switches, VALUE};
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
    convert(json, switches, options, limit_bytes, out, ()).map(drop)
}

/// Makes the tree of what [`to_xml`] writes, without reading that again.
///
/// Shape: `memory` is that of a document which nobody needs any more, as [`Document::into_parts`] gives it, or empty.
/// Errors: besides those of [`to_xml`] the parser's, for what breaks a bound of XML: the sender's.
pub fn to_document(
    json: &[u8],
    switches: &Switches,
    options: &Options,
    xml_options: &myelin_xml::Options,
    limit_bytes: usize,
    memory: (Vec<u8>, Arena),
) -> Result<Document, Unconverted> {
    let (mut source, arena) = memory;
    source.clear();
    let outline = convert(json, switches, options, limit_bytes, &mut source, TreeRecorder::new(xml_options, arena));
    outline.map_err(Unconverted::Json)?.finish(&mut source).map_err(Unconverted::Xml)
}

/// Why JSON is no tree.
#[derive(Debug)]
pub enum Unconverted {
    /// It is no JSON, or none that XML can hold.
    Json(Error),
    /// The XML breaks a bound.
    Xml(myelin_xml::Error),
}

impl std::error::Error for Unconverted {}

impl fmt::Display for Unconverted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unconverted::Json(error) => error.fmt(formatter),
            Unconverted::Xml(error) => error.fmt(formatter),
        }
    }
}

fn convert<N: Nodes>(
    json: &[u8],
    switches: &Switches,
    options: &Options,
    limit_bytes: usize,
    out: &mut Vec<u8>,
    nodes: N,
) -> Result<N, Error> {
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
        nodes,
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
    if writer.out.len() > limit { Err(Error::Converted(limit_bytes)) } else { Ok(writer.nodes) }
}

struct Writer<'a, N> {
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
    /// Where what is written stands.
    nodes: N,
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

impl<N: Nodes> Writer<'_, N> {
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
        let start = self.out.len();
        self.out.push(b'<');
        let shape = if unsettled {
            self.nodes.leave_to_parser();
            Shape::Unnamed(self.out.len())
        } else {
            self.nodes.start(&self.names[name.clone()], start);
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
                self.start_tag(name);
            }
            self.nodes.start(ARRAY.as_bytes(), self.out.len());
            self.out.extend_from_slice(b"<jsonArray>");
            name = self.names.len()..self.names.len() + ELEMENT.len();
            self.names.extend_from_slice(ELEMENT.as_bytes());
        }
        if self.switches.instructions {
            self.nodes.leave_to_parser();
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
            Shape::Tag | Shape::Unnamed(_) => {
                self.out.extend_from_slice(b"/>");
                self.nodes.end(self.out.len());
            }
            Shape::Content(_) => self.end_tag(open.name),
            Shape::Array => {}
            Shape::Wrapped => {
                self.out.extend_from_slice(b"</jsonArray>");
                self.nodes.end(self.out.len());
                if let Some(Open { name, .. }) = self.open.last() {
                    self.end_tag(name.clone());
                }
            }
        }
        self.names.truncate(open.names);
        self.attributes.end(open.attributes)
    }

    /// Writes a start tag with nothing in it but the name.
    #[inline]
    fn start_tag(&mut self, name: Range<usize>) {
        self.nodes.start(&self.names[name.clone()], self.out.len());
        self.out.push(b'<');
        self.out.extend_from_slice(&self.names[name]);
        self.out.push(b'>');
    }

    #[inline]
    fn end_tag(&mut self, name: Range<usize>) {
        self.out.extend_from_slice(b"</");
        self.out.extend_from_slice(&self.names[name]);
        self.out.push(b'>');
        self.nodes.end(self.out.len());
    }

    /// Writes a plain value as text.
    #[inline]
    fn text(&mut self, event: &Event<'_>) -> Result<(), Box<Refused>> {
        let start = self.out.len();
        let verbatim = write_string(event, Context::Text, self.out).map_err(Refused::character)?;
        self.nodes.text(start..self.out.len(), verbatim);
        Ok(())
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
                    self.text(event)
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
            self.nodes.start(&self.names[name.clone()], self.out.len());
            self.out.push(b'<');
            self.out.extend_from_slice(&self.names[name]);
            if self.switches.nil {
                self.nodes.leave_to_parser();
                self.out.extend_from_slice(b" nil=\"true\"");
            }
            self.out.extend_from_slice(b"/>");
            self.nodes.end(self.out.len());
            return Ok(());
        }
        self.start_tag(name.clone());
        self.text(event)?;
        self.end_tag(name);
        Ok(())
    }

    /// Writes a plain value that is all there is: its JSON text is what the element holds.
    fn outermost(&mut self, event: &Event<'_>) -> Result<(), Box<Refused>> {
        self.names.extend_from_slice(VALUE.as_bytes());
        self.start_tag(0..VALUE.len());
        let start = self.out.len();
        let verbatim = write_characters(event.raw, false, Context::Text, self.out).map_err(Refused::character)?;
        self.nodes.text(start..self.out.len(), verbatim);
        self.end_tag(0..VALUE.len());
        Ok(())
    }

    fn write_attribute(&mut self, event: &Event<'_>) -> Result<(), Box<Refused>> {
        let late = match self.open.last() {
            Some(Open { shape: Shape::Content(at), .. }) => Some(*at),
            _ => None,
        };
        let name = self.attributes.name(&self.attribute, || plain_text(event), late.is_some());
        let start = self.out.len();
        let verbatim = self.attributes.write(name.clone(), late, event, self.out).map_err(Refused::character)?;
        match late {
            Some(_) => self.nodes.leave_to_parser(),
            None => self.nodes.attribute(self.attributes.named(name), start..self.out.len(), verbatim),
        }
        Ok(())
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
