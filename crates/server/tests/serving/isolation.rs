//! What one exchange leaves behind never reaches another: no byte, no connection, no memory.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use crate::support::{Bus, DEADLINE, answering, definitions, post, proxy, settings};
use myelin_testkit::faulty::{BODY, Backend, Script, Step, Until, whole};
use myelin_testkit::port;
use myelin_testkit::raw::{self, Client, Error};

/// Sends all bytes from a thread of its own and gives everything that comes back until the bus closes.
fn everything(address: SocketAddr, bytes: Vec<u8>) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
    let mut sending = stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        // The bus may close before it has read everything.
        let _ = sending.write_all(&bytes);
        let _ = sending.shutdown(Shutdown::Write);
    });
    let mut received = Vec::new();
    // A reset behind the answer takes nothing away from what has arrived.
    let _ = stream.read_to_end(&mut received);
    sender.join().unwrap();
    String::from_utf8_lossy(&received).into_owned()
}

fn answers(text: &str) -> usize {
    text.matches("HTTP/1.1 ").count()
}

/// A body full of requests: whoever takes any of it for one has been fooled.
fn smuggled(bytes: usize) -> String {
    "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n".repeat(bytes / 38)
}

#[test]
fn what_is_left_of_a_body_is_never_read_as_a_request() {
    let deaf = Backend::start(Script::of([Step::Stall])).unwrap();
    // It is tried for the second time, too.
    let configuration = definitions(&format!(
        r#"<proxy name="P"><target><endpoint><address uri="http://{}/">
           <timeout><duration>500</duration><responseAction>fault</responseAction></timeout>
           <suspendOnFailure><errorCodes>-1</errorCodes></suspendOnFailure>
           <markForSuspension><errorCodes>-1</errorCodes></markForSuspension>
           </address></endpoint></target></proxy>"#,
        deaf.address()
    ));
    let bus = Bus::with(&configuration, settings());
    let body = smuggled(6_000_000);
    let chunked = format!(
        "POST /services/P HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    let text = everything(bus.address, chunked.into_bytes());
    assert!(text.starts_with("HTTP/1.1 504 ") && answers(&text) == 1, "{} answers: {:.200}", answers(&text), text);
    let with_length = post(&body);
    let text = everything(bus.address, with_length);
    assert!(text.starts_with("HTTP/1.1 504 ") && answers(&text) == 1, "{} answers: {:.200}", answers(&text), text);
}

#[test]
fn an_early_answer_leaves_nothing_of_the_upload_behind() {
    let refusal = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_vec();
    for end in [Step::Reset, Step::Close, Step::Stall] {
        let steps = [Step::Read(Until::Head), Step::Send(refusal.clone()), end];
        let backend = Backend::start(Script::of(steps)).unwrap();
        let bus = Bus::before(backend.address());
        for size in [7_000, 100_000, 1_000_000] {
            let text = everything(bus.address, post(&smuggled(size)));
            assert_eq!(answers(&text), 1, "{size}: {text:.300}");
        }
    }
}

/// A proxy `C` whose answer from one backend is sent on to another, and `P` before the first alone.
fn chain(first: SocketAddr, second: SocketAddr) -> String {
    let onward = format!(
        r#"<proxy name="C"><target><endpoint><address uri="http://{first}/"/></endpoint><outSequence>
        <filter source="get-property('done')" regex="1"><then><send/></then>
        <else><property name="done" value="1"/><send><endpoint><address uri="http://{second}/"/></endpoint></send></else></filter>
        </outSequence></target></proxy>"#
    );
    let plain =
        format!(r#"<proxy name="P"><target><endpoint><address uri="http://{first}/"/></endpoint></target></proxy>"#);
    definitions(&(onward + &plain))
}

fn get(proxy: &str) -> Vec<u8> {
    format!("GET /services/{proxy} HTTP/1.1\r\nHost: a\r\n\r\n").into_bytes()
}

/// A backend that answers once on its first connection and drops it at the second request.
fn drops_the_second() -> Backend {
    let healthy = [Step::Read(Until::Head), Step::Read(Until::Body), Step::Send(whole())];
    let first = Script(healthy.into_iter().chain([Step::Read(Until::Bytes(1)), Step::Reset]).collect());
    Backend::start(vec![first, Script::answering(whole())]).unwrap()
}

#[test]
fn a_connection_serves_one_exchange_at_a_time_also_after_a_retry() {
    let slow = [
        Step::Read(Until::Head),
        Step::Read(Until::Body),
        Step::Pause(Duration::from_millis(200)),
        Step::Send(whole()),
        Step::Again,
    ];
    let first = Backend::start(Script::of(slow)).unwrap();
    let second = drops_the_second();
    let bus = Bus::with(&chain(first.address(), second.address()), settings());
    let mut client = Client::connect(bus.address).unwrap();
    for _ in 0..2 {
        assert_eq!(client.exchange(&get("C")).unwrap().status, 200);
    }
    let mut both: Vec<Client> = (0..2).map(|_| Client::connect(bus.address).unwrap()).collect();
    for client in &mut both {
        client.send(&get("P")).unwrap();
    }
    for client in &mut both {
        let answer = client.answer().unwrap();
        assert_eq!((answer.status, &answer.body[..]), (200, BODY));
    }
    assert_eq!(first.connections().len(), 2);
}

#[test]
fn a_body_that_has_begun_to_leave_is_not_sent_again_without_its_head() {
    let until_close = [
        Step::Read(Until::Head),
        Step::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        Step::Pause(Duration::from_millis(100)),
        Step::Send(b"GET /smuggled HTTP/1.1\r\n\r\n".to_vec()),
        Step::Close,
    ];
    let first = Backend::start(Script::of(until_close)).unwrap();
    let second = drops_the_second();
    let bus = Bus::with(&chain(first.address(), second.address()), settings());
    let mut client = Client::connect(bus.address).unwrap();
    for _ in 0..2 {
        // The second may be 200 or 502, by whether anything of its body had left.
        let _ = client.exchange(&get("C")).unwrap();
    }
    for connection in second.connections() {
        assert!(
            connection.received.is_empty() || connection.text().starts_with("POST / HTTP/1.1"),
            "{:?}",
            connection.text()
        );
    }
}

#[test]
fn an_interim_answer_is_an_answer_and_the_request_is_not_sent_again() {
    let healthy = [Step::Read(Until::Head), Step::Read(Until::Body), Step::Send(whole())];
    let hints = [
        Step::Read(Until::Head),
        Step::Read(Until::Body),
        Step::Send(b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n".to_vec()),
        Step::Pause(Duration::from_millis(100)),
        Step::Reset,
    ];
    let first = Script(healthy.into_iter().chain(hints).collect());
    let backend = Backend::start(vec![first, Script::answering(whole())]).unwrap();
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    assert_eq!(client.exchange(&post("pay1")).unwrap().status, 200);
    assert_eq!(client.exchange(&post("pay2")).unwrap().status, 502);
    assert_eq!(backend.connections().len(), 1);
}

#[test]
fn a_broken_answer_that_only_its_end_delimits_does_not_look_whole() {
    let half = [
        Step::Read(Until::Head),
        Step::Send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n".to_vec()),
        Step::Pause(Duration::from_millis(100)),
        Step::Reset,
    ];
    let backend = Backend::start(Script::of(half)).unwrap();
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    client.send(b"GET /services/P HTTP/1.0\r\n\r\n").unwrap();
    assert!(matches!(client.until_closed(), Err(Error::Io(..))), "the connection must be reset");
}

#[test]
fn neither_head_can_be_split_from_outside() {
    let backend = answering(whole());
    let evil = "x%0d%0aX-Evil:%201%0d%0aContent-Length:%200%0d%0a%0d%0aHTTP/1.1%20200%20EVIL";
    let configuration = definitions(&format!(
        r#"<proxy name="R"><target><inSequence><property name="HTTP_SC" value="299" scope="axis2"/>
        <property name="HTTP_SC_DESC" scope="axis2" expression="$url:d"/><property name="NO_ENTITY_BODY" value="true" scope="axis2"/><respond/></inSequence></target></proxy>
        <proxy name="H"><target><inSequence><property name="REQUEST_HOST_HEADER" scope="axis2" expression="$url:d"/>
        <send><endpoint><address uri="http://{}/"/></endpoint></send></inSequence></target></proxy>"#,
        backend.address()
    ));
    let bus = Bus::with(&configuration, settings());
    let text = everything(bus.address, format!("GET /services/R?d={evil} HTTP/1.1\r\nHost: a\r\n\r\n").into_bytes());
    assert!(answers(&text) == 1 && !text.contains("X-Evil"), "{text}");
    let answer = raw::exchange(bus.address, format!("GET /services/H?d={evil} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes());
    assert!(answer.unwrap().status >= 500);
    assert!(backend.connections().iter().all(|connection| !connection.text().contains("X-Evil")));
}

#[test]
fn a_client_that_waits_for_continue_is_not_blamed_for_a_slow_backend() {
    let slow = [
        Step::Read(Until::Head),
        Step::Pause(Duration::from_millis(2500)),
        Step::Send(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
        Step::Read(Until::Body),
        Step::Send(whole()),
        Step::Again,
    ];
    let backend = Backend::start(Script::of(slow)).unwrap();
    let mut settings = settings();
    settings.server.pace = myelin_http::Pace { least_bytes_per_second: 1000, window: Duration::from_secs(1) };
    let bus = Bus::with(&proxy(backend.address()), settings);
    let mut client = Client::connect(bus.address).unwrap();
    client.send(b"POST /services/P HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n").unwrap();
    assert!(client.head().unwrap().starts_with("HTTP/1.1 100 "));
    client.send(b"hello").unwrap();
    assert_eq!(client.answer().unwrap().status, 200);
}

#[test]
fn silent_clients_beyond_the_limit_do_not_stay() {
    let backend = answering(whole());
    let mut settings = settings();
    settings.server.connections = 2;
    let bus = Bus::with(&proxy(backend.address()), settings);
    let mut silent: Vec<Client> = (0..200).map(|_| Client::connect(bus.address).unwrap()).collect();
    assert!(silent.iter_mut().skip(2).all(|client| client.is_closed_within(DEADLINE)));
}

#[test]
fn a_request_without_a_body_can_go_to_another_backend_after_a_fault() {
    let backend = answering(whole());
    let configuration = definitions(&format!(
        r#"<proxy name="P"><target><endpoint><address uri="http://{}/"/></endpoint>
        <faultSequence><send><endpoint><address uri="http://{}/"/></endpoint></send></faultSequence></target></proxy>"#,
        port::free().unwrap(),
        backend.address()
    ));
    let bus = Bus::with(&configuration, settings());
    assert_eq!(raw::exchange(bus.address, &get("P")).unwrap().status, 200);
}

#[test]
fn a_refusal_of_head_has_no_body() {
    let backend = answering(whole());
    let mut settings = settings();
    settings.server.body_bytes = Some(1);
    let bus = Bus::with(&proxy(backend.address()), settings);
    let text = everything(bus.address, b"HEAD /services/P HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n".to_vec());
    assert!(text.starts_with("HTTP/1.1 413 ") && text.ends_with("\r\n\r\n"), "{text}");
}
