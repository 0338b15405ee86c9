//! What goes through the bus arrives as it was sent, whatever its framing and however it is split.

use std::time::Duration;

use crate::support::{Bus, DEADLINE, answering, post, settings};
use myelin_http::{Forwarded, XForwarded};
use myelin_testkit::faulty::{Backend, Script, Step, Until, whole};
use myelin_testkit::raw::{self, Client, Delimiter};
use proptest::prelude::*;

/// The head of a request whose body, `hello`, waits to be asked for.
const EXPECTING: &[u8] = b"POST /services/P HTTP/1.1\r\nHost: bus\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";

/// What the backend got for one request, its head and body as one text.
fn forwarded(request: &[u8]) -> String {
    let backend = answering(whole());
    let bus = Bus::before(backend.address());
    let answer = raw::exchange(bus.address, request).unwrap();
    assert_eq!(answer.status, 200);
    let text = backend.connections()[0].text();
    text.replace(&backend.address().to_string(), "BACKEND")
}

/// The bytes a client gets for one response, until the bus closes.
fn returned(request: &[u8], response: &[u8]) -> String {
    let script =
        Script::of([Step::Read(Until::Head), Step::Read(Until::Body), Step::Send(response.to_vec()), Step::Close]);
    let backend = Backend::start(script).unwrap();
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    client.send(request).unwrap();
    client.half_close().unwrap();
    let text = String::from_utf8(client.until_closed().unwrap()).unwrap();
    // The time of day is not what these tests are about.
    let lines: Vec<&str> = text.split_inclusive("\r\n").filter(|line| !line.starts_with("Date: ")).collect();
    lines.concat()
}

#[test]
fn a_request_with_a_length_arrives_with_its_header_lines_as_they_were() {
    let request = b"POST /services/P?a=b HTTP/1.1\r\nHost: bus\r\nx-one: 1\r\nX-One:2\r\nsoapACTION: \"u\"\r\n\
                    Connection: keep-alive\r\nContent-length: 5\r\n\r\nhello";
    assert_eq!(
        forwarded(request),
        "POST /b?a=b HTTP/1.1\r\nHost: BACKEND\r\nx-one: 1\r\nX-One:2\r\nsoapACTION: \"u\"\r\nContent-length: 5\r\n\r\nhello"
    );
}

#[test]
fn chunks_extensions_and_trailers_arrive_as_they_were() {
    let chunks = "5;a=\"b\"\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 7\r\n\r\n";
    let request = format!("POST /services/P HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
    let arrived = forwarded(request.as_bytes());
    assert_eq!(arrived, format!("POST /b HTTP/1.1\r\nHost: BACKEND\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"));
    let response = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n{chunks}");
    assert_eq!(returned(&post("x"), response.as_bytes()), response);
}

#[test]
fn a_request_without_a_body_gets_none() {
    assert_eq!(forwarded(b"GET /services/P HTTP/1.1\r\nHost: bus\r\n\r\n"), "GET /b HTTP/1.1\r\nHost: BACKEND\r\n\r\n");
    let empty = forwarded(b"POST /services/P HTTP/1.1\r\nHost: bus\r\n\r\n");
    assert_eq!(empty, "POST /b HTTP/1.1\r\nHost: BACKEND\r\nContent-Length: 0\r\n\r\n");
}

#[test]
fn answers_without_a_body_end_with_their_head() {
    let head = b"HEAD /services/P HTTP/1.1\r\nHost: bus\r\n\r\n";
    let response = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\nX: 1\r\n\r\n";
    assert_eq!(returned(head, response.as_bytes()), response);
    for response in [
        "HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 9\r\n\r\n",
    ] {
        assert_eq!(returned(&post("x"), response.as_bytes()), response);
    }
}

#[test]
fn a_reason_phrase_of_the_backends_own_survives() {
    let response = "HTTP/1.1 299 Quite fine\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(returned(&post("x"), response.as_bytes()), response);
}

#[test]
fn an_answer_delimited_by_close_is_chunked_for_one_client_and_closes_for_an_old_one() {
    let response = b"HTTP/1.1 200 OK\r\nX: 1\r\n\r\nhello";
    let new = returned(&post("x"), response);
    assert_eq!(new, "HTTP/1.1 200 OK\r\nX: 1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    let request = b"POST /services/P HTTP/1.0\r\nContent-Length: 1\r\n\r\nx";
    assert_eq!(returned(request, response), "HTTP/1.1 200 OK\r\nX: 1\r\nConnection: close\r\n\r\nhello");
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    assert_eq!(returned(request, chunked), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello");
}

#[test]
fn an_old_client_that_wants_to_stay_is_told_so() {
    let backend = answering(whole());
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    for _ in 0..2 {
        let request = b"POST /services/P HTTP/1.0\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx";
        let answer = client.exchange(request).unwrap();
        assert_eq!(answer.header("connection"), Some("keep-alive"));
    }
}

#[test]
fn pipelined_requests_are_answered_in_order_on_one_backend_connection() {
    let echo = [
        Step::Read(Until::Head),
        Step::Read(Until::Body),
        Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n".to_vec()),
        Step::Echo,
        Step::Again,
    ];
    let backend = Backend::start(Script::of(echo)).unwrap();
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    client.send(&["a", "b", "c"].map(post).concat()).unwrap();
    let bodies: Vec<String> = (0..3).map(|_| client.answer().unwrap().text()).collect();
    assert_eq!(bodies, ["a", "b", "c"]);
    assert_eq!(backend.connections().len(), 1);
}

#[test]
fn a_client_that_has_closed_its_sending_side_still_gets_its_answer() {
    let backend = Backend::start(Script::of([
        Step::Read(Until::Head),
        Step::Read(Until::Body),
        Step::Pause(Duration::from_millis(200)),
        Step::Send(whole()),
        Step::Close,
    ]))
    .unwrap();
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    client.send(&post("x")).unwrap();
    client.half_close().unwrap();
    assert_eq!(client.answer().unwrap().status, 200);
}

#[test]
fn continue_is_relayed_from_the_backend_before_the_body_is_sent() {
    let backend = Backend::start(Script::of([
        Step::Read(Until::Head),
        Step::Send(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
        Step::Read(Until::Body),
        Step::Send(whole()),
        Step::Again,
    ]))
    .unwrap();
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    client.send(EXPECTING).unwrap();
    assert_eq!(client.head().unwrap(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(b"hello").unwrap();
    assert_eq!(client.answer().unwrap().status, 200);
    assert!(backend.connections()[0].text().contains("Expect: 100-continue"));
}

#[test]
fn a_backend_that_refuses_before_the_body_is_heard() {
    let refusal = b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n";
    let backend =
        Backend::start(Script::of([Step::Read(Until::Head), Step::Send(refusal.to_vec()), Step::Stall])).unwrap();
    let bus = Bus::before(backend.address());
    let answer = raw::exchange(bus.address, EXPECTING).unwrap();
    assert_eq!((answer.status, answer.header("connection")), (417, Some("close")));
}

#[test]
fn the_bus_answers_continue_itself_where_it_is_told_to() {
    let backend = answering(whole());
    let mut settings = settings();
    settings.server.expect = myelin_http::Expect::Answer;
    let bus = Bus::with(&crate::support::proxy(backend.address()), settings);
    let mut client = Client::connect(bus.address).unwrap();
    client.send(EXPECTING).unwrap();
    assert_eq!(client.head().unwrap(), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(b"hello").unwrap();
    assert_eq!(client.answer().unwrap().status, 200);
    assert!(!backend.connections()[0].text().contains("Expect"));
}

#[test]
fn early_hints_reach_new_clients_and_no_old_ones() {
    let hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let steps = [
        Step::Read(Until::Head),
        Step::Read(Until::Body),
        Step::Send(hints.to_vec()),
        Step::Send(whole()),
        Step::Again,
    ];
    let backend = Backend::start(Script::of(steps)).unwrap();
    let bus = Bus::before(backend.address());
    let new = raw::exchange(bus.address, b"GET /services/P HTTP/1.1\r\nHost: bus\r\n\r\n").unwrap();
    assert_eq!((new.status, new.interim), (200, vec![103]));
    let old = raw::exchange(bus.address, b"GET /services/P HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!((old.status, old.interim), (200, vec![]));
}

#[test]
fn an_early_answer_reaches_a_client_that_is_still_uploading() {
    let early = b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 4\r\n\r\nless".to_vec();
    let backend =
        Backend::start(Script::of([Step::Read(Until::Head), Step::Send(early), Step::HalfClose, Step::Stall])).unwrap();
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    client.send(b"POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Length: 1000000\r\n\r\nsome").unwrap();
    let answer = client.answer().unwrap();
    assert_eq!((answer.status, answer.text().as_str()), (413, "less"));
}

#[test]
fn a_large_body_goes_both_ways_whole() {
    let body: Vec<u8> = (0..3_000_000u32).map(|number| (number * 7 % 251) as u8).collect();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    let steps = [Step::Read(Until::Head), Step::Read(Until::Body), Step::Send(head), Step::Echo, Step::Again];
    let backend = Backend::start(Script::of(steps)).unwrap();
    let bus = Bus::before(backend.address());
    let head = format!("POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Length: {}\r\n\r\n", body.len());
    let answer = raw::exchange(bus.address, &[head.as_bytes(), &body].concat()).unwrap();
    assert_eq!(answer.delimiter, Delimiter::Length);
    assert!(answer.body == body, "the body came back changed");
}

#[test]
fn a_client_cannot_strip_what_the_bus_adds() {
    let backend = answering(whole());
    let configuration = crate::support::definitions(&format!(
        r#"<proxy name="P"><target><inSequence><property name="X-User" value="bob" scope="transport"/><send><endpoint><address uri="http://{}/"/></endpoint></send></inSequence></target></proxy>"#,
        backend.address()
    ));
    let bus = Bus::with(&configuration, settings());
    let request = b"GET /services/P HTTP/1.1\r\nHost: bus\r\nConnection: X-User, X-Gone\r\nX-Gone: 1\r\n\r\n";
    assert_eq!(raw::exchange(bus.address, request).unwrap().status, 200);
    let arrived = backend.connections()[0].text();
    assert!(arrived.contains("X-User: bob\r\n") && !arrived.contains("X-Gone"), "{arrived}");
}

#[test]
fn blank_lines_between_requests_are_skipped() {
    let backend = answering(whole());
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    client.send(&[&post("a")[..], b"\r\n", &post("b")].concat()).unwrap();
    assert_eq!((client.answer().unwrap().status, client.answer().unwrap().status), (200, 200));
}

/// What the backend gets of the `X-Forwarded-…` lines of a request, in lower case, when the bus treats them so.
fn told(mode: XForwarded, lines: &str) -> Vec<String> {
    let backend = answering(whole());
    let mut settings = settings();
    settings.server.forwarded = Forwarded { via: true, x_forwarded: mode };
    settings.client.preserve_host = true;
    settings.correlate = true;
    let bus = Bus::with(&crate::support::proxy(backend.address()), settings);
    let request = format!("GET http://gate.example:81/services/P HTTP/1.1\r\nHost: bus\r\n{lines}\r\n");
    let answer = raw::exchange(bus.address, request.as_bytes()).unwrap();
    let arrived = backend.wait_for_ended(0, DEADLINE).unwrap()[0].text();
    let id = answer.header("activityid").unwrap();
    for line in ["Host: gate.example:81\r\n", "Via: 1.1 myelin\r\n", &format!("activityid: {id}\r\n")] {
        assert!(arrived.contains(line), "{line:?} is missing in {arrived:?}");
    }
    let lines = arrived.lines().map(str::to_ascii_lowercase);
    let mut lines: Vec<String> = lines.filter(|line| line.contains("forwarded")).collect();
    lines.sort();
    lines
}

#[test]
fn forwarding_headers_and_host_follow_the_options_and_the_target() {
    let own = ["x-forwarded-for: 127.0.0.1", "x-forwarded-host: gate.example:81", "x-forwarded-proto: http"];
    let said = "X-Forwarded-For: 10.0.0.1\r\nX-FORWARDED-FOR: 10.0.0.2, 10.0.0.3\r\nX-Forwarded-Proto: https\r\n\
                x-forwarded-host: a.example\r\nX-Forwarded-Host: b.example\r\nX-Forwarded-Port: 1\r\nForwarded: for=x\r\n";
    assert_eq!(told(XForwarded::Replace, ""), own);
    assert_eq!(told(XForwarded::Append, ""), own);
    assert_eq!(told(XForwarded::Replace, said), own);
    let appended = [
        "forwarded: for=x",
        "x-forwarded-for: 10.0.0.1, 10.0.0.2, 10.0.0.3, 127.0.0.1",
        "x-forwarded-host: a.example",
        "x-forwarded-port: 1",
        "x-forwarded-proto: https",
    ];
    assert_eq!(told(XForwarded::Append, said), appended);
    assert_eq!(told(XForwarded::AsCame, ""), [""; 0]);
    assert_eq!(told(XForwarded::AsCame, said).len(), 7);
}

#[test]
fn trailers_that_a_receiver_must_not_read_so_late_stay_behind_on_both_ways() {
    let chunks = "5\r\nhello\r\n0\r\nX-Sum: 7\r\n";
    let late = "Host: b\r\nAuthorization: Basic eDp5\r\nX-Forwarded-For: 1.2.3.4\r\n";
    let request =
        format!("POST /services/P HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}{late}\r\n");
    let arrived = forwarded(request.as_bytes());
    assert_eq!(arrived, format!("POST /b HTTP/1.1\r\nHost: BACKEND\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}\r\n"));
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let response = format!("{head}{chunks}Set-Cookie: a=b\r\nContent-Type: text/html\r\n\r\n");
    assert_eq!(returned(&post("x"), response.as_bytes()), format!("{head}{chunks}\r\n"));
}

#[test]
fn an_echo_shows_no_credentials_unless_it_is_switched_on() {
    let echo = crate::support::definitions(
        r#"<proxy name="P"><target><inSequence><respond/></inSequence></target></proxy>
           <proxy name="L"><target><inSequence><loopback/></inSequence><outSequence><send/></outSequence></target></proxy>"#,
    );
    let secrets = "Authorization: Basic eDp5\r\ncookie: s=1\r\nX-API-Key: k\r\nApiKey: k\r\n";
    let shown = |bus: &Bus, method: &str, proxy: &str| {
        let request = format!("{method} /services/{proxy} HTTP/1.1\r\nHost: bus\r\nX-A: 1\r\n{secrets}\r\n");
        let answer = raw::exchange(bus.address, request.as_bytes()).unwrap();
        assert_eq!((answer.status, answer.header("x-a")), (200, Some("1")), "{method} {proxy}");
        ["authorization", "cookie", "x-api-key", "apikey"].iter().filter(|name| answer.header(name).is_some()).count()
    };
    let bus = Bus::with(&echo, settings());
    let mut open = settings();
    open.server.echo_credentials = true;
    let open = Bus::with(&echo, open);
    for (method, proxy) in [("GET", "P"), ("TRACE", "P"), ("GET", "L")] {
        assert_eq!(shown(&bus, method, proxy), 0, "{method} {proxy}");
        assert_eq!(shown(&open, method, proxy), 4, "{method} {proxy}");
    }
}

#[test]
fn a_backend_that_echoes_a_trace_does_not_get_credentials() {
    let request = b"TRACE /services/P HTTP/1.1\r\nHost: bus\r\nAuthorization: Basic eDp5\r\nX-A: 1\r\n\r\n";
    assert_eq!(forwarded(request), "TRACE /b HTTP/1.1\r\nHost: BACKEND\r\nX-A: 1\r\n\r\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_split_of_request_and_response_gives_the_same(
        request_cuts in proptest::collection::vec(0usize..170, 0..6),
        response_cuts in proptest::collection::vec(0usize..120, 0..6),
        chunked in any::<bool>(),
    ) {
        let body = "5;x=\"y\"\r\nhello\r\n6\r\n world\r\n0\r\nX-T: 1\r\n\r\n";
        let (framing, body) = if chunked { ("Transfer-Encoding: chunked".to_owned(), body) } else { (format!("Content-Length: {}", body.len()), body) };
        let request = format!("POST /services/P HTTP/1.1\r\nHost: bus\r\nX-A: 1\r\n{framing}\r\n\r\n{body}");
        let response = format!("HTTP/1.1 200 OK\r\nX-B: 2\r\nDate: now\r\n{framing}\r\n\r\n{body}").into_bytes();
        let mut cuts: Vec<usize> = response_cuts.into_iter().map(|cut| cut % response.len()).collect();
        cuts.sort_unstable();
        let mut steps = vec![Step::Read(Until::Head), Step::Read(Until::Body)];
        let mut start = 0;
        for cut in cuts.into_iter().chain([response.len()]) {
            steps.extend([Step::Send(response[start..cut].to_vec()), Step::Pause(Duration::from_millis(1))]);
            start = cut;
        }
        steps.push(Step::Close);
        let backend = Backend::start(Script::of(steps)).unwrap();
        let bus = Bus::before(backend.address());
        let mut client = Client::connect(bus.address).unwrap();
        let mut ends: Vec<usize> = request_cuts.into_iter().map(|cut| cut % request.len()).collect();
        ends.sort_unstable();
        client.send_split(request.as_bytes(), &ends, Duration::from_millis(1)).unwrap();
        client.half_close().unwrap();
        let got = client.until_closed().unwrap();
        prop_assert_eq!(String::from_utf8(got).unwrap(), String::from_utf8(response).unwrap());
        let arrived = backend.connections()[0].text();
        let expected = format!("POST /b HTTP/1.1\r\nHost: {}\r\nX-A: 1\r\n{framing}\r\n\r\n{body}", backend.address());
        prop_assert_eq!(arrived, expected);
    }
}

#[test]
fn the_configuration_can_end_a_clients_connection_with_its_answer() {
    let keepalive = |word: &str, patience: Duration| {
        let configuration = crate::support::definitions(&format!(
            "<proxy name='P'><target><inSequence><property name='NO_KEEPALIVE' value='{word}' scope='axis2'/>\
             <respond/></inSequence></target></proxy>"
        ));
        let bus = Bus::with(&configuration, settings());
        let mut client = Client::connect(bus.address).unwrap();
        client.send(&post("x")).unwrap();
        let answer = client.answer().unwrap();
        (answer.header("connection").map(str::to_owned), client.is_closed_within(patience))
    };
    assert_eq!(keepalive("true", DEADLINE), (Some("close".to_owned()), true));
    assert_eq!(keepalive("false", Duration::from_millis(300)), (None, false));
}
