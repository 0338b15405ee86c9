//! What hostile bodies cost: time in proportion to their size, and memory with a bound.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::common::{Scenario, load_text, request};
use myelin_message::{Body, BodyError, Source, Wire};
use myelin_testkit::processor_time;

/// A body on the wire that comes in pieces of `step` bytes.
struct Drip {
    bytes: Vec<u8>,
    step: usize,
    come: Cell<usize>,
}

impl Source for Drip {
    fn remaining(&self, _: u64) -> Option<u64> {
        None
    }
    fn poll_piece(&self, _: u64, _: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        into.extend_from_slice(&self.bytes);
        Poll::Ready(Ok(false))
    }
    fn poll_look(
        &self,
        _: u64,
        _: &mut Context<'_>,
        _: u64,
        look: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), BodyError>> {
        loop {
            let end = self.come.get();
            if look(&self.bytes[..end], end == self.bytes.len()) || end == self.bytes.len() {
                return Poll::Ready(Ok(()));
            }
            self.come.set((end + self.step).min(self.bytes.len()));
        }
    }
    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}

const PROXY: &str = r#"<proxy name="P"><target><inSequence>
    <filter xpath="//none-such = 1"><then><drop/></then></filter>
    <drop/></inSequence></target></proxy>"#;
const JSON_PROXY: &str = r#"<proxy name="P"><target><inSequence>
    <property name="a" expression="json-eval($.none)"/><drop/></inSequence></target></proxy>"#;

fn took(scenario: &Scenario, content_type: &str, bytes: &[u8], step: usize) -> (u16, Duration) {
    let mut message = request("POST", "/services/P", &[("Host", "b"), ("Content-Type", content_type)], "");
    let source = Rc::new(Drip { bytes: bytes.to_vec(), step, come: Cell::new(0) });
    message.body = Body::Wire(Wire { source, ticket: 1 });
    let start = processor_time();
    let reply = scenario.serve(message);
    (reply.status, processor_time() - start)
}

#[test]
fn a_body_in_many_pieces_costs_little_more_than_in_one() {
    let size = 2 << 20;
    let fill = |text: &str| text.repeat(size / text.len());
    let xml: Vec<(&str, Vec<u8>)> = vec![
        ("comment", format!("<a><!--{}--></a>", fill("x")).into()),
        ("comment of dashes", format!("<a><!--{}--></a>", fill("- ")).into()),
        ("cdata", format!("<a><![CDATA[{}]]></a>", fill("x")).into()),
        ("cdata of brackets", format!("<a><![CDATA[{}]]></a>", fill("]")).into()),
        ("instruction", format!("<a><?p {}?></a>", fill("x")).into()),
        ("instruction of ?", format!("<a><?p {}?></a>", fill("?x")).into()),
        ("text", format!("<a>{}</a>", fill("x")).into()),
        ("text with entities", format!("<a>{}</a>", fill("&amp;")).into()),
        ("blanks", format!("<a>{}</a>", fill(" \n")).into()),
        ("attribute", format!("<a><b c='{}'/></a>", fill("x")).into()),
        ("attribute with entities", format!("<a><b c='{}'/></a>", fill("&lt;")).into()),
        ("blanks in a tag", format!("<a><b {}/></a>", fill(" ")).into()),
        ("blanks in an end tag", format!("<a></a{}>", fill(" ")).into()),
        ("blanks before the root", format!("{}<a/>", fill(" ")).into()),
        ("blanks in the declaration", format!("<?xml {} version='1.0'?><a/>", fill(" ")).into()),
        ("declaration that does not end", format!("<?xml version='1.0' {}", fill(" ")).into()),
        ("comment before the root", format!("<!--{}--><a/>", fill("x")).into()),
        ("comments before the root", format!("{}<a/>", fill("<!--x-->")).into()),
        ("elements", format!("<a>{}</a>", fill("<b/>")).into()),
        ("blanks behind the root", format!("<a/>{}", fill(" ")).into()),
        ("instruction target", format!("<a><?{} ?></a>", fill("x")).into()),
        ("a reference that does not end", format!("<a>&{}", fill("x")).into()),
        ("a number that does not end", format!("<a>&#{};</a>", fill("0")).into()),
        ("doctype", format!("<!DOCTYPE a [{}]><a/>", fill(" ")).into()),
    ];
    let scenario = Scenario::new(PROXY);
    let mut slow = Vec::new();
    let mut check = |scenario: &Scenario, content_type: &str, name: &str, bytes: &[u8]| {
        let (one_status, one) = took(scenario, content_type, bytes, bytes.len());
        let (status, many) = took(scenario, content_type, bytes, 2048);
        if many > 4 * one + Duration::from_millis(600) || status != one_status {
            slow.push(format!("{name}: {one_status} {one:?}, in pieces {status} {many:?}"));
        }
    };
    for (name, bytes) in &xml {
        check(&scenario, "application/xml", name, bytes);
    }
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(format!("<a>{}</a>", fill("x")).encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    check(&scenario, "application/xml", "UTF-16", &utf16);
    let latin1 = format!("<a>{}</a>", fill("x")).into_bytes();
    check(&scenario, "application/xml; charset=ISO-8859-1", "Latin-1", &latin1);
    let json = Scenario::new(JSON_PROXY);
    for (name, text) in [
        ("string", format!("{{\"b\":\"{}\"}}", fill("x"))),
        ("string of escapes", format!("{{\"b\":\"{}\"}}", fill("\\n"))),
        ("key", format!("{{\"{}\":1}}", fill("x"))),
        ("number", format!("{{\"b\":{}}}", fill("1"))),
        ("blanks", format!("{{{}}}", fill(" "))),
        ("array", format!("{{\"b\":[{}1]}}", fill("1,"))),
        ("leading blanks", format!("{}{{}}", fill(" "))),
        ("keys", format!("{{{}\"z\":1}}", fill("\"k\":1,"))),
        ("nested", format!("{{\"b\":{}", fill("["))),
    ] {
        check(&json, "application/json", &format!("JSON {name}"), text.as_bytes());
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

/// How many bytes the text of `//*[local-name() = 's']` has, for elements within each other around `inside` bytes of XML.
fn nested(depth: usize, inside: usize) -> Option<usize> {
    let scenario = Scenario::new(
        r#"<proxy name="P"><target><inSequence>
             <property name="r" expression="//*[local-name() = 's']"/>
             <property name="X-Length" scope="transport" expression="string-length(get-property('r'))"/>
             <respond/></inSequence></target></proxy>"#,
    );
    let body = format!("{}{}{}", "<s>".repeat(depth), "<b/>".repeat(inside / 4), "</s>".repeat(depth));
    let mut message = request("POST", "/services/P", &[("Host", "b"), ("Content-Type", "application/xml")], "");
    message.body = Body::Bytes(body.into_bytes());
    let reply = scenario.serve(message);
    reply.header("x-length").and_then(|text| text.parse::<f64>().ok()).map(|length| length as usize)
}

#[test]
fn the_text_of_elements_within_each_other_is_bounded() {
    let length = nested(900, 200_000);
    assert!(length.unwrap_or(0) <= 64 << 20, "a body of 200 KB became a text of {length:?} bytes");
}

#[test]
fn the_text_of_json_objects_within_each_other_is_bounded() {
    let scenario = Scenario::new(
        r#"<proxy name="P"><target><inSequence>
             <property name="r" expression="json-eval($..s)"/>
             <property name="X-Length" scope="transport" expression="string-length(get-property('r'))"/>
             <respond/></inSequence></target></proxy>"#,
    );
    for depth in [100, 120, 250, 500, 900] {
        let body = format!("{}[{}1]{}", "{\"s\":".repeat(depth), "1,".repeat(100_000), "}".repeat(depth));
        let mut message = request("POST", "/services/P", &[("Host", "b"), ("Content-Type", "application/json")], "");
        message.body = Body::Bytes(body.into_bytes());
        let reply = scenario.serve(message);
        let length = reply.header("x-length").and_then(|text| text.parse::<f64>().ok()).map(|length| length as usize);
        assert!(length.unwrap_or(0) <= 64 << 20, "a body of 200 KB became a text of {length:?} bytes");
    }
}

#[test]
fn names_of_earlier_messages_do_not_count_for_later_ones() {
    let stream = Scenario::new(PROXY);
    let tree = Scenario::new(
        r#"<proxy name="P"><target><inSequence><property name="z" expression="//none" type="OM"/><drop/></inSequence></target></proxy>"#,
    );
    for round in 0..30 {
        let body: String = (0..5_000).map(|n| format!("<n{round}_{n}/>")).collect();
        let body = format!("<a>{body}</a>");
        assert_eq!(took(&stream, "application/xml", body.as_bytes(), 9_000_000).0, 202, "stream {round}");
        assert_eq!(took(&tree, "application/xml", body.as_bytes(), 9_000_000).0, 202, "tree {round}");
    }
}

#[test]
fn what_is_told_of_a_configuration_is_bounded() {
    let twice = |next: usize| format!(r#"<sequence key="s{next}"/>"#).repeat(2);
    let named = |number: usize| format!(r#"<sequence name="s{number}">{}</sequence>"#, twice(number + 1));
    let all: String = (0..22).map(named).collect();
    let all = format!(
        r#"{all}<sequence name="s22"><drop/></sequence><proxy name="P"><target inSequence="s0"/></proxy>
        <proxy name="Q"><target><inSequence><drop/></inSequence></target></proxy>"#
    );
    let explanation = load_text(&all).bus.explain();
    let json = explanation.to_json();
    let cut: Vec<_> = json["services"].as_array().unwrap().iter().map(|service| service["cut"].as_bool()).collect();
    assert_eq!(cut, [Some(true), Some(false)]);
    assert_eq!(explanation.to_text().matches("are not told").count(), 1);
}

#[test]
fn elements_that_are_kept_one_by_one_are_bounded_by_what_they_take() {
    let keep = "<enrich><source xpath='//a'/><target type='property' property='p'/></enrich><respond/>";
    let proxy = format!("<proxy name='P'><target><inSequence>{keep}</inSequence></target></proxy>");
    let scenario = Scenario::new(&proxy);
    let kept = |count: usize| {
        let body = format!("<r>{}</r>", "<a/>".repeat(count));
        scenario.serve(request("POST", "/services/P", &[("Content-Type", "application/xml")], &body)).status
    };
    assert_eq!((kept(10_000), kept(60_000)), (200, 500));
}
