#![no_main]
//! Any JSON becomes well-formed XML or is refused, any XML becomes JSON or is refused, and JSON that has nothing which XML cannot say comes back as it was.

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use myelin_json::convert::{Switches, to_document, to_json, to_xml};
use myelin_json::{Error, NodeId, Options, Type, Value};
use myelin_xml::{Document, ErrorKind};

const LIMIT_BYTES: usize = 1 << 22;

/// Switches as the fuzzer chose them.
fn switches(bits: u8) -> Switches {
    let bit = |place: u8| bits >> place & 1 == 1;
    Switches {
        instructions: bit(0),
        plain_names: bit(1),
        nil: bit(2),
        primitives: bit(3),
        empty_is_null: bit(4),
        arrays: bit(5),
        prefixes: bit(6),
        declarations: bit(7),
        separator: if bit(1) { ':' } else { '_' },
        spaces: bit(2),
        ..Switches::default()
    }
}

/// Those under which most comes back.
fn faithful() -> Switches {
    Switches { instructions: true, nil: true, spaces: true, ..Switches::default() }
}

fn xml(json: &[u8], switches: &Switches) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    to_xml(json, switches, &Options::default(), LIMIT_BYTES, &mut out).ok().map(|()| out)
}

/// The tree of XML that we wrote: only a bound may be passed.
fn tree(xml: Vec<u8>) -> Option<Document> {
    let text = String::from_utf8_lossy(&xml).into_owned();
    let options = myelin_xml::Options { depth: 10_000, ..myelin_xml::Options::default() };
    match Document::parse(xml, &options) {
        Ok(document) => Some(document),
        Err(error) => {
            assert!(matches!(error.kind, ErrorKind::Limit(_)), "{error}: {text}");
            None
        }
    }
}

fn json(document: &Document, switches: &Switches) -> Option<Value> {
    let mut out = Vec::new();
    let root = document.root_element().expect("a document has a root");
    match to_json(document, root, switches, LIMIT_BYTES, &mut out) {
        Ok(()) => {
            let options = Options { depth: 100_000, key_bytes: 1 << 20, number_bytes: 1 << 20, ..Options::default() };
            Some(Value::parse(out, &options).expect("what is made is JSON"))
        }
        Err(error) => {
            assert!(matches!(error, Error::Mixed { .. } | Error::Duplicate { .. } | Error::Converted(_)), "{error}");
            None
        }
    }
}

type Flat = Vec<(usize, Type, Option<String>, Option<String>)>;

/// All that a value says, node by node, and whether XML can say it.
fn flat(value: &Value) -> (Flat, bool) {
    let (mut flat, mut sayable) = (Vec::new(), true);
    let mut open = vec![(value.root(), 0)];
    while let Some((node, depth)) = open.pop() {
        let scalar = value.scalar(node).map(|text| text.into_owned());
        flat.push((depth, value.kind(node), value.key(node).map(|key| key.into_owned()), scalar));
        sayable &= depth == 0 || is_sayable(value, node);
        sayable &= value.kind(node) != Type::Object || has_sayable_keys(value, node);
        let children: Vec<NodeId> = value.children(node).collect();
        open.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }
    (flat, sayable)
}

/// Whether a value that is not the outermost is told from all others in XML.
fn is_sayable(value: &Value, node: NodeId) -> bool {
    let attribute = value.key(node).is_some_and(|key| key.len() > 1 && key.starts_with('@'));
    match value.kind(node) {
        Type::Object => value.first_child(node).is_some(),
        Type::Array => true,
        Type::String if attribute => true,
        Type::String => {
            let text = value.scalar(node).expect("a string is a scalar").into_owned();
            !matches!(text.as_str(), "true" | "false" | "null")
                && !Value::parse(text.into_bytes(), &Options::default())
                    .is_ok_and(|read| read.kind(read.root()) == Type::Number)
        }
        _ => !attribute,
    }
}

/// Whether the keys of an object stand for themselves, once each, and those of attributes in front.
fn has_sayable_keys(value: &Value, object: NodeId) -> bool {
    let mut seen = HashSet::new();
    let mut attributes = true;
    value.children(object).all(|member| {
        let key = value.key(member).expect("a member has a key").into_owned();
        let name = key.strip_prefix('@').unwrap_or(&key);
        let reserved = key == "$"
            || matches!(name, "jsonObject" | "jsonArray" | "jsonElement" | "nil")
            || name.starts_with("xml")
            || name.contains("_JsonReader_");
        let attribute = key.len() > 1 && key.starts_with('@') && value.scalar(member).is_some();
        let in_front = !attribute || attributes;
        attributes &= attribute;
        !reserved && in_front && seen.insert(key)
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((&bits, text)) = data.split_first() else { return };
    let chosen = switches(bits);

    if let Some(xml) = xml(text, &chosen) {
        let options = myelin_xml::Options { depth: 10_000, ..myelin_xml::Options::default() };
        // Debug builds compare what it makes with what the parser makes of the XML.
        let made = to_document(text, &chosen, &Options::default(), &options, LIMIT_BYTES, Default::default());
        assert_eq!(made.as_ref().map(Document::source).ok(), tree(xml).as_ref().map(Document::source));
        if let Ok(document) = made {
            json(&document, &chosen);
        }
    }
    if let Some(document) = xml(text, &faithful()).and_then(tree) {
        let options = Options::default();
        let (said, sayable) = flat(&Value::parse(text.to_vec(), &options).expect("it was read"));
        if let Some(back) = json(&document, &faithful())
            && sayable
        {
            assert_eq!(said, flat(&back).0, "{}", document.source());
        }
    }
    if let Ok(document) = Document::parse(text.to_vec(), &myelin_xml::Options::default())
        && let Some(made) = json(&document, &chosen)
        && let Some(document) = xml(made.source(), &chosen).and_then(tree)
    {
        json(&document, &chosen);
    }
});
