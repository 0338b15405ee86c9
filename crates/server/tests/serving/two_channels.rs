//! Sample 155 of Apache Synapse over real sockets: two channels between client and bus, and between bus and backend.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Bus, DEADLINE, definitions, settings};
use myelin_testkit::raw;
use myelin_testkit::service::{Request, Response, Service};

const QUOTE: &str = "<getQuoteResponse/>";
const FAULT: &str = "<s:Fault><faultcode>s:Server</faultcode><faultstring>no quote</faultstring></s:Fault>";

fn post(host: &str, path: &str, header: &str, body: &str) -> Vec<u8> {
    let envelope = format!(
        "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" \
         xmlns:wsa=\"http://www.w3.org/2005/08/addressing\"><s:Header>{header}</s:Header><s:Body>{body}</s:Body></s:Envelope>"
    );
    format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/xml\r\nSOAPAction: \"urn:getQuote\"\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{envelope}",
        envelope.len()
    )
    .into_bytes()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = &text[text.find(start)? + start.len()..];
    rest.split(end).next()
}

fn accepted() -> Response {
    Response { status: 202, ..Response::default() }
}

/// Takes a request with 202, and answers it on a connection of its own where the request says so.
fn answers_apart(request: &Request, body: &'static str) -> Response {
    let text = String::from_utf8_lossy(&request.body).into_owned();
    thread::spawn(move || {
        let address = between(&text, "<wsa:ReplyTo><wsa:Address>http://", "<").unwrap();
        let (host, path) = address.split_once('/').unwrap();
        let id = between(&text, "<wsa:MessageID>", "<").unwrap();
        let header = format!("<wsa:Action>urn:answer</wsa:Action><wsa:RelatesTo>{id}</wsa:RelatesTo>");
        raw::exchange(host.parse().unwrap(), &post(host, path, &header, body)).unwrap();
    });
    accepted()
}

/// What the client gets on its connection, and its listener afterwards: the path and the message.
fn asked(body: &'static str) -> (u16, String, String) {
    let backend = Service::start(move |request| answers_apart(request, body)).unwrap();
    let listener = Service::start(|_| accepted()).unwrap();
    let bus = Bus::with(
        &definitions(&format!(
            "<proxy name='StockQuoteProxy'><target><endpoint><address uri='http://{}/services/SimpleStockQuoteService'>\
             <enableAddressing separateListener='true'/></address></endpoint><outSequence><send/></outSequence></target>\
             </proxy>",
            backend.address()
        )),
        settings(),
    );
    let own = listener.address();
    let header = format!(
        "<wsa:MessageID>urn:theirs</wsa:MessageID><wsa:ReplyTo><wsa:Address>http://{own}/reply</wsa:Address></wsa:ReplyTo>\
         <wsa:FaultTo><wsa:Address>http://{own}/fault</wsa:Address></wsa:FaultTo>"
    );
    let request = post("bus", "services/StockQuoteProxy", &header, "<getQuote/>");
    let answer = raw::exchange(bus.address, &request).unwrap();
    let begun = Instant::now();
    while listener.requests().is_empty() {
        assert!(begun.elapsed() < DEADLINE, "nothing came to the client's listener");
        thread::sleep(Duration::from_millis(5));
    }
    let came = listener.requests().remove(0);
    assert_eq!(came.header("SOAPAction"), Some("\"urn:answer\""));
    (answer.status, came.target, String::from_utf8(came.body).unwrap())
}

#[test]
fn a_client_with_a_listener_of_its_own_gets_202_and_its_answer_or_fault_there() {
    for (body, path) in [(QUOTE, "/reply"), (FAULT, "/fault")] {
        let (status, target, message) = asked(body);
        assert_eq!((status, &*target), (202, path), "{message}");
        assert!(message.contains(body) && message.contains(">urn:theirs</wsa:RelatesTo>"), "{message}");
        assert!(message.contains(&format!("{path}</wsa:To>")), "{message}");
    }
}
