#![no_main]
//! Whatever stands in an expression, it is refused with its place or gives a value.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::{attribute, load_text, serve};
use myelin_message::{Body, Head, Message};

fuzz_target!(|expression: &str| {
    let attribute = attribute(expression);
    let xml = format!(
        "<sequence xmlns='http://ws.apache.org/ns/synapse' name='main'>\
           <property name='a' value='1'/>\
           <property name='b' expression='{attribute}'/>\
           <filter xpath='{attribute}'><then><respond/></then></filter>\
           <respond/>\
         </sequence>"
    );
    let loaded = load_text(xml.as_bytes());
    let mut head = Head::default();
    head.append("X-Number", b"12.5").expect("this is a header line");
    serve(loaded, Message::new(head, Body::Empty));
});
