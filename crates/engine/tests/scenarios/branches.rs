//! Flows that go on in branches: copies and parts beside each other, and what becomes of them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use crate::common::{Reply, Scenario, Sent, post, request, response};
use myelin_engine::Settings;
use myelin_engine::transport::SendErrorKind;
use myelin_message::Message;

/// What a backend whose name says how it behaves gives: `b3` answers after 3 s with `<r>3</r>`, `f3` fails after 3 s.
fn behave(sent: &Sent) -> (Duration, Result<Message, SendErrorKind>) {
    let host = sent.uri.trim_start_matches("http://").split('/').next().unwrap();
    let seconds = host[1..].parse().unwrap();
    let answer = match &host[..1] {
        "b" => Ok(response(200, &[("Content-Type", "application/xml")], &format!("<r>{seconds}{}</r>", sent.body))),
        "j" => Ok(response(200, &[("Content-Type", "application/json")], &format!("{{\"r\": {seconds}}}"))),
        _ => Err(SendErrorKind::ConnectFailed),
    };
    (Duration::from_secs(seconds), answer)
}

fn scenario(incoming: &str, outgoing: &str) -> Scenario {
    scenario_of(&format!(
        "<proxy name='P'><target><inSequence>{incoming}</inSequence><outSequence>{outgoing}</outSequence></target></proxy>"
    ))
}

fn scenario_of(artefacts: &str) -> Scenario {
    Scenario::timed(artefacts, behave)
}

/// Serves a request, and lets everything behind the answer come to its end.
fn serve(scenario: &Scenario, body: &str) -> (Reply, u64) {
    let reply = scenario.serve(post("/services/P", &[], body));
    let seconds = scenario.clock().now().as_secs();
    assert!(scenario.clock().run_spawned(), "something goes on for ever");
    assert_eq!(scenario.under_way(), (0, 0));
    (reply, seconds)
}

fn to(host: &str) -> String {
    format!("<target><endpoint><address uri='http://{host}/'/></endpoint></target>")
}

fn calls(host: &str) -> String {
    format!("<target><sequence><call><endpoint><address uri='http://{host}/'/></endpoint></call></sequence></target>")
}

const ALL: &str = "<property name='all'><all xmlns=''/></property>";

fn gather(id: &str, condition: &str) -> String {
    format!(
        "<aggregate {id}>{condition}<onComplete expression='//r' enclosingElementProperty='all'><send/></onComplete></aggregate>"
    )
}

#[test]
fn the_first_answer_is_the_clients_and_the_others_go_on_behind_it() {
    let scenario = scenario(&format!("<clone>{}{}</clone>", to("b5"), to("b2")), "<send/>");
    let (reply, seconds) = serve(&scenario, "<a/>");
    assert_eq!((reply.status, reply.body.as_str(), seconds), (200, "<r>2<a/></r>", 2));
    assert_eq!(scenario.clock().now().as_secs(), 5);
    assert_eq!(scenario.sent().len(), 2);
}

#[test]
fn answers_of_copies_are_gathered_in_the_out_sequence() {
    let clone = format!("{ALL}<clone id='c'>{}{}</clone>", to("b3"), to("b1"));
    let (reply, seconds) = serve(&scenario(&clone, &gather("id='c'", "")), "<a/>");
    assert_eq!((reply.status, reply.body.as_str(), seconds), (200, "<all><r>3<a/></r><r>1<a/></r></all>", 3));
}

#[test]
fn copies_that_called_go_on_behind_clone() {
    let flow =
        format!("{ALL}<filter xpath='true()'><clone>{}{}</clone></filter>{}", calls("b3"), calls("b1"), gather("", ""));
    let (reply, seconds) = serve(&scenario(&flow, ""), "<a/>");
    assert_eq!((reply.status, reply.body.as_str(), seconds), (200, "<all><r>3<a/></r><r>1<a/></r></all>", 3));
}

#[test]
fn what_is_behind_clone_runs_for_each_copy_that_called() {
    let flow = format!(
        "<clone>{}{}</clone><log level='simple'/><send><endpoint><address uri='http://b1/'/></endpoint></send>",
        calls("b3"),
        calls("b1")
    );
    let scenario = scenario(&flow, "<send/>");
    let (_, seconds) = serve(&scenario, "<a/>");
    assert_eq!((seconds, scenario.sent().len()), (2, 4));
}

#[test]
fn a_copy_that_called_nobody_ends() {
    let flow = "<clone><target><sequence><log level='simple'/></sequence></target></clone><respond/>";
    let (reply, _) = serve(&scenario(flow, ""), "<a/>");
    assert_eq!((reply.status, reply.body.as_str()), (202, ""));
}

#[test]
fn the_message_itself_goes_on_where_it_is_wanted() {
    let flow = format!("<clone continueParent='true'>{}</clone><respond/>", to("b3"));
    let scenario = scenario(&flow, "<drop/>");
    let (reply, seconds) = serve(&scenario, "<a/>");
    assert_eq!((reply.status, reply.body.as_str(), seconds, scenario.sent().len()), (200, "<a/>", 0, 1));
}

#[test]
fn sequential_copies_begin_one_after_the_other() {
    let clone = format!("{ALL}<clone sequential='true'>{}{}</clone>", to("b3"), to("b1"));
    let (reply, seconds) = serve(&scenario(&clone, &gather("", "")), "<a/>");
    assert_eq!((reply.body.as_str(), seconds), ("<all><r>3<a/></r><r>1<a/></r></all>", 4));
}

#[test]
fn an_aggregate_goes_on_with_what_is_there_when_its_time_is_over_and_ends_the_rest() {
    let clone = format!("{ALL}<clone>{}{}{}</clone>", to("b9"), to("b1"), to("b2"));
    let scenario = scenario(&clone, &gather("", "<completeCondition timeout='3'/>"));
    let (reply, seconds) = serve(&scenario, "<a/>");
    assert_eq!((reply.body.as_str(), seconds), ("<all><r>1<a/></r><r>2<a/></r></all>", 3));
    // Whoever did not come in time was ended: nobody waits until second 9.
    assert_eq!(scenario.clock().now().as_secs(), 3);
}

#[test]
fn the_time_of_an_aggregate_begins_with_the_split() {
    let clone = format!("{ALL}<clone>{}{}</clone>", to("b2"), to("b4"));
    let scenario = scenario(&clone, &gather("", "<completeCondition timeout='3'/>"));
    let (reply, seconds) = serve(&scenario, "<a/>");
    assert_eq!((reply.body.as_str(), seconds), ("<all><r>2<a/></r></all>", 3));
}

#[test]
fn an_aggregate_to_which_nobody_came_in_time_is_a_fault_at_its_time() {
    let late = "No message came in time to be aggregated";
    let timeout = "<completeCondition timeout='3'/>";
    let check = |incoming: &str, outgoing: &str, expected: (u16, &str, u64)| {
        let scenario = scenario(incoming, outgoing);
        let (reply, seconds) = serve(&scenario, "<a/>");
        assert!(reply.body.contains(expected.1), "{incoming} {outgoing}: {}", reply.body);
        assert_eq!((reply.status, seconds), (expected.0, expected.2), "{incoming} {outgoing}");
        scenario.clock().now().as_secs()
    };
    let sends = format!("{ALL}<clone id='c'>{}{}</clone>", to("b5"), to("b9"));
    // The branches are ended: nobody waits until second 9.
    assert_eq!(check(&sends, &gather("id='c'", timeout), (504, late, 3)), 3);
    let calls = format!("{ALL}<clone>{}{}</clone>", calls("b5"), calls("b9"));
    check(&format!("{calls}<log level='custom'/>{}", gather("", timeout)), "", (504, late, 3));
    let nested = format!("<property name='b' value='1'/><filter xpath='true()'>{calls}</filter>");
    check(&format!("{nested}{}", gather("", timeout)), "", (504, late, 3));
    // Another split may bring what this one waits for, and so may what does not always run.
    check(&sends, &format!("<filter xpath='true()'>{}</filter>", gather("", timeout)), (200, "<r>5<a/></r>", 5));
    check(&sends, &gather("id='another'", timeout), (202, "", 9));
    // The first answer is the client's, whatever comes to the aggregate.
    let answers = format!("{ALL}<clone id='c'>{}<target><sequence><respond/></sequence></target></clone>", to("b5"));
    check(&answers, &gather("id='c'", timeout), (200, "<a/>", 0));
}

#[test]
fn the_fault_sequence_answers_where_nobody_came_in_time() {
    let scenario = scenario_of(&format!(
        "<proxy name='P'><target><inSequence>{ALL}<clone>{}</clone></inSequence>\
         <outSequence><sequence key='out'/></outSequence>\
         <faultSequence><payloadFactory><format><late xmlns=''>$1</late></format>\
         <args><arg expression='get-property(\"ERROR_MESSAGE\")'/></args></payloadFactory><respond/></faultSequence>\
         </target></proxy><sequence name='out'>{}</sequence>",
        to("b9"),
        gather("", "<completeCondition timeout='3'/>")
    ));
    let (reply, seconds) = serve(&scenario, "<a/>");
    let expected = "<late>No message came in time to be aggregated</late>";
    assert_eq!((reply.status, reply.body.as_str(), seconds), (200, expected, 3));
}

#[test]
fn min_and_max_complete_an_aggregate() {
    for condition in ["min='2' max='-1'", "min='-1' max=\"{get-property('two')}\""] {
        let clone = format!("{ALL}<property name='two' value='2'/><clone>{}{}{}</clone>", to("b9"), to("b1"), to("b2"));
        let condition = format!("<completeCondition><messageCount {condition}/></completeCondition>");
        let (reply, seconds) = serve(&scenario(&clone, &gather("", &condition)), "<a/>");
        assert_eq!((reply.body.as_str(), seconds), ("<all><r>1<a/></r><r>2<a/></r></all>", 2));
    }
}

#[test]
fn an_aggregate_is_complete_when_no_more_can_come() {
    let clone = format!("{ALL}<clone>{}{}{}</clone>", to("f5"), to("b1"), to("b2"));
    let (reply, seconds) = serve(&scenario(&clone, &gather("", "<completeCondition timeout='60'/>")), "<a/>");
    assert_eq!((reply.status, reply.body.as_str(), seconds), (200, "<all><r>1<a/></r><r>2<a/></r></all>", 5));
}

#[test]
fn an_aggregate_that_lacks_messages_ends_with_the_fault_of_a_branch() {
    let clone = format!("{ALL}<clone>{}{}{}</clone>", to("f5"), to("b1"), to("b2"));
    let condition = "<completeCondition><messageCount min='3'/></completeCondition>";
    let (reply, seconds) = serve(&scenario(&clone, &gather("", condition)), "<a/>");
    assert_eq!((reply.status, seconds), (502, 5));
    assert!(reply.body.contains("101503") || reply.body.contains("failed"), "{}", reply.body);
}

#[test]
fn a_fault_in_a_branch_reaches_the_client_where_nobody_answers() {
    let (reply, seconds) = serve(&scenario(&format!("<clone>{}{}</clone>", to("f3"), to("f1")), "<send/>"), "<a/>");
    assert_eq!((reply.status, seconds), (502, 3));
}

#[test]
fn the_fault_sequence_answers_for_a_branch() {
    let artefacts = format!(
        "<proxy name='P'><target><inSequence><clone>{}{}</clone></inSequence><outSequence><drop/></outSequence>\
         <faultSequence><property name='HTTP_SC' value='599' scope='axis2'/><respond/></faultSequence></target></proxy>",
        to("f3"),
        to("b1")
    );
    let (reply, seconds) = serve(&scenario_of(&artefacts), "<a/>");
    assert_eq!((reply.status, seconds), (599, 3));
}

#[test]
fn parts_of_xml_are_sent_and_gathered() {
    let iterate = format!("{ALL}<iterate expression='//i'>{}</iterate>", to("b1"));
    let scenario = scenario(&iterate, &gather("", ""));
    let (reply, seconds) = serve(&scenario, "<a><i>x</i><i>y</i><i>z</i></a>");
    assert_eq!((reply.body.as_str(), seconds), ("<all><r>1<i>x</i></r><r>1<i>y</i></r><r>1<i>z</i></r></all>", 1));
}

#[test]
fn what_is_gathered_of_each_message_may_stand_in_each_other() {
    let gather = "<aggregate><onComplete expression='//p:i | //j' xmlns:p='urn:p' enclosingElementProperty='all'><send/>\
                  </onComplete></aggregate>";
    let scenario = scenario(&format!("{ALL}<clone>{}{}{}</clone>", to("b1"), to("b2"), to("b3")), gather);
    let found = |attribute: &str| format!("<p:i{attribute} n = 'a'><j>a text that makes most of the message</j></p:i>");
    let (reply, _) = serve(&scenario, &format!("<a xmlns:p='urn:p'>{}</a>", found("")));
    let each = format!("{}<j>a text that makes most of the message</j>", found(" xmlns:p=\"urn:p\""));
    assert_eq!(reply.body, format!("<all>{}</all>", each.repeat(3)));
}

#[test]
fn iterations_within_iterations_are_gathered_by_their_ids() {
    let artefacts = format!(
        "<proxy name='P'><target><inSequence>{ALL}<iterate id='outer' expression='//o'><target><sequence>\
         <iterate id='inner' expression='//i'>{}</iterate></sequence></target></iterate></inSequence>\
         <outSequence><aggregate id='inner'><onComplete expression='//r' enclosingElementProperty='all'><sequence/></onComplete></aggregate>\
         <aggregate id='outer'><onComplete expression='//all' enclosingElementProperty='all'><send/></onComplete></aggregate></outSequence></target></proxy>",
        to("b1")
    );
    let (reply, _) = serve(&scenario_of(&artefacts), "<a><o><i>1</i><i>2</i></o><o><i>3</i></o></a>");
    assert_eq!(reply.body, "<all><all><r>1<i>1</i></r><r>1<i>2</i></r></all><all><r>1<i>3</i></r></all></all>");
}

#[test]
fn parts_of_json_are_sent_and_gathered() {
    let artefacts = format!(
        "<proxy name='P'><target><inSequence><iterate expression='json-eval($.l)' id='i'>{}</iterate></inSequence>\
         <outSequence><aggregate id='i'><onComplete expression='json-eval($)'><send/></onComplete></aggregate></outSequence></target></proxy>",
        to("j1")
    );
    let scenario = scenario_of(&artefacts);
    let reply = scenario.serve(request(
        "POST",
        "/services/P",
        &[("Host", "bus"), ("Content-Type", "application/json")],
        r#"{"l": [{"a": 1}, {"a": 2}]}"#,
    ));
    assert_eq!((reply.body.as_str(), reply.header("Content-Type")), (r#"[{"r":1},{"r":1}]"#, Some("application/json")));
    let sent: Vec<_> = scenario.sent().iter().map(|sent| sent.body.clone()).collect();
    assert_eq!(sent, [r#"{"a":1}"#, r#"{"a":2}"#]);
}

#[test]
fn so_many_branches_run_at_once() {
    let parts = "<i/>".repeat(200);
    let iterate = format!("{ALL}<iterate expression='//i'>{}</iterate>", to("b1"));
    let scenario = scenario(&iterate, &gather("", ""));
    let (reply, seconds) = serve(&scenario, &format!("<a>{parts}</a>"));
    // 64 at once: 200 take four rounds of a second.
    assert_eq!((reply.body.matches("<r>").count(), seconds, scenario.sent().len()), (200, 4, 200));
}

#[test]
fn branches_that_split_themselves_without_end_are_stopped() {
    let artefacts = "<sequence name='s'><clone><target sequence='s'/></clone></sequence>\
        <proxy name='P'><target inSequence='s'/></proxy>";
    let (reply, _) = serve(&scenario_of(artefacts), "<a/>");
    assert_eq!(reply.status, 500);
}

#[test]
fn a_flow_that_is_split_and_gathered_without_end_is_stopped() {
    let artefacts = format!(
        "<sequence name='s'>{ALL}<clone>{}</clone><aggregate><onComplete expression='//r'><sequence key='s'/></onComplete></aggregate></sequence>\
         <proxy name='P'><target inSequence='s'/></proxy>",
        calls("b1")
    );
    let scenario = scenario_of(&artefacts);
    let (reply, _) = serve(&scenario, "<a/>");
    assert_eq!((reply.status, scenario.sent().len()), (500, 100));
}

#[test]
fn a_client_that_goes_away_takes_all_branches_with_it() {
    let scenario = scenario(&format!("<clone>{}{}</clone>", to("b9"), to("b8")), "<send/>");
    scenario.leave(post("/services/P", &[], "<a/>"), Duration::from_secs(2));
    assert!(scenario.clock().run_spawned());
    assert_eq!((scenario.under_way(), scenario.sent().len()), ((0, 0), 2));
    assert!(scenario.clock().now() < Duration::from_secs(8));
}

#[test]
fn a_template_may_be_told_what_to_iterate_over_and_to_gather() {
    let artefacts = format!(
        "<template name='each'><parameter name='parts'/><parameter name='place'/><sequence>{ALL}\
         <iterate expression='$func:parts' attachPath='$func:place' preservePayload='true'>{}</iterate></sequence></template>\
         <template name='all'><parameter name='taken'/><sequence><aggregate><onComplete expression='$func:taken' \
         enclosingElementProperty='all'><send/></onComplete></aggregate></sequence></template>\
         <proxy name='P'><target><inSequence><call-template target='each'><with-param name='parts' value='{{{{//i}}}}'/>\
         <with-param name='place' value='{{{{//b}}}}'/></call-template></inSequence>\
         <outSequence><call-template target='all'><with-param name='taken' value='{{{{//b}}}}'/></call-template></outSequence></target></proxy>",
        to("b1")
    );
    let (reply, _) = serve(&scenario_of(&artefacts), "<a><b/><i>1</i><i>2</i></a>");
    assert_eq!(reply.body, "<all><b><i>1</i></b><b><i>2</i></b></all>");
}

#[test]
fn nothing_to_iterate_over_is_no_fault() {
    let iterate = format!("<iterate expression='//i'>{}</iterate>", to("b1"));
    let (reply, _) = serve(&scenario(&iterate, "<send/>"), "<a/>");
    assert_eq!((reply.status, reply.body.as_str()), (202, ""));
}

fn call(host: &str) -> String {
    format!("<call><endpoint><address uri='http://{host}/'/></endpoint></call>")
}

#[test]
fn foreach_changes_each_element_in_its_place() {
    let flow = "<foreach expression='//i' id='f'><sequence><enrich><source type='inline'><x xmlns=''/></source>\
        <target action='child' xpath='//i'/></enrich></sequence></foreach>\
        <property name='X-Count' expression=\"get-property('f_FOREACH_COUNTER')\" scope='transport'/>\
        <property name='X-Original' expression='count($ctx:f_FOREACH_ORIGINAL_MESSAGE//i/x)' scope='transport'/><respond/>";
    let (reply, _) = serve(&scenario(flow, ""), "<a><i>1</i><b/><c><i>2</i></c></a>");
    assert_eq!(reply.body, "<a><i>1<x/></i><b/><c><i>2<x/></i></c></a>");
    assert_eq!((reply.header("X-Count"), reply.header("X-Original")), (Some("2"), Some("0.0")));
}

#[test]
fn foreach_keeps_the_envelope_of_soap() {
    let flow = "<foreach expression='//i'><sequence><enrich><source type='inline'><j xmlns=''/></source>\
        <target type='body'/></enrich></sequence></foreach><respond/>";
    let envelope = |inside: &str| {
        format!(
            "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Header><h/></s:Header>\
             <s:Body><a>{inside}</a></s:Body></s:Envelope>"
        )
    };
    let (reply, _) = serve(&scenario(flow, ""), &envelope("<i/><i/>"));
    assert_eq!(reply.body, envelope("<j/><j/>"));
}

#[test]
fn foreach_goes_through_json() {
    let flow = "<foreach expression='json-eval($.l)'><sequence><enrich><source type='inline'>{\"b\": 2}</source>\
        <target action='child' xpath='json-eval($)'/></enrich></sequence></foreach><respond/>";
    let reply = scenario(flow, "").serve(request(
        "POST",
        "/services/P",
        &[("Host", "bus"), ("Content-Type", "application/json")],
        r#"{"k": 1, "l": [{"a": 1}, {"a": 2}]}"#,
    ));
    assert_eq!(reply.body, r#"{"k":1,"l":[{"a":1,"b":2},{"a":2,"b":2}]}"#);
}

#[test]
fn foreach_ends_at_a_drop_and_at_a_fault() {
    let inside = |attribute: &str, then: &str| {
        format!(
            "<foreach expression='//i' {attribute}><sequence><enrich><source type='inline'><j xmlns=''/></source>\
             <target type='body'/></enrich><filter xpath='$ctx:FOREACH_COUNTER = 1'>{then}</filter></sequence></foreach><respond/>"
        )
    };
    let fails = "<property name='n' value='x'/><property name='m' expression='$ctx:n' type='INTEGER'/>";
    let check = |attribute: &str, then: &str, expected: (u16, &str)| {
        let (reply, _) = serve(&scenario(&inside(attribute, then), ""), "<a><i/><i/><i/></a>");
        assert_eq!(reply.status, expected.0, "{}", reply.body);
        assert!(reply.body.contains(expected.1), "{}", reply.body);
    };
    check("", "<drop/>", (200, "<a><j/><j/><i/></a>"));
    check("", fails, (500, "no value of type INTEGER"));
    check("continueLoopOnFailure='true'", fails, (200, "<a><j/><i/><j/></a>"));
}

#[test]
fn foreach_over_a_collection_calls_beside_each_other() {
    for (parallel, expected) in [("true", 2), ("false", 6)] {
        let flow = format!(
            "<foreach collection='//i' parallel-execution='{parallel}'><sequence>{}</sequence></foreach><respond/>",
            call("b2")
        );
        let (reply, seconds) = serve(&scenario(&flow, ""), "<a><i>1</i>x<i>2</i><i>3</i></a>");
        assert_eq!(reply.body, "<a><r>2<i>1</i></r>x<r>2<i>2</i></r><r>2<i>3</i></r></a>");
        assert_eq!(seconds, expected);
    }
}

#[test]
fn a_fault_in_one_copy_of_foreach_ends_the_others() {
    let flow = format!(
        "<foreach collection='//i'><sequence><filter xpath='//i = 2'><then>{}</then><else>{}</else></filter></sequence></foreach><respond/>",
        call("f1"),
        call("b9")
    );
    let (reply, seconds) = serve(&scenario(&flow, ""), "<a><i>1</i><i>2</i></a>");
    assert_eq!((reply.status, seconds), (502, 1));
}

#[test]
fn foreach_need_not_wait_for_what_it_runs() {
    let flow = format!(
        "<foreach collection='//i' continue-without-aggregation='true'><sequence>{}</sequence></foreach><respond/>",
        call("b5")
    );
    let scenario = scenario(&flow, "");
    let (reply, seconds) = serve(&scenario, "<a><i>1</i><i>2</i></a>");
    assert_eq!((reply.body.as_str(), seconds, scenario.sent().len()), ("<a><i>1</i><i>2</i></a>", 0, 2));
}

fn scatter(attributes: &str, aggregation: &str, hosts: &[&str]) -> String {
    let sequences: String = hosts.iter().map(|host| format!("<sequence>{}</sequence>", call(host))).collect();
    format!(
        "<scatter-gather target='Body' {attributes}><aggregation {aggregation}/>{sequences}</scatter-gather><respond/>"
    )
}

#[test]
fn scatter_gather_makes_one_message_of_what_its_sequences_made() {
    let check = |attributes: &str, aggregation: &str, hosts: &[&str], expected: (u16, &str, u64)| {
        let (reply, seconds) = serve(&scenario(&scatter(attributes, aggregation, hosts), ""), "<a/>");
        assert_eq!((reply.status, reply.body.as_str(), seconds), expected, "{attributes} {aggregation}");
    };
    let json = "result-content-type='JSON'";
    check(json, "expression='json-eval($.r)'", &["j3", "j1"], (200, "[3,1]", 3));
    check(json, "expression='json-eval($)' timeout='2000'", &["j3", "j1"], (200, r#"[{"r":1}]"#, 2));
    check(json, "expression='json-eval($.r)' min-messages='2'", &["j9", "j2", "j1"], (200, "[2,1]", 2));
    check(json, "expression='json-eval($.r)' min-messages='1'", &["f1", "j2"], (200, "[2]", 2));
    check(json, "expression='json-eval($.r)'", &["j2", "f1", "j3"], (200, "[2,3]", 3));
    check(json, "expression='json-eval($.r)' timeout='2500' min-messages='3'", &["f1", "j2", "j9"], (200, "[2]", 2));
    let xml = "result-content-type='XML' result-enclosing-element='all' parallel-execution='false'";
    check(xml, "expression='//r'", &["b2", "b1"], (200, "<all><r>2<a/></r><r>1<a/></r></all>", 3));
}

#[test]
fn scatter_gather_fails_where_too_little_is_made() {
    let check = |aggregation: &str, hosts: &[&str], expected: (u16, u64)| {
        let (reply, seconds) = serve(&scenario(&scatter("result-content-type='JSON'", aggregation, hosts), ""), "<a/>");
        assert_eq!((reply.status, seconds), expected, "{aggregation} {hosts:?}");
    };
    check("expression='json-eval($)' min-messages='2'", &["f1", "j2"], (502, 2));
    check("expression='json-eval($)'", &["f1", "f2"], (502, 2));
    check("expression='json-eval($)' timeout='1000'", &["j9", "j8"], (500, 1));
}

/// A copy that answers at once.
const ANSWERS: &str = "<clone continueParent='true'><target><sequence><respond/></sequence></target></clone>";

#[test]
fn who_was_answered_by_a_copy_waits_for_nobody_else() {
    for host in ["b30", "f30"] {
        let flow = format!("{ANSWERS}<call><endpoint><address uri='http://{host}/'/></endpoint></call><drop/>");
        let scenario = scenario(&flow, "");
        let (reply, seconds) = serve(&scenario, "<a/>");
        assert_eq!((reply.status, reply.body.as_str(), seconds), (200, "<a/>", 0), "{host}");
        assert_eq!(scenario.clock().now().as_secs(), 30);
    }
}

#[test]
fn the_message_itself_goes_where_its_service_sends_it() {
    let clone = "<clone continueParent='true'><target><sequence><log level='simple'/></sequence></target></clone>";
    let scenario = scenario_of(&format!(
        "<proxy name='P'><target><inSequence>{clone}</inSequence><endpoint><address uri='http://b1/'/></endpoint></target></proxy>"
    ));
    let (reply, seconds) = serve(&scenario, "<a/>");
    assert_eq!((reply.status, reply.body.as_str(), seconds), (200, "<r>1<a/></r>", 1));
}

#[test]
fn what_fails_behind_a_send_is_not_the_clients_concern() {
    let sends = "<send><endpoint><address uri='http://b1/'/></endpoint></send><throwError type='7' errorMessage='no'/>";
    let flow = format!("<clone continueParent='true'><target><sequence><drop/></sequence></target></clone>{sends}");
    let (reply, _) = serve(&scenario(&flow, "<send/>"), "<a/>");
    assert_eq!((reply.status, reply.body.as_str()), (200, "<r>1<a/></r>"));
    let flow = format!("<clone>{}</clone>{sends}", calls("b2"));
    let (reply, _) = serve(&scenario(&flow, "<send/>"), "<a/>");
    assert_eq!((reply.status, reply.body.as_str()), (200, "<r>1<r>2<a/></r></r>"));
}

#[test]
fn a_handler_of_faults_may_answer_in_a_branch() {
    let served = |handler: &str| {
        let scenario = scenario_of(&format!(
            "<proxy name='P'><target><inSequence><throwError type='7' errorMessage='no'/></inSequence>\
             <faultSequence>{handler}</faultSequence></target></proxy>"
        ));
        serve(&scenario, "<a/>")
    };
    let (reply, _) = served(&format!("<clone>{}{}</clone><respond/>", calls("b3"), calls("b1")));
    assert_eq!((reply.status, reply.body.as_str()), (200, "<r>1<a/></r>"));
    let (reply, _) = served("<clone><target><sequence><drop/></sequence></target></clone>");
    assert_eq!(reply.status, 500);
    assert!(reply.body.contains("<code>7</code>"), "{reply:?}");
}

#[test]
fn what_is_accepted_stays_so_whatever_becomes_of_its_copies() {
    let flow = format!("<property name='FORCE_SC_ACCEPTED' value='true' scope='axis2'/><clone>{}</clone>", to("f1"));
    let (reply, _) = serve(&scenario(&flow, ""), "<a/>");
    assert_eq!((reply.status, reply.body.as_str()), (202, ""));
}

#[test]
fn who_handles_that_too_much_was_gathered_has_the_message() {
    let artefacts = format!(
        "<proxy name='P'><target><inSequence>{ALL}<clone>{}{}</clone></inSequence><outSequence>{}</outSequence>\
         <faultSequence><property name='X-R' expression='//r/a' scope='transport'/><respond/></faultSequence></target>\
         </proxy>",
        to("b1"),
        to("b2"),
        gather("", "")
    );
    let settings = Settings { body_limit_bytes: 1 << 12, ..Settings::default() };
    let scenario = Scenario::of(crate::common::load_with(&artefacts, &settings), |_, _| {
        let body = format!("<r>{}<a>kept</a></r>", "<b>x</b>".repeat(100));
        Ok(response(200, &[("Content-Type", "application/xml")], &body))
    });
    let reply = scenario.serve(post("/services/P", &[], "<a/>"));
    assert_eq!((reply.status, reply.header("X-R")), (200, Some("kept")), "{reply:?}");
}

#[test]
fn the_copies_of_one_request_are_bounded_however_small_they_are() {
    let served = |parts: usize| {
        let iterate = "<iterate expression='json-eval($)'><target><sequence><drop/></sequence></target></iterate>";
        let artefacts = format!("<proxy name='P'><target><inSequence>{iterate}</inSequence></target></proxy>");
        let settings = Settings { body_limit_bytes: 1 << 10, ..Settings::default() };
        let scenario = Scenario::of(crate::common::load_with(&artefacts, &settings), |_, _| Err(SendErrorKind::Closed));
        let body = format!("[{}]", vec!["1"; parts].join(","));
        scenario.serve(request("POST", "/services/P", &[("Content-Type", "application/json")], &body)).status
    };
    assert_eq!(served(256), 202);
    assert_eq!(served(257), 500);
}
