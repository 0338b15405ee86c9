//! `foreach` over what variables hold, and results that go into variables.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{Scenario, load_with, report, request};
use myelin_engine::Settings;

/// What a client gets that sends JSON to a proxy with this flow.
fn answer(flow: &str, json: &str) -> String {
    let artefacts = format!("<proxy name='P'><target><inSequence>{flow}<respond/></inSequence></target></proxy>");
    let headers = [("Host", "bus"), ("Content-Type", "application/json")];
    let reply = Scenario::new(&artefacts).serve(request("POST", "/services/P", &headers, json));
    reply.body
}

fn json(name: &str, value: &str) -> String {
    format!("<variable name='{name}' type='JSON' value='{value}'/>")
}

/// Makes a message of an expression.
fn show(expression: &str) -> String {
    format!(
        "<payloadFactory media-type='json'><format>{{\"seen\": ${{payload}}, \"is\": {expression}}}</format></payloadFactory>"
    )
}

fn payload(format: &str) -> String {
    format!("<payloadFactory media-type='json'><format>{format}</format></payloadFactory>")
}

#[test]
fn an_array_in_a_variable_is_gone_through_and_changed_in_its_place() {
    let check = |value: &str, collection: &str, expected: &str| {
        let flow = format!(
            "{}<foreach collection='{collection}'><sequence>{}</sequence></foreach>{}",
            json("v", value),
            payload(r#"{"n": ${payload.n * 2}}"#),
            show("${vars.v}")
        );
        assert_eq!(answer(&flow, r#"{"m":1}"#), format!(r#"{{"seen": {{"m":1}}, "is": {expected}}}"#), "{collection}");
    };
    check(r#"[{"n":1},{"n":2}]"#, "${vars.v}", r#"[{"n":2},{"n":4}]"#);
    check(r#"{"k":"x","l":[{"n":3}]}"#, "${vars.v.l}", r#"{"k":"x","l":[{"n":6}]}"#);
    check("[]", "${vars.v}", "[]");
    let text = json("v", "[1]").replace(" type='JSON'", "");
    let flow = format!("{text}<foreach collection='${{vars.v}}'><sequence/></foreach>{}", show("${vars.v}"));
    assert_eq!(answer(&flow, "{}"), r#"{"seen": {}, "is": [1]}"#);
}

#[test]
fn the_message_stays_where_results_go_into_a_variable() {
    let flow = |attributes: &str, collection: &str| {
        format!(
            "{}<foreach collection='{collection}' update-original='false' target-variable='made' {attributes}><sequence>\
             {}</sequence></foreach>{}",
            json("v", "[7, 8]"),
            payload(r#"{"i": ${payload}}"#),
            show("${vars.made}")
        )
    };
    let as_json = "result-content-type='JSON'";
    let check = |collection: &str, message: &str, expected: &str| {
        let got = answer(&flow(as_json, collection), message);
        assert_eq!(got, format!(r#"{{"seen": {message}, "is": {expected}}}"#), "{collection}");
    };
    check("${payload.l}", r#"{"l":[1,2]}"#, r#"[{"i":1},{"i":2}]"#);
    check("${vars.v}", r#"{"l":[]}"#, r#"[{"i":7},{"i":8}]"#);
    // Nothing to go through sets nothing.
    check("${payload.l}", r#"{"l":[]}"#, "null");
    let xml = "result-content-type='XML' result-enclosing-element='all'";
    let into_xml = |inside: &str| {
        format!(
            "<foreach collection='${{vars.v}}' update-original='false' target-variable='made' {xml}><sequence>{inside}\
             </sequence></foreach><enrich><source type='variable' variable='made'/><target type='body'/></enrich>"
        )
    };
    let element = "<payloadFactory media-type='xml'><format><i xmlns=''>$1</i></format><args><arg expression='${payload}'/>\
                   </args></payloadFactory>";
    let got = answer(&format!("{}{}", json("v", "[7, 8]"), into_xml(element)), "{}");
    assert_eq!(got, "<all><i>7</i><i>8</i></all>");
    let got = answer(&format!("{}{}", json("v", "[7]"), into_xml("")), "{}");
    assert!(got.contains("not of the result-content-type"), "{got}");
}

#[test]
fn each_in_turn_has_its_number() {
    let flow = format!(
        "<foreach collection='${{payload.l}}' parallel-execution='false' counter-variable='c'><sequence>{}</sequence>\
         </foreach>{}",
        payload(r#"{"at": ${vars.c}}"#),
        show("${vars.c}")
    );
    let expected = r#"{"seen": {"l":[{"at":0},{"at":1}]}, "is": null}"#;
    assert_eq!(answer(&flow, r#"{"l":["a","b"]}"#), expected);
}

#[test]
fn pieces_of_xml_in_a_variable_are_gone_through() {
    let set =
        "<variable name='x' type='XML' value='&lt;o&gt;&lt;i&gt;1&lt;/i&gt;&lt;b/&gt;&lt;i&gt;2&lt;/i&gt;&lt;/o&gt;'/>";
    let double = "<payloadFactory media-type='xml'><format><j xmlns=''>$1</j></format><args><arg expression='//i * 2'/></args>\
                  </payloadFactory>";
    let body = "<enrich><source type='variable' variable='x'/><target type='body'/></enrich>";
    let inside =
        "<foreach collection=\"${xpath('/i', 'x')}\"><sequence>DOUBLE</sequence></foreach>".replace("DOUBLE", double);
    assert_eq!(answer(&format!("{set}{inside}{body}"), "{}"), "<o><j>2.0</j><b/><j>4.0</j></o>");
    let list = "<variable name='l' expression=\"${xpath('/i', 'x')}\"/>";
    let over = "<foreach collection='${vars.l}' update-original='false' target-variable='x' result-content-type='XML' \
                result-enclosing-element='all'><sequence>DOUBLE</sequence></foreach>"
        .replace("DOUBLE", double);
    assert_eq!(answer(&format!("{set}{list}{over}{body}"), "{}"), "<all><j>2.0</j><j>4.0</j></all>");
}

#[test]
fn branches_that_nobody_waits_for_go_through_a_variable_too() {
    let artefacts = format!(
        "<proxy name='P'><target><inSequence>{}<foreach collection='${{vars.v}}' continue-without-aggregation='true'>\
         <sequence><call><endpoint><http method='post' uri-template='http://back/'/></endpoint></call></sequence></foreach>\
         <respond/></inSequence></target></proxy>",
        json("v", "[1, 2]")
    );
    let scenario = Scenario::new(&artefacts);
    let headers = [("Host", "bus"), ("Content-Type", "text/xml")];
    assert_eq!(scenario.serve(request("POST", "/services/P", &headers, "<a/>")).body, "<a/>");
    assert!(scenario.clock().run_spawned());
    let sent = scenario.sent();
    let seen: Vec<_> = sent.iter().map(|sent| (sent.header("Content-Type"), sent.body.as_str())).collect();
    assert_eq!(seen, [(Some("application/json"), "1"), (Some("application/json"), "2")]);
}

#[test]
fn scatter_gather_puts_what_was_taken_into_a_variable() {
    let flow = |attributes: &str| {
        format!(
            "<scatter-gather target='Variable' target-variable='all' {attributes}><aggregation expression='json-eval($.n)'/>\
             <sequence>{}</sequence><sequence>{}</sequence></scatter-gather>{}",
            payload(r#"{"n": 1}"#),
            payload(r#"{"n": [2]}"#),
            show("${vars.all}")
        )
    };
    let got = answer(&flow("result-content-type='JSON'"), r#"{"m":1}"#);
    assert_eq!(got, r#"{"seen": {"m":1}, "is": [1,[2]]}"#);
}

#[test]
fn what_cannot_be_gone_through_is_told_while_loading_or_is_a_fault() {
    let got = answer("<foreach collection='${vars.none}'><sequence/></foreach>", "{}");
    assert!(got.contains("holds neither an array nor XML"), "{got}");
    let got = answer(&format!("{}<foreach collection='${{vars.v}}'><sequence/></foreach>", json("v", "{}")), "{}");
    assert!(got.contains("Only an array"), "{got}");
    let check = |mediator: &str, part: &str| {
        let report = report(&format!("<sequence name='s'>{mediator}</sequence>")).to_text();
        assert!(report.contains(part), "{part:?} is not in {report}");
    };
    check(
        "<foreach collection='${vars.v}' update-original='false'><sequence/></foreach>",
        "\"target-variable\" is missing",
    );
    check(
        "<foreach collection='${vars.v}' counter-variable='c'><sequence/></foreach>",
        "counter-variable has no effect",
    );
    check("<foreach expression='${vars.v}'><sequence/></foreach>", "<foreach collection> takes variables");
    check("<foreach collection='${vars.a + 1}'><sequence/></foreach>", "names no elements");
    check("<scatter-gather target='Variable'/>", "\"target-variable\" is missing");
}

#[test]
fn what_foreach_makes_is_bounded() {
    let body = "x".repeat(300);
    let artefacts = format!(
        "<proxy name='P'><target><inSequence><foreach collection='${{payload.l}}'><sequence>{}</sequence></foreach><respond/>\
         </inSequence></target></proxy>",
        payload(&format!("{{\"s\": \"{body}\"}}"))
    );
    let settings = Settings { body_limit_bytes: 1000, ..Settings::default() };
    let scenario = Scenario::of(load_with(&artefacts, &settings), |_, _| unreachable!());
    let status = |count: usize| {
        let list = vec!["1"; count].join(",");
        let headers = [("Host", "bus"), ("Content-Type", "application/json")];
        let reply = scenario.serve(request("POST", "/services/P", &headers, &format!("{{\"l\": [{list}]}}")));
        (reply.status, reply.body.contains("too large together"))
    };
    assert_eq!((status(10), status(20)), ((200, false), (500, true)));
}
