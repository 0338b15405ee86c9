//! The load generator against real sockets, good ones and bad ones.

mod tls;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use myelin_testkit::{port, skip};

use super::*;
use crate::echo;
use crate::payload::{self, Payload};

fn echo() -> crate::Handle {
    echo::start("127.0.0.1:0".parse().unwrap(), echo::Options::default()).unwrap()
}

fn plan(address: std::net::SocketAddr, requests: u64, connections: usize, body: Payload) -> Plan {
    let mut plan = Plan::new(&format!("http://{address}/services/direct")).unwrap();
    plan.method = "POST".to_owned();
    plan.requests = Some(requests);
    plan.connections = connections;
    plan.body = body;
    plan.timeout = Duration::from_secs(20);
    plan
}

/// A backend that treats its n-th connection as `behave` says; ends with the test process.
fn backend(behave: fn(usize, TcpStream)) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (index, stream) in listener.incoming().enumerate() {
            let Ok(stream) = stream else { continue };
            std::thread::spawn(move || behave(index, stream));
        }
    });
    address
}

fn read_head(stream: &mut TcpStream) -> bool {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return false,
        }
    }
    true
}

fn only(outcome: &Outcome) -> (&str, u64) {
    assert_eq!(outcome.failures_by_kind.len(), 1, "{:?}", outcome.failures_by_kind);
    let (kind, failures) = outcome.failures_by_kind.iter().next().unwrap();
    (kind, failures.count)
}

#[test]
fn every_request_of_a_closed_loop_is_sent_once_and_checked() {
    let echo = echo();
    for (size, threads, connections) in [(500, 1, 1), (500, 2, 7), (10_240, 1, 40), (100_000, 2, 8), (3_000_000, 1, 3)]
    {
        for chunked in [false, true] {
            let mut plan = plan(echo.address, 50, connections, payload::soap(size).unwrap());
            plan.threads = threads;
            plan.chunked = chunked;
            plan.verify = Verify::Echo;
            let outcome = plan.run().unwrap();
            assert!(outcome.is_clean(), "{size} {chunked}: {:?}", outcome.failures_by_kind);
            assert_eq!((outcome.requests, outcome.connects), (50, connections as u64));
            assert!(outcome.sent_bytes > 50 * size && outcome.received_bytes > 50 * size);
            assert!(outcome.latency.p50 > 0.0 && outcome.latency.p50 <= outcome.latency.max);
        }
    }
}

#[test]
fn without_keep_alive_every_request_has_its_own_connection() {
    let echo = echo();
    let mut plan = plan(echo.address, 30, 3, payload::soap(500).unwrap());
    plan.keep_alive = false;
    plan.verify = Verify::Contains("<symbol>IBM</symbol>".to_owned());
    let outcome = plan.run().unwrap();
    assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
    assert_eq!((outcome.requests, outcome.connects), (30, 30));
}

#[test]
fn a_body_larger_than_memory_should_hold_is_streamed_and_checked() {
    let echo = echo();
    let mut plan = plan(echo.address, 1, 1, payload::soap(100 << 20).unwrap());
    plan.verify = Verify::Echo;
    plan.timeout = Duration::from_secs(60);
    let outcome = plan.run().unwrap();
    assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
}

#[test]
fn the_processes_under_test_are_accounted_for() {
    let echo = echo();
    let mut plan = plan(echo.address, 2000, 4, payload::soap(500).unwrap());
    plan.processes = vec![std::process::id()];
    plan.idle_connections = 20;
    let outcome = plan.run().unwrap();
    let process = outcome.process.clone().unwrap();
    assert!(outcome.is_clean());
    assert!(process.cpu_ms_per_1000 > 0.0 && outcome.load_cpu_ms_per_1000 > 0.0, "{outcome:?}");
    assert!((process.user_ms_per_1000 + process.system_ms_per_1000 - process.cpu_ms_per_1000).abs() < 0.001);
    // Both ends of every connection are ours, and all are still open when they are counted.
    assert!(process.usage.open_files >= 48, "{process:?}");
    assert_eq!((outcome.idle_connections, outcome.idle_lost), (20, 0));
}

#[test]
fn a_body_that_is_not_the_one_sent_is_a_failure_and_the_connection_stays() {
    let echo = echo();
    let mut plan = plan(echo.address, 10, 1, payload::soap(500).unwrap());
    plan.verify = Verify::Contains("nowhere".to_owned());
    let outcome = plan.run().unwrap();
    assert_eq!(only(&outcome), ("body mismatch", 10));
    assert_eq!((outcome.requests, outcome.connects), (0, 1));
    assert!(!outcome.is_clean());
}

#[test]
fn failures_are_counted_by_kind_and_never_end_the_run() {
    let check = |behave: fn(usize, TcpStream), kind: &str| {
        let mut plan = plan(backend(behave), 6, 2, Payload::empty());
        plan.timeout = Duration::from_millis(200);
        let outcome = plan.run().unwrap();
        assert_eq!(only(&outcome), (kind, 6));
    };
    check(
        |_, mut stream| {
            while read_head(&mut stream) {
                let _ = stream.write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy");
            }
        },
        "status 503",
    );
    check(
        |_, mut stream| {
            if read_head(&mut stream) {
                let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            }
        },
        "reset",
    );
    check(
        |_, mut stream| {
            if read_head(&mut stream) {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
            }
        },
        "closed early",
    );
    check(
        |_, mut stream| {
            if read_head(&mut stream) {
                let _ = stream.write_all(b"this is no HTTP\r\n\r\n");
            }
        },
        "malformed",
    );
    check(
        |_, mut stream| {
            if read_head(&mut stream) {
                let _ = stream.read(&mut [0]);
            }
        },
        "timeout",
    );
}

#[test]
fn a_backend_that_is_not_there_does_not_make_the_client_spin() {
    let free = port::free().unwrap();
    let begin = Instant::now();
    let outcome = plan(free, 5, 1, Payload::empty()).run().unwrap();
    assert_eq!(only(&outcome), ("connect", 5));
    assert!(begin.elapsed() >= Duration::from_millis(10 + 20 + 40 + 80));
}

#[test]
fn good_answers_after_bad_ones_are_counted_as_good() {
    let behave = |index: usize, mut stream: TcpStream| {
        while read_head(&mut stream) {
            if index < 3 {
                return;
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    };
    let outcome = plan(backend(behave), 10, 1, Payload::empty()).run().unwrap();
    assert_eq!(only(&outcome), ("closed early", 3));
    assert_eq!((outcome.requests, outcome.connects), (7, 4));
}

#[test]
fn an_answer_that_comes_before_the_request_was_read_is_seen() {
    // The backend reads no more and keeps the connection open, so that the client can never have sent all of its 50 MB.
    static HELD: std::sync::Mutex<Vec<TcpStream>> = std::sync::Mutex::new(Vec::new());
    let behave = |_, mut stream: TcpStream| {
        if read_head(&mut stream) {
            let _ = stream.write_all(b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
            HELD.lock().unwrap().push(stream);
        }
    };
    let outcome = plan(backend(behave), 2, 1, payload::soap(50 << 20).unwrap()).run().unwrap();
    assert_eq!(only(&outcome), ("status 413", 2));
    assert!(outcome.sent_bytes < 100 << 20, "{}", outcome.sent_bytes);
}

#[test]
fn an_open_loop_counts_the_wait_for_a_stalled_service() {
    // One connection, every answer takes 50 ms, and requests are meant to leave every 10 ms: the tenth waits for nine.
    let behave = |_, mut stream: TcpStream| {
        while read_head(&mut stream) {
            std::thread::sleep(Duration::from_millis(50));
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    };
    let mut plan = plan(backend(behave), 10, 1, Payload::empty());
    plan.rate = Some(100.0);
    let outcome = plan.run().unwrap();
    assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
    // The last was meant to leave at 90 ms and was answered at 500 ms or later.
    assert!(outcome.latency.max >= 0.4, "{:?}", outcome.latency);
    assert!(outcome.latency.p50 >= 0.2, "{:?}", outcome.latency);
}

#[test]
fn an_open_loop_keeps_its_rate() {
    let echo = echo();
    let mut plan = plan(echo.address, 1, 8, payload::soap(500).unwrap());
    (plan.requests, plan.duration) = (None, Some(Duration::from_millis(500)));
    (plan.rate, plan.threads, plan.verify) = (Some(1000.0), 2, Verify::Echo);
    let outcome = plan.run().unwrap();
    all_but_late(&outcome, 500);
    assert!(outcome.seconds > 0.45, "{}", outcome.seconds);
}

/// Asserts that so many requests were due, and that none failed but those that a very busy machine had no time to send.
#[track_caller]
fn all_but_late(outcome: &Outcome, due: u64) {
    assert_eq!(outcome.requests + outcome.failures, due, "{outcome:?}");
    assert!(outcome.failures_by_kind.keys().all(|kind| kind == "not sent"), "{:?}", outcome.failures_by_kind);
    assert!(outcome.requests > due / 2, "{outcome:?}");
}

#[test]
fn requests_that_wait_longer_than_the_timeout_fail_without_being_sent() {
    let behave = |_, mut stream: TcpStream| {
        let _ = stream.read(&mut [0; 1000]);
        std::thread::sleep(Duration::from_secs(5));
    };
    let mut plan = plan(backend(behave), 40, 1, Payload::empty());
    plan.rate = Some(100.0);
    plan.timeout = Duration::from_millis(300);
    let outcome = plan.run().unwrap();
    let kinds: Vec<&str> = outcome.failures_by_kind.keys().map(String::as_str).collect();
    assert_eq!((outcome.failures, kinds), (40, vec!["not sent", "timeout"]));
    // One after the other, they would take 12 s.
    assert!(outcome.seconds < 9.0, "{}", outcome.seconds);
}

/// Answers the 61st request after 400 ms, all others at once, over any number of connections.
fn stalls_once() -> std::net::SocketAddr {
    let asked = Arc::<AtomicUsize>::default();
    timed(move || match asked.fetch_add(1, Ordering::Relaxed) {
        60 => Duration::from_millis(400),
        _ => Duration::ZERO,
    })
}

/// Of 20 requests answers 15 after 10 ms, four after 50 ms and one after 200 ms.
fn known_mix() -> std::net::SocketAddr {
    let asked = Arc::<AtomicUsize>::default();
    timed(move || match asked.fetch_add(1, Ordering::Relaxed) % 20 {
        7 => Duration::from_millis(200),
        1 | 6 | 11 | 16 => Duration::from_millis(50),
        _ => Duration::from_millis(10),
    })
}

/// A backend that takes as long for an answer as `time` says.
fn timed(time: impl Fn() -> Duration + Clone + Send + 'static) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let time = time.clone();
            std::thread::spawn(move || {
                while read_head(&mut stream) {
                    std::thread::sleep(time());
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                }
            });
        }
    });
    address
}

#[test]
fn a_stall_is_seen_by_all_who_would_have_asked_meanwhile() {
    // 200 requests, one every 5 ms. The 61st is meant to leave at 300 ms and is answered at 700 ms or later, so request
    // i of those behind it has waited 700 - 5 i ms at least: 20 requests longer than 300 ms, 80 longer than nothing.
    let mut plan = plan(stalls_once(), 200, 1, Payload::empty());
    plan.rate = Some(200.0);
    let open = plan.run().unwrap();
    assert!(open.is_clean(), "{:?}", open.failures_by_kind);
    assert!(open.latency.p90 >= 0.3 && open.latency.p99 >= 0.39 && open.latency.max >= 0.4, "{:?}", open.latency);

    // In a closed loop one request of 200 has seen it: this is what coordinated omission leaves out.
    plan.target = format!("http://{}/", stalls_once()).parse().unwrap();
    plan.rate = None;
    let closed = plan.run().unwrap();
    assert!(closed.is_clean(), "{:?}", closed.failures_by_kind);
    assert!(closed.latency.p99 < 0.3 && closed.latency.max >= 0.4, "{:?}", closed.latency);
}

#[test]
fn the_percentiles_of_a_known_mix_are_found() {
    let outcome = plan(known_mix(), 200, 4, Payload::empty()).run().unwrap();
    assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
    // A busy machine may add to each of them, but not as much as lies between them.
    let Latency { p50, p90, p99, .. } = outcome.latency;
    assert!((0.01..0.05).contains(&p50), "{p50}");
    assert!((0.05..0.2).contains(&p90), "{p90}");
    assert!((0.2..1.0).contains(&p99), "{p99}");
}

#[test]
fn wrk_finds_the_same_median_of_a_known_mix() {
    let address = known_mix();
    let arguments = ["-t1", "-c4", "-d2s", "--latency", &format!("http://{address}/")];
    let Ok(wrk) = std::process::Command::new("wrk").args(arguments).output() else {
        return skip("wrk is not installed");
    };
    let report = String::from_utf8_lossy(&wrk.stdout).into_owned();
    let theirs = report.lines().find_map(|line| line.trim().strip_prefix("50%")).expect(&report).trim();
    let theirs: f64 = theirs.strip_suffix("ms").expect(&report).parse().unwrap();
    // Of the percentiles only the median compares: wrk adds requests that it thinks a long answer has kept it from sending.
    let ours = plan(address, 200, 4, Payload::empty()).run().unwrap().latency.p50 * 1e3;
    assert!((ours - theirs).abs() < 30.0, "{ours} ms here, {theirs} ms by wrk");
}

#[test]
fn latencies_are_logged_second_by_second() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(backend(slow), 1, 2, Payload::empty());
    (plan.requests, plan.duration, plan.threads) = (None, Some(Duration::from_millis(1_200)), 2);
    plan.histogram = Some(folder.path().join("latencies.hlog"));
    let outcome = plan.run().unwrap();
    let log = std::fs::read_to_string(folder.path().join("latencies.hlog")).unwrap();
    let starts: Vec<&str> = log.lines().skip(4).filter_map(|line| line.split(',').next()).collect();
    assert!(starts.len() >= 2 && starts[..2] == ["0.000", "1.000"], "{log}");
    assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
    plan.histogram = Some(folder.path().join("nowhere/latencies.hlog"));
    assert!(plan.run().is_err());
}

/// Answers each request after 50 ms.
fn slow(_: usize, mut stream: TcpStream) {
    while read_head(&mut stream) {
        std::thread::sleep(Duration::from_millis(50));
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
}

/// Takes requests and never answers.
fn stalled(_: usize, mut stream: TcpStream) {
    while let Ok(1..) = stream.read(&mut [0; 1000]) {}
}

#[test]
fn an_open_loop_ends_with_its_duration_and_tells_what_it_did_not_send() {
    let mut plan = plan(backend(slow), 1, 1, Payload::empty());
    (plan.requests, plan.duration, plan.rate) = (None, Some(Duration::from_millis(500)), Some(200.0));
    let begin = Instant::now();
    let outcome = plan.run().unwrap();
    // All 100 of them would take five seconds, and at most twelve fit into half a second and the time after it in which
    // what was due may still leave.
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    assert_eq!(outcome.requests + outcome.failures, 100);
    let (kind, unsent) = only(&outcome);
    assert_eq!(kind, "not sent");
    assert!(unsent >= 87, "{unsent}");
}

#[test]
fn a_service_that_stalls_does_not_prolong_the_run() {
    let mut plan = plan(backend(stalled), 1, 4, Payload::empty());
    (plan.requests, plan.duration, plan.drain) = (None, Some(Duration::from_millis(200)), Duration::from_secs(1));
    for (rate, unsent) in [(None, 0), (Some(100.0), 16)] {
        plan.rate = rate;
        let begin = Instant::now();
        let outcome = plan.run().unwrap();
        // The time-out is 20 s.
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        assert_eq!(outcome.failures_by_kind["unanswered"].count, 4);
        assert_eq!(outcome.failures, 4 + unsent);
        assert!((0.2..0.9).contains(&outcome.seconds), "the last wait is no part of the run: {}", outcome.seconds);
    }
}

#[test]
fn connections_that_are_to_stay_idle_are_waited_for_only_once() {
    let mut plan = plan(backend(stalled), 1, 1, Payload::empty());
    plan.idle_connections = 500;
    plan.timeout = Duration::from_millis(300);
    let begin = Instant::now();
    let outcome = plan.run().unwrap();
    assert_eq!(only(&outcome), ("timeout", 501));
    // Only some are opened at a time: one time-out after the other, it would take longer than this.
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[test]
fn an_interrupted_open_loop_tells_what_was_due_by_then() {
    let mut plan = plan(backend(stalled), 1, 1, Payload::empty());
    (plan.requests, plan.duration, plan.rate) = (None, Some(Duration::from_secs(600)), Some(100.0));
    let interrupt = Arc::<AtomicBool>::default();
    let outcome = plan
        .run_watched(&interrupt, &mut |progress| {
            if progress.elapsed >= Duration::from_millis(400) {
                interrupt.store(true, Ordering::Relaxed);
            }
        })
        .unwrap();
    let (kind, unsent) = only(&outcome);
    assert_eq!((kind, outcome.abandoned), ("not sent", 1));
    assert!((30..10_000).contains(&unsent), "{unsent}");
}

#[test]
fn a_silent_connection_that_was_closed_is_opened_anew_and_is_no_failure() {
    let behave = |_, mut stream: TcpStream| {
        if read_head(&mut stream) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    };
    let mut plan = plan(backend(behave), 3, 1, Payload::empty());
    for (rate, think) in [(Some(4.0), None), (None, "250ms".parse().ok())] {
        (plan.rate, plan.think) = (rate, think);
        let outcome = plan.run().unwrap();
        assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
        assert_eq!(outcome.connects, 3);
    }
}

#[test]
fn an_interrupt_ends_the_run_with_what_was_counted() {
    let behave = |_, mut stream: TcpStream| {
        while read_head(&mut stream) {
            std::thread::sleep(Duration::from_millis(20));
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    };
    let plan = plan(backend(behave), 1_000_000, 2, Payload::empty());
    let interrupt = Arc::<AtomicBool>::default();
    let outcome = plan
        .run_watched(&interrupt, &mut |progress| {
            if progress.requests > 5 {
                interrupt.store(true, Ordering::Relaxed);
            }
        })
        .unwrap();
    // All of them would take hours.
    assert!(outcome.requests > 5 && outcome.failures == 0, "{outcome:?}");
    assert!(outcome.abandoned <= 2);
}

/// Answers every request with its own first line and the values of two headers, in one line each.
fn mirror(_: usize, stream: TcpStream) {
    let mut reader = std::io::BufReader::new(stream);
    loop {
        let mut seen = String::new();
        let mut line = String::new();
        while let Ok(1..) = std::io::BufRead::read_line(&mut reader, &mut line) {
            if line == "\r\n" {
                break;
            }
            if seen.is_empty() || line.starts_with("X-") {
                seen.push_str(&line);
            }
            line.clear();
        }
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{seen}", seen.len());
        if seen.is_empty() || reader.get_mut().write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn kind(url: &str, weight: u32) -> Request {
    Request { name: url.to_owned(), weight, ..Request::new(url.parse().unwrap()) }
}

#[test]
fn several_kinds_of_requests_are_sent_as_their_weights_say() {
    let (one, other) = (backend(mirror), backend(mirror));
    let mut plan = plan(one, 80, 3, Payload::empty());
    let mut wrong = kind(&format!("http://{other}/wrong"), 1);
    wrong.verify = Verify::Contains("GET /right".to_owned());
    plan.mix = vec![kind(&format!("http://{one}/a"), 5), kind(&format!("http://{other}/b"), 2), wrong];
    let outcome = plan.run().unwrap();
    let counts: Vec<(u64, u64)> = outcome.by_request.iter().map(|kind| (kind.requests, kind.failures)).collect();
    assert_eq!(counts, [(50, 0), (20, 0), (0, 10)]);
    assert_eq!(only(&outcome), ("body mismatch", 10));
    assert_eq!((outcome.requests, outcome.connects), (70, 6), "each user has a connection to each host");
    assert!(outcome.by_request[0].latency.p50 > 0.0);
}

#[test]
fn templates_are_filled_anew_and_the_answer_is_judged_by_what_was_sent() {
    let mut plan = plan(backend(mirror), 20, 2, Payload::empty());
    plan.target.path = "/orders/{{n}}".to_owned();
    plan.headers = vec![("X-Id".to_owned(), "{{uuid}}".to_owned())];
    (plan.template, plan.method) = (true, "GET".to_owned());
    plan.verify = Verify::Contains("GET /orders/7 HTTP/1.1".to_owned());
    let outcome = plan.run().unwrap();
    assert_eq!((outcome.requests, outcome.failures), (1, 19), "each number is sent once");

    let echo = echo();
    plan.target = format!("http://{}/", echo.address).parse().unwrap();
    plan.method = "POST".to_owned();
    plan.body = Payload::from(b"<order id='{{uuid}}' n='{{n}}' at='{{now}}'/>".to_vec());
    for chunked in [false, true] {
        (plan.chunked, plan.verify) = (chunked, Verify::Echo);
        let outcome = plan.run().unwrap();
        assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
    }
    plan.body = Payload::from(b"{{id}}".to_vec());
    assert!(format!("{:#}", plan.run().unwrap_err()).contains("`{{id}}` is none of"));
}

#[test]
fn those_who_think_send_less_and_stop_when_the_run_ends() {
    let mut plan = plan(backend(mirror), 6, 2, Payload::empty());
    plan.think = "40ms..60ms".parse().ok();
    let outcome = plan.run().unwrap();
    // Each of the two sends three times and thinks at least twice before its last.
    assert!(outcome.is_clean() && outcome.seconds >= 0.08, "{outcome:?}");
    plan.think = "600s".parse().ok();
    (plan.requests, plan.duration) = (None, Some(Duration::from_millis(200)));
    let begin = Instant::now();
    assert_eq!(plan.run().unwrap().requests, 2);
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_ramp_sends_as_many_as_it_holds() {
    let echo = echo();
    let mut plan = plan(echo.address, 1, 8, payload::soap(500).unwrap());
    (plan.requests, plan.duration) = (None, Some(Duration::from_millis(500)));
    (plan.ramp, plan.threads, plan.verify) = ("0..2000/500ms".parse().ok(), 2, Verify::Echo);
    let outcome = plan.run().unwrap();
    all_but_late(&outcome, 500);
}

#[test]
fn an_error_of_the_typist_is_said_and_nothing_is_sent() {
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }
    let plan = |line: &str| {
        let line = <Line as clap::Parser>::try_parse_from(["load"].into_iter().chain(line.split(' ')))?;
        line.arguments.plan()
    };
    let good = plan("http://a/ -n 10 -c 2 -k --soap 1K -H x:y --timeout 500ms --verify echo").unwrap();
    assert_eq!((good.requests, good.duration, good.method.as_str()), (Some(10), None, "POST"));
    assert_eq!((good.body.length(), good.media_type.as_deref()), (1024, Some(payload::SOAP_TYPE)));
    assert_eq!(plan("http://a/").unwrap().duration, Some(Duration::from_secs(10)));
    let ramp = plan("http://a/ --ramp 1..10/3s").unwrap();
    assert_eq!((ramp.duration, ramp.ramp.unwrap().to), (Some(Duration::from_secs(3)), 10.0));
    for line in ["--ramp 1..2/1s http://a/ -r 1", "http://a/ --think 1s -r 1", "http://a/ --plan x -p y", "-n 1"] {
        assert!(plan(line).is_err(), "{line}");
    }
    for line in ["http://a/ -H nothing", "http://a/ --soap 10", "http://a/ -p /no/such/file", "a", "http://a/ -n x"] {
        assert!(plan(line).is_err(), "{line}");
    }
}
