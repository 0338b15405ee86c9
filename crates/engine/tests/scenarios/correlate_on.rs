//! `aggregate` with `correlateOn`: messages of several requests that belong together.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use crate::common::{Scenario, post, response};

/// A proxy that gathers orders of one customer, two at a time or what came in 30 s, and sends them on.
fn scenario(condition: &str, complete: &str, behind: &str) -> Scenario {
    let artefacts = format!(
        "<proxy name='P'><target><inSequence><property name='all'><all xmlns=''/></property>\
         <aggregate><correlateOn expression='//customer'/>{condition}\
         <onComplete expression='//item' enclosingElementProperty='all'>{complete}</onComplete></aggregate>{behind}\
         </inSequence><outSequence><drop/></outSequence>\
         <faultSequence><property name='HTTP_SC' scope='axis2' value='555'/><respond/></faultSequence>\
         </target></proxy>"
    );
    Scenario::timed(&artefacts, |_| (Duration::from_secs(1), Ok(response(200, &[], ""))))
}

const TWO: &str = "<completeCondition timeout='30'><messageCount min='2' max='-1'/></completeCondition>";
const SEND: &str = "<send><endpoint><address uri='http://b/'/></endpoint></send>";

/// The status of the answer to an order, and the second in which it came.
fn order(scenario: &Scenario, customer: &str, item: &str) -> (u16, u64) {
    let body = format!("<order>{customer}<item>{item}</item></order>");
    let reply = scenario.serve(post("/services/P", &[], &body));
    (reply.status, scenario.clock().now().as_secs())
}

/// The bodies that were sent until every flow had ended, and the second in which the last one did.
fn sent(scenario: &Scenario) -> (Vec<String>, u64) {
    assert!(scenario.clock().run_spawned(), "something goes on for ever");
    assert_eq!(scenario.under_way(), (0, 0));
    (scenario.sent().iter().map(|sent| sent.body.clone()).collect(), scenario.clock().now().as_secs())
}

const A: &str = "<customer>a</customer>";
const B: &str = "<customer>b</customer>";

#[test]
fn messages_of_one_value_go_on_as_one_and_their_clients_wait_for_nothing() {
    let scenario = scenario(TWO, SEND, "");
    assert_eq!(order(&scenario, A, "1"), (202, 0));
    assert_eq!(order(&scenario, B, "2"), (202, 0));
    assert_eq!(order(&scenario, A, "3"), (202, 0));
    let (bodies, seconds) = sent(&scenario);
    assert_eq!(bodies, ["<all><item>1</item><item>3</item></all>", "<all><item>2</item></all>"]);
    // The other one waits until its time is over, and its backend takes a second.
    assert_eq!(seconds, 31);
}

#[test]
fn what_comes_behind_a_complete_group_begins_another_one() {
    let scenario = scenario(TWO, SEND, "");
    for item in ["1", "2", "3", "4", "5"] {
        assert_eq!(order(&scenario, A, item), (202, 0));
    }
    let (mut bodies, seconds) = sent(&scenario);
    bodies.sort();
    let expected = [
        "<all><item>1</item><item>2</item></all>",
        "<all><item>3</item><item>4</item></all>",
        "<all><item>5</item></all>",
    ];
    assert_eq!((bodies.as_slice(), seconds), (expected.map(str::to_owned).as_slice(), 31));
}

#[test]
fn a_group_goes_on_behind_the_aggregate_and_its_faults_are_handled() {
    let behind = format!("<header name='To' value='http://b/'/>{SEND}");
    let scenario_behind = scenario(TWO, "<property name='x' value='1'/>", &behind);
    assert_eq!(order(&scenario_behind, A, "1"), (202, 0));
    assert_eq!(order(&scenario_behind, A, "2"), (202, 0));
    assert_eq!(sent(&scenario_behind).0, ["<all><item>1</item><item>2</item></all>"]);
    let failing = scenario(TWO, "<throwError type='T' errorMessage='no'/>", "");
    assert_eq!(order(&failing, A, "1"), (202, 0));
    assert_eq!(sent(&failing).0, Vec::<String>::new());
}

#[test]
fn a_group_is_no_branch_that_another_aggregate_could_gather() {
    let another = "<aggregate><completeCondition timeout='3'/><onComplete expression='//nothing'><drop/></onComplete></aggregate>";
    let scenario = scenario(TWO, "<property name='x' value='1'/>", &format!("{another}{SEND}"));
    assert_eq!(order(&scenario, A, "1"), (202, 0));
    assert_eq!(sent(&scenario), (vec!["<all><item>1</item></all>".to_owned()], 31));
}

#[test]
fn without_a_time_a_group_waits_for_ten_minutes() {
    let scenario = scenario("", SEND, "");
    assert_eq!(order(&scenario, A, "1"), (202, 0));
    assert_eq!(sent(&scenario), (vec!["<all><item>1</item></all>".to_owned()], 601));
}

#[test]
fn a_message_without_the_value_is_a_fault() {
    let scenario = scenario(TWO, SEND, "");
    assert_eq!(order(&scenario, "", "1").0, 555);
    assert_eq!(sent(&scenario).0, Vec::<String>::new());
}

#[test]
fn a_message_for_which_the_expression_is_false_passes() {
    let artefacts = "<proxy name='P'><target><inSequence><aggregate><correlateOn expression='count(//customer) > 1'/>\
                     <completeCondition timeout='5'/><onComplete expression='//item'><drop/></onComplete></aggregate>\
                     <respond/></inSequence></target></proxy>";
    let scenario = Scenario::new(artefacts);
    assert_eq!(order(&scenario, A, "1"), (200, 0));
    assert_eq!(order(&scenario, "<customer/><customer/>", "1"), (202, 0));
}

#[test]
fn json_is_gathered_by_a_value_in_it() {
    let artefacts = format!(
        "<proxy name='P'><target><inSequence><property name='all'><all xmlns=''/></property>\
         <aggregate><correlateOn expression='json-eval($.customer)'/>{TWO}\
         <onComplete expression='json-eval($.item)' enclosingElementProperty='all'>{SEND}</onComplete></aggregate>\
         </inSequence></target></proxy>"
    );
    let scenario = Scenario::new(&artefacts);
    for (customer, item) in [("a", 1), ("b", 2), ("a", 3)] {
        let body = format!(r#"{{"customer": "{customer}", "item": {item}}}"#);
        let request = crate::common::request(
            "POST",
            "/services/P",
            &[("Host", "bus"), ("Content-Type", "application/json")],
            &body,
        );
        assert_eq!(scenario.serve(request).status, 202);
    }
    assert_eq!(sent(&scenario).0, [r#"{"all":[1,3]}"#, r#"{"all":[2]}"#]);
}
