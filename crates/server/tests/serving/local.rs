//! `local://`: a service sends to another one of the same bus.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{Bus, DEADLINE, answering, definitions, post, settings};
use myelin_engine::Priorities;
use myelin_server::UnderWay;
use myelin_testkit::eventually;
use myelin_testkit::faulty::{Backend, Script, Step, Until, whole};
use myelin_testkit::raw;

fn proxy(name: &str, address: &str) -> String {
    format!(r#"<proxy name="{name}"><target><endpoint><address uri="{address}"/></endpoint></target></proxy>"#)
}

#[test]
fn services_of_one_bus_stand_in_a_row() {
    let backend = answering(whole());
    let all = proxy("P", "local://localhost/services/Q?a=b") + &proxy("Q", &backend.url("/b"));
    let bus = Bus::with(&definitions(&all), settings());
    let answer = raw::exchange(bus.address, &post("<a/>")).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(backend.connections()[0].text().ends_with("<a/>"));
}

#[test]
fn a_service_that_is_not_there_is_not_found() {
    let bus = Bus::with(&definitions(&proxy("P", "local://localhost/services/Q")), settings());
    assert_eq!(raw::exchange(bus.address, &post("<a/>")).unwrap().status, 404);
}

#[test]
fn a_service_that_sends_to_itself_comes_to_an_end() {
    let bus = Bus::with(&definitions(&proxy("P", "local://localhost/services/P")), settings());
    assert_eq!(raw::exchange(bus.address, &post("<a/>")).unwrap().status, 503);
    eventually("nothing is left", || bus.under_way() == UnderWay::default());
}

#[test]
fn a_request_that_has_its_turn_has_it_for_what_it_sends_to_the_same_bus() {
    let backend = answering(whole());
    let all = proxy("P", "local://localhost/services/Q") + &proxy("Q", &backend.url("/b"));
    let priorities = Some(Priorities::new(1, 0, Duration::from_secs(1), Vec::new()));
    let mediation = myelin_engine::Settings { priorities, ..myelin_engine::Settings::default() };
    let bus = Bus::mediating(&definitions(&all), &mediation, settings());
    assert_eq!(raw::exchange(bus.address, &post("<a/>")).unwrap().status, 200);
}

#[test]
fn a_large_body_streams_through_services_both_ways_at_once() {
    const STEP_BYTES: usize = 64 << 10;
    const STEPS: usize = 1024;
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", STEPS * STEP_BYTES);
    let answers = (0..STEPS)
        .flat_map(|step| [Step::Read(Until::Bytes(STEP_BYTES as u64)), Step::Send(vec![step as u8; STEP_BYTES])]);
    let steps = [Step::Read(Until::Head), Step::Send(head.into_bytes())].into_iter().chain(answers);
    let backend = Backend::start(Script::of(steps.collect::<Vec<_>>())).unwrap();
    let all = proxy("P", "local://localhost/services/Q")
        + &proxy("Q", "local://localhost/services/R")
        + &proxy("R", &backend.url("/b"));
    let mut scarce = settings();
    scarce.server.memory_bytes = 1 << 20;
    let bus = Bus::with(&definitions(&all), scarce);
    let mut stream = TcpStream::connect(bus.address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut sends = stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        let head = format!("POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Length: {}\r\n\r\n", STEPS * STEP_BYTES);
        sends.write_all(head.as_bytes()).unwrap();
        (0..STEPS).for_each(|step| sends.write_all(&vec![step as u8; STEP_BYTES]).unwrap());
    });
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(0);
        let last = head.len() - 1;
        stream.read_exact(&mut head[last..]).unwrap();
    }
    assert!(head.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&head));
    for step in 0..STEPS {
        let mut piece = vec![0; STEP_BYTES];
        stream.read_exact(&mut piece).unwrap();
        assert!(piece == vec![step as u8; STEP_BYTES], "step {step}");
    }
    sender.join().unwrap();
}
