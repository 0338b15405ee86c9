//! The way of a message: dispatch, sequences, send, respond, and what the client gets.

use crate::common::{Scenario, get, post, request, response};
use myelin_engine::transport::SendErrorKind;

const DIRECT: &str =
    r#"<proxy name="P"><target><endpoint><address uri="http://back:9000/base"/></endpoint></target></proxy>"#;

#[test]
fn a_direct_proxy_relays_both_bodies_unread() {
    let scenario = Scenario::new(DIRECT);
    let reply = scenario.serve(post("/services/P", &[("SOAPAction", "\"urn:a\""), ("x-Case", "1")], "<a/>"));
    assert_eq!((reply.status, reply.body.as_str(), reply.on_the_wire), (200, "backend says <a/>", true));
    assert_eq!(reply.header("X-Back"), Some("yes"));
    let sent = scenario.sent();
    assert_eq!((sent[0].method.as_str(), sent[0].uri.as_str()), ("POST", "http://back:9000/base"));
    assert!(sent[0].on_the_wire);
    assert_eq!(sent[0].headers[2], ("SOAPAction".to_owned(), "\"urn:a\"".to_owned()));
    assert_eq!(sent[0].headers[3].0, "x-Case");
}

#[test]
fn a_status_of_the_backend_is_no_fault() {
    let scenario = Scenario::with(DIRECT, |_, _| Ok(response(503, &[], "down")));
    let reply = scenario.serve(post("/services/P", &[], ""));
    assert_eq!((reply.status, reply.body.as_str()), (503, "down"));
}

#[test]
fn the_rest_of_a_rest_path_goes_behind_the_address_and_that_of_soap_does_not() {
    let scenario = Scenario::new(
        r#"<proxy name="P"><target><endpoint><address uri="http://back/base/"/></endpoint></target></proxy>
           <proxy name="Q"><target><endpoint><address uri="http://back/base?x=1"/></endpoint></target></proxy>"#,
    );
    let check = |request, expected: &str| {
        scenario.serve(request);
        assert_eq!(scenario.sent().last().unwrap().uri, expected);
    };
    check(get("/services/P/foo?z=2"), "http://back/base/foo?z=2");
    check(get("/services/P?z=2"), "http://back/base/?z=2");
    check(get("/services/P"), "http://back/base/");
    check(get("/services/Q?z=2"), "http://back/base?x=1&z=2");
    check(post("/services/P/foo?z=2", &[], ""), "http://back/base/");
    check(request("POST", "/services/P/foo", &[("Content-Type", "application/json")], "{}"), "http://back/base/foo");
    check(request("PUT", "/services/P/foo", &[("Content-Type", "text/xml")], ""), "http://back/base/foo");
}

#[test]
fn a_proxy_is_found_by_name_by_port_and_by_the_transports_it_allows() {
    let scenario = Scenario::new(
        r#"<proxy name="Plain" transports="http"><target><inSequence><respond/></inSequence></target></proxy>
           <proxy name="Safe" transports="https"><target><inSequence><respond/></inSequence></target></proxy>
           <proxy name="a.b"><target><inSequence><respond/></inSequence></target></proxy>
           <proxy name="Off" startOnLoad="false"><target><inSequence><respond/></inSequence></target></proxy>"#,
    );
    let check = |target: &str, secure, expected| {
        assert_eq!(scenario.serve_over(get(target), secure).status, expected, "{target} {secure}");
    };
    check("/services/Plain", false, 200);
    check("/services/Plain", true, 404);
    check("/services/Safe", false, 404);
    check("/services/Safe", true, 200);
    check("/services/a.b", false, 200);
    check("/services/Plain.PlainHttpSoap11Endpoint/x", false, 200);
    check("http://bus:8280/services/Plain", false, 200);
    check("/services/Off", false, 503);
    check("/services/Nobody", false, 404);
    check("/", false, 404);
    check("*", false, 404);
    check("/services/Plain?wsdl", false, 200);
    check("/services/Nobody?wsdl", false, 404);
    assert_eq!(scenario.serve(post("/services/Plain?wsdl", &[], "")).status, 200);
}

#[test]
fn what_is_for_no_proxy_is_for_main_in_both_directions() {
    let scenario = Scenario::new(
        r#"<sequence name="main">
             <in><send><endpoint><address uri="http://back/base"/></endpoint></send></in>
             <out><property name="X-Out" value="1" scope="transport"/><send/></out>
           </sequence>"#,
    );
    let reply = scenario.serve(get("/other/path?x=1"));
    assert_eq!((reply.status, reply.header("X-Out")), (200, Some("1")));
    assert!(reply.on_the_wire);
    assert_eq!(scenario.sent()[0].uri, "http://back/base/other/path?x=1");
}

#[test]
fn in_and_out_go_by_the_property_response_as_in_synapse() {
    let scenario = Scenario::new(
        r#"<sequence name="main"><property name="RESPONSE" value="true"/>
             <in><property name="X-In" value="1" scope="transport"/></in>
             <out><property name="X-Out" value="1" scope="transport"/></out><respond/></sequence>"#,
    );
    let reply = scenario.serve(get("/"));
    assert_eq!((reply.header("X-In"), reply.header("X-Out")), (None, Some("1")));
}

#[test]
fn what_is_for_a_faulty_proxy_does_not_slip_into_main() {
    let loaded = crate::common::load_text(
        r#"<sequence name="main"><respond/></sequence><proxy name="F"><target><inSequence><xslt/></inSequence></target></proxy>"#,
    );
    let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "")));
    for target in ["/services/F", "/services/F.FHttpSoap11Endpoint", "/services/F/rest?x=1"] {
        let reply = scenario.serve(get(target));
        assert_eq!((reply.status, &*reply.body), (503, "The proxy F is faulty, so that the bus does not serve it\n"));
    }
    assert_eq!(scenario.serve(get("/services/Other")).status, 200);
}

#[test]
fn a_faulty_main_is_told_to_those_who_ask_for_it() {
    let loaded = crate::common::load_text(r#"<sequence name="main"><xslt/></sequence>"#);
    let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "")));
    let reply = scenario.serve(request("POST", "/any", &[("Content-Type", "text/xml")], "<a/>"));
    assert_eq!(reply.status, 503);
    assert!(reply.body.contains("<faultstring>The sequence main is faulty, so that"), "{}", reply.body);
}

#[test]
fn a_plain_send_forwards_to_an_absolute_target() {
    let scenario = Scenario::new(r#"<sequence name="main"><send/></sequence>"#);
    let reply = scenario.serve(post("http://back:9000/services/Quote", &[], "<a/>"));
    assert_eq!((reply.status, reply.body.as_str()), (200, "backend says <a/>"));
    assert_eq!(scenario.sent()[0].uri, "http://back:9000/services/Quote");
    assert_eq!(scenario.serve(post("/services/Quote", &[], "<a/>")).status, 500);
}

#[test]
fn a_header_to_and_a_default_endpoint_make_the_address() {
    let scenario = Scenario::new(
        r#"<proxy name="P"><target><inSequence>
             <header name="To" value="http://there/x"/><send><endpoint><default/></endpoint></send>
           </inSequence></target></proxy>"#,
    );
    scenario.serve(post("/services/P", &[], ""));
    assert_eq!(scenario.sent()[0].uri, "http://there/x");
}

#[test]
fn the_echo_idiom_answers_with_the_request_itself() {
    let scenario = Scenario::new(
        r#"<proxy name="E"><target><inSequence>
             <header name="To" action="remove"/><property name="RESPONSE" value="true"/><send/>
           </inSequence></target></proxy>"#,
    );
    let reply = scenario.serve(post("/services/E", &[("X-Mine", "1")], "<a/>"));
    assert_eq!((reply.status, reply.body.as_str(), reply.on_the_wire), (200, "<a/>", true));
    assert_eq!((reply.header("X-Mine"), reply.header("Content-Type")), (Some("1"), Some("text/xml")));
    assert_eq!(reply.header("Host"), None);
    assert!(scenario.sent().is_empty());
}

#[test]
fn mediation_that_ends_without_an_answer_is_202_and_empty() {
    let scenario = Scenario::new(
        r#"<proxy name="N"><target><inSequence><property name="a" value="1"/></inSequence></target></proxy>
           <proxy name="D"><target><inSequence><drop/></inSequence><endpoint><address uri="http://back/"/></endpoint></target></proxy>
           <proxy name="O"><target><endpoint><address uri="http://back/"/></endpoint><outSequence><drop/></outSequence></target></proxy>"#,
    );
    for name in ["N", "D", "O"] {
        let reply = scenario.serve(post(&format!("/services/{name}"), &[], "<a/>"));
        assert_eq!((reply.status, reply.body.as_str()), (202, ""), "{name}");
    }
    assert_eq!(scenario.sent().len(), 1);
}

#[test]
fn mediators_behind_a_send_still_run_and_cannot_change_what_was_sent() {
    let scenario = Scenario::new(
        r#"<proxy name="P"><target><inSequence>
             <send><endpoint><address uri="http://back/"/></endpoint></send>
             <property name="X-Late" value="1" scope="transport"/>
             <property name="seen" expression="get-property('transport', 'X-Mine')"/>
             <log level="full"/>
             <drop/>
           </inSequence><outSequence>
             <property name="X-Seen" expression="$ctx:seen" scope="transport"/><send/>
           </outSequence></target></proxy>"#,
    );
    let reply = scenario.serve(post("/services/P", &[("X-Mine", "m")], "<a/>"));
    assert_eq!((reply.status, reply.header("X-Seen")), (200, Some("m")));
    assert_eq!(scenario.sent()[0].header("X-Late"), None);
    assert_eq!(scenario.sent().len(), 1);
}

#[test]
fn routing_by_header_leaves_the_body_on_the_wire() {
    let scenario = Scenario::new(
        r#"<proxy name="R"><target><inSequence>
             <switch source="$trp:routing">
               <case regex="xadmin;.*"><send><endpoint><address uri="http://admin/"/></endpoint></send></case>
               <default><filter source="get-property('transport','routing')" regex=".*server2.*">
                 <then><send><endpoint><address uri="http://two/"/></endpoint></send></then>
                 <else><send><endpoint><address uri="http://else/"/></endpoint></send></else>
               </filter></default>
             </switch>
           </inSequence></target></proxy>"#,
    );
    let check = |routing: &[(&str, &str)], expected: &str| {
        let reply = scenario.serve(post("/services/R", routing, "<a/>"));
        assert!(reply.on_the_wire);
        let sent = scenario.sent();
        let sent = sent.last().unwrap();
        assert_eq!(sent.uri, expected);
        assert!(sent.on_the_wire);
    };
    check(&[("routing", "xadmin;server1;community#1.0##")], "http://admin/");
    check(&[("Routing", "user;server2")], "http://two/");
    check(&[], "http://else/");
}

#[test]
fn named_sequences_and_endpoints_are_used_wherever_they_stand() {
    let scenario = Scenario::new(
        r#"<proxy name="P"><target inSequence="in" outSequence="out" endpoint="alias"/></proxy>
           <sequence name="in"><sequence key="{get-property('transport','X-Do')}"/></sequence>
           <sequence name="mark"><property name="X-Mark" value="1" scope="transport"/></sequence>
           <sequence name="out"><sequence key="held"/><send/></sequence>
           <localEntry key="held"><sequence name="x"><property name="X-Held" value="1" scope="transport"/></sequence></localEntry>
           <endpoint name="alias" key="real"/>
           <endpoint name="real"><address uri="http://real/"/></endpoint>"#,
    );
    let reply = scenario.serve(post("/services/P", &[("X-Do", "mark")], ""));
    assert_eq!((reply.status, reply.header("X-Held")), (200, Some("1")));
    assert_eq!(scenario.sent()[0].header("X-Mark"), Some("1"));
    assert_eq!(scenario.serve(post("/services/P", &[("X-Do", "nobody")], "")).status, 500);
}

#[test]
fn a_sequence_that_calls_itself_is_a_fault_and_not_a_crash() {
    let scenario = Scenario::new(
        r#"<sequence name="main"><log level="full"/><sequence key="again"/></sequence>
           <sequence name="again"><filter xpath="true()"><sequence key="main"/></filter></sequence>"#,
    );
    let reply = scenario.serve(post("/", &[], "<a/>"));
    assert_eq!(reply.status, 500);
    assert!(reply.body.contains("without end"), "{}", reply.body);
}

#[test]
fn a_response_that_is_sent_on_and_on_is_a_fault() {
    let scenario = Scenario::new(
        r#"<proxy name="P"><target><endpoint><address uri="http://back/"/></endpoint>
             <outSequence><send><endpoint><address uri="http://back/"/></endpoint></send></outSequence></target></proxy>"#,
    );
    assert_eq!(scenario.serve(post("/services/P", &[], "")).status, 500);
    assert!(scenario.sent().len() < 20);
    assert_eq!(scenario.sent()[1].method, "POST");
}

#[test]
fn an_http_endpoint_fills_its_template_and_sets_its_method() {
    let scenario = Scenario::new(
        r#"<proxy name="P"><target><inSequence>
             <property name="uri.var.symbol" expression="$url:s"/>
             <property name="uri.var.path" value="a/b"/>
             <send><endpoint><http method="get" uri-template="http://back/{+uri.var.path}/{uri.var.symbol}?q={query.param.q}"/></endpoint></send>
           </inSequence></target></proxy>"#,
    );
    scenario.serve(post("/services/P/rest?s=I%20B%2FM", &[], "<a/>"));
    let sent = scenario.sent();
    assert_eq!((sent[0].method.as_str(), sent[0].uri.as_str()), ("GET", "http://back/a/b/I%20B%2FM?q="));
    assert_eq!(sent[0].body, "");
}

#[test]
fn hundreds_of_mediators_in_a_row_and_many_pauses_are_no_burden() {
    let many = "<property name=\"a\" value=\"1\"/><log level=\"full\"/>".repeat(1000);
    let scenario = Scenario::new(&format!("<sequence name=\"main\">{many}<respond/></sequence>"));
    assert_eq!(scenario.serve(post("/", &[], "<a/>")).body, "<a/>");
}

#[test]
fn a_content_type_set_for_the_backend_does_not_change_what_the_body_is() {
    for set in [
        r#"<property name="Content-Type" scope="transport" value="application/json"/>"#,
        r#"<property name="Content-Type" scope="transport" value="application/xml; charset=UTF-16"/>"#,
        r#"<property name="TRANSPORT_HEADERS" scope="axis2" action="remove"/>"#,
    ] {
        let scenario = Scenario::new(&format!(
            r#"<proxy name="P"><target><inSequence><filter xpath="//a"><then/></filter>{set}
               <filter xpath="//b = 1"><then><property name="X-B" scope="transport" value="yes"/></then></filter>
               <respond/></inSequence></target></proxy>"#
        ));
        let reply = scenario.serve(post("/services/P", &[], "<r><a/><b>1</b></r>"));
        assert_eq!((reply.status, reply.header("X-B")), (200, Some("yes")), "{set}");
    }
}

#[test]
fn the_properties_of_one_message_hold_only_so_much() {
    let body = format!("<r>{}</r>", "<a/>".repeat(400_000));
    let holding = |times: usize| {
        let properties: String =
            (0..times).map(|n| format!(r#"<property name="p{n}" expression="//r" type="OM"/>"#)).collect();
        let text =
            format!(r#"<proxy name="P"><target><inSequence>{properties}<respond/></inSequence></target></proxy>"#);
        Scenario::new(&text).serve(post("/services/P", &[], &body)).status
    };
    assert_eq!((holding(1), holding(9)), (200, 500));
}

#[test]
fn a_message_that_loops_back_goes_through_the_out_sequence() {
    let check = |out: &str, expected: (u16, Option<&str>)| {
        let scenario = Scenario::new(&format!(
            "<proxy name='P'><target><inSequence><loopback/><throwError type='1' errorMessage='behind'/></inSequence>\
             {out}</target></proxy>"
        ));
        let reply = scenario.serve(post("/services/P", &[("X-In", "1"), ("User-Agent", "me")], "<a/>"));
        assert_eq!((reply.status, reply.header("X-Out")), expected, "{out}");
        assert_eq!(reply.header("User-Agent"), None);
        assert!(scenario.sent().is_empty());
        let echoed = reply.status == 200;
        assert_eq!(reply.body, if echoed { "<a/>" } else { "" });
    };
    let mark = "<property name='X-Out' scope='transport' value='yes'/>";
    check("", (200, None));
    check(&format!("<outSequence>{mark}<send/></outSequence>"), (200, Some("yes")));
    check(&format!("<outSequence>{mark}<respond/></outSequence>"), (200, Some("yes")));
    check("<outSequence><loopback/></outSequence>", (202, None));
}

#[test]
fn a_response_runs_through_the_sequence_that_receives_it() {
    let artefacts = r#"<sequence name="one"><property name="X-Received" scope="transport" value="one"/><respond/></sequence>
        <sequence name="two"><property name="X-Received" scope="transport" value="two"/>
          <send receive="one"><endpoint><address uri="http://back/2"/></endpoint></send></sequence>
        <proxy name="P"><target><inSequence><send receive="{$url:to}"><endpoint><address uri="http://back/1"/></endpoint></send></inSequence>
          <outSequence><property name="X-Received" scope="transport" value="out"/><respond/></outSequence></target></proxy>"#;
    let check = |to: &str, status: u16, expected: Option<&str>, sent: usize| {
        let scenario = Scenario::new(artefacts);
        let reply = scenario.serve(get(&format!("/services/P?to={to}")));
        assert_eq!((reply.status, reply.header("X-Received")), (status, expected), "{to}");
        assert_eq!(scenario.sent().len(), sent);
    };
    check("one", 200, Some("one"), 1);
    check("two", 200, Some("one"), 2);
    check("nobody", 500, None, 0);
}

#[test]
fn a_message_that_is_sent_again_is_sent_in_copies_and_the_first_answer_is_the_clients() {
    let to = |path: &str| format!("<send><endpoint><address uri='http://back/{path}'/></endpoint></send>");
    let check = |mediators: &str, out: &str, sent: &[&str], status: u16, answered: &[&str]| {
        let scenario = Scenario::with(
            &format!("<proxy name='P'><target><inSequence>{mediators}</inSequence>{out}</target></proxy>"),
            |_, sent| match sent.uri.as_str() {
                "http://back/fails" => Err(SendErrorKind::ConnectFailed),
                uri => Ok(response(200, &[("X-From", uri)], &sent.body)),
            },
        );
        let reply = scenario.serve(post("/services/P", &[], "<a/>"));
        let mut uris: Vec<String> =
            scenario.sent().iter().map(|sent| format!("{} {}", &sent.uri[12..], sent.body)).collect();
        uris.sort();
        assert_eq!(uris, sent, "{mediators}");
        let from = reply.header("X-From").map_or("", |uri| &uri[12..]);
        assert_eq!((reply.status, answered.contains(&from)), (status, true), "{mediators}: {from:?}");
    };
    let two = ["1 <a/>", "2 <a/>"];
    check(&format!("{}{}", to("1"), to("2")), "", &two, 200, &["1", "2"]);
    check(
        &format!("{}<log level='full'/>{}", to("1"), to("2")),
        "<outSequence><send/></outSequence>",
        &two,
        200,
        &["1", "2"],
    );
    check(&format!("<filter xpath='true()'>{}</filter>{}", to("1"), to("2")), "", &two, 200, &["1", "2"]);
    check(&format!("{}{}", to("fails"), to("2")), "", &["2 <a/>", "fails <a/>"], 200, &["2"]);
    check(&format!("{}<respond/>{}", to("1"), to("2")), "", &["1 <a/>"], 200, &["1"]);
    let call = "<call><endpoint><address uri='http://back/2'/></endpoint></call><respond/>";
    check(&format!("{}{call}", to("1")), "<outSequence><drop/></outSequence>", &two, 200, &["2"]);
}

#[test]
fn requests_and_responses_of_main_do_not_count_as_one_flow() {
    let scenario = Scenario::new(
        "<sequence name='main'><in><send><endpoint><address uri='http://back/'/></endpoint></send></in><out><send/></out></sequence>",
    );
    let reply = scenario.serve(post("/x", &[], "<a/>"));
    assert_eq!((reply.status, reply.body.as_str()), (200, "backend says <a/>"));
    assert!(scenario.sent()[0].on_the_wire);
}
