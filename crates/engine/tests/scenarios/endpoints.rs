//! Endpoints that fail, rest and come back, and groups of them that share the work.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use crate::common::{Reply, Scenario, Sent, fails_when_reached, get, post, refused, report, response, wire};
use myelin_engine::EndpointState;
use myelin_engine::transport::SendErrorKind;
use myelin_message::Message;

/// A proxy that sends to the endpoint in it.
fn proxy(endpoint: &str) -> String {
    format!(r#"<proxy name="P"><target><inSequence><send>{endpoint}</send></inSequence></target></proxy>"#)
}

fn answer(body: &str) -> Result<Message, SendErrorKind> {
    let mut message = response(200, &[("Content-Type", "text/plain")], "");
    message.body = wire(body);
    Ok(message)
}

/// Hosts whose name contains `down` refuse; others answer with their name and what they got.
fn named(_: usize, sent: &Sent) -> Result<Message, SendErrorKind> {
    let host = sent.uri.trim_start_matches("http://").split('/').next().unwrap();
    match host.contains("down") {
        true => Err(SendErrorKind::ConnectFailed),
        false => answer(&format!("{host} {}", sent.body)),
    }
}

fn address(host: &str, rules: &str) -> String {
    format!(r#"<endpoint><address uri="http://{host}/">{rules}</address></endpoint>"#)
}

fn serve(scenario: &Scenario) -> Reply {
    scenario.serve(post("/services/P", &[], "<a/>"))
}

fn wait(scenario: &Scenario, milliseconds: u64) {
    let clock = scenario.clock();
    clock.run(clock.sleep(Duration::from_millis(milliseconds))).unwrap();
}

/// The hosts that the requests went to.
fn hosts(scenario: &Scenario) -> Vec<String> {
    let host = |sent: &Sent| sent.uri.trim_start_matches("http://").split(['/', ':']).next().unwrap().to_owned();
    scenario.sent().iter().map(host).collect()
}

#[test]
fn an_endpoint_that_failed_is_not_tried_until_its_time_has_come() {
    let endpoint = r#"<endpoint name="e"><address uri="http://down/"><suspendOnFailure>
        <initialDuration>1000</initialDuration><progressionFactor>2</progressionFactor>
        <maximumDuration>3000</maximumDuration></suspendOnFailure></address></endpoint>"#;
    let scenario = Scenario::with(&format!("{endpoint}{}", proxy(r#"<endpoint key="e"/>"#)), |_, sent| {
        if sent.header("X-Well").is_some() { answer("well") } else { Err(SendErrorKind::ConnectFailed) }
    });
    let check = |status: u16, code: &str, sent: usize| {
        let reply = serve(&scenario);
        assert_eq!((reply.status, scenario.sent().len()), (status, sent), "{reply:?}");
        assert!(reply.body.contains(code), "{reply:?}");
    };
    check(502, "101503", 1);
    check(503, "303001", 1);
    wait(&scenario, 999);
    check(503, "303001", 1);
    wait(&scenario, 1);
    check(502, "101503", 2);
    wait(&scenario, 1999);
    check(503, "303001", 2);
    wait(&scenario, 1);
    check(502, "101503", 3);
    wait(&scenario, 3000);
    let status = &scenario.bus().endpoints()[0];
    assert_eq!((&*status.name, status.kind, status.state), ("e", "address", EndpointState::Suspended));
    assert_eq!(status.retry_at, Some(Duration::from_millis(6000)));
    assert_eq!(scenario.serve(post("/services/P", &[("X-Well", "yes")], "<a/>")).status, 200);
    assert_eq!(scenario.bus().endpoints()[0].state, EndpointState::Active);
    check(502, "101503", 5);
    wait(&scenario, 1000);
    check(502, "101503", 6);
}

#[test]
fn what_a_client_did_wrong_says_nothing_about_the_backend() {
    let scenario =
        Scenario::failing(&proxy(&address("back", "")), SendErrorKind::Request(myelin_message::BodyError::Incomplete));
    assert_eq!(serve(&scenario).status, 400);
    assert_eq!(serve(&scenario).status, 400);
}

#[test]
fn an_endpoint_that_is_switched_off_gets_nothing_until_it_is_switched_on() {
    let endpoint = r#"<endpoint name="e"><address uri="http://back/"/></endpoint>"#;
    let scenario = Scenario::new(&format!("{endpoint}{}", proxy(r#"<endpoint key="e"/>"#)));
    assert!(scenario.bus().switch_endpoint("e", false));
    assert_eq!(serve(&scenario).status, 503);
    assert!(scenario.bus().switch_endpoint("e", true));
    assert_eq!(serve(&scenario).status, 200);
    assert!(!scenario.bus().switch_endpoint("f", true));
}

#[test]
fn a_timeout_that_is_worked_out_counts_for_the_message() {
    let rules = "<timeout><duration>{get-property('limit')}</duration></timeout>";
    let artefacts = format!(
        r#"<proxy name="P"><target><inSequence><property name="limit" expression="//limit"/>
           <send>{}</send></inSequence></target></proxy>"#,
        address("back", rules)
    );
    let scenario = Scenario::new(&artefacts);
    let reply = scenario.serve(post("/services/P", &[], "<limit>250</limit>"));
    assert_eq!(reply.body, "backend says <limit>250</limit>");
    scenario.serve(post("/services/P", &[], "<limit>soon</limit>"));
    let timeouts: Vec<_> = scenario.sent().iter().map(|sent| sent.timeout).collect();
    assert_eq!(timeouts, [Some(Duration::from_millis(250)), None]);
}

#[test]
fn properties_of_an_endpoint_go_with_the_message() {
    let endpoint = r#"<endpoint><http uri-template="http://back/{uri.var.id}"/>
        <property name="uri.var.id" expression="//id"/><property name="X-Via" value="bus" scope="transport"/></endpoint>"#;
    let scenario = Scenario::new(&proxy(endpoint));
    scenario.serve(post("/services/P", &[], "<id>7</id>"));
    let sent = scenario.into_sent();
    assert_eq!((&*sent.uri, sent.header("X-Via"), &*sent.body), ("http://back/7", Some("bus"), "<id>7</id>"));
}

#[test]
fn members_take_turns_and_each_gets_the_whole_message() {
    let group = format!(
        r#"<endpoint><loadbalance algorithm="org.apache.synapse.endpoints.algorithms.RoundRobin">{}{}{}</loadbalance></endpoint>"#,
        address("a", ""),
        address("b", ""),
        address("c", "")
    );
    let scenario = Scenario::with(&proxy(&group), named);
    let bodies: Vec<String> = (0..4).map(|_| serve(&scenario).body).collect();
    assert_eq!(bodies, ["a <a/>", "b <a/>", "c <a/>", "a <a/>"]);
}

#[test]
fn weights_say_how_many_requests_a_member_gets() {
    let weighted = |host: &str, weight: u32| {
        format!(
            r#"<endpoint><address uri="http://{host}/"/><property name="loadbalance.weight" value="{weight}"/></endpoint>"#
        )
    };
    let group = format!(
        r#"<endpoint><loadbalance algorithm="org.apache.synapse.endpoints.algorithms.WeightedRoundRobin" failover="false">
           {}{}</loadbalance></endpoint>"#,
        weighted("a", 3),
        weighted("b", 1)
    );
    let scenario = Scenario::with(&proxy(&group), named);
    (0..8).for_each(|_| assert_eq!(serve(&scenario).status, 200));
    assert_eq!(hosts(&scenario), ["a", "a", "a", "b", "a", "a", "a", "b"]);
}

#[test]
fn a_member_that_fails_hands_its_message_to_the_next_and_rests() {
    let group = format!("<endpoint><loadbalance>{}{}</loadbalance></endpoint>", address("down", ""), address("b", ""));
    let scenario = Scenario::with(&proxy(&group), named);
    (0..3).for_each(|_| assert_eq!(serve(&scenario).body, "b <a/>"));
    assert_eq!(hosts(&scenario), ["down", "b", "b", "b"]);
    wait(&scenario, 30_000);
    (0..2).for_each(|_| assert_eq!(serve(&scenario).body, "b <a/>"));
    assert_eq!(hosts(&scenario)[4..].iter().filter(|host| *host == "down").count(), 1);
}

#[test]
fn where_no_member_answers_the_client_learns_of_the_last_failure_and_then_of_none_being_ready() {
    let group =
        format!("<endpoint><loadbalance>{}{}</loadbalance></endpoint>", address("down1", ""), address("down2", ""));
    let scenario = Scenario::with(&proxy(&group), named);
    let check = |status: u16, code: &str, sent: usize| {
        let reply = serve(&scenario);
        assert_eq!((reply.status, scenario.sent().len()), (status, sent), "{reply:?}");
        assert!(reply.body.contains(code), "{reply:?}");
    };
    check(502, "101503", 2);
    check(503, "303000", 2);
}

#[test]
fn the_fault_sequence_hears_of_a_group_once() {
    let artefacts = format!(
        r#"<proxy name="P"><target><inSequence><send><endpoint><failover>{}{}</failover></endpoint></send></inSequence>
           <faultSequence><property name="HTTP_SC" value="599" scope="axis2"/>
             <property name="told" expression="concat($trp:told, get-property('ERROR_CODE'), ';')" scope="transport"/>
             <property name="RESPONSE" value="true"/><send/></faultSequence></target></proxy>"#,
        address("down1", ""),
        address("down2", "")
    );
    let scenario = Scenario::with(&artefacts, named);
    let reply = serve(&scenario);
    assert_eq!((reply.status, reply.header("told")), (599, Some("101503;")));
    assert_eq!(hosts(&scenario), ["down1", "down2"]);
}

#[test]
fn endpoints_that_are_never_suspended_are_tried_once_for_each_message() {
    let never = "<suspendOnFailure><errorCodes>-1</errorCodes></suspendOnFailure>
        <markForSuspension><errorCodes>-1</errorCodes></markForSuspension>";
    let group =
        format!("<endpoint><failover>{}{}</failover></endpoint>", address("down1", never), address("down2", never));
    let scenario = Scenario::with(&proxy(&group), named);
    assert_eq!(serve(&scenario).status, 502);
    assert_eq!(serve(&scenario).status, 502);
    assert_eq!(hosts(&scenario), ["down1", "down2", "down1", "down2"]);
}

#[test]
fn a_time_out_that_is_forgiven_is_tried_again_before_the_next_member() {
    let patient = "<markForSuspension><retriesBeforeSuspension>2</retriesBeforeSuspension></markForSuspension>";
    let group = format!("<endpoint><failover>{}{}</failover></endpoint>", address("slow", patient), address("b", ""));
    let scenario = Scenario::with(&proxy(&group), |count, sent| match sent.uri.contains("slow") {
        true => Err(SendErrorKind::ResponseTimeout),
        false => named(count, sent),
    });
    assert_eq!(serve(&scenario).body, "b <a/>");
    assert_eq!(hosts(&scenario), ["slow", "slow", "slow", "b"]);
}

#[test]
fn retry_configuration_keeps_a_failure_from_the_other_members() {
    let rules = "<retryConfig><disabledErrorCodes>101503, 101504</disabledErrorCodes></retryConfig>";
    let group = format!("<endpoint><failover>{}{}</failover></endpoint>", address("down", rules), address("b", ""));
    let scenario = Scenario::with(&proxy(&group), named);
    assert_eq!(serve(&scenario).status, 502);
    assert_eq!(serve(&scenario).body, "b <a/>");
}

#[test]
fn failover_goes_back_to_the_first_member_only_where_it_is_dynamic() {
    let check = |dynamic: &str, expected: &[&str]| {
        let rest = "<suspendOnFailure><initialDuration>100</initialDuration></suspendOnFailure>";
        let group = format!(
            r#"<endpoint><failover dynamic="{dynamic}">{}{}</failover></endpoint>"#,
            address("a", rest),
            address("b", rest)
        );
        let scenario = Scenario::with(&proxy(&group), |count, sent| match count {
            0 => Err(SendErrorKind::ConnectFailed),
            _ => named(count, sent),
        });
        serve(&scenario);
        wait(&scenario, 100);
        (0..2).for_each(|_| assert_eq!(serve(&scenario).status, 200));
        assert_eq!(hosts(&scenario), expected);
    };
    check("true", &["a", "b", "a", "a"]);
    check("false", &["a", "b", "b", "b"]);
}

#[test]
fn groups_stand_in_groups_and_are_named() {
    let artefacts = format!(
        r#"<endpoint name="pair"><loadbalance>{}{}</loadbalance></endpoint>
           <endpoint name="spare">{}</endpoint>{}"#,
        address("down1", ""),
        address("down2", ""),
        r#"<address uri="http://c/"/>"#,
        proxy(r#"<endpoint><failover><endpoint key="pair"/><endpoint key="spare"/></failover></endpoint>"#)
    );
    let scenario = Scenario::with(&artefacts, named);
    (0..2).for_each(|_| assert_eq!(serve(&scenario).body, "c <a/>"));
    assert_eq!(hosts(&scenario), ["down1", "down2", "c", "c"]);
}

#[test]
fn members_get_the_path_that_the_client_asked_for() {
    let group = r#"<endpoint><loadbalance><member hostName="down" httpPort="9001"/>
        <member hostName="b" httpPort="9002" httpsPort="9442"/></loadbalance></endpoint>"#;
    let scenario = Scenario::with(&proxy(group), named);
    scenario.serve(post("/services/P/x?y=1", &[], "<a/>"));
    let uris: Vec<String> = scenario.sent().iter().map(|sent| sent.uri.clone()).collect();
    assert_eq!(uris, ["http://down:9001/services/P/x?y=1", "http://b:9002/services/P/x?y=1"]);
    // A member is looked at again after half a second.
    wait(&scenario, 500);
    (0..2).for_each(|_| assert_eq!(serve(&scenario).status, 200));
    assert_eq!(hosts(&scenario)[2..].iter().filter(|host| *host == "down").count(), 1);
}

#[test]
fn a_session_by_cookie_stays_with_the_member_that_began_it() {
    let group = format!(
        r#"<endpoint><session type="http"><sessionTimeout>1000</sessionTimeout></session>
           <loadbalance>{}{}</loadbalance></endpoint>"#,
        address("a", ""),
        address("b", "")
    );
    let scenario = Scenario::with(&proxy(&group), |count, sent| {
        let mut message = named(count, sent)?;
        if sent.header("Cookie").is_none() {
            message.head.append("Set-Cookie", format!("JSESSIONID={count}; Path=/").as_bytes()).unwrap();
        }
        Ok(message)
    });
    let with = |cookie: &str| scenario.serve(post("/services/P", &[("Cookie", cookie)], "<a/>")).body;
    assert_eq!(serve(&scenario).header("Set-Cookie"), Some("JSESSIONID=0; Path=/"));
    assert_eq!(serve(&scenario).body, "b <a/>");
    for _ in 0..3 {
        wait(&scenario, 900);
        assert_eq!(with("theme=dark; JSESSIONID=0"), "a <a/>");
    }
    assert_eq!(with("theme=dark; JSESSIONID=1"), "a <a/>", "it was over, and a new one begins where it is the turn");
    assert_eq!(scenario.sent().last().unwrap().header("Cookie"), Some("theme=dark"));
}

#[test]
fn a_session_whose_member_is_not_ready_is_not_taken_elsewhere() {
    let group = format!(
        r#"<endpoint><session type="simpleClientSession"/><loadbalance>{}{}</loadbalance></endpoint>"#,
        address("a", ""),
        address("b", "")
    );
    let scenario = Scenario::with(&proxy(&group), |count, sent| match count {
        2 => Err(SendErrorKind::ConnectFailed),
        _ => named(count, sent),
    });
    let envelope = |name: &str| {
        let body = format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header>\
             <c:ClientID xmlns:c='http://ws.apache.org/ns/synapse'>{name}</c:ClientID></s:Header><s:Body/></s:Envelope>"
        );
        let reply = scenario.serve(post("/services/P", &[], &body));
        (reply.status, reply.body.split(' ').next().unwrap().to_owned())
    };
    assert_eq!(envelope("one"), (200, "a".to_owned()));
    assert_eq!(envelope("two"), (200, "b".to_owned()));
    assert_eq!(envelope("one").0, 502);
    let reply = envelope("one");
    assert_eq!(reply.0, 503);
    assert_eq!(envelope("two"), (200, "b".to_owned()));
    assert_eq!(envelope("three"), (200, "b".to_owned()));
}

#[test]
fn the_endpoint_is_the_one_that_an_expression_names() {
    let artefacts = format!(
        r#"<endpoint name="ep-a"><address uri="http://a/"/></endpoint>{}"#,
        proxy(r#"<endpoint key-expression="concat('ep-', //to)"/>"#)
    );
    let scenario = Scenario::with(&artefacts, named);
    assert_eq!(scenario.serve(post("/services/P", &[], "<to>a</to>")).body, "a <to>a</to>");
    let reply = scenario.serve(post("/services/P", &[], "<to>b</to>"));
    assert_eq!(reply.status, 503);
    assert!(reply.body.contains("305100"), "{reply:?}");
}

#[test]
fn an_endpoint_has_a_handler_of_its_own() {
    let artefacts = format!(
        r#"<sequence name="mine"><property name="HTTP_SC" value="599" scope="axis2"/><respond/></sequence>{}"#,
        proxy(r#"<endpoint onError="mine"><address uri="http://down/"/></endpoint>"#)
    );
    let scenario = Scenario::with(&artefacts, named);
    assert_eq!(serve(&scenario).status, 599);
}

#[test]
fn every_recipient_gets_the_message_and_their_answers_are_gathered_in_the_out_sequence() {
    let artefacts = format!(
        r#"<proxy name="P"><target><inSequence><send><endpoint><recipientlist>{}{}{}</recipientlist></endpoint></send>
             </inSequence><outSequence><aggregate><completeCondition><messageCount min="-1" max="-1"/></completeCondition>
             <onComplete expression="//offer"><send/></onComplete></aggregate></outSequence></target></proxy>"#,
        address("a", ""),
        address("down", ""),
        address("b", "")
    );
    let scenario = Scenario::with(&artefacts, |count, sent| {
        let mut message = named(count, sent)?;
        message.head.set("Content-Type", b"text/xml").unwrap();
        message.body = wire(&ENVELOPE.replace("<a/>", &format!("<offer>{}</offer>", sent.uri)));
        Ok(message)
    });
    let reply = scenario.serve(post("/services/P", &[], ENVELOPE));
    assert_eq!(reply.status, 200, "{reply:?}");
    let offers: Vec<&str> = reply.body.match_indices("<offer").map(|(at, _)| &reply.body[at..]).collect();
    assert_eq!(offers.len(), 2, "{reply:?}");
    assert!(scenario.sent().iter().all(|sent| sent.body == ENVELOPE));
    assert_eq!(scenario.sent().len(), 3);
}

/// An offer from whoever is asked.
fn offering(count: usize, sent: &Sent) -> Result<Message, SendErrorKind> {
    let mut message = named(count, sent)?;
    message.head.set("Content-Type", b"text/xml").unwrap();
    message.body = wire(&ENVELOPE.replace("<a/>", &format!("<offer>{}</offer>", sent.uri)));
    Ok(message)
}

#[test]
fn what_a_call_to_several_recipients_brings_goes_on_behind_it() {
    let list = format!("<recipientlist>{}{}{}</recipientlist>", address("a", ""), address("b", ""), address("c", ""));
    // In a template, whose parameter the branches see behind the call.
    let artefacts = format!(
        r#"<template name="t"><parameter name="p"/><sequence><call><endpoint>{list}</endpoint></call>
             <property name="X-P" expression="$func:p" scope="transport"/></sequence></template>
           <proxy name="P"><target><inSequence>
             <call-template target="t"><with-param name="p" value="given"/></call-template>
             <aggregate><completeCondition><messageCount min="-1" max="-1"/></completeCondition>
             <onComplete expression="//offer"><respond/></onComplete></aggregate></inSequence></target></proxy>"#
    );
    let scenario = Scenario::with(&artefacts, offering);
    let reply = scenario.serve(post("/services/P", &[], ENVELOPE));
    assert_eq!((reply.status, reply.header("X-P")), (200, Some("given")), "{reply:?}");
    assert_eq!(reply.body.matches("<offer").count(), 3, "{reply:?}");
    assert!(scenario.sent().iter().all(|sent| sent.body == ENVELOPE));
}

#[test]
fn a_call_takes_the_first_answer_of_recipients_within_recipients_and_refuses_to_choose_one_itself() {
    let inner = format!("<endpoint><recipientlist>{}{}</recipientlist></endpoint>", address("a", ""), address("b", ""));
    let artefacts = |attributes: &str| {
        format!(
            r#"<endpoint name="list"><recipientlist>{inner}{}</recipientlist></endpoint>
               <proxy name="P"><target><inSequence><call{attributes}><endpoint key="list"/></call>
               <property name="X-Behind" value="yes" scope="transport"/><respond/></inSequence></target></proxy>"#,
            address("c", "")
        )
    };
    let scenario = Scenario::with(&artefacts(""), offering);
    let reply = scenario.serve(post("/services/P", &[], ENVELOPE));
    assert_eq!((reply.status, reply.header("X-Behind")), (200, Some("yes")), "{reply:?}");
    let mut hosts = hosts(&scenario);
    hosts.sort();
    assert_eq!(hosts, ["a", "b", "c"]);
    let scenario = Scenario::with(&artefacts(" blocking='true'"), offering);
    let refused = scenario.serve(post("/services/P", &[], ENVELOPE));
    assert!(refused.status == 500 && refused.body.contains("more than one answer"), "{refused:?}");
}

const ENVELOPE: &str =
    "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><a/></s:Body></s:Envelope>";

#[test]
fn recipients_are_the_addresses_that_an_expression_gives() {
    let list = r#"<endpoint><recipientlist><endpoints value="{//to}" max-cache="2"/></recipientlist></endpoint>"#;
    let scenario = Scenario::with(&proxy(list), named);
    let to = |addresses: &str| scenario.serve(post("/services/P", &[], &format!("<to>{addresses}</to>")));
    assert_eq!(to("http://a/, http://b/ ,http://c/").status, 200);
    assert_eq!(hosts(&scenario), ["a", "b", "c"]);
    assert_eq!(to("http://down/").status, 502);
    assert_eq!(to("http://down/").status, 503, "what is known of an address is kept");
    assert_eq!(serve(&scenario).status, 503, "nobody is named");
    assert_eq!(to("somewhere").status, 500);
}

#[test]
fn endpoints_fill_the_holes_of_a_template() {
    let artefacts = format!(
        r#"<template name="quick"><parameter name="name"/><parameter name="uri"/><parameter name="limit"/>
             <endpoint name="$name"><address uri="$uri"><timeout><duration>$limit</duration></timeout></address></endpoint>
           </template>
           <template name="loop"><endpoint template="loop"/></template>
           <endpoint name="a" template="quick" uri="http://a/"><parameter name="limit" value="70"/></endpoint>
           <endpoint name="down" template="quick" uri="http://down/"><parameter name="limit" value="80"/></endpoint>
           {}"#,
        proxy(r#"<endpoint key-expression="//to"/>"#)
    );
    let scenario = Scenario::with(&artefacts, named);
    let to = |name: &str| scenario.serve(post("/services/P", &[], &format!("<to>{name}</to>"))).status;
    assert_eq!([to("a"), to("down"), to("a"), to("down")], [200, 502, 200, 503], "each has a state of its own");
    let timeouts: Vec<_> = scenario.sent().iter().map(|sent| sent.timeout.unwrap().as_millis()).collect();
    assert_eq!(timeouts, [70, 80, 70]);
    let with = |endpoint: &str| format!("{artefacts}{endpoint}");
    refused(&with(r#"<endpoint name="x" template="loop"/>"#), "leads to itself");
    fails_when_reached(&with(r#"<endpoint name="x" template="quick" uri="nowhere"/>"#), "is not an absolute http");
}

#[test]
fn endpoints_that_lead_to_themselves_are_refused() {
    let report = report(
        r#"<endpoint name="a"><failover><endpoint key="b"/></failover></endpoint><endpoint name="b" key="a"/>
           <endpoint name="c"><failover><endpoint key="d"/></failover></endpoint>
           <endpoint name="d"><address uri="http://d/"/></endpoint>"#,
    );
    let faulty = report.artefacts.iter().filter(|artefact| !artefact.problems.is_empty());
    assert_eq!(faulty.map(|artefact| &*artefact.name).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_hole_of_no_variable_gives_nothing_and_is_told() {
    let endpoint = r#"<endpoint><http uri-template="http://back/a{foo}/{+my-x.y}b?q={uri.var.id}"/>
        <property name="uri.var.id" value="7"/><property name="foo" value="no"/></endpoint>"#;
    let report = report(&proxy(endpoint));
    let warnings: Vec<_> = report.artefacts[0].warnings.iter().map(|warning| warning.message()).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].starts_with("{foo} gives nothing") && warnings[0].ends_with("did you mean {uri.var.foo}?"));
    assert!(warnings[1].starts_with("{+my-x.y} gives nothing"));
    let scenario = Scenario::new(&proxy(endpoint));
    scenario.serve(get("/services/P"));
    assert_eq!(scenario.sent()[0].uri, "http://back/a/b?q=7");
}

#[test]
fn a_synapse_expression_that_is_none_where_it_stands_is_told() {
    let check = |mediators: &str, expected: &str| {
        let report = report(&format!("<proxy name='P'><target><inSequence>{mediators}</inSequence></target></proxy>"));
        let warnings: Vec<_> = report.artefacts[0].warnings.iter().map(|warning| warning.message()).collect();
        assert!(warnings.len() == 1 && warnings[0].contains(expected), "{mediators}: {warnings:?}");
    };
    check(
        "<send><endpoint><address uri='http://h/${payload.id}'/></endpoint></send>",
        "<http uri-template> works it out",
    );
    check(
        "<send><endpoint><http uri-template='http://h/{payload.id}'/></endpoint></send>",
        "did you mean ${payload.id}?",
    );
    check("<property name='a' expression='payload.id'/>", "the Synapse expression is ${payload.id}");
    check(
        "<filter xpath='vars.order.lines[0]'><then><drop/></then></filter>",
        "the Synapse expression is ${vars.order.lines[0]}",
    );
}
