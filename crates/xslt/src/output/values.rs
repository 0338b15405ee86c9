//! Results that are written item by item: JSON, values as people see them, and items with something between them.
//!
//! Source: XSLT and XQuery Serialization 3.1 §2, §9 and §10.

use std::fmt::Write as _;

use myelin_xml::Kind;
use myelin_xpath::types::AtomicType as T;
use myelin_xpath::{Atomic, FunctionItem, Item, NodeRef, Value, Version};

use super::{Method, Output, OutputError, OutputProperties};

/// Why something cannot be written: a code and a sentence.
type Refusal = (&'static str, String);

/// Writes items behind what `out` has, within so many bytes.
///
/// Errors: a code and a sentence; `LIMIT` where the result would be larger.
pub(crate) fn write(
    value: &Value<'_>,
    properties: &OutputProperties,
    version: Version,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    if let Some(refusal) = properties.refusal() {
        return Err(refusal);
    }
    let mut writer = Writer { properties, version, limit, text: String::new() };
    match properties.method {
        Some(Method::Json) => {
            writer.json(value, 0)?;
        }
        Some(Method::Adaptive) => writer.adaptive(value)?,
        _ => return writer.items(value, out),
    }
    let plain = OutputProperties {
        method: Some(Method::Text),
        character_map: Vec::new(),
        build_tree: None,
        item_separator: None,
        ..properties.clone()
    };
    let mut output = Output::bytes(&plain, None, limit, out);
    output.text(&writer.text).and_then(|()| output.finish()).map(drop).map_err(|error| refused(&error))
}

fn refused(error: &OutputError) -> Refusal {
    (error.code(), error.to_string())
}

struct Writer<'w> {
    properties: &'w OutputProperties,
    version: Version,
    limit: usize,
    text: String,
}

impl Writer<'_> {
    /// Refuses more than there may be.
    fn check(&self) -> Result<(), Refusal> {
        match self.text.len() > self.limit {
            true => Err(("LIMIT", OutputError::TooLarge(self.limit).to_string())),
            false => Ok(()),
        }
    }

    /// Items in a method of markup or text, with the separator between them.
    fn items(&self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let mut flat = Vec::new();
        flatten(value, &mut flat);
        let mut output = Output::bytes(self.properties, None, self.limit, out);
        for (index, item) in flat.iter().enumerate() {
            if let Some(separator) = self.properties.item_separator.as_ref().filter(|_| index > 0) {
                output.text(separator).map_err(|error| refused(&error))?;
                output.separate();
            }
            let put = match item {
                Item::Atomic(atomic) => output.atomic(&atomic.text(self.version)),
                Item::Node(node) => match (node.node.tree(), node.kind()) {
                    (Some(_), Some(Kind::Attribute)) | (None, _) => {
                        return Err(("SENR0001", "an attribute or namespace alone cannot be written".to_owned()));
                    }
                    (Some(tree), _) => output.copy(node.document, tree, true),
                },
                _ => return Err(("SENR0001", "a function cannot be written".to_owned())),
            };
            put.map_err(|error| refused(&error))?;
        }
        output.finish().map(drop).map_err(|error| refused(&error))
    }

    /// One value of JSON; `level`: how deep it stands.
    fn json(&mut self, value: &Value<'_>, level: usize) -> Result<(), Refusal> {
        self.check()?;
        match value.get(0) {
            None => self.text.push_str("null"),
            Some(_) if value.len() > 1 => {
                return Err(("SERE0023", "a sequence is no value of JSON, an array is".to_owned()));
            }
            Some(Item::Function(FunctionItem::Map(map))) => {
                let mut seen = std::collections::HashSet::new();
                self.text.push('{');
                for (index, (key, value)) in map.entries().enumerate() {
                    self.text.push_str(if index > 0 { "," } else { "" });
                    let name = key.text(self.version);
                    if !self.properties.allow_duplicate_names && !seen.insert(name.clone().into_owned()) {
                        return Err(("SERE0022", format!("an object would have two members {name:?}")));
                    }
                    self.line(level + 1);
                    self.json_string(&name);
                    self.text.push(':');
                    self.json(value, level + 1)?;
                }
                if !map.is_empty() {
                    self.line(level);
                }
                self.text.push('}');
            }
            Some(Item::Function(FunctionItem::Array(array))) => {
                self.text.push('[');
                for (index, member) in array.members().enumerate() {
                    self.text.push_str(if index > 0 { "," } else { "" });
                    self.line(level + 1);
                    self.json(member, level + 1)?;
                }
                if !array.is_empty() {
                    self.line(level);
                }
                self.text.push(']');
            }
            Some(Item::Atomic(Atomic::Boolean(yes))) => self.text.push_str(if yes { "true" } else { "false" }),
            Some(Item::Atomic(atomic)) => match atomic.as_double() {
                Some(number) if !number.is_finite() => {
                    return Err(("SERE0020", "JSON has no such number".to_owned()));
                }
                Some(_) => self.text.push_str(&atomic.text(self.version)),
                None => self.json_string(&atomic.text(self.version)),
            },
            Some(Item::Node(node)) => {
                let method = self.properties.json_node_method.unwrap_or(Method::Xml);
                let text = self.node(node, method)?;
                self.json_string(&text);
            }
            Some(_) => return Err(("SERE0021", "JSON has no functions".to_owned())),
        }
        self.check()
    }

    /// A new line where the result is indented.
    fn line(&mut self, level: usize) {
        if self.properties.indent == Some(true) {
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n("  ", level));
        }
    }

    fn json_string(&mut self, text: &str) {
        let map = &self.properties.character_map;
        self.text.push('"');
        for letter in text.chars() {
            if let Ok(place) = map.binary_search_by_key(&letter, |&(known, _)| known) {
                self.text.push_str(&map[place].1);
                continue;
            }
            match letter {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '/' => self.text.push_str("\\/"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => self.json_number(letter),
                other if !self.properties.encoding.has(other) => self.json_number(other),
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }

    /// A character by its number.
    fn json_number(&mut self, letter: char) {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            // Writing to a text does not fail.
            let _ = write!(self.text, "\\u{unit:04X}");
        }
    }

    /// A node in a method of its own.
    fn node(&self, node: NodeRef<'_>, method: Method) -> Result<String, Refusal> {
        match (node.node.tree(), node.kind()) {
            (Some(tree), Some(Kind::Attribute)) => {
                let name = node.document.qname(tree);
                let colon = if name.prefix.is_empty() { "" } else { ":" };
                let mut text = format!("{}{colon}{}=\"", name.prefix, name.local);
                for letter in node.string_value().chars() {
                    match letter {
                        '"' => text.push_str("&quot;"),
                        '&' => text.push_str("&amp;"),
                        '<' => text.push_str("&lt;"),
                        other => text.push(other),
                    }
                }
                text.push('"');
                Ok(text)
            }
            (Some(tree), _) => {
                let properties = OutputProperties {
                    method: Some(method),
                    omit_xml_declaration: true,
                    encoding: super::Charset::Utf8,
                    byte_order_mark: None,
                    build_tree: None,
                    item_separator: None,
                    ..self.properties.clone()
                };
                let mut bytes = Vec::new();
                let mut output = Output::bytes(&properties, None, self.limit, &mut bytes);
                output.copy(node.document, tree, true).map_err(|error| refused(&error))?;
                output.finish().map_err(|error| refused(&error))?;
                let text = String::from_utf8_lossy(&bytes);
                if method == Method::Text || text.chars().all(|letter| self.properties.encoding.has(letter)) {
                    return Ok(text.into_owned());
                }
                let mut referred = String::with_capacity(text.len());
                for letter in text.chars() {
                    match self.properties.encoding.has(letter) {
                        true => referred.push(letter),
                        false => referred.push_str(&format!("&#{};", u32::from(letter))),
                    }
                }
                Ok(referred)
            }
            (None, _) => {
                let (prefix, uri) = node.namespace().unwrap_or_default();
                let colon = if prefix.is_empty() { "" } else { ":" };
                Ok(format!("xmlns{colon}{prefix}=\"{uri}\""))
            }
        }
    }

    /// Items as people see them, one on a line.
    fn adaptive(&mut self, value: &Value<'_>) -> Result<(), Refusal> {
        let separator = self.properties.item_separator.as_deref().unwrap_or("\n");
        for (index, item) in value.items().enumerate() {
            self.text.push_str(if index > 0 { separator } else { "" });
            self.shown(&item)?;
        }
        Ok(())
    }

    fn shown(&mut self, item: &Item<'_>) -> Result<(), Refusal> {
        self.check()?;
        match item {
            Item::Node(node) => {
                let text = self.node(*node, Method::Xml)?;
                self.text.push_str(&text);
            }
            Item::Atomic(atomic) => {
                let text = shown_atomic(atomic, self.version);
                self.text.push_str(&text);
            }
            Item::Function(FunctionItem::Map(map)) => {
                self.text.push_str("map{");
                for (index, (key, value)) in map.entries().enumerate() {
                    self.text.push_str(if index > 0 { "," } else { "" });
                    let key = shown_atomic(key, self.version);
                    self.text.push_str(&key);
                    self.text.push(':');
                    self.shown_inside(value)?;
                }
                self.text.push('}');
            }
            Item::Function(FunctionItem::Array(array)) => {
                self.text.push('[');
                for (index, member) in array.members().enumerate() {
                    self.text.push_str(if index > 0 { "," } else { "" });
                    self.shown_inside(member)?;
                }
                self.text.push(']');
            }
            Item::Function(function) => {
                // Writing to a text does not fail.
                let _ = write!(self.text, "(anonymous-function)#{}", function.arity());
            }
            _ => {}
        }
        self.check()
    }

    /// A value within a map or an array.
    fn shown_inside(&mut self, value: &Value<'_>) -> Result<(), Refusal> {
        let alone = value.len() == 1;
        self.text.push_str(if alone { "" } else { "(" });
        for (index, item) in value.items().enumerate() {
            self.text.push_str(if index > 0 { "," } else { "" });
            self.shown(&item)?;
        }
        self.text.push_str(if alone { "" } else { ")" });
        Ok(())
    }
}

fn shown_atomic(atomic: &Atomic<'_>, version: Version) -> String {
    let text = atomic.text(version);
    match atomic.atomic_type() {
        T::Boolean => format!("{text}()"),
        T::QName => match atomic {
            Atomic::QName(name) => format!("Q{{{}}}{}", name.namespace, name.local),
            _ => text.into_owned(),
        },
        kind if kind.is(T::String) || matches!(kind, T::Untyped | T::AnyUri) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        T::Double => match atomic.as_double() {
            Some(number) if number.is_finite() => exponential(number),
            _ => text.into_owned(),
        },
        _ if atomic.is_numeric() => text.into_owned(),
        kind => format!("{kind}(\"{text}\")"),
    }
}

/// A double with one digit before the point, as `0.0##########################e0` has it.
fn exponential(number: f64) -> String {
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

/// The items with those of arrays in place of the arrays.
fn flatten<'a>(value: &Value<'a>, into: &mut Vec<Item<'a>>) {
    for item in value.items() {
        match item {
            Item::Function(FunctionItem::Array(array)) => array.members().for_each(|member| flatten(member, into)),
            other => into.push(other),
        }
    }
}
