use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use myelin_testkit::eventually;

use super::exchange::{Exchange, Progress, Sink};
use super::*;

struct Sent(Vec<u8>);

impl Sink for Sent {
    fn send(&mut self, head: &[u8], body: &[u8], tail: &[u8]) {
        for run in [head, body, tail] {
            self.0.extend_from_slice(run);
        }
    }

    fn send_owned(&mut self, head: &[u8], body: &mut Vec<u8>, tail: &[u8]) {
        self.send(head, body, tail);
    }
}

/// What is answered to `input` that comes in reads of `step` bytes.
fn answers(input: &[u8], step: usize, hold_bytes: u64) -> String {
    String::from_utf8(answer_bytes(input, step, hold_bytes)).unwrap()
}

fn answer_bytes(input: &[u8], step: usize, hold_bytes: u64) -> Vec<u8> {
    let (mut exchange, mut sent, mut held) =
        (Exchange::new(b"HTTP/1.1 200 OK\r\n".as_slice().into()), Sent(Vec::new()), Vec::new());
    for read in input.chunks(step) {
        held.extend_from_slice(read);
        loop {
            let (used, progress) = exchange.take(&held, hold_bytes, true, &mut sent);
            held.drain(..used);
            match progress {
                Progress::Answered { keep_alive: true } => {}
                Progress::Answered { keep_alive: false } | Progress::Refused => {
                    return sent.0;
                }
                Progress::Complete => assert!(exchange.answer(&mut sent)),
                Progress::More if used == 0 || held.is_empty() => break,
                Progress::More => {}
            }
            if held.is_empty() {
                break;
            }
        }
    }
    sent.0
}

const THREE: &[u8] = b"POST / HTTP/1.1\r\nContent-Type: a/b\r\nContent-Length: 5\r\n\r\nhello\
    GET / HTTP/1.1\r\n\r\n\
    POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";

#[test]
fn any_split_of_pipelined_requests_is_answered_alike() {
    for step in 1..THREE.len() {
        let expected = "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 5\r\n\r\nhello\
            HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n\
            HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n";
        assert_eq!(answers(THREE, step, 1000), expected, "reads of {step}");
    }
}

#[test]
fn a_body_over_the_bound_is_streamed_in_its_own_framing() {
    let long = b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello";
    for step in 1..long.len() {
        let expected = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(answers(long, step, 2), expected, "reads of {step}");
    }
    let chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(answers(chunked, 1000, 4), format!("{head}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
    assert_eq!(answers(chunked, 1000, 0), format!("{head}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
}

#[test]
fn old_clients_and_closing_clients_are_told_what_happens_to_the_connection() {
    let check = |request: &str, expected: &str| assert_eq!(answers(request.as_bytes(), 1000, 100), expected);
    check("GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    check(
        "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n",
    );
    check(
        "GET / HTTP/1.1\r\nConnection: x, close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
}

#[test]
fn the_invitation_to_send_the_body_comes_before_the_body() {
    let request = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    assert_eq!(answers(request, 1000, 100), "HTTP/1.1 100 Continue\r\n\r\n");
    let whole = [&request[..], b"ab"].concat();
    assert_eq!(answers(&whole, 1000, 100), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab");
}

#[test]
fn what_is_no_http_is_refused() {
    for request in [
        "garbage\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    ] {
        let answer = answers(request.as_bytes(), 1000, 100);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request:?} got {answer:?}");
    }
    let endless = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(70_000));
    assert!(answers(endless.as_bytes(), 100_000, 100).starts_with("HTTP/1.1 400 "));
}

proptest::proptest! {
    /// Body, framing, bound and reads of any size: the decoded answer is the body that was sent.
    #[test]
    fn whatever_comes_in_whatever_reads_goes_back_unchanged(
        body in proptest::collection::vec(proptest::num::u8::ANY, 0..300),
        chunk in 1_usize..64,
        step in 1_usize..400,
        hold_bytes in 0_u64..400,
        chunked: bool,
    ) {
        let mut request = b"POST / HTTP/1.1\r\n".to_vec();
        if chunked {
            request.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            for part in body.chunks(chunk) {
                request.extend_from_slice(format!("{:X};x=y\r\n", part.len()).as_bytes());
                request.extend_from_slice(part);
                request.extend_from_slice(b"\r\n");
            }
            request.extend_from_slice(b"0\r\nTrailer: x\r\n\r\n");
        } else {
            request.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            request.extend_from_slice(&body);
        }
        let answer = answer_bytes(&request, step, hold_bytes);
        let head = answer.windows(4).position(|run| run == b"\r\n\r\n").unwrap() + 4;
        let mut decoder = match chunked {
            true => crate::framing::Decoder::chunked(),
            false => crate::framing::Decoder::Length(body.len() as u64),
        };
        let (mut decoded, mut rest) = (Vec::new(), &answer[head..]);
        let mut done = decoder.is_done();
        while !done {
            let found = decoder.advance(rest).unwrap();
            proptest::prop_assert!(found.used > 0, "the answer has no end");
            decoded.extend_from_slice(found.data);
            (rest, done) = (&rest[found.used..], found.done);
        }
        proptest::prop_assert!(rest.is_empty() && decoded == body);
    }
}

fn connect(options: Options) -> (Handle, TcpStream) {
    let echo = start("127.0.0.1:0".parse().unwrap(), options).unwrap();
    let client = TcpStream::connect(echo.address).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    (echo, client)
}

#[test]
fn bodies_of_all_sizes_come_back_over_a_socket() {
    let (echo, mut client) = connect(Options { hold_bytes: 300_000, ..Options::default() });
    for size in [0, 1, 1000, 200_000, 299_999, 5_000_000] {
        let body: Vec<u8> = (0..size).map(|index| (index % 251) as u8).collect();
        let sender = std::thread::spawn({
            let (mut client, body) = (client.try_clone().unwrap(), body.clone());
            move || {
                write!(client, "POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
                client.write_all(&body).unwrap();
            }
        });
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n");
        let mut answer = vec![0; head.len() + body.len()];
        client.read_exact(&mut answer).unwrap();
        sender.join().unwrap();
        assert_eq!(&answer[..head.len()], head.as_bytes());
        assert!(answer[head.len()..] == body, "a body of {size} bytes came back changed");
    }
    echo.stop();
}

#[test]
fn many_requests_sent_ahead_to_a_slow_reader_are_all_answered() {
    let (echo, mut client) = connect(Options::default());
    let body = "x".repeat(50_000);
    let request = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let sender = std::thread::spawn({
        let mut client = client.try_clone().unwrap();
        move || {
            for _ in 0..200 {
                client.write_all(request.as_bytes()).unwrap();
            }
            client.shutdown(std::net::Shutdown::Write).unwrap();
        }
    });
    // The answers fill every buffer on the way before the first is read.
    std::thread::sleep(Duration::from_millis(300));
    let mut answers = Vec::new();
    client.read_to_end(&mut answers).unwrap();
    sender.join().unwrap();
    let expected = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).repeat(200);
    assert!(answers == expected.as_bytes(), "{} bytes instead of {}", answers.len(), expected.len());
    echo.stop();
}

#[test]
fn the_delay_holds_every_answer_back() {
    let (echo, mut client) = connect(Options { delay: Duration::from_millis(120), ..Options::default() });
    let begin = Instant::now();
    client.write_all(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nabPOST / HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(240));
    assert!(answer.contains("\r\n\r\nabHTTP/1.1 200"), "{answer}");
    echo.stop();
}

#[test]
fn every_answer_says_who_served_it_where_the_echo_has_a_name() {
    let (echo, mut client) = connect(Options { name: Some("2".to_owned()), ..Options::default() });
    client.write_all(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nabGET / HTTP/1.0\r\n\r\n").unwrap();
    let mut answers = String::new();
    client.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK\r\nX-Served-By: 2\r\n").count(), 2, "{answers}");
    assert!(name("a b").is_err() && name("").is_err());
    echo.stop();
}

#[test]
fn the_ready_line_names_the_real_address() {
    let echo = start("127.0.0.1:0".parse().unwrap(), Options { threads: 2, ..Options::default() }).unwrap();
    assert_ne!(echo.address.port(), 0);
    let address = echo.address;
    drop(echo);
    eventually("dropping the handle closes the listeners", || TcpStream::connect(address).is_err());
}

#[test]
fn a_taken_port_is_an_error_with_one_thread_and_with_several() {
    for threads in [1, 2] {
        let options = Options { threads, ..Options::default() };
        let first = start("127.0.0.1:0".parse().unwrap(), options.clone()).unwrap();
        assert!(start(first.address, options).is_err(), "{threads} threads");
    }
}
