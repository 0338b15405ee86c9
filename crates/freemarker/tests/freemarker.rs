//! Templates and what FreeMarker 2.3.30 makes of them: `freemarker.txt`, one to a line, with what it gave behind a tab.
//!
//! A `!` stands for a fault, with its kind. Where a third column stands, we differ on purpose, and it is ours.

use myelin_freemarker::{ErrorKind, Hash, Json, Options, Template, Text, Value, Xml};
use myelin_json::Value as JsonValue;
use myelin_xml::Document;

const PAYLOAD: &str = r#"{"name": "Ann", "age": 30, "price": 1234.5, "big": 1234567, "tiny": 0.00005, "ok": true, "none": null,
    "tags": ["a", "b", "c"], "empty": [], "items": [{"sku": "x1", "qty": 2}, {"sku": "a2", "qty": 10}],
    "address": {"city": "Bern", "zip": "3000"}, "text": "<b>\"q\" & 'a'</b>", "when": "2024-02-29T12:05:09Z",
    "number": "12.50", "blank": " x "}"#;
const ORDER: &str = r#"<order id="7" state="new"><customer><name>Ann &amp; Bo</name><note/></customer><item sku="x1">2</item><item sku="a2">10</item><total cur="EUR">12.5</total></order>"#;
const SPACES: &str = r#"<o:order xmlns:o="urn:o" xmlns="urn:d"><item>1</item><o:part>2</o:part></o:order>"#;

fn made(template: &str) -> String {
    let payload = JsonValue::parse(PAYLOAD.into(), &myelin_json::Options::default()).expect("JSON");
    let read = |text: &str| Document::parse(text.into(), &myelin_xml::Options::default()).expect("XML");
    let (order, spaces) = (read(ORDER), read(SPACES));
    let template = match Template::compile(template, false) {
        Ok(template) => template,
        Err(error) if error.kind == ErrorKind::Unsupported => return "!unsupported".to_owned(),
        Err(_) => return "!syntax".to_owned(),
    };
    let hash = |name: &'static str, value: &'static str| {
        Value::Hash(std::rc::Rc::new(Hash::from_iter([(Text::Borrowed(name), Some(Value::text(value)))])))
    };
    let xml = |document| Xml::of(document, document.root_element().expect("an element"), template.prefixes());
    let mut ctx = Hash::default();
    ctx.put(Text::Borrowed("count"), Some(Value::text("5")));
    ctx.put(Text::Borrowed("json"), Some(Value::text(r#"{"a": [1, 2]}"#)));
    let data = [
        ("payload", Json::of(&payload).expect("an object")),
        ("doc", xml(&order)),
        ("spaces", xml(&spaces)),
        ("ctx", Value::Hash(std::rc::Rc::new(ctx))),
        ("args", hash("arg1", "one")),
    ];
    match template.run(&data, &Options::default()) {
        Ok(text) => text,
        Err(error) => match error.kind {
            ErrorKind::Missing => "!missing".to_owned(),
            ErrorKind::Stopped => "!stopped".to_owned(),
            ErrorKind::Wrong => "!wrong".to_owned(),
            kind => format!("!{kind:?}"),
        },
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        out.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            other => other,
        });
    }
    out
}

#[test]
fn templates_give_what_freemarker_makes_of_them() {
    let mut wrong = Vec::new();
    for line in include_str!("freemarker.txt").lines().filter(|line| !line.is_empty() && !line.starts_with("##")) {
        let mut columns = line.split('\t');
        let template = columns.next().unwrap_or_default();
        let expected = columns.next().expect("a template has what it gives");
        let expected = unescaped(columns.next().unwrap_or(expected));
        let found = made(&unescaped(template));
        if found != expected {
            wrong.push(format!("{template}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} differ", wrong.join("\n"), wrong.len());
}
