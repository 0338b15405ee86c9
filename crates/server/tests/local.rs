//! `local://`: a service sends to another one of the same bus.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

mod support;

use std::time::{Duration, Instant};

use myelin_mediation::Priorities;
use myelin_server::UnderWay;
use myelin_testkit::raw;
use myelin_testkit::rude::whole;
use support::{Bus, DEADLINE, answering, definitions, post, settings};

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
    let end = Instant::now() + DEADLINE;
    while bus.under_way() != UnderWay::default() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(bus.under_way(), UnderWay::default());
}

#[test]
fn a_request_that_has_its_turn_has_it_for_what_it_sends_to_the_same_bus() {
    let backend = answering(whole());
    let all = proxy("P", "local://localhost/services/Q") + &proxy("Q", &backend.url("/b"));
    let priorities = Some(Priorities::new(1, 0, Duration::from_secs(1), Vec::new()));
    let mediation = myelin_mediation::Settings { priorities, ..myelin_mediation::Settings::default() };
    let bus = Bus::mediating(&definitions(&all), &mediation, settings());
    assert_eq!(raw::exchange(bus.address, &post("<a/>")).unwrap().status, 200);
}
