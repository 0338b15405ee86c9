//! What is told of exchanges to whoever observes them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::common::{Scenario, post, response};
use myelin_engine::observer::{CallFailure, EndpointCounters, ExchangeEnd, Fault, Observer, ServiceCounters};
use myelin_engine::transport::SendErrorKind;
use myelin_message::StatusCode;

/// Notes what it is told, a line for each.
#[derive(Default)]
struct Notes(RefCell<Vec<String>>);

impl Observer for Notes {
    fn answered(&self, _: &ServiceCounters, end: ExchangeEnd) {
        let ExchangeEnd { status, faulted, took, waited, .. } = end;
        let status = status.map_or(0, |status| status.as_u16());
        let line = format!("{status} faulted={faulted} took={took:?} waited={waited:?}");
        self.0.borrow_mut().push(line);
    }

    fn faulted(&self, fault: &Fault) {
        self.0.borrow_mut().push(format!("fault {}", fault.error_code().text()));
    }

    fn asked(&self, _: &EndpointCounters, outcome: Result<StatusCode, CallFailure>, took: Duration) {
        let outcome = outcome.map_or_else(CallFailure::name, |status| if status == 200 { "200" } else { "other" });
        self.0.borrow_mut().push(format!("asked {outcome} {took:?}"));
    }
}

const SLOW: Duration = Duration::from_millis(300);

/// What is told while requests are served, the backend of which takes its time.
fn told(artefacts: &str, fails: bool, act: impl FnOnce(&Scenario)) -> Vec<String> {
    let notes = Rc::<Notes>::default();
    let answer = move |_: &_| {
        let answer = if fails { Err(SendErrorKind::ConnectFailed) } else { Ok(response(200, &[], "")) };
        (SLOW, answer)
    };
    let scenario = Scenario::timed(artefacts, answer).observed_by(Rc::clone(&notes) as Rc<dyn Observer>);
    act(&scenario);
    notes.0.take()
}

const CALL: &str = "<call><endpoint><address uri='http://back/'/></endpoint></call>";

fn proxy(sequences: &str) -> String {
    format!("<proxy name='P'><target>{sequences}</target></proxy>")
}

#[test]
fn how_long_endpoints_are_waited_for_is_told_apart_from_the_whole() {
    let artefacts = proxy(&format!("<inSequence>{CALL}{CALL}<respond/></inSequence>"));
    let told =
        told(&artefacts, false, |scenario| assert_eq!(scenario.serve(post("/services/P", &[], "<a/>")).status, 200));
    assert_eq!(told, ["asked 200 300ms", "asked 200 300ms", "200 faulted=false took=600ms waited=600ms"]);
}

#[test]
fn a_fault_is_told_though_a_sequence_answers_it() {
    let artefacts = proxy(&format!(
        "<inSequence>{CALL}</inSequence><faultSequence><property name='HTTP_SC' value='200' scope='axis2'/>\
         <respond/></faultSequence>"
    ));
    let told =
        told(&artefacts, true, |scenario| assert_eq!(scenario.serve(post("/services/P", &[], "<a/>")).status, 200));
    assert_eq!(told, ["asked connect 300ms", "fault 101503", "200 faulted=true took=300ms waited=300ms"]);
}

#[test]
fn an_exchange_that_nobody_waits_for_any_more_is_told_as_that() {
    let artefacts = proxy(&format!("<inSequence>{CALL}<respond/></inSequence>"));
    let told = told(&artefacts, false, |scenario| scenario.leave(post("/services/P", &[], "<a/>"), SLOW / 3));
    assert_eq!(told, ["0 faulted=false took=100ms waited=0ns"]);
}

#[test]
fn a_fault_of_a_branch_ends_an_exchange_as_a_fault() {
    let artefacts = proxy(&format!(
        "<inSequence><clone><target><sequence>{CALL}</sequence></target><target><sequence>{CALL}</sequence></target>\
         </clone></inSequence>"
    ));
    let told =
        told(&artefacts, true, |scenario| assert!(scenario.serve(post("/services/P", &[], "<a/>")).status >= 500));
    let ends = |line: &&String| line.contains("took=");
    assert_eq!(told.iter().filter(|line| line.starts_with("fault 101503")).count(), 2, "{told:?}");
    assert!(told.iter().find(ends).is_some_and(|line| line.contains("faulted=true")), "{told:?}");
}
