//! Answers of a cache over real sockets: how they are framed, and what slow clients of a large one take.

use crate::support::{Bus, definitions, post, settings};
use myelin_testkit::raw::Client;
use myelin_testkit::service::{Response, Service};

/// How long the backend's answer is.
const BYTES: usize = 7 << 20;

fn configuration(backend: &Service) -> String {
    let address = backend.address();
    definitions(&format!(
        "<proxy name='C'><target><inSequence><cache><protocol type='HTTP'><methods>GET, HEAD</methods>\
         <enableCacheControl>true</enableCacheControl></protocol></cache>\
         <call><endpoint><http uri-template='http://{address}/'/></endpoint></call><cache collector='true'/><respond/>\
         </inSequence></target></proxy>\
         <proxy name='E'><target><inSequence><log level='full'/><respond/></inSequence></target></proxy>"
    ))
}

fn backend() -> Service {
    let headers =
        || [("ETag", "\"v1\""), ("Content-Type", "text/plain")].map(|(name, value)| (name.into(), value.into()));
    Service::start(move |request| {
        let body = if request.method == "HEAD" { Vec::new() } else { vec![b'x'; BYTES] };
        Response { status: 200, headers: headers().to_vec(), body }
    })
    .unwrap()
}

fn ask(method: &str, more: &str) -> Vec<u8> {
    format!("{method} /services/C HTTP/1.1\r\nHost: bus\r\n{more}\r\n").into_bytes()
}

#[test]
fn what_is_kept_is_answered_whole_or_by_its_head_and_the_connection_goes_on() {
    let backend = backend();
    let bus = Bus::with(&configuration(&backend), settings());
    let mut client = Client::connect(bus.address).unwrap();
    for round in 0..3 {
        let whole = client.exchange(&ask("GET", "")).unwrap();
        assert_eq!((whole.status, whole.body.len(), whole.header("ETag")), (200, BYTES, Some("\"v1\"")), "{round}");
        assert!(whole.body.iter().all(|byte| *byte == b'x'));
        let known = client.exchange(&ask("GET", "If-None-Match: \"v1\"\r\n")).unwrap();
        assert_eq!((known.status, known.body.len()), (304, 0), "{round}");
        client.send(&ask("HEAD", "")).unwrap();
        let head = client.head().unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }
    assert_eq!(backend.requests().len(), 2, "one GET and one HEAD");
    assert!(bus.stop());
}

#[test]
fn slow_clients_of_a_large_answer_leave_the_memory_for_bodies_to_others() {
    let backend = backend();
    let mut settings = settings();
    settings.server.memory_bytes = 64 << 20;
    let bus = Bus::with(&configuration(&backend), settings);
    assert_eq!(Client::connect(bus.address).unwrap().exchange(&ask("GET", "")).unwrap().body.len(), BYTES);
    let slow: Vec<Client> = (0..100)
        .map(|_| {
            let mut client = Client::connect(bus.address).unwrap();
            client.send(&ask("GET", "")).unwrap();
            client.head().unwrap();
            client
        })
        .collect();
    let body = format!("<a>{}</a>", "x".repeat(300_000));
    let request = String::from_utf8(post(&body)).unwrap().replace("/services/P", "/services/E");
    let answer = Client::connect(bus.address).unwrap().exchange(request.as_bytes()).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    drop(slow);
    assert!(bus.stop());
}
