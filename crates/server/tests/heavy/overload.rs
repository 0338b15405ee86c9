//! More work than the serving thread can do: what would have to wait too long is refused, and others are served meanwhile.
//!
//! The work is too little for each message to be given to another thread, and there are many messages.

use std::time::Duration;

use crate::support::definitions;
use crate::support::process::{DEADLINE, Process};
use crate::turn;
use myelin_testkit::raw::{Answer, Client};

/// How many ask for the work at once.
const AT_ONCE: usize = 60;

/// Without optimisation everything takes ten times as long.
const EXPRESSIONS: usize = if cfg!(debug_assertions) { 2 } else { 15 };

/// A service that takes milliseconds for a message, and one that takes none.
fn configuration() -> String {
    // An expression that asks for a property, too, is found where it stands.
    let expression = "count(//n[. = get-property('x')])";
    let properties: String = (0..EXPRESSIONS)
        .map(|number| format!("<property name='p{number}' expression=\"{expression}\" scope='default'/>"))
        .collect();
    let proxy = |name: &str, mediators: &str| {
        format!("<proxy name='{name}'><target><inSequence>{mediators}<respond/></inSequence></target></proxy>")
    };
    definitions(&(proxy("Costly", &properties) + &proxy("Cheap", "")))
}

fn request(service: &str, body: &str) -> Vec<u8> {
    let head = format!("POST /services/{service} HTTP/1.1\r\nHost: bus\r\nContent-Type: application/xml\r\n");
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn costly() -> Vec<u8> {
    request("Costly", &format!("<list>{}</list>", "<n>1</n>".repeat(2_000)))
}

/// A bus of one thread that knows by now what its services take.
fn run(settings: &str) -> Process {
    let process = Process::with(&[("synapse.xml", &configuration())], settings, &["--threads", "1"]);
    let mut client = client(&process);
    for _ in 0..10 {
        assert_eq!(client.exchange(&costly()).unwrap().status, 200);
        assert_eq!(client.exchange(&request("Cheap", "<a/>")).unwrap().status, 200);
    }
    process
}

fn client(process: &Process) -> Client {
    let mut client = Client::connect(process.address).unwrap();
    client.deadline(DEADLINE);
    client
}

/// Many ask at once, and behind them somebody for next to nothing; how long that one waited, and how long all did, in the
/// time of the serving thread; and the answers to the many.
fn flood(process: &Process) -> (Duration, Duration, Vec<Answer>) {
    let mut clients: Vec<Client> = (0..AT_ONCE).map(|_| client(process)).collect();
    let mut other = client(process);
    assert_eq!(other.exchange(&request("Cheap", "<a/>")).unwrap().status, 200);
    let costly = costly();
    let before = process.serving_time();
    clients.iter_mut().for_each(|client| client.send(&costly).unwrap());
    let sent = process.serving_time();
    assert_eq!(other.exchange(&request("Cheap", "<a/>")).unwrap().status, 200);
    let waited = process.serving_time() - sent;
    let answers = clients.iter_mut().map(|client| client.answer().unwrap()).collect();
    (waited, process.serving_time() - before, answers)
}

#[test]
fn many_messages_that_take_a_little_long_each_keep_nobody_else_waiting() {
    let _turn = turn();
    let process = run("");
    let (waited, all, answers) = flood(&process);
    println!("it waited for {waited:?} of {all:?}");
    assert!(waited < all / 4, "it waited for {waited:?} of {all:?}");
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 503)));
}

#[test]
fn what_would_have_to_wait_too_long_is_refused_and_the_rest_is_served() {
    let _turn = turn();
    let process = run("[myelin.work]\nwait = \"10ms\"");
    let (_, _, answers) = flood(&process);
    let (served, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert!(!served.is_empty() && !refused.is_empty(), "{} served, {} refused", served.len(), refused.len());
    for answer in refused {
        assert_eq!((answer.status, answer.header("Retry-After")), (503, Some("1")), "{answer:?}");
        assert!(answer.text().contains("has reached a limit; try again later"), "{}", answer.text());
    }
    let line = process.logged("would have waited too long for processor time");
    assert!(line.contains("proxy Costly"), "{line}");
    // It is over when it is over.
    let mut client = client(&process);
    for _ in 0..10 {
        assert_eq!(client.exchange(&costly()).unwrap().status, 200);
    }
}
