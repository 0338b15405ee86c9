//! How what was found is printed.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use myelin_xml::{Kind, WriteOptions};
use myelin_xpath::{Atomic, FunctionItem, Item, Node, NodeRef, Value, Version};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// A line for each item: its text; behind its file's name where there are several
    Text,
    /// A line for each item: nodes as XML
    Xml,
    /// An array of objects, one for each item: file, type, value, and name and place of nodes
    Json,
}

/// Prints items as they are found.
pub(super) struct Printer<'o> {
    out: BufWriter<&'o mut dyn Write>,
    format: Format,
    /// Whether lines of text begin with the file's name.
    named: bool,
    printed: bool,
}

/// An item in JSON.
#[derive(Serialize)]
struct Entry<'a> {
    file: Cow<'a, str>,
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    value: Box<RawValue>,
}

impl<'o> Printer<'o> {
    pub(super) fn new(out: &'o mut dyn Write, format: Format, named: bool) -> Printer<'o> {
        Printer { out: BufWriter::new(out), format, named, printed: false }
    }

    /// Prints each item of a value.
    pub(super) fn value(&mut self, file: &Path, value: &Value<'_>) -> io::Result<()> {
        value.items().try_for_each(|item| match (self.format, &item) {
            (Format::Json, Item::Function(function)) => self.function(file, function),
            (_, Item::Function(function)) => self.text(file, &function.to_string()),
            (Format::Text, item) => self.text(file, &item.text(Version::V1)),
            (Format::Xml, Item::Node(node)) => {
                self.out.write_all(&markup(*node))?;
                self.out.write_all(b"\n")
            }
            (Format::Xml, item) => writeln!(self.out, "{}", item.text(Version::V1)),
            (Format::Json, Item::Node(node)) => self.node(file, *node),
            (Format::Json, Item::Atomic(atomic)) => self.atomic(file, atomic),
            // Whatever else there may be one day has no form in JSON yet.
            (Format::Json, _) => Ok(()),
        })
    }

    /// Prints JSON that a path has found: its text in a line, and its type and itself in JSON.
    pub(super) fn json(&mut self, file: &Path, kind: &str, text: &str, json: Box<RawValue>) -> io::Result<()> {
        match self.format {
            Format::Text | Format::Xml => self.text(file, text),
            Format::Json => self.entry(&Entry {
                file: file.to_string_lossy(),
                r#type: kind,
                name: None,
                namespace: None,
                line: None,
                column: None,
                value: json,
            }),
        }
    }

    /// Hands over what was printed so far.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends what was begun.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.format == Format::Json {
            self.out.write_all(if self.printed { b"\n]\n" } else { b"[]\n" })?;
        }
        self.out.flush()
    }

    fn text(&mut self, file: &Path, text: &str) -> io::Result<()> {
        if self.named {
            write!(self.out, "{}:", file.display())?;
        }
        writeln!(self.out, "{text}")
    }

    fn node(&mut self, file: &Path, node: NodeRef<'_>) -> io::Result<()> {
        let document = node.document;
        let (name, namespace, place) = match node.node {
            Node::Tree(node) => {
                let name = document.name(node).map(|_| document.qname(node));
                let namespace = name.map(|name| name.namespace).filter(|namespace| !namespace.is_empty());
                (name.map(|name| qualified(name.prefix, name.local)), namespace, document.location(node))
            }
            Node::Namespace { .. } => (node.namespace().map(|(prefix, _)| prefix.to_owned()), None, None),
        };
        self.entry(&Entry {
            file: file.to_string_lossy(),
            r#type: kind(node),
            name,
            namespace,
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
            value: to_raw_value(&node.string_value())?,
        })
    }

    fn atomic(&mut self, file: &Path, atomic: &Atomic<'_>) -> io::Result<()> {
        let text = atomic.text(Version::V1);
        let value = match atomic {
            Atomic::Boolean(boolean) => to_raw_value(boolean)?,
            // JSON has no NaN and no infinity: they stay texts.
            number if number.is_numeric() && number.as_double().is_some_and(f64::is_finite) => {
                RawValue::from_string(text.clone().into_owned()).or_else(|_| to_raw_value(&text))?
            }
            _ => to_raw_value(&text)?,
        };
        let kind = match atomic {
            // What version 1.0 calls its only numbers.
            Atomic::Double(_) => "number",
            other => other.atomic_type().name(),
        };
        self.entry(&Entry {
            file: file.to_string_lossy(),
            r#type: kind,
            name: None,
            namespace: None,
            line: None,
            column: None,
            value,
        })
    }

    fn function(&mut self, file: &Path, function: &FunctionItem<'_>) -> io::Result<()> {
        self.entry(&Entry {
            file: file.to_string_lossy(),
            r#type: match function {
                FunctionItem::Map(_) => "map",
                FunctionItem::Array(_) => "array",
                FunctionItem::Closure(_) => "function",
            },
            name: None,
            namespace: None,
            line: None,
            column: None,
            value: to_raw_value(&function.to_string())?,
        })
    }

    fn entry(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.out.write_all(if self.printed { b",\n  " } else { b"[\n  " })?;
        self.printed = true;
        serde_json::to_writer(&mut self.out, entry)?;
        Ok(())
    }
}

fn qualified(prefix: &str, local: &str) -> String {
    if prefix.is_empty() { local.to_owned() } else { format!("{prefix}:{local}") }
}

fn kind(node: NodeRef<'_>) -> &'static str {
    match node.kind() {
        Some(Kind::Document) => "document",
        Some(Kind::Element) => "element",
        Some(Kind::Attribute) => "attribute",
        Some(Kind::Text) => "text",
        Some(Kind::Comment) => "comment",
        Some(Kind::Instruction) => "processing-instruction",
        None => "namespace",
    }
}

/// A node as it can stand in a document; attributes and namespaces as in a start tag.
fn markup(node: NodeRef<'_>) -> Vec<u8> {
    let mut xml = Vec::new();
    match node.node {
        Node::Tree(id) => {
            let attribute = node.kind() == Some(Kind::Attribute);
            if attribute {
                let name = node.document.qname(id);
                xml.extend_from_slice(qualified(name.prefix, name.local).as_bytes());
                xml.extend_from_slice(b"=\"");
            }
            myelin_xml::write(node.document, id, &WriteOptions::default(), &mut xml);
            if attribute {
                xml.push(b'"');
            }
        }
        Node::Namespace { .. } => {
            let (prefix, uri) = node.namespace().unwrap_or_default();
            let name = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
            let uri = uri.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
            xml.extend_from_slice(format!("{name}=\"{uri}\"").as_bytes());
        }
    }
    xml
}
