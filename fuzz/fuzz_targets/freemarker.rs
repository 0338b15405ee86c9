#![no_main]
//! Whatever stands in a template, it is refused with its place, or runs within its limits and gives the same each time.

use libfuzzer_sys::fuzz_target;
use myelin_freemarker::{Json, Limits, Options, Template, Xml};

const JSON: &str = r#"{"a": "x", "b": [1, 2.5, {"c": null}], "c": {"d": true}, "d": "2024-02-29T12:00:00Z"}"#;
const DOCUMENT: &str = "<a b='1' xmlns:c='urn:c'><d>x</d><d>y</d><c:d>z<!--n--></c:d></a>";

fuzz_target!(|source: &[u8]| {
    let Ok(source) = std::str::from_utf8(source) else { return };
    let Ok(template) = Template::compile(source, source.len() % 2 == 0) else { return };
    let json = myelin_json::Value::parse(JSON.into(), &myelin_json::Options::default()).expect("JSON");
    let document = myelin_xml::Document::parse(DOCUMENT.into(), &myelin_xml::Options::default()).expect("a document");
    let root = document.root_element().expect("an element");
    let run = || {
        let data = [("a", Json::of(&json).expect("an object")), ("b", Xml::of(&document, root, template.prefixes()))];
        let limits = Limits { steps: 20_000, bytes: 20_000 };
        template.run(&data, &Options { limits, ..Options::default() })
    };
    let first = run();
    assert!(first.as_ref().is_ok_and(|text| text.len() <= 20_000) || first.is_err());
    assert_eq!(first, run());
});
