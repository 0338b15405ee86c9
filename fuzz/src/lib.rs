//! What several fuzz targets share.

pub mod security;
pub mod xslt;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use myelin_engine::transport::{LocalFuture, Outgoing, Runtime, SendError, SendErrorKind, Sender, Sent, Transport};
use myelin_engine::{Arrival, Engine, Loaded, Settings, load};
use myelin_message::{Body, CorrelationId, Message};
use myelin_testkit::clock::Clock;
use myelin_http::h1::{HeadLimits, HeadScanner, ScanError};

/// Splits input into what the fuzzer chose for the pieces and what the pieces are of.
pub fn split(data: &[u8]) -> (usize, &[u8]) {
    match data.split_first() {
        Some((&size, rest)) => (usize::from(size).max(1), rest),
        None => (1, data),
    }
}

/// Finds the end of a head once at a stroke and once piece by piece, and holds that both say the same.
pub fn head_end(bytes: &[u8], piece: usize) -> Result<Option<usize>, ScanError> {
    let limit = HeadLimits::default().bytes;
    let whole = HeadScanner::default().scan(bytes, limit);
    let mut scanner = HeadScanner::default();
    let mut pieced = Ok(None);
    let mut arrived = 0;
    while arrived < bytes.len() && pieced == Ok(None) {
        arrived = (arrived + piece).min(bytes.len());
        pieced = scanner.scan(&bytes[..arrived], limit);
    }
    assert_eq!(whole, pieced, "a head ends in the same place however it is split");
    whole
}

/// Any text as the value of an attribute in apostrophes; characters that XML has not become question marks.
pub fn attribute(text: &str) -> String {
    let mut value = String::new();
    for c in text.chars() {
        match c {
            '&' | '<' | '>' | '"' | '\'' | '\t' | '\n' | '\r' => value.push_str(&format!("&#{};", u32::from(c))),
            c if c.is_control() => value.push('?'),
            c => value.push(c),
        }
    }
    value
}

/// Loads a configuration from its text.
pub fn load_text(xml: &[u8]) -> Loaded {
    load_as("xml", xml)
}

/// Loads a configuration from a `.car` archive.
pub fn load_archive(bytes: &[u8]) -> Loaded {
    load_as("car", bytes)
}

fn load_as(extension: &str, bytes: &[u8]) -> Loaded {
    // The loader reads files; one in memory, one name a process, is as near as it gets.
    let folder = if cfg!(target_os = "linux") { PathBuf::from("/dev/shm") } else { std::env::temp_dir() };
    let path = folder.join(format!("myelin-fuzz-{}.{extension}", std::process::id()));
    std::fs::write(&path, bytes).expect("there is room for a small file");
    let loaded = load(std::slice::from_ref(&path), &Settings::default());
    for artefact in &loaded.report.artefacts {
        for problem in artefact.problems.iter().chain(&artefact.warnings) {
            assert!(problem.line() > 0 && problem.column() > 0, "every problem has a place: {problem}");
            assert!(!problem.message().is_empty(), "every problem says what it is");
        }
    }
    loaded
}

/// Sends one request through a bus whose backends answer nothing; there is an answer in any case.
pub fn serve(loaded: Loaded, request: Message) -> Message {
    let clock = Clock::default();
    let engine = Engine::new(Arc::new(loaded.bus), Rc::new(Nobody(clock.clone())) as Rc<dyn Transport>);
    let address = SocketAddr::from(([127, 0, 0, 1], 8280));
    let arrival = Arrival {
        transport: "http",
        peer: Some(address),
        local: Some(address),
        inbound: None,
        correlation: &const { CorrelationId::fixed("fuzz") },
    };
    let answer = clock.run(engine.serve(request, arrival)).expect("there is an answer in any case");
    assert!(!matches!(answer.body, Body::Gone), "an answer has a body that can be sent");
    answer
}

/// A transport behind which there is nobody.
struct Nobody(Clock);

impl Sender for Nobody {
    fn send<'a>(&'a self, _: Outgoing) -> LocalFuture<'a, Result<Sent, SendError>> {
        let error = SendError { kind: SendErrorKind::ConnectFailed, message: "nobody is there".to_owned() };
        Box::pin(std::future::ready(Err(error)))
    }
}

impl Runtime for Nobody {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn monotonic(&self) -> Duration {
        self.0.now()
    }

    fn sleep(&self, time: Duration) -> LocalFuture<'static, ()> {
        self.0.sleep(time)
    }

    fn spawn(&self, task: LocalFuture<'static, ()>) {
        self.0.spawn(task);
    }
}
