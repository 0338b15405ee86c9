//! The fault matrix: whatever a backend does, through whatever construct it is reached, its client has an answer within
//! the deadline, with the right code, and nothing of the exchange is left behind.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::support::{Bus, answering, definitions, settings};
use myelin_server::UnderWay;
use myelin_testkit::faulty::{Backend, Script, named};
use myelin_testkit::port;
use myelin_testkit::raw::{self, Error};

/// What a backend does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backends {
    Refuses,
    Resets,
    Stalls,
    /// Closes in the middle of its answer's body.
    HalfAnswer,
    /// Says two lengths.
    WrongLength,
    /// Says that what is no XML is SOAP.
    BadXml,
    /// Answers 503, which is an answer.
    Unavailable,
}

const BACKENDS: [Backends; 7] = [
    Backends::Refuses,
    Backends::Resets,
    Backends::Stalls,
    Backends::HalfAnswer,
    Backends::WrongLength,
    Backends::BadXml,
    Backends::Unavailable,
];

/// How long a backend may take; and what the bus has above that for everything.
const DEADLINE: Duration = Duration::from_millis(800);
const SLACK: Duration = Duration::from_secs(30);

const MESSAGE: &str = concat!(
    r#"<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>"#,
    r#"<m:all xmlns:m="urn:m"><m:one>1</m:one><m:one>2</m:one></m:all></s:Body></s:Envelope>"#
);

fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

impl Backends {
    /// A backend that does it, to be kept as long as it is needed, and its address.
    fn start(self) -> (Option<Backend>, SocketAddr) {
        let script = match self {
            Backends::Refuses => return (None, port::free().unwrap()),
            Backends::Resets => (named("resets-after-reading").unwrap().script)(),
            Backends::Stalls => (named("stalls-before-head").unwrap().script)(),
            Backends::HalfAnswer => (named("half-answer").unwrap().script)(),
            Backends::WrongLength => (named("two-lengths-that-differ").unwrap().script)(),
            Backends::BadXml => Script::answering(answer("200 OK", "<s:Envelope><never></closed>")),
            Backends::Unavailable => Script::answering(answer("503 Service Unavailable", MESSAGE)),
        };
        let backend = Backend::start(script).unwrap();
        let address = backend.address();
        (Some(backend), address)
    }

    /// The status where nobody looks at the body; `None` where the break shows in the middle of it.
    fn unread(self) -> Option<u16> {
        match self {
            Backends::Refuses | Backends::Resets | Backends::WrongLength => Some(502),
            Backends::Stalls => Some(504),
            Backends::HalfAnswer => None,
            Backends::BadXml => Some(200),
            Backends::Unavailable => Some(503),
        }
    }
}

/// What the client saw.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Status(u16),
    /// An answer that visibly ends early.
    Broken,
}

/// Asks a bus with one flow before each kind of backend, and before a healthy one that the flow may use, too.
fn matrix(artefacts: impl Fn(SocketAddr, SocketAddr) -> String, right: impl Fn(Backends, &Seen) -> bool) {
    for kind in BACKENDS {
        let (faulty, address) = kind.start();
        let healthy = answering(answer("200 OK", MESSAGE));
        let mut settings = settings();
        settings.client.response_timeout = DEADLINE;
        settings.client.connect_timeout = DEADLINE;
        settings.client.idle = DEADLINE;
        let bus = Bus::with(&definitions(&artefacts(address, healthy.address())), settings);
        // The second request finds what the first has left.
        for round in 0..2 {
            let start = Instant::now();
            let seen = match raw::exchange(bus.address, &request()) {
                Ok(answer) => Seen::Status(answer.status),
                Err(Error::Closed(_) | Error::Io(..)) => Seen::Broken,
                Err(error) => panic!("{kind:?}, round {round}: {error}"),
            };
            let took = start.elapsed();
            assert!(right(kind, &seen), "{kind:?}, round {round}: {seen:?}");
            assert!(took < DEADLINE + SLACK, "{kind:?}, round {round}: {took:?}");
        }
        nothing_is_left(&bus, kind);
        assert!(bus.stop(), "{kind:?}");
        drop(faulty);
    }
}

/// Waits until all counters are at zero.
fn nothing_is_left(bus: &Bus, kind: Backends) {
    let end = Instant::now() + DEADLINE + SLACK;
    let mut left = bus.under_way();
    while left != UnderWay::default() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
        left = bus.under_way();
    }
    assert_eq!(left, UnderWay::default(), "{kind:?}");
}

fn request() -> Vec<u8> {
    format!(
        "POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Type: text/xml\r\nSOAPAction: \"urn:a\"\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{MESSAGE}",
        MESSAGE.len()
    )
    .into_bytes()
}

/// An endpoint that is not suspended when it fails, so that each request meets the backend.
fn endpoint(address: SocketAddr) -> String {
    const NEVER: &str = "<errorCodes>-1</errorCodes>";
    format!(
        r#"<endpoint><address uri="http://{address}/b"><markForSuspension>{NEVER}</markForSuspension><suspendOnFailure>{NEVER}</suspendOnFailure></address></endpoint>"#
    )
}

/// One that is, as all are by default.
fn suspended(address: SocketAddr) -> String {
    format!(r#"<endpoint><address uri="http://{address}/b"/></endpoint>"#)
}

fn proxy(sequences: &str) -> String {
    format!(r#"<proxy name="P" transports="http"><target>{sequences}</target></proxy>"#)
}

/// Nobody reads the body: what arrives is the client's.
fn as_unread(kind: Backends, seen: &Seen) -> bool {
    match kind.unread() {
        Some(status) => *seen == Seen::Status(status),
        None => *seen == Seen::Broken,
    }
}

/// Somebody reads the body: what is no message is a fault before anything of it went to the client.
fn as_read(kind: Backends, seen: &Seen) -> bool {
    match kind {
        Backends::HalfAnswer | Backends::BadXml => matches!(seen, Seen::Status(500..=504)),
        _ => kind.unread().is_some_and(|status| *seen == Seen::Status(status)),
    }
}

#[test]
fn through_a_proxy() {
    matrix(|faulty, _| proxy(&endpoint(faulty)), as_unread);
}

#[test]
fn through_a_proxy_whose_endpoint_is_suspended() {
    matrix(
        |faulty, _| proxy(&suspended(faulty)),
        // The second request finds it suspended, where the first one failed before an answer.
        |kind, seen| as_unread(kind, seen) || (!matches!(kind, Backends::BadXml) && *seen == Seen::Status(503)),
    );
}

#[test]
fn through_a_proxy_that_changes_the_answer() {
    let changing = |faulty, _| {
        let header = r#"<outSequence><header xmlns:m="urn:m" name="m:h" value="x"/><send/></outSequence>"#;
        proxy(&(endpoint(faulty) + header))
    };
    matrix(changing, as_read);
}

#[test]
fn through_an_api() {
    let api = |faulty, _| {
        format!(
            r#"<api name="A" context="/services"><resource methods="POST" url-mapping="/P"><inSequence><send>{}</send></inSequence></resource></api>"#,
            endpoint(faulty)
        )
    };
    matrix(api, as_unread);
}

#[test]
fn through_call() {
    let call = |faulty, _| proxy(&format!("<inSequence><call>{}</call><respond/></inSequence>", endpoint(faulty)));
    matrix(call, as_unread);
}

#[test]
fn through_callout() {
    let callout = |faulty, _| {
        proxy(&format!(
            r#"<inSequence><callout action="urn:a">{}<source type="envelope"/><target key="answer"/></callout><respond/></inSequence>"#,
            endpoint(faulty)
        ))
    };
    // What calls out takes an answer's status for a failure of the call.
    matrix(callout, |_, seen| matches!(seen, Seen::Status(500..=504)));
}

#[test]
fn through_clone() {
    let clone = |faulty, _| {
        let target = format!("<target><sequence><send>{}</send></sequence></target>", endpoint(faulty));
        proxy(&format!("<inSequence><clone>{target}{target}</clone></inSequence><outSequence><send/></outSequence>"))
    };
    matrix(clone, as_unread);
}

/// Splits the message in two parts and joins the answers; the second part has a backend of its own.
fn aggregate(first: SocketAddr, second: SocketAddr) -> String {
    proxy(&format!(
        r#"<inSequence><clone><target><sequence><send>{}</send></sequence></target><target><sequence><send>{}</send></sequence></target></clone></inSequence>
        <outSequence><aggregate><completeCondition timeout="1"><messageCount min="2" max="2"/></completeCondition>
        <onComplete xmlns:m="urn:m" expression="//m:all"><send/></onComplete></aggregate></outSequence>"#,
        endpoint(first),
        endpoint(second)
    ))
}

#[test]
fn through_aggregate_with_no_whole_answer() {
    matrix(|faulty, _| aggregate(faulty, faulty), |_, seen| matches!(seen, Seen::Status(202 | 500..=504)));
}

#[test]
fn through_aggregate_with_one_whole_answer() {
    matrix(aggregate, |_, seen| matches!(seen, Seen::Status(200 | 202 | 500..=504)));
}

#[test]
fn through_failover() {
    let failover = |faulty, healthy| {
        let group = format!("<endpoint><failover>{}{}</failover></endpoint>", suspended(faulty), suspended(healthy));
        proxy(&group)
    };
    matrix(failover, |kind, seen| match kind {
        // Nothing of an answer came: the other one gets the request.
        Backends::Refuses | Backends::Resets | Backends::Stalls | Backends::WrongLength => *seen == Seen::Status(200),
        // An answer came, and part of it is with the client.
        Backends::HalfAnswer | Backends::BadXml | Backends::Unavailable => as_unread(kind, seen),
    });
}

#[test]
fn through_failover_with_nobody_left() {
    let failover = |faulty, _| {
        let group = format!("<endpoint><failover>{}{}</failover></endpoint>", suspended(faulty), suspended(faulty));
        proxy(&group)
    };
    matrix(failover, |kind, seen| match kind {
        Backends::HalfAnswer | Backends::BadXml | Backends::Unavailable => as_unread(kind, seen),
        // The second request finds nobody ready.
        _ => matches!(seen, Seen::Status(502..=504)),
    });
}
