//! What two parsers could read differently is refused on the socket and never forwarded.

use crate::support::{Bus, DEADLINE, answering, settings};
use myelin_testkit::faulty::whole;
use myelin_testkit::raw::Client;

/// Each is answered with that status, the connection is closed, and what stands behind the head is not served.
const REFUSED: &[(u16, &str)] = &[
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nContent-Length: 4, 4\r\n\r\nabcd"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\nabcd"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\nabcd"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nX: 1\r\n Content-Length: 4\r\n\r\nabcd"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\nContent-Length: 4\r\n\r\nabcd"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nContent-Length : 4\r\n\r\nabcd"),
    (400, "POST /services/P HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 4\r\n\r\nabcd"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nX: a\x01b\r\n\r\n"),
    (400, "POST /services/P HTTP/1.1\r\nHost: a\r\nX: a\rContent-Length: 4\r\n\r\nabcd"),
    (400, "\x16\x03\x01\x02\x00\x01\x00\x01\x7c\x03\x03"),
    (400, "\0\0\0\0"),
    (501, "POST /services/P HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    (501, "POST /services/P HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n"),
    (400, "POST /services/P HTTP/1.1\r\nHost: [::1\r\n\r\n"),
    (400, "POST /services/P HTTP/1.1\r\nHost: gw.test:abc\r\n\r\n"),
    (400, "POST /services/P HTTP/1.1\r\nHost: gw.test:65536\r\n\r\n"),
    (400, "POST http://u@gw.test/services/P HTTP/1.1\r\nHost: gw.test\r\n\r\n"),
    (
        501,
        "GET /services/P HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n",
    ),
    (501, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA /services/P HTTP/1.1\r\nHost: a\r\n\r\n"),
    (501, "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
    (505, "GET /services/P HTTP/2.0\r\nHost: a\r\n\r\n"),
];

#[test]
fn what_could_smuggle_a_request_is_answered_closed_and_not_forwarded() {
    let backend = answering(whole());
    let bus = Bus::before(backend.address());
    for (status, request) in REFUSED {
        let mut client = Client::connect(bus.address).unwrap();
        client.send(request.as_bytes()).unwrap();
        // A second request rides along; whoever serves it has been fooled.
        let _ = client.send(b"GET /services/P HTTP/1.1\r\nHost: smuggled\r\n\r\n");
        let answer = client.answer().unwrap_or_else(|error| panic!("{request:?}: {error}"));
        assert_eq!(answer.status, *status, "{request:?}: {}", answer.text());
        assert_eq!(answer.header("connection"), Some("close"), "{request:?}");
        assert!(!answer.text().is_empty(), "{request:?}: the answer says why");
        assert!(client.is_closed_within(DEADLINE), "{request:?}: still open");
    }
    assert_eq!(backend.connections().len(), 0);
}

#[test]
fn broken_chunks_end_the_exchange_on_both_sides() {
    for chunks in
        ["x\r\n", "5\nhello\n0\n\n", "5\r\nhelloX", "-5\r\n", "1000000000000000\r\n", "0\r\nContent-Length 4\r\n\r\n"]
    {
        let backend = answering(whole());
        let bus = Bus::before(backend.address());
        let mut client = Client::connect(bus.address).unwrap();
        client.send(b"POST /services/P HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        client.send(chunks.as_bytes()).unwrap();
        let answer = client.answer().unwrap_or_else(|error| panic!("{chunks:?}: {error}"));
        assert_eq!((answer.status, answer.header("connection")), (400, Some("close")), "{chunks:?}");
        assert!(client.is_closed_within(DEADLINE), "{chunks:?}: still open");
        assert!(backend.connections().iter().all(|connection| connection.rounds <= 1));
    }
}

#[test]
fn over_long_heads_are_refused_by_what_is_too_long() {
    let backend = answering(whole());
    let mut settings = settings();
    settings.server.head.bytes = 8 * 1024;
    let bus = Bus::with(&crate::support::proxy(backend.address()), settings);
    let status = |request: String| {
        let mut client = Client::connect(bus.address).unwrap();
        let _ = client.send(request.as_bytes());
        client.answer().unwrap().status
    };
    assert_eq!(status(format!("GET /services/P HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(9000))), 431);
    assert_eq!(status(format!("GET /services/P?{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(9000))), 414);
    assert_eq!(status(format!("GET /services/P HTTP/1.1\r\nHost: a\r\n{}\r\n", "a: b\r\n".repeat(200))), 431);
    assert_eq!(backend.connections().len(), 0);
}

#[test]
fn a_body_over_the_limit_is_refused_with_413() {
    let backend = answering(whole());
    let mut settings = settings();
    settings.server.body_bytes = Some(10);
    let bus = Bus::with(&crate::support::proxy(backend.address()), settings);
    let answer = |request: &[u8]| Client::connect(bus.address).unwrap().exchange(request).unwrap().status;
    assert_eq!(answer(&crate::support::post("0123456789")), 200);
    assert_eq!(answer(&crate::support::post("0123456789a")), 413);
    let chunked =
        b"POST /services/P HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n0\r\n\r\n";
    assert_eq!(answer(chunked), 413);
}
