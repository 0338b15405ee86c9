//! What content costs in memory: routing by it takes none, and a tree takes a number that does not grow with the message.
//!
//! In a binary of its own: the counting allocator is for the whole program.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::SystemTime;

use allocation_counter::measure;
use myelin_engine::transport::{LocalFuture, Outgoing, SendError, Sender, Sent};
use myelin_engine::{Arrival, Engine, Settings, load};
use myelin_message::{Body, CorrelationId, Head, Message, Start, StatusCode, Version};
use myelin_testkit::scripted::{Pieces, ScriptedBody, ScriptedTransport};

/// Takes everything and answers at once.
struct Sink;

impl Sender for Sink {
    fn send<'a>(&'a self, mut request: Outgoing) -> LocalFuture<'a, Result<Sent, SendError>> {
        request.body.settle();
        drop(request);
        Box::pin(std::future::ready(Ok(Sent::Response(Message::answer(StatusCode::OK, Body::Empty)))))
    }
}

/// Renames two elements and copies all else.
const STYLESHEET: &str = r#"<localEntry key="sheet"><xsl:stylesheet version="1.0" xmlns="" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
    <xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>
    <xsl:template match="orders"><redro><xsl:apply-templates select="@*|node()"/></redro></xsl:template>
    <xsl:template match="symbol"><lobmys><xsl:value-of select="."/></lobmys></xsl:template>
</xsl:stylesheet></localEntry>"#;

fn engine(mediators: &str) -> Engine {
    engine_of(&format!(
        "{STYLESHEET}<proxy name='P'><target><inSequence>{mediators}</inSequence>\
         <endpoint><address uri='http://backend/'/></endpoint></target></proxy>"
    ))
}

fn engine_of(artefacts: &str) -> Engine {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("synapse.xml");
    let text = format!("<definitions xmlns='http://ws.apache.org/ns/synapse'>{artefacts}</definitions>");
    std::fs::write(&file, text).unwrap();
    let loaded = load(&[file], &Settings::default());
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    Engine::new(Arc::new(loaded.bus), Rc::new(ScriptedTransport::new(Sink, SystemTime::UNIX_EPOCH)))
}

fn request(content_type: &str, body: &[u8]) -> Message {
    let start = Start::Request { method: 0..4, target: 5..16, version: Version::Http11 };
    let mut head = Head::from_wire(b"POST /services/P HTTP/1.1\r\n".to_vec(), start, Vec::new());
    head.append("Content-Type", content_type.as_bytes()).unwrap();
    Message::new(head, ScriptedBody::wire(body.to_vec(), Pieces::Whole))
}

/// How often memory is asked for while one message is served, after a few others.
fn allocations(mediators: &str, content_type: &str, body: &[u8]) -> u64 {
    allocations_in(&engine(mediators), content_type, body)
}

fn allocations_in(engine: &Engine, content_type: &str, body: &[u8]) -> u64 {
    let address = ([127, 0, 0, 1], 1).into();
    let serve = |request: Message| {
        let arrival = Arrival {
            transport: "http",
            peer: Some(address),
            local: Some(address),
            inbound: None,
            correlation: CorrelationId::NONE,
        };
        let mut serving = pin!(engine.serve(request, arrival));
        let Poll::Ready(answer) = serving.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("nothing here has to wait");
        };
        assert_eq!(answer.status, 200);
    };
    for _ in 0..3 {
        serve(request(content_type, body));
    }
    let next = request(content_type, body);
    let mut next = Some(next);
    measure(|| serve(next.take().unwrap())).count_total
}

fn orders(count: usize) -> Vec<u8> {
    let order = "<order><symbol>IBM</symbol><price>1</price></order>";
    format!(
        "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>{}</e:Body></e:Envelope>",
        order.repeat(count)
    )
    .into_bytes()
}

#[test]
fn a_resource_of_an_api_costs_what_a_proxy_costs() {
    let sends = "<inSequence><send><endpoint><address uri='http://backend/'/></endpoint></send></inSequence>";
    let cost = |artefacts: &str| allocations_in(&engine_of(artefacts), "text/xml", &orders(1));
    let proxy = cost(&format!("<proxy name='P'><target>{sends}</target></proxy>"));
    let api = |resource: &str, more: &str| {
        cost(&format!("<api name='a' context='/services'><resource {resource}>{sends}</resource></api>{more}"))
    };
    for resource in ["", "url-mapping='/*'", "uri-template='/P' methods='GET POST'"] {
        assert_eq!(api(resource, ""), proxy, "{resource}");
    }
    let others: String = (0..100).map(|n| format!("<api name='b{n}' context='/b{n}'><resource/></api>")).collect();
    assert_eq!(api("", &others), proxy, "among others");
    // The list of variables, and the value of one as a property.
    let variable = api("uri-template='/{name}'", "");
    assert!(variable <= proxy + 4, "{variable} with a variable, {proxy} without");
}

const FILTER: &str = "<filter xpath=\"//order[1]/symbol = 'IBM'\"><then/><else><drop/></else></filter>";

#[test]
fn routing_by_content_allocates_nothing() {
    for count in [1, 2_000] {
        let body = orders(count);
        let direct = allocations("<filter xpath='true()'><then/><else><drop/></else></filter>", "text/xml", &body);
        assert_eq!(allocations(FILTER, "text/xml", &body), direct, "on the first order");
        let scan = FILTER.replace("'IBM'", "'IBM' and not(//nowhere)");
        assert_eq!(allocations(&scan, "text/xml", &body), direct, "to the end");
        assert_eq!(allocations(&FILTER.repeat(3), "text/xml", &body), direct, "three in one pass");
    }
}

#[test]
fn a_tree_takes_the_same_number_of_allocations_whatever_its_size() {
    let built = "<filter xpath=\"//order[last()]/symbol = 'IBM'\"><then/><else><drop/></else></filter>";
    let direct = allocations("", "text/xml", &orders(1));
    let (small, large) = (allocations(built, "text/xml", &orders(1)), allocations(built, "text/xml", &orders(2_000)));
    assert!(small <= direct + 12, "{small} for a small one, {direct} without");
    // The vector of what a path finds grows by doubling.
    assert!(large <= small + 16, "{large} for a large one, {small} for a small one");
}

#[test]
fn a_transformation_takes_the_same_number_of_allocations_whatever_the_size() {
    let message = |count: usize| {
        let all = String::from_utf8(orders(count)).unwrap();
        all.replace("<e:Body>", "<e:Body><orders>").replace("</e:Body>", "</orders></e:Body>").into_bytes()
    };
    let direct = allocations("", "text/xml", &message(1));
    let taken = |count| allocations("<xslt key='sheet'/>", "text/xml", &message(count));
    let (small, large) = (taken(1), taken(1_000));
    assert!(small <= direct + 60, "{small} for a small one, {direct} without");
    assert!(large <= small + 4, "{large} for a large one, {small} for a small one");
}

#[test]
fn routing_json_allocates_no_more_than_the_text_it_finds() {
    let json = format!("{{\"symbol\":\"IBM\",\"pad\":\"{}\"}}", "x".repeat(10_000));
    let filter = "<filter source='json-eval($.symbol)' regex='IBM'><then/><else><drop/></else></filter>";
    let direct = allocations("", "application/json", json.as_bytes());
    let routed = allocations(filter, "application/json", json.as_bytes());
    assert!(routed <= direct + 1, "{routed} instead of {direct}");
}
