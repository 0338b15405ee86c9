//! Answers that come while their request is still being sent reach clients that read nothing before they have sent it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::process::{DEADLINE, Process};
use crate::support::{Bus, definitions, proxy, settings};
use myelin_bench::procfs;
use myelin_http::Pace;
use myelin_testkit::faulty::{Backend, Script, Step, Until};
use myelin_testkit::raw::Client;

/// More than all the sockets on the way there and back hold, of which the system may grant each 4 or 6 MiB.
const LARGE_BYTES: usize = 48 << 20;
/// What an echoing backend reads before it answers so much.
const STEP_BYTES: usize = 64 << 10;
/// How many pieces of one byte a client sends that takes its time.
const PIECES: usize = 200;
/// What the buses may keep whose memory is scarce; what is held back for a client may take half of it.
const SCARCE_BYTES: u64 = 8 << 20;

const ECHO: &str = "<proxy name='P'><target><inSequence><respond/></inSequence></target></proxy>";

fn large() -> Vec<u8> {
    // No piece in which bodies are sent is a multiple of this.
    let pattern: Vec<u8> = (0..=250).collect();
    pattern.repeat(LARGE_BYTES / pattern.len())
}

fn head(length: usize) -> String {
    format!("POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Length: {length}\r\n\r\n")
}

/// The body in chunks of 64 KiB.
fn chunked(body: &[u8]) -> Vec<u8> {
    let chunk = |data: &[u8]| [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat();
    let chunks: Vec<Vec<u8>> = body.chunks(STEP_BYTES).map(chunk).collect();
    [&chunks.concat()[..], b"0\r\n\r\n"].concat()
}

/// A backend that answers as it reads what is sent to it, head first and then as much as it has read.
fn echoing(head: &str, body: &[u8]) -> Backend {
    let steps = [Step::Read(Until::Head), Step::Send(head.as_bytes().to_vec())].into_iter();
    let pieces = body.chunks(STEP_BYTES);
    let pieces = pieces.flat_map(|piece| [Step::Read(Until::Bytes(piece.len() as u64)), Step::Send(piece.to_vec())]);
    Backend::start(Script::of(steps.chain(pieces).chain([Step::Close]).collect::<Vec<_>>())).unwrap()
}

/// Sends all of a request, and reads only then.
fn ask(bus: &Bus, request: &[&[u8]]) -> myelin_testkit::raw::Answer {
    let mut client = Client::connect(bus.address).unwrap();
    client.deadline(DEADLINE);
    request.iter().for_each(|part| client.send(part).unwrap());
    client.answer().unwrap()
}

#[test]
fn a_client_that_sends_all_first_gets_its_own_body_back() {
    let bus = Bus::with(&definitions(ECHO), settings());
    let body = large();
    let answer = ask(&bus, &[head(body.len()).as_bytes(), &body]);
    assert!(answer.status == 200 && answer.body == body, "{}", answer.status);
    let head = "POST /services/P HTTP/1.1\r\nHost: bus\r\nTransfer-Encoding: chunked\r\n\r\n";
    let answer = ask(&bus, &[head.as_bytes(), &chunked(&body)]);
    assert!(answer.status == 200 && answer.body == body, "{}", answer.status);
    let old = "POST /services/P HTTP/1.0\r\nContent-Length: ";
    let answer = ask(&bus, &[format!("{old}{}\r\n\r\n", body.len()).as_bytes(), &body]);
    assert!(answer.status == 200 && answer.body == body, "{}", answer.status);
}

#[test]
fn a_client_that_sends_all_first_gets_what_a_backend_answers_as_it_reads() {
    let body = large();
    let length = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let until_close = "HTTP/1.1 200 OK\r\n\r\n".to_owned();
    let in_chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned();
    for (head_back, wire) in [(length, body.clone()), (until_close, body.clone()), (in_chunks, chunked(&body))] {
        let backend = echoing(&head_back, &wire);
        let bus = Bus::with(&proxy(backend.address()), settings());
        let answer = ask(&bus, &[head(wire.len()).as_bytes(), &wire]);
        assert!(answer.status == 200 && answer.body == body, "{head_back}: {}", answer.status);
    }
}

#[test]
fn a_client_that_sends_all_first_gets_a_large_answer_of_a_backend_that_reads_no_further() {
    let body = large();
    let head_back = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let steps = [Step::Read(Until::Head), Step::Send([head_back.as_bytes(), &body].concat()), Step::Stall];
    let backend = Backend::start(Script::of(steps)).unwrap();
    let bus = Bus::with(&proxy(backend.address()), settings());
    let answer = ask(&bus, &[head(body.len()).as_bytes(), &body]);
    assert!(answer.status == 200 && answer.body == body, "{}", answer.status);
}

#[test]
fn a_client_that_sends_all_first_hears_why_its_request_was_not_read() {
    let mut small = settings();
    small.server.body_bytes = Some(1000);
    let refused = Bus::with(&definitions(ECHO), small);
    let told = "<proxy name='P'><target><inSequence><payloadFactory media-type='text'><format>told</format>\
                </payloadFactory><respond/></inSequence></target></proxy>";
    let unread = Bus::with(&definitions(told), settings());
    for (bus, status, text) in [(&refused, 413, "larger than this bus accepts"), (&unread, 200, "told")] {
        let body = large();
        let answer = ask(bus, &[head(body.len()).as_bytes(), &body]);
        assert!(answer.text().contains(text), "{} {}", answer.status, answer.text());
        assert_eq!((answer.status, answer.header("connection")), (status, Some("close")));
    }
}

#[test]
fn a_client_that_is_still_sending_is_waited_for_though_nothing_more_of_its_answer_comes() {
    let (first, last) = (large(), vec![b'l'; STEP_BYTES]);
    let head_back = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", first.len() + last.len());
    let backend = Backend::start(Script::of([
        Step::Read(Until::Head),
        Step::Send([head_back.as_bytes(), &first].concat()),
        Step::Read(Until::Bytes(PIECES as u64)),
        Step::Send(last.clone()),
    ]))
    .unwrap();
    let mut slow = settings();
    slow.server.pace = Pace { least_bytes_per_second: 1, window: Duration::from_secs(4) };
    let bus = Bus::with(&proxy(backend.address()), slow);
    let mut client = Client::connect(bus.address).unwrap();
    client.deadline(DEADLINE);
    client.send(head(PIECES).as_bytes()).unwrap();
    // More than twice the window, and in each of it many times what is asked for.
    for _ in 0..PIECES {
        client.send(b"p").unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    let answer = client.answer().unwrap();
    assert!(answer.status == 200 && answer.body == [first, last].concat(), "{}", answer.status);
}

#[test]
fn who_waits_for_memory_to_keep_an_answer_in_goes_on_when_others_give_it_back() {
    // Half of it is what the first client needs, and the second as well.
    let settings = format!("[myelin.server]\nmemory_bytes = {}", 2 * LARGE_BYTES);
    let process = Process::with(&[("synapse.xml", &definitions(ECHO))], &settings, &["--threads", "1"]);
    let body = large();
    let greedy = TcpStream::connect(process.address).unwrap();
    greedy.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    (&greedy).write_all(head(4 * body.len()).as_bytes()).unwrap();
    assert!((0..4).any(|_| (&greedy).write_all(&body).is_err()));
    let sent = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            let mut client = Client::connect(process.address).unwrap();
            client.deadline(DEADLINE);
            client.send(head(body.len()).as_bytes()).unwrap();
            for piece in body.chunks(STEP_BYTES) {
                client.send(piece).unwrap();
                sent.fetch_add(1, Ordering::Relaxed);
            }
            client.answer().unwrap()
        });
        // Until it cannot send any more.
        let mut before = usize::MAX;
        while before != sent.load(Ordering::Relaxed) {
            before = sent.load(Ordering::Relaxed);
            std::thread::sleep(Duration::from_secs(1));
        }
        drop(greedy);
        let answer = second.join().unwrap();
        assert!(answer.status == 200 && answer.body == body, "{}", answer.status);
    });
}

fn scarce() -> Process {
    let settings = format!("[myelin.server]\nmemory_bytes = {SCARCE_BYTES}\npace_window = \"5s\"");
    Process::with(&[("synapse.xml", &definitions(ECHO))], &settings, &["--threads", "1"])
}

fn memory(process: &Process) -> u64 {
    procfs::usage(process.id()).unwrap().memory_bytes
}

#[test]
fn a_client_that_never_reads_is_let_go_once_memory_is_spent_and_the_log_says_so() {
    let process = scarce();
    let small = [head(5).as_bytes(), b"hello"].concat();
    assert_eq!(Client::connect(process.address).unwrap().exchange(&small).unwrap().text(), "hello");
    let before = memory(&process);
    let mut client = Client::connect(process.address).unwrap();
    let body = large();
    client.send(head(4 * body.len()).as_bytes()).unwrap();
    assert!((0..4).any(|_| client.send(&body).is_err()));
    process.logged("exceeds the memory that myelin.server.memory_bytes allows");
    let after = memory(&process);
    assert!(after < before + 2 * SCARCE_BYTES, "it grew from {before} to {after} bytes");
    assert_eq!(Client::connect(process.address).unwrap().exchange(&small).unwrap().text(), "hello");
}

#[test]
fn a_client_that_reads_slowly_gets_everything_and_takes_no_more_memory_than_is_set_aside() {
    let process = scarce();
    let mut stream = TcpStream::connect(process.address).unwrap();
    let mut reads = stream.try_clone().unwrap();
    reads.set_read_timeout(Some(DEADLINE)).unwrap();
    let (body, before) = (large(), memory(&process));
    let head = head(body.len()).replace("Host", "Connection: close\r\nHost");
    std::thread::scope(|scope| {
        scope.spawn(|| [head.as_bytes(), &body].iter().for_each(|part| stream.write_all(part).unwrap()));
        let (mut got, mut most) = (Vec::new(), 0);
        for piece in 1.. {
            if (&mut reads).take(512 << 10).read_to_end(&mut got).unwrap() == 0 {
                break;
            }
            most = most.max(memory(&process));
            // Now and then so long that it looks like a client that is busy with sending.
            std::thread::sleep(Duration::from_millis(if piece % 20 == 0 { 400 } else { 10 }));
        }
        assert!(got.ends_with(&body), "the body came back changed");
        assert!(most < before + 2 * SCARCE_BYTES, "it grew from {before} to {most} bytes");
    });
}
