//! The faulty backends have the defects that they say, and the raw client sees it.

use std::time::Duration;

use myelin_testkit::faulty::{
    BODY, Backend, DEFECTS, End, NeverAccepts, Outcome, Script, Step, Until, idle_race, whole,
};
use myelin_testkit::port;
use myelin_testkit::raw::{self, Client, Delimiter};

const REQUEST: &[u8] = b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";

/// Wrong or too large for a proxy, and readable for all that.
const TAKEN_BY_A_LENIENT_CLIENT: [&str; 3] = ["two-lengths-that-differ", "length-is-no-number", "huge-head"];

fn client(backend: &Backend) -> Client {
    Client::connect(backend.address()).expect("the backend listens")
}

#[test]
fn every_manner_does_what_its_outcome_says() {
    for defect in DEFECTS {
        let backend = Backend::start((defect.script)()).unwrap();
        let mut client = client(&backend);
        if defect.outcome == Outcome::Stalled {
            client.deadline(Duration::from_millis(400));
        }
        let result = client.exchange(REQUEST);
        match (defect.outcome, result) {
            (Outcome::Answered, Ok(answer)) => {
                assert_eq!((answer.status, answer.body.as_slice()), (200, BODY), "{}", defect.name);
            }
            (Outcome::Stalled, Err(raw::Error::Deadline(_))) | (Outcome::NoAnswer | Outcome::Broken, Err(_)) => {}
            // This client takes whatever it gets; a proxy must not.
            (Outcome::NoAnswer, Ok(_)) if TAKEN_BY_A_LENIENT_CLIENT.contains(&defect.name) => {}
            (outcome, result) => panic!("{}: {outcome:?} but {result:?}", defect.name),
        }
    }
}

#[test]
fn what_arrived_is_recorded_with_the_end() {
    let backend = Backend::start(Script::answering(whole())).unwrap();
    let mut client = client(&backend);
    for _ in 0..3 {
        assert_eq!(client.exchange(REQUEST).unwrap().body, BODY);
    }
    drop(client);
    let connections = backend.wait_for_ended(1, raw::DEADLINE).unwrap();
    assert_eq!(connections.len(), 1);
    assert_eq!(connections[0].received, REQUEST.repeat(3));
    assert_eq!(connections[0].received_bytes, 3 * REQUEST.len() as u64);
    assert_eq!(connections[0].end, Some(End::PeerClosed));
    assert_eq!(connections[0].rounds, 4, "three requests and the wait for a fourth");
}

#[test]
fn the_idle_race_kills_the_second_request_and_answers_it_on_a_new_connection() {
    let backend = Backend::start(idle_race(1)).unwrap();
    let mut first = client(&backend);
    assert_eq!(first.exchange(REQUEST).unwrap().status, 200);
    assert!(matches!(first.exchange(REQUEST), Err(raw::Error::Io(..) | raw::Error::Closed(_))));
    assert_eq!(client(&backend).exchange(REQUEST).unwrap().body, BODY);
}

#[test]
fn chunked_uploads_are_read_and_echoed() {
    let head = Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".to_vec());
    let script = Script::of([Step::Read(Until::Head), Step::Read(Until::Body), head, Step::Echo, Step::Again]);
    let backend = Backend::start(script).unwrap();
    let request = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
    let mut client = client(&backend);
    client.send_split(request, &[3, 50, 52, 60], Duration::from_millis(2)).unwrap();
    let answer = client.answer().unwrap();
    assert_eq!((answer.text().as_str(), answer.delimiter), ("hello", Delimiter::Length));
}

#[test]
fn a_reset_arrives_as_one() {
    let backend = Backend::start(Script::of([Step::Read(Until::Bytes(1)), Step::Reset])).unwrap();
    let error = client(&backend).exchange(REQUEST).unwrap_err();
    assert!(matches!(&error, raw::Error::Io(io, _) if io.kind() == std::io::ErrorKind::ConnectionReset), "{error}");
}

#[test]
fn trailers_interim_answers_and_extensions_are_seen() {
    let script = |name| (myelin_testkit::faulty::named(name).unwrap().script)();
    let backend = Backend::start([script("chunked-with-extensions-and-trailers"), script("early-hints")]).unwrap();
    let answer = client(&backend).exchange(REQUEST).unwrap();
    assert_eq!((answer.delimiter, answer.trailers.as_slice()), (Delimiter::Chunked, &["X-Digest: abc".to_owned()][..]));
    assert_eq!(client(&backend).exchange(REQUEST).unwrap().interim, [103, 103]);
}

#[test]
fn unreachable_backends_cannot_be_reached() {
    let refused = Client::connect(port::free().unwrap()).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    let never = NeverAccepts::start().unwrap();
    let pending = std::net::TcpStream::connect_timeout(&never.address(), Duration::from_millis(300)).unwrap_err();
    assert_eq!(pending.kind(), std::io::ErrorKind::TimedOut);
}

#[test]
fn a_stopped_backend_lets_go_of_its_connections() {
    let backend = Backend::start(Script::of([Step::Stall])).unwrap();
    let mut client = client(&backend);
    client.send(REQUEST).unwrap();
    drop(backend);
    assert!(client.is_closed_within(raw::DEADLINE));
}
