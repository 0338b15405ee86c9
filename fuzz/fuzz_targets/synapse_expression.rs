#![no_main]
//! Whatever stands in `${…}`, it is refused with its place or gives a value of a message in JSON.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::{attribute, load_text, serve};
use myelin_message::{Body, Head, Message};

const ORDER: &[u8] = br#"{"id":"A-1","n":12.50,"i":7,"t":true,"z":null,"l":[{"p":1.5},{"p":2,"q":"x"}],"o":{"a":{"b":[1,2,3]}}}"#;

fuzz_target!(|expression: &str| {
    let expression = attribute(expression);
    let xml = format!(
        "<sequence xmlns='http://ws.apache.org/ns/synapse' name='main'>\
           <property name='a' value='1'/>\
           <variable name='v' type='JSON' value='{{\"a\":[1,2,{{\"b\":\"c\"}}]}}'/>\
           <variable name='w' expression='${{{expression}}}'/>\
           <property name='b' value='one ${{{expression}}} two'/>\
           <filter xpath='${{{expression}}}'><then><respond/></then></filter>\
           <respond/>\
         </sequence>"
    );
    let loaded = load_text(xml.as_bytes());
    let mut head = Head::default();
    head.append("X-Number", b"12.5").expect("this is a header line");
    head.append("Content-Type", b"application/json").expect("this is a header line");
    serve(loaded, Message::new(head, Body::Bytes(ORDER.to_vec())));
});
