#![no_main]
//! A stylesheet, a NUL and a document: the document is as it was afterwards, and the result is what it is each time.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::xslt::{compile, parse, transform};

fuzz_target!(|data: &[u8]| {
    let Some(end) = data.iter().position(|&byte| byte == 0) else { return };
    let (source, document) = (&data[..end], &data[end + 1..]);
    let Some(mut document) = parse(document) else { return };
    let Some(stylesheet) = compile(source) else { return };
    transform(&String::from_utf8_lossy(source), &stylesheet, &mut document);
});
