//! What a recorder hears of an exchange.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::common::{Scenario, post, response};
use myelin_engine::observer::{ExchangeEnd, Fault};
use myelin_engine::recorder::{
    BranchStart, CalledEndpoint, Exchange, ExchangeStart, Flow, Node, Outcome, Recorder, RecorderSource,
    RequestContext, Sequence, StepPlace,
};
use myelin_engine::transport::{Outgoing, SendError, SendErrorKind, Sent};
use myelin_message::{Message, StatusCode};

type Lines = Rc<RefCell<Vec<String>>>;

/// Records the exchanges of a service, or of all.
struct Notes {
    service: Option<&'static str>,
    lines: Lines,
}

/// Notes what it hears, a line for each, with the branch before it.
struct Note {
    branch: String,
    lines: Lines,
}

impl RecorderSource for Notes {
    fn record(&self, start: &mut ExchangeStart<'_>) -> Option<Rc<dyn Recorder>> {
        if self.service.is_some_and(|service| service != &*start.service.name) {
            return None;
        }
        let note = Note { branch: String::new(), lines: Rc::clone(&self.lines) };
        note.say(format!("{} {}", start.service.name, start.arrival.correlation));
        Some(Rc::new(note))
    }
}

impl Note {
    fn say(&self, line: impl std::fmt::Display) {
        self.lines.borrow_mut().push(format!("{}{line}", self.branch));
    }
}

impl Recorder for Note {
    fn sequence_begins(&self, sequence: &Sequence, _: &mut Exchange, _: &RequestContext<'_>) {
        self.say(format!("in {}", sequence.name));
    }

    fn sequence_ends(&self, sequence: &Sequence, _: &Outcome<Flow>) {
        self.say(format!("out {}", sequence.name));
    }

    fn step_begins(&self, Node { step, .. }: &Node, _: &mut Exchange, _: &RequestContext<'_>) {
        self.say(format!("<{}>", step.element));
    }

    fn step_ends(&self, step: &StepPlace, _: &mut Exchange, _: &RequestContext<'_>, outcome: &Outcome<Flow>) {
        let how = outcome.as_ref().map_or_else(|fault| fault.message.clone(), |flow| format!("{flow:?}"));
        self.say(format!("</{}> {how}", step.element));
    }

    fn sends(&self, endpoint: CalledEndpoint<'_>, outgoing: &mut Outgoing) {
        outgoing.head.set("X-Trace", b"7").unwrap();
        self.say(format!("to {}", endpoint.name));
    }

    fn sent(&self, result: Result<&mut Sent, &SendError>) {
        match result {
            Ok(Sent::Response(response)) => self.say(format!("from {}", response.status.as_u16())),
            Ok(Sent::Accepted) => self.say("accepted"),
            Err(error) => self.say(format!("{:?}", error.kind)),
        }
    }

    fn faulted(&self, fault: &Fault) {
        self.say(format!("fault {}", fault.code));
    }

    fn handles(&self, _: &Fault, handler: &Sequence) {
        self.say(format!("handler {}", handler.name));
    }

    fn branch(&self, start: BranchStart) -> Option<Rc<dyn Recorder>> {
        let branch = format!("{}{}: ", self.branch, start.number.map_or("parent".to_owned(), |n| n.to_string()));
        Some(Rc::new(Note { branch, lines: Rc::clone(&self.lines) }))
    }

    fn flow_ends(&self, result: Result<Option<StatusCode>, &Fault>) {
        self.say(format!("ends {:?}", result.map_err(|fault| fault.code)));
    }

    fn answers(&self, answer: &mut Message) {
        self.say(format!("answer {}", answer.status.as_u16()));
    }

    fn ends(&self, end: &ExchangeEnd) {
        self.say(format!("end {:?}", end.status.map(|status| status.as_u16())));
    }
}

fn told(artefacts: &str, fails: bool, act: impl FnOnce(&Scenario)) -> Vec<String> {
    let lines = Lines::default();
    let source = Notes { service: None, lines: Rc::clone(&lines) };
    let answer = move |_: &_| {
        let answer = if fails { Err(SendErrorKind::ConnectFailed) } else { Ok(response(200, &[], "<b/>")) };
        (Duration::from_millis(300), answer)
    };
    act(&Scenario::timed(artefacts, answer).recorded_by([Rc::new(source) as _]));
    lines.take()
}

const CALL: &str = "<call><endpoint name='E'><address uri='http://back/'/></endpoint></call>";

fn proxy(sequences: &str) -> String {
    format!("<proxy name='P'><target>{sequences}</target></proxy>")
}

#[test]
fn a_recorder_hears_of_each_step_and_may_add_header_lines() {
    let artefacts = proxy(&format!(
        "<inSequence><filter xpath='true()'><then>{CALL}</then></filter><sequence key='last'/></inSequence>"
    )) + "<sequence name='last'><respond/></sequence>";
    let told = told(&artefacts, false, |scenario| {
        let reply = scenario.serve(post("/services/P", &[], "<a/>"));
        assert!(reply.on_the_wire);
        assert_eq!(scenario.sent()[0].header("X-Trace"), Some("7"));
    });
    let expected = "P c-1\nin inSequence\n<filter>\n<call>\nto E\nfrom 200\n</call> Next\n</filter> Next\n<sequence>\n\
                    in last\n<respond>\n</respond> Respond\nout last\n</sequence> Respond\nout inSequence\nanswer 200\n\
                    end Some(200)";
    assert_eq!(told, expected.lines().collect::<Vec<_>>());
}

#[test]
fn a_recorder_hears_where_a_fault_is_raised_and_who_handles_it() {
    let artefacts = proxy(&format!(
        "<inSequence>{CALL}</inSequence><faultSequence><property name='HTTP_SC' value='203' scope='axis2'/><respond/>\
         </faultSequence>"
    ));
    let told = told(&artefacts, true, |scenario| {
        assert_eq!(scenario.serve(post("/services/P", &[], "<a/>")).status, 203);
    });
    let expected = "P c-1\nin inSequence\n<call>\nto E\nConnectFailed\n</call> The connection to the backend failed\n\
                    out inSequence\nfault 101503\nhandler faultSequence\nin faultSequence\n<property>\n\
                    </property> Next\n<respond>\n</respond> Respond\nout faultSequence\nanswer 203\nend Some(203)";
    assert_eq!(told, expected.lines().collect::<Vec<_>>());
}

#[test]
fn each_branch_has_a_recorder_of_its_own() {
    let target = format!("<target><sequence>{CALL}<respond/></sequence></target>");
    let artefacts = proxy(&format!("<inSequence><clone>{target}{target}</clone></inSequence>"));
    let told = told(&artefacts, false, |scenario| {
        assert_eq!(scenario.serve(post("/services/P", &[], "<a/>")).status, 200);
    });
    for number in ["0: ", "1: "] {
        let lines: Vec<&str> = told.iter().filter_map(|line| line.strip_prefix(number)).collect();
        let begin = ["in target", "<call>", "to E"];
        assert_eq!(lines[..3], begin, "{told:?}");
    }
    assert!(told.contains(&"0: ends Ok(Some(200))".to_owned()), "{told:?}");
    assert!(told.contains(&"</clone> Split".to_owned()), "{told:?}");
}

#[test]
fn an_exchange_that_is_abandoned_is_told_to_its_recorder() {
    let artefacts = proxy(&format!("<inSequence>{CALL}</inSequence>"));
    let told = told(&artefacts, false, |scenario| {
        scenario.leave(post("/services/P", &[], "<a/>"), Duration::from_millis(100));
    });
    assert_eq!(told.last().map(String::as_str), Some("end None"), "{told:?}");
}

#[test]
fn several_recorders_hear_of_the_same_and_each_of_its_own_services() {
    let (all, one) = (Lines::default(), Lines::default());
    let sources: [Rc<dyn RecorderSource>; 2] = [
        Rc::new(Notes { service: None, lines: Rc::clone(&all) }),
        Rc::new(Notes { service: Some("Q"), lines: Rc::clone(&one) }),
    ];
    let artefacts = "<proxy name='P'><target><inSequence><respond/></inSequence></target></proxy>\
                     <proxy name='Q'><target><inSequence><respond/></inSequence></target></proxy>";
    let scenario = Scenario::with(artefacts, |_, _| Ok(response(200, &[], "")));
    let scenario = scenario.recorded_by(sources);
    for path in ["/services/P", "/services/Q"] {
        assert_eq!(scenario.serve(post(path, &[], "<a/>")).status, 200);
    }
    let of_q: Vec<String> = all.take().into_iter().skip_while(|line| line != "Q c-1").collect();
    assert_eq!(of_q.len(), 7, "{of_q:?}");
    assert_eq!(one.take(), of_q);
}
