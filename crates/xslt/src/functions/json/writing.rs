//! XML as JSON (Functions and Operators §17.5.4), without recursion: trees may be deep.

use std::collections::HashSet;

use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::{Atomic, Error, NodeRef};

use super::{NAMESPACE, escape};

/// What an element says.
#[derive(Clone, Copy, PartialEq)]
enum Type {
    Map,
    Array,
    String,
    Number,
    Boolean,
    Null,
}

fn invalid(what: impl Into<String>) -> Error {
    Error::value("FOJS0006", format!("xml-to-json(): {}", what.into()))
}

pub(super) fn write(node: NodeRef<'_>) -> Result<String, Error> {
    let document = node.document;
    let top = match node.node.tree() {
        Some(node) if document.kind(node) == Kind::Document => {
            let only = next_element(document, document.first_child(node))?;
            let behind = only.map_or(Ok(None), |only| next_element(document, document.next_sibling(only)))?;
            only.filter(|_| behind.is_none())
        }
        node => node.filter(|node| document.kind(*node) == Kind::Element),
    };
    let top = top.ok_or_else(|| invalid("an element is wanted, or a document with one"))?;
    let mut writing = Writing { document, out: String::new(), open: Vec::new() };
    writing.tree(top)?;
    Ok(writing.out)
}

/// The next element from a sibling on; only white space, comments and instructions may stand in front of it.
fn next_element(document: &Document, mut next: Option<NodeId>) -> Result<Option<NodeId>, Error> {
    while let Some(node) = next {
        match document.kind(node) {
            Kind::Element => return Ok(Some(node)),
            Kind::Text if !document.value(node).trim_matches([' ', '\t', '\r', '\n']).is_empty() => {
                return Err(invalid("a text stands between values"));
            }
            _ => next = document.next_sibling(node),
        }
    }
    Ok(None)
}

/// A map or array that has begun.
struct Open {
    element: NodeId,
    end: char,
    /// The keys so far of a map.
    keys: Option<HashSet<String>>,
}

struct Writing<'a> {
    document: &'a Document,
    out: String,
    open: Vec<Open>,
}

impl Writing<'_> {
    fn tree(&mut self, top: NodeId) -> Result<(), Error> {
        let mut at = top;
        loop {
            let mut next = self.value(at)?;
            let mut first = next.is_some();
            // What has no value inside is complete; what holds it goes on behind it, or is complete too.
            while next.is_none() {
                if matches!(self.open.last(), Some(open) if open.element == at) {
                    self.out.extend(self.open.pop().map(|open| open.end));
                }
                if self.open.is_empty() {
                    return Ok(());
                }
                next = next_element(self.document, self.document.next_sibling(at))?;
                if next.is_none() {
                    at = self.open.last().map_or(top, |open| open.element);
                }
                first = false;
            }
            if !first {
                self.out.push(',');
            }
            at = next.unwrap_or(top);
        }
    }

    /// Writes a value, or the beginning of one that holds others; gives the first of these.
    fn value(&mut self, element: NodeId) -> Result<Option<NodeId>, Error> {
        let document = self.document;
        let name = document.qname(element);
        let kind = match (name.namespace, name.local) {
            (NAMESPACE, "map") => Type::Map,
            (NAMESPACE, "array") => Type::Array,
            (NAMESPACE, "string") => Type::String,
            (NAMESPACE, "number") => Type::Number,
            (NAMESPACE, "boolean") => Type::Boolean,
            (NAMESPACE, "null") => Type::Null,
            _ => return Err(invalid(format!("{} is no element of JSON", name.local))),
        };
        self.attributes(element, kind)?;
        if matches!(kind, Type::Map | Type::Array) {
            let (begin, end) = if kind == Type::Map { ('{', '}') } else { ('[', ']') };
            self.out.push(begin);
            self.open.push(Open { element, end, keys: (kind == Type::Map).then(HashSet::new) });
            return next_element(document, document.first_child(element));
        }
        if document.children(element).any(|child| document.kind(child) == Kind::Element) {
            return Err(invalid(format!("an element stands in {}", name.local)));
        }
        let text = document.string_value(element);
        match kind {
            Type::String => {
                let escaped = flag(document, element, "escaped")?;
                self.out.push('"');
                quote(&text, escaped, &mut self.out)?;
                self.out.push('"');
            }
            Type::Number => match Atomic::from(&*text).cast(myelin_xpath::types::AtomicType::Double, VERSION) {
                Ok(Atomic::Double(number)) if number.is_finite() => {
                    self.out.push_str(&Atomic::Double(number).text(VERSION));
                }
                _ => return Err(invalid(format!("{text:?} is no number of JSON"))),
            },
            Type::Boolean => self.out.push_str(match boolean(&text) {
                Some(true) => "true",
                Some(false) => "false",
                None => return Err(invalid(format!("{text:?} is no boolean"))),
            }),
            _ if text.is_empty() => self.out.push_str("null"),
            _ => return Err(invalid("null has a content")),
        }
        Ok(None)
    }

    /// Writes the key, which members of maps must have, and refuses attributes that mean nothing.
    fn attributes(&mut self, element: NodeId, kind: Type) -> Result<(), Error> {
        let document = self.document;
        for attribute in document.attributes(element) {
            let name = document.qname(attribute);
            let known = match name.local {
                "key" | "escaped-key" => true,
                "escaped" => kind == Type::String,
                _ => false,
            };
            if (name.namespace.is_empty() && !known) || name.namespace == NAMESPACE {
                return Err(invalid(format!("the attribute {} means nothing", name.local)));
            }
        }
        let escaped = flag(document, element, "escaped-key")?;
        flag(document, element, "escaped")?;
        let Some(Open { keys: Some(keys), .. }) = self.open.last_mut() else { return Ok(()) };
        let key = document.attribute(element, "", "key").ok_or_else(|| invalid("a member of a map has no key"))?;
        let mut quoted = String::from("\"");
        quote(&key, escaped, &mut quoted)?;
        quoted.push('"');
        let meaning = myelin_json::text::unescape(&quoted.as_bytes()[1..quoted.len() - 1]).into_owned();
        if !keys.insert(meaning) {
            return Err(invalid(format!("the key {key:?} is there twice")));
        }
        self.out.push_str(&quoted);
        self.out.push(':');
        Ok(())
    }
}

const VERSION: myelin_xpath::Version = myelin_xpath::Version::V3;

fn boolean(text: &str) -> Option<bool> {
    match text.trim_matches([' ', '\t', '\r', '\n']) {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

fn flag(document: &Document, element: NodeId, name: &str) -> Result<bool, Error> {
    match document.attribute(element, "", name) {
        None => Ok(false),
        Some(text) => boolean(&text).ok_or_else(|| invalid(format!("{name} is true or false, not {text:?}"))),
    }
}

/// A text between quotes; where it is escaped already, its escapes stay.
pub(in crate::functions) fn quote(text: &str, escaped: bool, out: &mut String) -> Result<(), Error> {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if escaped => {
                let length = match &text.as_bytes()[at + 1..] {
                    [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 1,
                    [b'u', digits @ ..] if digits.len() >= 4 && digits[..4].iter().all(u8::is_ascii_hexdigit) => 5,
                    _ => {
                        return Err(Error::value(
                            "FOJS0007",
                            format!("{text:?} has an escape that JSON does not know"),
                        ));
                    }
                };
                out.push_str(&text[at..=at + length]);
                letters.nth(length - 1);
            }
            '"' | '\\' | '/' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => escape(letter, out),
            other => out.push(other),
        }
    }
    Ok(())
}
