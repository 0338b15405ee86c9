//! Who routes by content looks into a message, and the message does not show it: every byte arrives as it was sent.

use std::time::Duration;

use crate::support::{Bus, answering, definitions, settings};
use myelin_testkit::faulty::{Backend, Script, whole};
use myelin_testkit::raw::Client;
use proptest::prelude::*;

/// A bus that routes orders for IBM to one path and others to another, by the body, and then by the answer's body.
fn bus(backend: &Backend) -> Bus {
    let address = backend.address();
    Bus::with(
        &definitions(&format!(
            r#"<proxy name="P"><target>
                <inSequence>
                    <filter xpath="//order[1]/symbol = 'IBM'">
                        <then><send><endpoint><address uri="http://{address}/ibm"/></endpoint></send></then>
                        <else><send><endpoint><address uri="http://{address}/other"/></endpoint></send></else>
                    </filter>
                </inSequence>
                <outSequence>
                    <filter xpath="//status = 'done'">
                        <property name="X-Done" value="yes" scope="transport"/>
                    </filter>
                    <send/>
                </outSequence>
            </target></proxy>"#
        )),
        settings(),
    )
}

fn order(symbol: &str, padding: usize) -> String {
    format!(
        "<?xml version='1.0'?>\n<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>\
         <order><pad>{}</pad><symbol>{symbol}</symbol></order ><!-- & as it came --></e:Body></e:Envelope>\n",
        "x".repeat(padding)
    )
}

/// A body in chunks of the given sizes, one after the other and over again, with an extension and a trailer.
fn chunks(body: &[u8], sizes: &[usize]) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut rest, mut sizes) = (body, sizes.iter().cycle());
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
        out.extend_from_slice(format!("{:x};a=b\r\n", piece.len()).as_bytes());
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\r\n");
        rest = behind;
    }
    out.extend_from_slice(b"0\r\nX-Sum: 7\r\n\r\n");
    out
}

fn head(path: &str, framing: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: bus\r\nContent-Type: text/xml\r\n{framing}\r\n\r\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_framing_and_the_split_the_very_bytes_arrive_where_they_should(
        ibm in any::<bool>(),
        padding in prop_oneof![0usize..300, 100_000usize..300_000],
        chunked in proptest::option::of(proptest::collection::vec(1usize..5_000, 1..4)),
        cuts in proptest::collection::vec(0usize..2_000, 0..6),
    ) {
        let body = order(if ibm { "IBM" } else { "SUN" }, padding);
        let (framing, body) = match &chunked {
            Some(sizes) => ("Transfer-Encoding: chunked".to_owned(), chunks(body.as_bytes(), sizes)),
            None => (format!("Content-Length: {}", body.len()), body.into_bytes()),
        };
        let request = [head("/services/P", &framing).as_bytes(), &body].concat();
        let response = [format!("HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n{framing}\r\n\r\n").as_bytes(), &body].concat();
        let backend = Backend::start([Script::answering(response)]).unwrap();
        let bus = bus(&backend);
        let mut client = Client::connect(bus.address).unwrap();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % request.len()).collect();
        cuts.sort_unstable();
        client.send_split(&request, &cuts, Duration::from_millis(1)).unwrap();
        client.half_close().unwrap();
        let got = client.until_closed().unwrap();
        prop_assert!(got.ends_with(&body), "the answer's body is another");
        let arrived = &backend.connections()[0].received;
        let path = if ibm { "/ibm" } else { "/other" };
        let expected = head(path, &framing).replace("Host: bus", &format!("Host: {}", backend.address()));
        prop_assert_eq!(String::from_utf8_lossy(&arrived[..expected.len()]).into_owned(), expected.clone());
        prop_assert!(arrived[expected.len()..] == body[..], "the request's body is another");
    }
}

#[test]
fn pipelined_messages_are_each_looked_into() {
    let backend = answering(whole());
    let bus = bus(&backend);
    let one = |symbol: &str| {
        let body = order(symbol, 10);
        head("/services/P", &format!("Content-Length: {}", body.len())) + &body
    };
    let mut client = Client::connect(bus.address).unwrap();
    client.send((one("IBM") + &one("SUN") + &one("IBM")).as_bytes()).unwrap();
    for _ in 0..3 {
        assert_eq!(client.answer().unwrap().status, 200);
    }
    let text = backend.connections()[0].text();
    let lines = text.lines().filter(|line| line.starts_with("POST"));
    assert_eq!(lines.collect::<Vec<_>>(), ["POST /ibm HTTP/1.1", "POST /other HTTP/1.1", "POST /ibm HTTP/1.1"]);
}

#[test]
fn a_client_that_waits_for_continue_is_let_on_when_its_body_is_to_be_read() {
    let backend = answering(whole());
    let bus = bus(&backend);
    let body = order("IBM", 10);
    let framing = format!("Expect: 100-continue\r\nContent-Length: {}", body.len());
    let mut client = Client::connect(bus.address).unwrap();
    client.send(head("/services/P", &framing).as_bytes()).unwrap();
    assert_eq!(client.head().unwrap(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(body.as_bytes()).unwrap();
    assert_eq!(client.answer().unwrap().status, 200);
    assert!(backend.connections()[0].text().ends_with(&body));
}

#[test]
fn a_message_that_is_malformed_before_the_decision_is_the_clients_fault() {
    let backend = answering(whole());
    let bus = bus(&backend);
    let mut client = Client::connect(bus.address).unwrap();
    for (body, status) in [
        ("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><order></e:Envelope>", 400),
        ("<order><symbol>IBM</symbol></order><broken", 200),
        ("no XML at all", 400),
        ("<!DOCTYPE order><order/>", 400),
    ] {
        let request = head("/services/P", &format!("Content-Length: {}", body.len())) + body;
        let answer = client.exchange(request.as_bytes()).unwrap();
        assert_eq!(answer.status, status, "{body}");
        if status == 400 {
            assert!(answer.text().contains("601000"), "{}", answer.text());
        }
    }
}

#[test]
fn a_body_that_stalls_before_the_decision_is_answered_in_time() {
    let backend = answering(whole());
    let mut settings = settings();
    settings.server.idle = Duration::from_millis(300);
    let address = backend.address();
    let text = definitions(&format!(
        r#"<proxy name="P"><target><inSequence><filter xpath="//a"><drop/></filter></inSequence>
           <endpoint><address uri="http://{address}/b"/></endpoint></target></proxy>"#
    ));
    let bus = Bus::with(&text, settings);
    let mut client = Client::connect(bus.address).unwrap();
    client.send((head("/services/P", "Content-Length: 100") + "<b><c>").as_bytes()).unwrap();
    assert_eq!(client.answer().unwrap().status, 408);
    assert!(backend.connections().is_empty());
}
