//! Throttles: who passes, who is turned away, and when there is room again.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use crate::common::{Reply, Scenario, load_with, post, response};
use myelin_engine::Settings;
use myelin_engine::transport::SendErrorKind;

const AT_ONCE: &str = "<t:MaximumConcurrentAccess>1</t:MaximumConcurrentAccess>";

/// Lets two requests of anybody pass in a minute.
const TWO: &str = "<p:Policy><t:ID t:type='IP'>other</t:ID><p:Policy><t:Control><p:Policy>\
     <t:MaximumCount>2</t:MaximumCount><t:UnitTime>60000</t:UnitTime></p:Policy></t:Control></p:Policy></p:Policy>";

fn policy(inside: &str) -> String {
    format!(
        "<p:Policy xmlns:p='http://schemas.xmlsoap.org/ws/2004/09/policy' \
         xmlns:t='http://www.wso2.org/products/wso2commons/throttle'>\
         <t:MediatorThrottleAssertion>{inside}</t:MediatorThrottleAssertion></p:Policy>"
    )
}

fn throttle(inside: &str) -> String {
    format!("<throttle id='A'><policy>{}</policy></throttle>", policy(inside))
}

/// A proxy that sends to a backend what passes `inside`.
fn proxy(inside: &str, out: &str) -> String {
    format!(
        "<proxy name='P'><target><inSequence>{inside}<send><endpoint><address uri='http://back/'/></endpoint></send>\
         </inSequence><outSequence>{out}<send/></outSequence></target></proxy>"
    )
}

/// With a backend that takes a second; where the body says so it fails then.
fn slow(artefacts: &str) -> Scenario {
    Scenario::timed(artefacts, |sent| {
        let fails = sent.body.contains("fail");
        let answer = if fails { Err(SendErrorKind::Closed) } else { Ok(response(200, &[], "<a/>")) };
        let is_late = sent.uri.starts_with("http://late/");
        (Duration::from_millis(if is_late { 1500 } else { 1000 }), answer)
    })
}

fn request() -> myelin_message::Message {
    post("/services/P", &[], "<q/>")
}

fn statuses(replies: &[Reply]) -> Vec<u16> {
    replies.iter().map(|reply| reply.status).collect()
}

fn pass(scenario: &Scenario, seconds: u64) {
    let clock = scenario.clock();
    clock.run(clock.sleep(Duration::from_secs(seconds))).unwrap();
}

#[test]
fn more_requests_at_once_than_may_be_are_answered_503_in_their_language() {
    let scenario = slow(&proxy(&throttle(AT_ONCE), ""));
    let replies = scenario.serve_together(vec![request(), request()]);
    assert_eq!(statuses(&replies), [200, 503]);
    assert!(replies[1].body.contains("<faultstring>Too many requests are under way</faultstring>"));
    assert_eq!(scenario.serve(request()).status, 200);
}

#[test]
fn of_twelve_requests_at_once_ten_pass_as_in_sample_370_of_apache_synapse() {
    let policy = policy("<t:MaximumConcurrentAccess>10</t:MaximumConcurrentAccess>");
    let policy = policy.replace("MediatorThrottleAssertion", "ThrottleAssertion");
    let scenario = slow(&format!(
        "<sequence name='main'><in><throttle id='A'><policy>{policy}</policy>\
         <onAccept><send><endpoint><address uri='http://back/'/></endpoint></send></onAccept>\
         <onReject><makefault response='true'><code xmlns:s='http://www.w3.org/2003/05/soap-envelope' \
         value='s:Receiver'/><reason value='**Access Denied**'/></makefault><send/><drop/></onReject>\
         </throttle></in><out><throttle id='A'/><send/></out></sequence>"
    ));
    let replies = scenario.serve_together((0..12).map(|_| post("/any", &[], "<q/>")).collect());
    assert_eq!(statuses(&replies)[..10], [200; 10]);
    assert!(replies[10..].iter().all(|reply| reply.status == 500 && reply.body.contains("**Access Denied**")));
    assert_eq!(scenario.sent().len(), 10);
    assert_eq!(scenario.serve(request()).status, 200);
}

#[test]
fn there_is_room_again_however_an_exchange_ends() {
    let scenario = slow(&proxy(&throttle(AT_ONCE), ""));
    scenario.leave(request(), Duration::from_millis(500));
    assert_eq!(scenario.serve(post("/services/P", &[], "<fail/>")).status, 502);
    // The endpoint rests for half a minute after a failure.
    pass(&scenario, 30);
    assert_eq!(scenario.serve(request()).status, 200);
}

#[test]
fn a_throttle_in_the_out_sequence_makes_room_before_the_exchange_ends() {
    let call = "<call><endpoint><address uri='http://back/'/></endpoint></call>";
    let callout = "<callout serviceURL='http://late/'><source type='envelope'/><target key='late'/></callout>";
    let late = format!("<filter xpath=\"$trp:X-Late = 'yes'\">{callout}</filter>");
    // The first is answered by its backend after one second, and by the proxy after two.
    let ask = |out: &str| {
        let scenario = slow(&proxy(&format!("{late}{}", throttle(AT_ONCE)), &format!("{out}{call}")));
        statuses(&scenario.serve_together(vec![request(), post("/services/P", &[("X-Late", "yes")], "<q/>")]))
    };
    assert_eq!(ask("<throttle id='A'/>"), [200, 200]);
    assert_eq!(ask("<throttle id='B'/>"), [200, 503]);
}

#[test]
fn branches_keep_the_place_of_their_request() {
    let clone = "<clone continueParent='true'><target><sequence><send><endpoint><address uri='http://back/'/></endpoint></send></sequence>\
         </target></clone><respond/>";
    let scenario = slow(&proxy(&format!("{}{clone}", throttle(AT_ONCE)), ""));
    assert_eq!(scenario.serve(request()).status, 200);
    // The client has its answer and the branch still waits for its own.
    assert_eq!(scenario.serve(request()).status, 503);
    pass(&scenario, 2);
    assert_eq!(scenario.serve(request()).status, 200);
}

#[test]
fn more_requests_than_a_rule_allows_are_answered_429_until_the_stretch_is_over() {
    let scenario = Scenario::new(&proxy(&throttle(TWO), ""));
    let ask = || scenario.serve(request());
    assert_eq!((ask().status, ask().status), (200, 200));
    pass(&scenario, 15);
    let reply = ask();
    assert_eq!((reply.status, reply.header("Retry-After")), (429, Some("45")));
    pass(&scenario, 45);
    assert_eq!(ask().status, 200);
}

#[test]
fn counts_go_on_over_a_reload_and_are_shared_by_id_and_policy() {
    let settings = Settings::default();
    let scenario = |artefacts: &str| {
        let loaded = load_with(artefacts, &settings);
        assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
        Scenario::of(loaded, |_, _| Ok(response(200, &[], "")))
    };
    let ask = |scenario: &Scenario| scenario.serve(request()).status;
    let twice = proxy(&format!("{}{}", throttle(TWO), throttle(TWO)), "");
    let first = scenario(&twice);
    assert_eq!((ask(&first), ask(&first)), (200, 429));
    let same = scenario(&proxy(&throttle(TWO), "<log/>"));
    assert_eq!(ask(&same), 429);
    let other = scenario(&proxy(&throttle(TWO).replace("'A'", "'B'"), ""));
    assert_eq!(ask(&other), 200);
}

#[test]
fn what_is_rejected_runs_its_own_sequence_and_what_passes_goes_on() {
    let reject = "<property name='HTTP_SC' value='418' scope='axis2'/><respond/>";
    let artefacts = format!(
        "<localEntry key='policy'>{}</localEntry><sequence name='reject'>{reject}</sequence>{}",
        policy(TWO),
        proxy(
            "<throttle id='A' onReject='reject'><policy key='policy'/><onAccept><header name='X-Passed' value='yes' \
             scope='transport'/></onAccept></throttle>",
            ""
        )
    );
    let scenario = Scenario::new(&artefacts);
    let statuses: Vec<u16> = (0..3).map(|_| scenario.serve(request()).status).collect();
    assert_eq!(statuses, [200, 200, 418]);
    assert_eq!(scenario.sent()[1].header("X-Passed"), Some("yes"));
}

#[test]
fn a_caller_is_who_a_proxy_in_front_says_it_is() {
    let rule = |kind: &str, id: &str, access: &str| {
        format!("<p:Policy><t:ID t:type='{kind}'>{id}</t:ID><p:Policy><t:{access}/></p:Policy></p:Policy>")
    };
    let rules = [
        rule("IP", "192.0.2.7", "Allow"),
        rule("IP", "other", "Deny"),
        rule("DOMAIN", "*.example.com", "Allow"),
        rule("DOMAIN", "bad.example.com", "Deny"),
    ];
    let scenario = Scenario::new(&proxy(&throttle(&rules.concat()), ""));
    let check = |headers: &[(&str, &str)], status: u16| {
        assert_eq!(scenario.serve(post("/services/P", headers, "<q/>")).status, status, "{headers:?}");
    };
    // This is where the client of a scenario is.
    check(&[], 200);
    check(&[("X-Forwarded-For", "192.0.2.8, 192.0.2.7")], 403);
    check(&[("X-Forwarded-For", "nobody")], 403);
    check(&[("X-Forwarded-For", "192.0.2.8"), ("X-Forwarded-Host", "good.example.com")], 200);
    check(&[("X-Forwarded-Host", "bad.example.com")], 403);
}
