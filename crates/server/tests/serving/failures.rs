//! Whatever a backend or a client does, everybody gets an answer and nobody else suffers.

use std::net::SocketAddr;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::{Bus, DEADLINE, answering, definitions, held, post, proxy, settings};
use myelin_testkit::eventually;
use myelin_testkit::faulty::{
    BODY, Backend, DEFECTS, Latch, NeverAccepts, Outcome, Script, Step, Until, idle_race, whole,
};
use myelin_testkit::port;
use myelin_testkit::raw::{self, Client, Error};
use myelin_testkit::service::{Response, Service};

fn impatient() -> myelin_server::Settings {
    let mut settings = settings();
    settings.client.response_timeout = Duration::from_millis(600);
    settings.client.connect_timeout = Duration::from_millis(600);
    settings.client.idle = Duration::from_millis(600);
    settings.server.idle = Duration::from_millis(600);
    settings
}

#[test]
fn every_faulty_backend_leaves_its_client_with_an_answer_or_a_visible_break() {
    for defect in DEFECTS {
        let backend = Backend::start((defect.script)()).unwrap();
        let bus = Bus::with(&proxy(backend.address()), impatient());
        let answer = raw::exchange(bus.address, &post("<a/>"));
        let name = defect.name;
        match (defect.outcome, answer) {
            (Outcome::Answered, Ok(answer)) => assert_eq!((answer.status, &answer.body[..]), (200, BODY), "{name}"),
            (Outcome::Answered, Err(error)) => panic!("{name}: {error}"),
            (Outcome::NoAnswer, Ok(answer)) => {
                assert!(answer.status >= 500 && !answer.body.is_empty(), "{name}: {}", answer.status);
            }
            (Outcome::NoAnswer, Err(error)) => panic!("{name}: {error}"),
            (Outcome::Broken | Outcome::Stalled, Ok(answer)) => assert!(answer.status >= 500, "{name}: {answer:?}"),
            (Outcome::Broken | Outcome::Stalled, Err(Error::Closed(_) | Error::Io(..) | Error::Malformed(..))) => {}
            (Outcome::Broken | Outcome::Stalled, Err(error)) => panic!("{name}: {error}"),
        }
        // The same bus still serves.
        let still = raw::exchange(bus.address, b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(still.unwrap().status, 404, "{name}");
        assert!(bus.stop(), "{name}");
    }
}

#[test]
fn statuses_say_what_went_wrong() {
    let status = |backend: SocketAddr| {
        let bus = Bus::with(&proxy(backend), impatient());
        raw::exchange(bus.address, &post("<a/>")).unwrap().status
    };
    assert_eq!(status(port::free().unwrap()), 502);
    let stalling = Backend::start(Script::of([Step::Stall])).unwrap();
    assert_eq!(status(stalling.address()), 504);
    let closed = Backend::start(Script::of([Step::Read(Until::Head), Step::Close])).unwrap();
    assert_eq!(status(closed.address()), 502);
    let deaf = NeverAccepts::start().unwrap();
    assert_eq!(status(deaf.address()), 504);
}

#[test]
fn the_timeout_of_an_endpoint_holds_while_its_request_has_no_connection() {
    let latch = Latch::default();
    let (busy, deaf) = (held(&latch, whole()), NeverAccepts::start().unwrap());
    let proxy = |name: &str, address: SocketAddr, timeout: &str| {
        format!(
            r#"<proxy name="{name}"><target><endpoint><address uri="http://{address}/">{timeout}</address></endpoint>
               </target></proxy>"#
        )
    };
    let timeout = "<timeout><duration>500</duration><responseAction>fault</responseAction></timeout>";
    let mut settings = settings();
    settings.client.connections = 1;
    settings.client.connect_timeout = 4 * DEADLINE;
    let all = [("P", busy.address(), ""), ("Q", busy.address(), timeout), ("R", deaf.address(), timeout)];
    let all = all.map(|(name, address, timeout)| proxy(name, address, timeout)).concat();
    let bus = Bus::with(&definitions(&all), settings);
    let mut first = Client::connect(bus.address).unwrap();
    first.send(&post("x")).unwrap();
    busy.wait_for_heads(1, DEADLINE).unwrap();
    let status = |proxy: &str| {
        let request = format!("POST /services/{proxy} HTTP/1.1\r\nHost: bus\r\nContent-Length: 1\r\n\r\nx");
        raw::exchange(bus.address, request.as_bytes()).unwrap().status
    };
    assert_eq!(status("Q"), 503, "all connections are in use");
    assert_eq!(status("R"), 504);
    latch.open();
    assert_eq!(first.answer().unwrap().status, 200);
}

#[test]
fn a_request_lost_on_a_reused_connection_is_sent_again_once() {
    let backend = Backend::start(idle_race(1)).unwrap();
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    for number in 0..3 {
        let answer = client.exchange(&post("<a/>")).unwrap();
        assert_eq!((answer.status, &answer.body[..]), (200, BODY), "request {number}");
    }
    let connections = backend.connections();
    assert_eq!(connections.len(), 2);
    assert!(connections[1].text().ends_with("<a/>"), "the whole request came again");
}

#[test]
fn a_request_that_a_backend_worked_on_is_not_sent_again() {
    let healthy = [Step::Read(Until::Head), Step::Read(Until::Body), Step::Send(whole())];
    let crash =
        [Step::Read(Until::Head), Step::Read(Until::Body), Step::Pause(Duration::from_millis(1500)), Step::Reset];
    let first = Script(healthy.into_iter().chain(crash).collect());
    let backend = Backend::start(vec![first, Script::answering(whole())]).unwrap();
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    assert_eq!(client.exchange(&post("<a/>")).unwrap().status, 200);
    assert_eq!(client.exchange(&post("<a/>")).unwrap().status, 502);
    assert_eq!(backend.connections().len(), 1);
}

#[test]
fn a_fresh_connection_that_dies_is_not_tried_again() {
    let backend = Backend::start(Script::of([Step::Read(Until::Head), Step::Read(Until::Body), Step::Reset])).unwrap();
    let bus = Bus::before(backend.address());
    assert_eq!(raw::exchange(bus.address, &post("<a/>")).unwrap().status, 502);
    assert_eq!(backend.connections().len(), 1);
}

#[test]
fn nothing_is_sent_again_where_the_operator_forbids_it() {
    let backend = Backend::start(idle_race(1)).unwrap();
    let mut settings = settings();
    settings.client.retry = myelin_http::Retry::Idempotent;
    let bus = Bus::with(&proxy(backend.address()), settings);
    let mut client = Client::connect(bus.address).unwrap();
    assert_eq!(client.exchange(&post("<a/>")).unwrap().status, 200);
    assert_eq!(client.exchange(&post("<a/>")).unwrap().status, 502);
}

#[test]
fn a_connection_its_backend_closed_while_idle_is_not_used() {
    let once = Script::of([Step::Read(Until::Head), Step::Read(Until::Body), Step::Send(whole()), Step::Close]);
    let backend = Backend::start(once).unwrap();
    let mut settings = settings();
    settings.client.retry = myelin_http::Retry::Never;
    let bus = Bus::with(&proxy(backend.address()), settings);
    let mut client = Client::connect(bus.address).unwrap();
    for _ in 0..5 {
        assert_eq!(client.exchange(&post("<a/>")).unwrap().status, 200);
        std::thread::sleep(Duration::from_millis(30));
    }
    assert_eq!(backend.connections().len(), 5);
}

#[test]
fn an_endpoint_timeout_is_kept() {
    let backend = Backend::start(Script::of([Step::Stall])).unwrap();
    let proxy = definitions(&format!(
        r#"<proxy name="P"><target><endpoint><address uri="http://{}/"><timeout><duration>300</duration><responseAction>fault</responseAction></timeout></address></endpoint></target></proxy>"#,
        backend.address()
    ));
    let bus = Bus::with(&proxy, settings());
    let start = Instant::now();
    let answer = raw::exchange(bus.address, &post("<a/>")).unwrap();
    let waited = start.elapsed();
    assert_eq!(answer.status, 504);
    // How late it may be is tested with a clock of its own; here it must only be this timeout and not another.
    assert!(waited >= Duration::from_millis(300) && waited < DEADLINE, "{waited:?}");
}

#[test]
fn a_client_that_dawdles_over_its_head_is_told_so() {
    let backend = answering(whole());
    let mut settings = settings();
    settings.server.head_timeout = Duration::from_millis(300);
    settings.server.keep_alive = Duration::from_millis(300);
    let bus = Bus::with(&proxy(backend.address()), settings);
    let mut client = Client::connect(bus.address).unwrap();
    client.send(b"POST /services/P HTTP/1.1\r\nHo").unwrap();
    assert_eq!(client.answer().unwrap().status, 408);
    let mut idle = Client::connect(bus.address).unwrap();
    assert_eq!(idle.exchange(&post("x")).unwrap().status, 200);
    assert!(idle.is_closed_within(DEADLINE), "an idle connection is closed without a word");
}

#[test]
fn a_client_whose_body_stops_coming_gets_408() {
    let backend = answering(whole());
    let bus = Bus::with(&proxy(backend.address()), impatient());
    let mut client = Client::connect(bus.address).unwrap();
    client.send(b"POST /services/P HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc").unwrap();
    assert_eq!(client.answer().unwrap().status, 408);
}

#[test]
fn a_client_that_drips_its_body_is_cut_off_whoever_reads_it() {
    let backend = answering(whole());
    let reading = definitions(&format!(
        r#"<proxy name="P"><target><inSequence><log level="full"/><send><endpoint><address uri="http://{}/"/></endpoint></send></inSequence></target></proxy>"#,
        backend.address()
    ));
    for configuration in [proxy(backend.address()), reading] {
        let mut settings = settings();
        settings.server.pace = myelin_http::Pace { least_bytes_per_second: 100, window: Duration::from_millis(500) };
        let bus = Bus::with(&configuration, settings);
        let mut client = Client::connect(bus.address).unwrap();
        client.send(b"POST /services/P HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n").unwrap();
        let mut drops = 0;
        while drops < 1000 && client.send(b"x").is_ok() {
            drops += 1;
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(client.answer().unwrap().status, 408);
        assert!(drops < 1000, "all of it was taken");
    }
}

#[test]
fn unused_backend_connections_are_closed_when_they_are_old() {
    let backend = answering(whole());
    let mut settings = settings();
    settings.client.keep_alive = Duration::from_millis(300);
    let bus = Bus::with(&proxy(backend.address()), settings);
    assert_eq!(raw::exchange(bus.address, &post("x")).unwrap().status, 200);
    let connections = backend.wait_for_ended(1, DEADLINE).expect("it is closed while the bus runs");
    assert_eq!(connections.len(), 1);
}

#[test]
fn a_backend_connection_is_not_used_beyond_its_life() {
    let backend = answering(whole());
    let mut settings = settings();
    settings.client.life = Duration::ZERO;
    let bus = Bus::with(&proxy(backend.address()), settings);
    let mut client = Client::connect(bus.address).unwrap();
    for _ in 0..3 {
        assert_eq!(client.exchange(&post("x")).unwrap().status, 200);
    }
    assert_eq!(backend.connections().len(), 3);
}

#[test]
fn a_client_that_breaks_off_costs_nobody_else_anything() {
    let backend = answering(whole());
    let bus = Bus::before(backend.address());
    let mut client = Client::connect(bus.address).unwrap();
    client.send(b"POST /services/P HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc").unwrap();
    drop(client);
    assert_eq!(raw::exchange(bus.address, &post("x")).unwrap().status, 200);
}

#[test]
fn over_the_connection_limit_clients_get_503_and_the_bus_goes_on() {
    let backend = answering(whole());
    let mut settings = settings();
    settings.server.connections = 2;
    let bus = Bus::with(&proxy(backend.address()), settings);
    let mut guests: Vec<Client> = (0..2).map(|_| Client::connect(bus.address).unwrap()).collect();
    for guest in &mut guests {
        assert_eq!(guest.exchange(&post("x")).unwrap().status, 200);
    }
    let answer = raw::exchange(bus.address, &post("x")).unwrap();
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    drop(guests);
    let serves = || raw::exchange(bus.address, &post("x")).is_ok_and(|answer| answer.status == 200);
    eventually("who has gone makes room", serves);
}

#[test]
fn over_the_memory_limit_new_requests_get_503() {
    let latch = Latch::default();
    let backend = held(&latch, whole());
    let mut settings = settings();
    settings.server.memory_bytes = 0;
    let bus = Bus::with(&proxy(backend.address()), settings);
    let mut slow = Client::connect(bus.address).unwrap();
    // What it sends ahead is kept while its first request waits for the backend, which is more than nothing.
    slow.send(&[post("x"), post("y")].concat()).unwrap();
    backend.wait_for_heads(1, DEADLINE).unwrap();
    let ask = || raw::exchange(bus.address, &post("x")).unwrap();
    let answer = ask();
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    latch.open();
    assert_eq!(slow.answer().unwrap().status, 200);
    drop(slow);
    eventually("who has gone makes room", || ask().status == 200);
}

#[test]
fn unfinished_heads_have_memory_of_their_own_and_the_slowest_go_first() {
    let backend = answering(whole());
    let mut settings = settings();
    settings.server.heads_bytes = 10_000;
    settings.server.memory_bytes = 5_000;
    let bus = Bus::with(&proxy(backend.address()), settings);
    let half = format!("POST /services/P HTTP/1.1\r\nX: {}", "x".repeat(2_000));
    let mut slow: Vec<Client> = (0..12)
        .map(|_| {
            let mut client = Client::connect(bus.address).unwrap();
            client.send(half.as_bytes()).unwrap();
            // Nobody else notices, and the bus has read the half head when it answers a later connection.
            assert_eq!(raw::exchange(bus.address, &post("x")).unwrap().status, 200);
            client
        })
        .collect();
    let rest = b"\r\nHost: bus\r\nContent-Length: 1\r\n\r\nx";
    let statuses: Vec<u16> = slow
        .iter_mut()
        .map(|client| {
            let _ = client.send(rest);
            client.answer().unwrap().status
        })
        .collect();
    let (refused, served) = statuses.split_at(8);
    assert_eq!((refused, served), (&[503; 8][..], &[200; 4][..]));
    assert_eq!(bus.under_way().memory_bytes, 0);
}

#[test]
fn beyond_the_backend_limit_requests_wait_their_turn_and_then_fail_clearly() {
    let latch = Latch::default();
    let backend = held(&latch, whole());
    let mut settings = settings();
    settings.client.connections = 1;
    settings.client.waiting = 1;
    let bus = Bus::with(&proxy(backend.address()), settings);
    let address = bus.address;
    let (answered, answers) = std::sync::mpsc::channel();
    for _ in 0..3 {
        let answered = answered.clone();
        std::thread::spawn(move || answered.send(raw::exchange(address, &post("x")).unwrap().status));
    }
    // Who comes third is the scheduler's choice; it is answered while the others wait.
    assert_eq!(answers.recv_timeout(DEADLINE), Ok(503));
    latch.open();
    assert_eq!([answers.recv_timeout(DEADLINE), answers.recv_timeout(DEADLINE)], [Ok(200), Ok(200)]);
    assert_eq!(backend.connections().len(), 1);
}

#[test]
fn stopping_finishes_what_runs_and_refuses_the_rest() {
    let latch = Latch::default();
    let backend = held(&latch, whole());
    let mut settings = settings();
    settings.server.drain = 2 * DEADLINE;
    let bus = Bus::with(&proxy(backend.address()), settings);
    let mut idle = Client::connect(bus.address).unwrap();
    let mut busy = Client::connect(bus.address).unwrap();
    busy.send(&post("x")).unwrap();
    backend.wait_for_heads(1, DEADLINE).unwrap();
    bus.stopper().stop();
    assert!(idle.is_closed_within(DEADLINE), "an idle connection closes at once");
    latch.open();
    let answer = busy.answer().unwrap();
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    let address = bus.address;
    let start = Instant::now();
    assert!(bus.stop());
    assert!(start.elapsed() < DEADLINE, "nothing was left to wait for");
    eventually("it takes nobody new", || Client::connect(address).is_err());
}

#[test]
fn stopping_lets_flows_end_that_go_on_behind_their_answer() {
    let latch = Latch::default();
    let slow = held(&latch, whole());
    let archive = Service::start(|_| Response { status: 202, ..Response::default() }).unwrap();
    let configuration = definitions(&format!(
        "<proxy name='P'><target><inSequence><clone continueParent='true'><target><sequence>\
           <call><endpoint><address uri='http://{}/'/></endpoint></call>\
           <send><endpoint><address uri='http://{}/archive'/></endpoint></send>\
         </sequence></target></clone><respond/></inSequence></target></proxy>",
        slow.address(),
        archive.address(),
    ));
    let mut settings = settings();
    settings.server.drain = 2 * DEADLINE;
    let bus = Bus::with(&configuration, settings);
    let mut client = Client::connect(bus.address).unwrap();
    client.send(&post("x")).unwrap();
    assert_eq!(client.answer().unwrap().status, 200);
    assert_eq!(archive.requests().len(), 0, "the answer did not wait");
    bus.stopper().stop();
    eventually("it takes nobody new", || TcpStream::connect(bus.address).is_err());
    latch.open();
    let start = Instant::now();
    assert!(bus.stop());
    assert!(start.elapsed() < DEADLINE, "nothing was left to wait for");
    assert_eq!(archive.requests().len(), 1);
}
