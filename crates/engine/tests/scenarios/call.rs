//! `call` and `callout`: what leaves, what the flow goes on with, and what becomes of a failure.

use crate::common::{Reply, Scenario, get, post, response};
use myelin_engine::transport::SendErrorKind;

const QUOTE: &str =
    "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><quote>42</quote></s:Body></s:Envelope>";
const ORDER: &str = "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Header><h/></s:Header><s:Body><order><symbol>IBM</symbol></order></s:Body></s:Envelope>";

/// Serves a request with mediators that ask a backend which answers with a quote in SOAP, and its own header line.
fn ask(mediators: &str, body: &str) -> (Reply, crate::common::Sent) {
    let scenario = Scenario::with(
        &format!(
            "<endpoint name='E'><address uri='http://back/quotes'/></endpoint>\
             <localEntry key='entry'><ask xmlns=''/></localEntry>\
             <proxy name='P'><target><inSequence>{mediators}<respond/></inSequence></target></proxy>"
        ),
        |_, _| Ok(response(203, &[("Content-Type", "text/xml"), ("X-Back", "yes")], QUOTE)),
    );
    let reply = scenario.serve(post("/services/P", &[("X-In", "in"), ("SOAPAction", "\"urn:in\"")], body));
    (reply, scenario.into_sent())
}

#[test]
fn a_source_is_sent_in_the_place_of_the_body() {
    let check = |source: &str, content_type: &str, body: &str| {
        let prepare = "<property name='p' expression=\"//order\" type='OM'/><property name='t' value='hello'/>";
        let (reply, sent) = ask(&format!("{prepare}<call><endpoint key='E'/>{source}</call>"), ORDER);
        assert_eq!((sent.header("Content-Type"), sent.body.as_str()), (Some(content_type), body), "{source}");
        assert_eq!((reply.status, reply.body.as_str()), (203, QUOTE), "{source}");
    };
    let soap = |payload: &str| ORDER.replace("<order><symbol>IBM</symbol></order>", payload);
    check("", "text/xml", ORDER);
    check("<source type='body'/>", "text/xml", ORDER);
    check("<source type='inline'><ask xmlns=''/></source>", "text/xml", &soap("<ask/>"));
    check(
        "<source type='inline' contentType='application/xml'><ask xmlns=''/></source>",
        "application/xml",
        "<ask xmlns=''/>",
    );
    check("<source type='inline'>{\"a\": 1}</source>", "application/json", "{\"a\": 1}");
    check("<source type='inline' contentType='text/plain'>hello</source>", "text/plain", "hello");
    check("<source type='property'>t</source>", "text/plain; charset=UTF-8", "hello");
    check(
        "<source type='property' contentType='application/xml'>p</source>",
        "application/xml",
        "<order><symbol>IBM</symbol></order>",
    );
    check("<source type='custom'>//symbol</source>", "text/xml", &soap("<symbol>IBM</symbol>"));
    check("<source type='custom' contentType='text/plain'>string(//symbol)</source>", "text/plain", "IBM");
    let enveloped = "<soapenv:Envelope xmlns:soapenv=\"http://www.w3.org/2003/05/soap-envelope\"><soapenv:Body><ask xmlns=''/></soapenv:Body></soapenv:Envelope>";
    check(
        "<source type='inline' contentType='application/soap+xml'><ask xmlns=''/></source>",
        "application/soap+xml",
        enveloped,
    );
}

#[test]
fn a_target_takes_the_response_and_leaves_the_message_as_it_was() {
    let call = "<call><endpoint key='E'/><source type='inline' contentType='text/plain'>x</source><target type='property'>quote</target></call>\
                <property name='X-Quote' scope='transport' expression=\"concat($ctx:quote, '/', //symbol, '/', $axis2:HTTP_METHOD)\"/>";
    let (reply, sent) = ask(call, ORDER);
    assert_eq!((sent.body.as_str(), reply.status, reply.header("X-Quote")), ("x", 200, Some("42/IBM/POST")));
    assert_eq!(
        (reply.body.as_str(), reply.header("X-Back"), reply.header("Content-Type")),
        (ORDER, None, Some("text/xml"))
    );
}

#[test]
fn a_blocking_call_keeps_the_requests_header_lines_unless_it_is_told_not_to() {
    let call = "<call blocking='true'><endpoint key='E'/></call>";
    let (reply, _) = ask(call, ORDER);
    assert_eq!((reply.header("X-In"), reply.header("X-Back"), reply.body.as_str()), (Some("in"), None, QUOTE));
    let (reply, _) =
        ask(&format!("<property name='BLOCKING_SENDER_PRESERVE_REQ_HEADERS' value='false'/>{call}"), ORDER);
    assert_eq!((reply.header("X-In"), reply.header("X-Back")), (None, Some("yes")));
    let (reply, _) = ask("<call><endpoint key='E'/></call>", ORDER);
    assert_eq!((reply.header("X-In"), reply.header("X-Back")), (None, Some("yes")));
}

#[test]
fn what_comes_back_from_a_call_can_loop_back() {
    let artefacts = "<proxy name='P'><target><inSequence><call><endpoint><address uri='http://back/'/></endpoint></call><loopback/></inSequence>\
        <outSequence><property name='X-Out' scope='transport' value='1'/><send/></outSequence></target></proxy>";
    let reply = Scenario::new(artefacts).serve(get("/services/P"));
    assert_eq!((reply.status, reply.header("X-Out"), reply.header("X-Back")), (200, Some("1"), Some("yes")));
}

#[test]
fn a_callout_sends_an_element_and_puts_the_answer_where_it_is_wanted() {
    let check = |inside: &str, sent_body: &str, replied: &str| {
        let (reply, sent) = ask(&format!("<callout endpointKey='E' action='urn:get'>{inside}</callout>"), ORDER);
        assert_eq!((sent.body.as_str(), sent.header("SOAPAction")), (sent_body, Some("\"urn:get\"")), "{inside}");
        assert_eq!((reply.status, reply.body.as_str(), reply.header("X-In")), (203, replied, Some("in")), "{inside}");
    };
    let soap = |payload: &str| ORDER.replace("<order><symbol>IBM</symbol></order>", payload);
    check("", ORDER, QUOTE);
    check("<source type='envelope'/><target key='q'/>", ORDER, ORDER);
    check(
        "<source xpath='//symbol'/><target xpath='//symbol'/>",
        &soap("<symbol>IBM</symbol>"),
        &soap("<order><quote>42</quote></order>"),
    );
    check("<source key='entry'/><target xpath='$body/*[1]'/>", &soap("<ask/>"), &soap("<quote>42</quote>"));
    let (reply, _) = ask(
        "<callout endpointKey='E'><source key='entry'/><target key='q'/></callout>\
         <property name='X-Quote' scope='transport' expression='$ctx:q'/>",
        ORDER,
    );
    assert_eq!(reply.header("X-Quote"), Some("42"));
}

#[test]
fn a_callout_has_an_address_of_its_own() {
    let (_, sent) = ask("<callout serviceURL='http://back/a?b=1&amp;c=2' passHeaders='false'/>", ORDER);
    assert_eq!(
        (sent.uri.as_str(), sent.header("X-In"), sent.header("SOAPAction")),
        ("http://back/a?b=1&c=2", None, Some("\"urn:in\""))
    );
    let (_, sent) = ask("<header name='To' value='http://back/to'/><callout/>", ORDER);
    assert_eq!((sent.uri.as_str(), sent.header("X-In")), ("http://back/to", Some("in")));
}

#[test]
fn what_fails_has_the_code_of_its_mediator_and_reaches_the_nearest_handler() {
    let check = |mediator: &str, expected: &str| {
        let scenario = Scenario::failing(
            &format!(
                "<sequence name='handler'><property name='X-Code' scope='transport' expression='$ctx:ERROR_CODE'/><respond/></sequence>\
                 <proxy name='P'><target><inSequence><sequence onError='handler'>{mediator}</sequence></inSequence></target></proxy>"
            ),
            SendErrorKind::ConnectFailed,
        );
        let reply = scenario.serve(post("/services/P", &[], ORDER));
        assert_eq!(reply.header("X-Code"), Some(expected), "{mediator}");
    };
    let endpoint = "<endpoint><address uri='http://back/'/></endpoint>";
    check(&format!("<call>{endpoint}</call>"), "101503");
    check(&format!("<call>{endpoint}<target type='property'>p</target></call>"), "101503");
    check(&format!("<call blocking='true'>{endpoint}</call>"), "401001");
    check(&format!("<callout>{endpoint}</callout>"), "401000");
    check(&format!("<callout>{endpoint}<source xpath='//nothing'/></callout>"), "0");
    check(&format!("<call>{endpoint}<source type='property'>nothing</source></call>"), "0");
}
