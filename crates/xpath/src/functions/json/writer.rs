//! From the elements that stand for JSON to its text (Functions and Operators §17.5.4).

use myelin_xml::{Document, Kind, NodeId};

use crate::error::Error;
use crate::function::Call;
use crate::value::Value;
use crate::value::number::{format_double, is_space, parse_double};

/// The namespace of the elements.
const NAMESPACE: &str = "http://www.w3.org/2005/xpath-functions";

/// Elements within each other deeper than this are refused.
const DEPTH_LIMIT: u32 = 200;

pub(super) fn xml_to_json<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    if call.count() > 1 {
        // `indent` is the only option, and nobody has to follow it.
        super::truth(&call.map(1)?, "indent")?;
    }
    let Some(node) = call.node(0)? else { return Ok(Value::EMPTY) };
    let element = match (node.kind(), node.node.tree()) {
        (Some(Kind::Element), Some(element)) => element,
        (Some(Kind::Document), Some(top)) => only_element(node.document, top)?,
        _ => return Err(refused("it takes an element or a document")),
    };
    let mut writer = Writer { call, document: node.document, text: String::new(), depth: 0 };
    writer.value(element, false)?;
    Ok(Value::from(writer.text))
}

fn refused(what: &str) -> Error {
    Error::value("FOJS0006", format!("xml-to-json(): {what}"))
}

fn only_element(document: &Document, top: NodeId) -> Result<NodeId, Error> {
    let mut elements = document.children(top).filter(|child| document.kind(*child) == Kind::Element);
    match (elements.next(), elements.next()) {
        (Some(element), None) => Ok(element),
        _ => Err(refused("the document has not one element")),
    }
}

struct Writer<'c, 'r, 'a> {
    call: &'c Call<'r, 'a>,
    document: &'a Document,
    text: String,
    depth: u32,
}

impl Writer<'_, '_, '_> {
    fn push(&mut self, text: &str) -> Result<(), Error> {
        self.call.run.build(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    /// Whether an attribute says yes.
    fn says(&self, element: NodeId, local: &str) -> Result<bool, Error> {
        match self.document.attribute(element, "", local).as_deref().map(|value| value.trim_matches(is_space)) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(other) => Err(refused(&format!("{local} is {other:?}, which is neither true nor false"))),
        }
    }

    fn value(&mut self, element: NodeId, keyed: bool) -> Result<(), Error> {
        self.call.run.step(1)?;
        let name = self.document.qname(element);
        if name.namespace != NAMESPACE {
            return Err(refused(&format!("{} is not in the namespace {NAMESPACE}", name.local)));
        }
        for attribute in self.document.attributes(element) {
            let attribute = self.document.qname(attribute);
            let known = match attribute.local {
                // At the top a key means nothing, and does no harm.
                "key" | "escaped-key" => keyed || self.depth == 0,
                "escaped" => name.local == "string",
                _ => false,
            };
            if !known && (attribute.namespace.is_empty() || attribute.namespace == NAMESPACE) {
                return Err(refused(&format!("{} has an attribute {}", name.local, attribute.local)));
            }
        }
        match name.local {
            "map" => self.children(element, true),
            "array" => self.children(element, false),
            "string" => {
                let (text, escaped) = (self.content(element)?, self.says(element, "escaped")?);
                self.quoted(&text, escaped)
            }
            "number" => {
                let text = self.content(element)?;
                let digits = text.trim_matches(is_space);
                match parse_double(digits).filter(|number| number.is_finite()) {
                    Some(number) => self.push(&format_double(number, crate::environment::Version::V3)),
                    None => Err(refused(&format!("{digits:?} is no number"))),
                }
            }
            "boolean" => match self.content(element)?.trim_matches(is_space) {
                "true" | "1" => self.push("true"),
                "false" | "0" => self.push("false"),
                other => Err(refused(&format!("{other:?} is neither true nor false"))),
            },
            "null" => match self.content(element)?.is_empty() {
                true => self.push("null"),
                false => Err(refused("null is not empty")),
            },
            other => Err(refused(&format!("there is no element {other}: map, array, string, number, boolean, null"))),
        }
    }

    /// The text of an element that has no others inside.
    fn content(&self, element: NodeId) -> Result<String, Error> {
        let mut text = String::new();
        for child in self.document.children(element) {
            self.call.run.step(1)?;
            match self.document.kind(child) {
                Kind::Element => return Err(refused("an element stands where a text is wanted")),
                Kind::Text => {
                    let value = self.document.value(child);
                    self.call.run.build(value.len())?;
                    text.push_str(&value);
                }
                _ => {}
            }
        }
        Ok(text)
    }

    fn children(&mut self, element: NodeId, keyed: bool) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Error::value("XPDY0130", format!("xml-to-json(): elements nest deeper than {DEPTH_LIMIT}")));
        }
        self.push(if keyed { "{" } else { "[" })?;
        let mut keys = std::collections::HashSet::new();
        let mut first = true;
        for child in self.document.children(element) {
            match self.document.kind(child) {
                Kind::Element => {}
                Kind::Text if !self.document.value(child).trim_matches(is_space).is_empty() => {
                    return Err(refused("there is text between elements"));
                }
                _ => continue,
            }
            if !std::mem::take(&mut first) {
                self.push(",")?;
            }
            if keyed {
                let key = self.document.attribute(child, "", "key").ok_or_else(|| refused("a key is missing"))?;
                let escaped = self.says(child, "escaped-key")?;
                self.quoted(&key, escaped)?;
                // Two ways to write a key are one key.
                if !keys.insert(if escaped { unescaped(&key) } else { key.encode_utf16().collect() }) {
                    return Err(refused(&format!("the key {key:?} comes twice")));
                }
                self.push(":")?;
            }
            self.value(child, keyed)?;
        }
        self.depth -= 1;
        self.push(if keyed { "}" } else { "]" })
    }

    /// A text between quotes; `escaped`: its backslashes are escapes already.
    fn quoted(&mut self, text: &str, escaped: bool) -> Result<(), Error> {
        self.call.run.build(text.len() + 2)?;
        self.text.push('"');
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' if escaped => {
                    let next = letters.next().filter(|next| "\"\\/bfnrtu".contains(*next));
                    let next = next.ok_or_else(|| bad_escape(text))?;
                    self.text.extend(['\\', next]);
                    if next == 'u' {
                        for _ in 0..4 {
                            let digit = letters.next().filter(char::is_ascii_hexdigit);
                            self.text.push(digit.ok_or_else(|| bad_escape(text))?);
                        }
                    }
                }
                '"' | '\\' | '/' => self.text.extend(['\\', letter]),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\u{1}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {
                    self.text.push_str(&format!("\\u{:04X}", u32::from(letter)));
                }
                other => self.text.push(other),
            }
        }
        self.text.push('"');
        Ok(())
    }
}

/// What a text stands for whose escapes are known to be good, as JSON counts: in halves of surrogate pairs.
fn unescaped(text: &str) -> Vec<u16> {
    let mut units = Vec::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
            continue;
        }
        units.push(match letters.next() {
            Some('b') => 8,
            Some('f') => 12,
            Some('n') => 10,
            Some('r') => 13,
            Some('t') => 9,
            Some('u') => {
                let digits: String = letters.by_ref().take(4).collect();
                u16::from_str_radix(&digits, 16).unwrap_or(0)
            }
            other => other.map_or(0, |letter| letter as u16),
        });
    }
    units
}

fn bad_escape(text: &str) -> Error {
    Error::value("FOJS0007", format!("xml-to-json(): a `\\` in {text:?} escapes nothing"))
}
