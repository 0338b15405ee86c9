#![no_main]
//! Whatever stands in a configuration, loading ends with a report, and what it loaded answers a request.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::{load_text, serve};
use myelin_message::{Body, Head, Message};

fuzz_target!(|xml: &[u8]| {
    let loaded = load_text(xml);
    serve(loaded, Message::new(Head::default(), Body::Bytes(b"<a/>".to_vec())));
});
