//! Looking into messages on real sockets: bodies in pieces, bodies that are not there, bodies that are no XML.

use std::time::Duration;

use crate::support::{Bus, answering, definitions, settings};
use myelin_testkit::faulty::{Backend, Script, Step, Until, whole};
use myelin_testkit::raw::{self, Client};

const S11: &str = "http://schemas.xmlsoap.org/soap/envelope/";

/// A proxy whose in sequence runs some mediators and sends, and whose out sequence runs others and sends.
fn routed(backend: std::net::SocketAddr, incoming: &str, outgoing: &str) -> Bus {
    let configuration = definitions(&format!(
        r#"<proxy name="P" xmlns:o="urn:o"><target><inSequence>{incoming}<send><endpoint><address uri="http://{backend}/b"/></endpoint></send></inSequence><outSequence>{outgoing}<send/></outSequence></target></proxy>"#
    ));
    Bus::with(&configuration, settings())
}

fn filter(xpath: &str, name: &str) -> String {
    let xpath = xpath.replace('<', "&lt;").replace('"', "&quot;");
    format!(
        r#"<filter xpath="{xpath}"><then><property name="{name}" scope="transport" value="yes"/></then><else><property name="{name}" scope="transport" value="no"/></else></filter>"#
    )
}

fn post_xml(body: &str) -> Vec<u8> {
    format!(
        "POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Finding 1
#[test]
fn an_expression_that_needs_the_tree_is_answered_when_the_body_comes_in_two_pieces() {
    let backend = answering(whole());
    // The text of an element without text of its own is serialised: only the tree can do that.
    let switch = r#"<switch source="//o:order"><case regex="(?s).*12.*"><property name="X-R" scope="transport" value="yes"/></case></switch>"#;
    let bus = routed(backend.address(), switch, "");
    let body = format!(
        r#"<S:Envelope xmlns:S="{S11}"><S:Body><o:order xmlns:o="urn:o"><o:qty>12</o:qty></o:order><pad>{}</pad></S:Body></S:Envelope>"#,
        "p".repeat(100)
    );
    let request = post_xml(&body);
    // In one piece it works.
    assert_eq!(raw::exchange(bus.address, &request).unwrap().status, 200);
    let mut client = Client::connect(bus.address).unwrap();
    client.send_split(&request, &[request.len() - 40], Duration::from_millis(100)).unwrap();
    let answer = client.answer().unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(backend.connections()[0].text().contains(&body));
}

/// The same in the out sequence.
#[test]
fn an_expression_that_needs_the_tree_is_answered_when_the_answer_comes_in_two_pieces() {
    let body = r#"<a><o:order xmlns:o="urn:o"><o:qty>12</o:qty></o:order><pad>pppppppppppppppp</pad></a>"#;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n", body.len());
    let backend = Backend::start(Script::of([
        Step::Read(Until::Head),
        Step::Read(Until::Body),
        Step::Send([head.as_bytes(), &body.as_bytes()[..70]].concat()),
        Step::Pause(Duration::from_millis(100)),
        Step::Send(body.as_bytes()[70..].to_vec()),
        Step::Again,
    ]))
    .unwrap();
    let bus = routed(backend.address(), "", r#"<property name="r" expression="//o:order"/>"#);
    let answer = raw::exchange(bus.address, &post_xml("<a/>")).unwrap();
    assert_eq!((answer.status, answer.text().as_str()), (200, body));
}

/// Finding 2: answers without a body
#[test]
fn an_answer_without_a_body_passes_an_out_sequence_that_looks_for_something() {
    for (request, response) in [
        ("POST", "HTTP/1.1 202 Accepted\r\nContent-Type: text/xml\r\nContent-Length: 0\r\n\r\n"),
        ("POST", "HTTP/1.1 204 No Content\r\nContent-Type: text/xml\r\n\r\n"),
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 500\r\n\r\n"),
        ("POST", "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n"),
    ] {
        let backend = answering(response);
        let outgoing = if response.contains("json") {
            r#"<property name="X-R" scope="transport" expression="json-eval($.a)"/>"#.to_owned()
        } else {
            filter("//o:order", "X-R")
        };
        let bus = routed(backend.address(), "", &outgoing);
        let mut client = Client::connect(bus.address).unwrap();
        let body = if request == "HEAD" { "Content-Length: 0\r\n\r\n" } else { "Content-Length: 1\r\n\r\nx" };
        client.send(format!("{request} /services/P HTTP/1.1\r\nHost: bus\r\n{body}").as_bytes()).unwrap();
        let head = client.head().unwrap();
        let line = response.lines().next().unwrap();
        assert!(head.starts_with(line), "{request} {response}: {head}");
    }
}

#[test]
fn a_request_without_a_body_passes_a_filter_although_it_has_a_content_type() {
    for content_type in ["text/xml", "application/json"] {
        let backend = answering(whole());
        let incoming = if content_type.contains("json") {
            r#"<property name="X-R" scope="transport" expression="json-eval($.a)"/>"#.to_owned()
        } else {
            filter("//o:order", "X-R")
        };
        let bus = routed(backend.address(), &incoming, "");
        let request = format!("GET /services/P HTTP/1.1\r\nHost: bus\r\nContent-Type: {content_type}\r\n\r\n");
        let answer = raw::exchange(bus.address, request.as_bytes()).unwrap();
        assert_eq!(answer.status, 200, "{content_type}: {}", answer.text());
    }
}

/// Finding: what is no XML is read whole only to find nothing in it.
#[test]
fn chunks_and_trailers_of_what_is_no_xml_arrive_as_they_were_behind_a_filter() {
    let backend = answering(whole());
    let bus = routed(backend.address(), &filter("//o:order", "X-R"), "");
    let chunks = "5;a=\"b\"\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 7\r\n\r\n";
    let request = format!(
        "POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
    );
    assert_eq!(raw::exchange(bus.address, request.as_bytes()).unwrap().status, 200);
    let arrived = backend.connections()[0].text();
    assert!(arrived.ends_with(chunks), "{arrived}");
}

#[test]
fn a_large_file_that_is_no_xml_passes_a_filter_that_finds_nothing_in_it() {
    let backend = answering(whole());
    let bus = routed(backend.address(), &filter("//o:order", "X-R"), "");
    let body = vec![7; 17 << 20];
    let head = format!(
        "POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Type: application/octet-stream\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut client = Client::connect(bus.address).unwrap();
    let _ = client.send(&[head.as_bytes(), &body].concat());
    let answer = client.answer().unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
}
