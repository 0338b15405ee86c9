#![no_main]
//! A path is refused with its place or evaluated within its rules; stream and tree agree; what is changed reads back.
//!
//! The first line is the path, the rest the value.

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::split;
use myelin_json::{Duplicates, Error, New, Options, Path, Plan, Progress, Rules, Run, Value};

fuzz_target!(|data: &[u8]| {
    let (piece, data) = split(data);
    let line = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
    let Ok(path) = std::str::from_utf8(&data[..line]) else { return };
    let json = data.get(line + 1..).unwrap_or_default();
    let path = match Path::compile(path) {
        Ok(path) => path,
        Err(Error::Path { offset, .. }) => return assert!(offset <= path.len()),
        Err(error) => panic!("not about the path: {error}"),
    };
    let Ok(value) = Value::parse(json.to_vec(), &Options::default()) else { return };
    // What is made of a value may be a little deeper than it was.
    let options = Options { depth: 2_000, key_bytes: 1 << 20, number_bytes: 1 << 20, ..Options::default() };
    for duplicates in [Duplicates::First, Duplicates::Last, Duplicates::Refuse] {
        let rules = Rules { duplicates, visits: 100_000, bytes: 1 << 20 };
        let text = path.text(&value, &rules);
        if let Ok(json) = path.json(&value, &rules) {
            Value::parse(json.into_bytes(), &options).expect("a result is JSON");
        }
        if let Ok(plan) = Plan::new(&[&path], duplicates) {
            let mut run = Run::new(Arc::new(plan), Options::default());
            let mut end = 0;
            loop {
                end = (end + piece).min(json.len());
                if run.next(&json[..end], end == json.len()) == Ok(Progress::Decided) {
                    break;
                }
            }
            match (run.answers()[0].text(json), text) {
                (Err(Error::Duplicate { .. }), Err(Error::Duplicate { .. })) => {}
                (stream, tree) => assert_eq!(stream.map(String::from), tree),
            }
        }
        for change in [Path::set, Path::add] {
            let mut changed = value.clone();
            if change(&path, &mut changed, New::Json(b"[{\"new\": 1}]"), &rules).is_ok() {
                let mut out = Vec::new();
                changed.write_document(&mut out);
                Value::parse(out, &options).expect("a changed value is JSON");
            }
        }
        let mut changed = value.clone();
        if path.delete(&mut changed, &rules).is_ok() {
            let mut out = Vec::new();
            changed.write_document(&mut out);
            Value::parse(out, &Options::default()).expect("a value without a part is JSON");
        }
    }
});
