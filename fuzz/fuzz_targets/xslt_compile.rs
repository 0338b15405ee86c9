#![no_main]
//! Whatever stands in a stylesheet, it is refused with its places, or runs within its limits.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::xslt::{compile, parse, transform};

const DOCUMENT: &str =
    "<d xmlns:p='urn:p' a='1' xml:lang='en'>\n  <p:b c='2'>x<e>3</e>y</p:b><!--n--><?t i?><b>4.5</b> <b/></d>";

fuzz_target!(|source: &[u8]| {
    let Some(stylesheet) = compile(source) else { return };
    let mut document = parse(DOCUMENT.as_bytes()).expect("a document");
    transform(&String::from_utf8_lossy(source), &stylesheet, &mut document);
});
