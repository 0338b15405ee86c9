#![no_main]
//! Whatever a body is, and whatever it is to become: it is refused, or it becomes that; parts are found and put together.
//!
//! The first byte says what it came as and what it leaves as, and whether it is changed before.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::{load_text, serve};
use myelin_message::{Body, Head, Message};

const TYPES: [&str; 7] = [
    "multipart/form-data; boundary=b",
    "multipart/related; boundary=b; type=\"text/xml\"",
    "application/x-www-form-urlencoded",
    "text/plain; charset=ISO-8859-1",
    "application/octet-stream",
    "application/json",
    "application/xml",
];

fuzz_target!(|data: &[u8]| {
    let Some((&choice, body)) = data.split_first() else { return };
    let came = TYPES[usize::from(choice) % TYPES.len()];
    let leaves = TYPES[usize::from(choice) / TYPES.len() % TYPES.len()];
    let change = "<enrich><source type='inline'><new xmlns=''>&lt;--b&gt;</new></source>\
                  <target action='child' xpath='$body/*[1]'/></enrich>";
    let change = if choice >= 128 { change } else { "" };
    let leaves = if choice % 2 == 0 { leaves } else { came };
    let leaves = leaves.split(';').next().unwrap_or_default();
    let xml = format!(
        "<sequence xmlns='http://ws.apache.org/ns/synapse' name='main'>\
           <property name='a' expression='string($body)'/>\
           <property name='b' expression='json-eval($..a)'/>\
           {change}\
           <property name='messageType' value='{leaves}' scope='axis2'/>\
           <respond/>\
         </sequence>"
    );
    let mut head = Head::default();
    head.append("Content-Type", came.as_bytes()).expect("this is a header line");
    let answer = serve(load_text(xml.as_bytes()), Message::new(head, Body::Bytes(body.to_vec())));
    if answer.status != 200 {
        return;
    }
    let Body::Bytes(bytes) = answer.body else { return };
    match leaves {
        "application/json" => {
            myelin_json::Value::parse(bytes, &myelin_json::Options::default()).expect("what leaves as JSON is JSON");
        }
        "application/xml" => {
            // What came as XML and was not changed is in the encoding that it came in.
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if came != "application/xml" {
                let document = myelin_xml::Document::parse(text.into(), &myelin_xml::Options::default());
                document.expect("what leaves as XML is well-formed");
            }
        }
        _ => {}
    }
});
