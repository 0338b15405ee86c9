//! References to what is not there: the configuration runs, and the step that needs it faults.
//!
//! The codes are those that Synapse 3.0.1 gave when it was asked with the same configurations.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{Reply, Scenario, load_with, post};
use myelin_engine::{Report, Settings};

const SAY: &str = "<payloadFactory><format><fault xmlns=''>$1</fault></format>
    <args><arg expression=\"get-property('ERROR_CODE')\"/></args></payloadFactory><respond/>";

/// A proxy that takes a step where the request says so, and else answers at once.
fn proxy(step: &str) -> String {
    format!(
        "<proxy name='P'><target>
           <inSequence><filter source='$trp:X' regex='y'><then>{step}</then><else/></filter><respond/></inSequence>
           <faultSequence>{SAY}</faultSequence></target></proxy>"
    )
}

fn loaded(artefacts: &str, is_strict: bool) -> Report {
    load_with(artefacts, &Settings { is_strict, ..Settings::default() }).report
}

fn ask(scenario: &Scenario, step: &str) -> Reply {
    scenario.serve(post("/services/P", &[("X", step), ("Content-Type", "application/xml")], "<a><b>1</b></a>"))
}

/// Asserts that a configuration runs, that it tells `part` beforehand, and what a message gets that reaches the step.
fn check(artefacts: &str, part: &str, code: &str) {
    let report = loaded(artefacts, false);
    let latent: Vec<String> =
        report.artefacts.iter().flat_map(|artefact| &artefact.latent).map(ToString::to_string).collect();
    assert!(latent.iter().any(|problem| problem.contains(part)), "{part:?} is not in {latent:?}");
    let scenario = Scenario::new(artefacts);
    assert_eq!((ask(&scenario, "n").status, &*ask(&scenario, "n").body), (200, "<a><b>1</b></a>"), "{artefacts}");
    let reply = ask(&scenario, "y");
    assert_eq!((reply.status, &*reply.body), (200, &*format!("<fault>{code}</fault>")), "{artefacts}");
    assert!(loaded(artefacts, true).faulty() > 0, "{artefacts}");
}

#[test]
fn a_step_that_needs_what_is_not_there_faults_when_it_is_reached() {
    let step = |step: &str, part: &str, code: &str| check(&proxy(step), part, code);
    step("<sequence key='missing'/>", "there is no sequence \"missing\"", "0");
    step("<send><endpoint key='missing'/></send>", "there is no endpoint \"missing\"", "305100");
    step("<call><endpoint key='missing'/></call>", "there is no endpoint \"missing\"", "305100");
    step("<call-template target='missing'/>", "there is no template \"missing\"", "0");
    step("<xslt key='missing'/>", "there is no local entry \"missing\"", "0");
    step("<validate><schema key='missing'/><on-fail><drop/></on-fail></validate>", "\"missing\"", "0");
    step("<script language='js' key='conf:/missing.js' function='f'/>", "no such file in the registry", "0");
    step("<payloadFactory><format key='missing'/><args/></payloadFactory>", "there is no local entry", "0");
    step("<clone><target sequence='missing'/></clone>", "there is no sequence", "0");
    step("<clone><target endpoint='missing'/></clone>", "there is no endpoint", "305100");
    step("<enrich><source type='inline' key='missing'/><target type='body'/></enrich>", "there is no local entry", "0");
    step(
        "<throttle id='A' onReject='missing'><policy key='none'/></throttle>",
        "there is no local entry \"none\"",
        "0",
    );
    step(
        "<dblookup><connection><pool><dsName>none</dsName></pool></connection><statement><sql>select 1</sql></statement></dblookup>",
        "none",
        "0",
    );
}

#[test]
fn an_expression_that_names_what_is_not_there_faults_when_it_is_evaluated() {
    let step = |step: &str, part: &str| check(&proxy(step), part, "0");
    for (expression, part) in [
        ("//foo:bar", "the prefix \"foo\" stands for no namespace"),
        ("frob(1)", "frob() is no known function"),
        ("concat('a')", "argument"),
        ("$nothere", "known are $body"),
    ] {
        step(&format!("<property name='a' expression=\"{expression}\"/>"), part);
        step(&format!("<filter xpath=\"{expression}\"><then/><else/></filter>"), part);
        step(&format!("<switch source=\"{expression}\"><case regex='a'><drop/></case></switch>"), part);
        step(&format!("<log><property name='a' expression=\"{expression}\"/></log>"), part);
        step(&format!("<iterate expression=\"{expression}\"><target><sequence/></target></iterate>"), part);
    }
    step("<property name='a' expression='${configs.none}'/>", "\"none\" has no value");
    step("<property name='a' value='$SYSTEM:NONE'/>", "the environment has no variable \"NONE\"");
}

#[test]
fn an_address_that_leads_nowhere_faults_when_a_message_goes_there() {
    for uri in ["localhost:9/x", "nowhere/x", "//host/x", "$SYSTEM:NONE", "${configs.none}/x"] {
        check(&proxy(&format!("<send><endpoint><address uri='{uri}'/></endpoint></send>")), "", "0");
        let named = format!("<endpoint name='e'><address uri='{uri}'/></endpoint>");
        check(&format!("{named}{}", proxy("<call><endpoint key='e'/></call>")), "", "0");
        check(
            &format!("{named}{}", proxy("<call><endpoint><http uri-template='nowhere/x'/></endpoint></call>")),
            "",
            "0",
        );
    }
}

#[test]
fn a_group_goes_on_with_its_other_members() {
    let group = "<call><endpoint><failover><endpoint key='missing'/><endpoint><address uri='nowhere'/></endpoint>
        <endpoint><address uri='http://back/'/></endpoint></failover></endpoint></call>";
    let scenario = Scenario::new(&proxy(group));
    for _ in 0..2 {
        let reply = ask(&scenario, "y");
        assert_eq!((reply.status, &*reply.body), (200, "backend says <a><b>1</b></a>"));
    }
}

#[test]
fn only_the_branch_fails_that_needs_what_is_not_there() {
    let scenario = Scenario::new(&proxy(
        "<filter xpath='true()'><then/><else sequence='missing'/></filter><filter xpath='false()'><then sequence='missing'/></filter>
         <switch source='//b'><case regex='2'><sequence key='missing'/></case><default><xslt key='missing'/></default></switch>",
    ));
    assert_eq!(ask(&scenario, "y").body, "<fault>0</fault>");
    let scenario = Scenario::new(&proxy(
        "<switch source='//b'><case regex='2'><sequence key='missing'/></case><case regex='1'/></switch>",
    ));
    assert_eq!(ask(&scenario, "y").body, "<a><b>1</b></a>");
}

#[test]
fn a_service_whose_sequences_or_endpoint_are_not_there_tells_its_fault_sequence() {
    let fault = format!("<faultSequence>{SAY}</faultSequence>");
    let asked = |target: &str| ask(&Scenario::new(&format!("<proxy name='P'>{target}</proxy>")), "y").body;
    assert_eq!(asked(&format!("<target inSequence='missing'>{fault}</target>")), "<fault>0</fault>");
    assert_eq!(asked(&format!("<target endpoint='missing'>{fault}</target>")), "<fault>305100</fault>");
    // Only who gets there is told.
    let respond = "<inSequence><respond/></inSequence>";
    assert_eq!(asked(&format!("<target outSequence='missing'>{respond}{fault}</target>")), "<a><b>1</b></a>");
    assert_eq!(asked(&format!("<target faultSequence='missing'>{respond}</target>")), "<a><b>1</b></a>");
}

#[test]
fn a_handler_that_is_not_there_leaves_faults_to_those_around_it() {
    let throwing = "<sequence name='s' onError='missing'><throwError type='7' errorMessage='m'/></sequence>";
    let scenario = Scenario::new(&format!("{throwing}{}", proxy("<sequence key='s'/>")));
    assert_eq!(ask(&scenario, "y").body, "<fault>7</fault>");
}

#[test]
fn main_and_fault_exist_without_being_defined() {
    let artefacts = proxy("<sequence key='main'/>");
    assert_eq!(loaded(&artefacts, true).faulty(), 0);
    assert_eq!(ask(&Scenario::new(&artefacts), "y").status, 202);
    let throwing = "<sequence name='s' onError='fault'><throwError type='7' errorMessage='m'/></sequence>";
    let artefacts = format!("{throwing}<proxy name='P'><target inSequence='s'/></proxy>");
    assert_eq!(loaded(&artefacts, true).artefacts.len(), 2, "what is built in is not counted");
    let reply = ask(&Scenario::new(&artefacts), "y");
    assert_eq!((reply.status, reply.body.contains("<code>7</code>")), (500, true), "{}", reply.body);
}

#[test]
fn a_name_that_is_nearly_right_is_suggested() {
    let artefacts = format!("<sequence name='orders'/>{}", proxy("<sequence key='order'/>"));
    check(&artefacts, "there is no sequence \"order\"; did you mean orders?", "0");
    let both = proxy("<sequence key='missing'/><sequence key='missinh'/>");
    let told = loaded(&both, false).to_text();
    assert!(!told.contains("did you mean"), "what is not there itself is none to suggest: {told}");
}
