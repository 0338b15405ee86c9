//! Message traces: what is recorded of an exchange, and which exchanges are.

use std::sync::Arc;
use std::time::Duration;

use crate::common::{Scenario, get, post, response};
use myelin_engine::transport::SendErrorKind;
use myelin_observe::messages::{MessageTracing, Trace, TraceLimits, Wish};
use myelin_observe::secrets::Secrets;
use myelin_testkit::scripted::{Pieces, ScriptedBody};
use serde_json::Value;

const ALL: Wish = Wish { service: None, through: None, when: None, faulted: false, next: None, lasts: None };

/// The traces of what is served.
fn traces_of(artefacts: &str, wish: Option<Wish>, fails: bool, act: impl FnOnce(&Scenario)) -> Vec<Arc<Trace>> {
    let tracing = MessageTracing::new(TraceLimits::default());
    traced(&tracing, artefacts, wish, fails, act);
    tracing.traces_behind(0)
}

fn traced(
    tracing: &Arc<MessageTracing>,
    artefacts: &str,
    wish: Option<Wish>,
    fails: bool,
    act: impl FnOnce(&Scenario),
) {
    if let Some(wish) = wish {
        tracing.select(wish).unwrap();
    }
    let answer = move |sent: &crate::common::Sent| {
        let is_down = fails && sent.uri.starts_with("http://down");
        let answer = if is_down { Err(SendErrorKind::ConnectFailed) } else { Ok(response(200, &[], "<b/>")) };
        (Duration::from_millis(30), answer)
    };
    act(&Scenario::timed(artefacts, answer).recorded_by([tracing.recorder_source()]));
}

fn serve(path: &'static str, headers: &'static [(&str, &str)], body: &'static str) -> impl FnOnce(&Scenario) {
    move |scenario| {
        scenario.serve(post(path, headers, body));
    }
}

/// The same with a body that has come whole, as one of usual size has when something is decided.
fn serve_whole(path: &'static str, headers: &'static [(&str, &str)], body: &'static str) -> impl FnOnce(&Scenario) {
    move |scenario| {
        let mut message = post(path, headers, "");
        message.body = ScriptedBody::wire(body.into(), Pieces::Whole);
        scenario.serve(message);
    }
}

fn json(trace: &Trace) -> Value {
    trace.to_json(&Secrets::default())
}

/// All nodes of a kind, from the outside in.
fn nodes(value: &Value, kind: &str) -> Vec<Value> {
    let inside = value["nodes"].as_array().into_iter().flatten();
    inside
        .flat_map(|node| {
            let own = (node["kind"] == kind).then(|| node.clone());
            own.into_iter().chain(nodes(node, kind))
        })
        .collect()
}

fn proxy(sequences: &str) -> String {
    format!("<proxy name='P'><target>{sequences}</target></proxy>")
}

const ROUTING: &str = "<inSequence>
    <filter xpath=\"//symbol = 'IBM'\"><then><property name='to' value='a'/></then>
    <else><property name='to' value='b'/><call><endpoint name='B'><address uri='http://b/'/></endpoint></call></else></filter>
    <respond/></inSequence>";

#[test]
fn a_trace_tells_what_was_decided_changed_and_asked() {
    let order = serve_whole("/services/P", &[], "<a><symbol>MSFT</symbol></a>");
    let traces = traces_of(&proxy(ROUTING), Some(ALL), false, order);
    let [trace] = traces.as_slice() else { panic!("{} traces", traces.len()) };
    let trace = json(trace);
    assert_eq!(trace["status"], 200);
    assert_eq!(trace["request"]["body"]["text"], "<a><symbol>MSFT</symbol></a>");
    assert_eq!(trace["answer"]["body"]["text"], "<b/>");
    let decision = &nodes(&trace, "decision")[0];
    assert_eq!((&decision["expression"], &decision["value"]), (&"//symbol = 'IBM'".into(), &"false".into()));
    assert_eq!(decision["chosen"], "else");
    let compared = serde_json::json!([{
        "left": {"expression": "//symbol", "values": ["MSFT"], "more": 0}, "operator": "=",
        "right": {"expression": "'IBM'", "values": ["IBM"], "more": 0}, "holds": false,
    }]);
    assert_eq!(decision["compared"], compared);
    let property = nodes(&trace, "step").into_iter().find(|step| step["element"] == "property").unwrap();
    let change = &property["changes"][0];
    assert_eq!((&change["name"], &change["before"], &change["after"]), (&"to".into(), &Value::Null, &"b".into()));
    assert_eq!(property["line"], 3);
    let call = &nodes(&trace, "call")[0];
    assert_eq!((&call["endpoint"], &call["url"], &call["tookMs"]), (&"B".into(), &"http://b/".into(), &30.0.into()));
    assert_eq!(call["request"]["body"]["text"], "<a><symbol>MSFT</symbol></a>");
    assert_eq!(call["response"]["body"]["text"], "<b/>");
    assert!(trace["summary"].as_str().unwrap().contains("else → B: 200"), "{}", trace["summary"]);
}

#[test]
fn a_traced_body_leaves_as_it_came_and_unread() {
    let artefacts = proxy("<endpoint><address uri='http://b/'/></endpoint>");
    let traces = traces_of(&artefacts, Some(ALL), false, |scenario| {
        let reply = scenario.serve(post("/services/P", &[], "<a>  <b/></a>"));
        assert!(reply.on_the_wire && scenario.sent()[0].on_the_wire);
        assert_eq!((reply.body.as_str(), scenario.sent()[0].body.as_str()), ("<b/>", "<a>  <b/></a>"));
    });
    let trace = json(&traces[0]);
    let body = &trace["request"]["body"];
    assert_eq!((&body["state"], &body["text"]), (&"unread".into(), &"<a>  <b/></a>".into()));
}

#[test]
fn the_text_of_a_trace_answers_why_at_a_glance() {
    let traces =
        traces_of(&proxy(ROUTING), Some(ALL), false, serve("/services/P", &[], "<a><symbol>MSFT</symbol></a>"));
    let text = traces[0].to_text(&Secrets::default());
    for part in [
        "filter (",
        "//symbol = 'IBM' → \"false\" → else",
        "property to: not set → \"b\"",
        "asked POST http://b/ (endpoint B, ",
    ] {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
}

#[test]
fn a_step_shows_its_expression_and_what_it_changed_itself() {
    let steps = "<property name='symbol' expression='//symbol'/>
        <property name='password' expression=\"'canary'\"/>
        <filter xpath='true()'><then><property name='inner' value='1'/></then></filter>
        <foreach expression='//symbol'><sequence><property name='item' expression='.'/></sequence></foreach>";
    let artefacts = proxy(&format!("<inSequence>{steps}<respond/></inSequence>"));
    let traces = traces_of(&artefacts, Some(ALL), false, serve("/services/P", &[], "<a><symbol>IBM</symbol></a>"));
    let (text, json) = (traces[0].to_text(&Secrets::default()), traces[0].to_json(&Secrets::default()).to_string());
    assert!(text.contains("expression //symbol\n") && json.contains("\"expression\":\"//symbol\""), "{text}");
    assert!(!text.contains("canary") && !json.contains("canary"), "{text}");
    for changed in ["property inner: ", "property item: "] {
        assert_eq!(text.matches(changed).count(), 1, "{text}");
    }
}

/// The lines of a trace's text that tell what was compared.
fn compared(sequence: &str, headers: &'static [(&str, &str)], body: &'static str) -> Vec<String> {
    compared_of(sequence, serve_whole("/services/P", headers, body))
}

fn compared_of(sequence: &str, act: impl FnOnce(&Scenario)) -> Vec<String> {
    let artefacts = proxy(&format!("<inSequence>{sequence}<respond/></inSequence>"));
    let traces = traces_of(&artefacts, Some(ALL), false, act);
    let text = traces[0].to_text(&Secrets::default());
    let told = |line: &&str| ["is true", "is false", "cannot be compared"].iter().any(|end| line.ends_with(end));
    text.lines().filter(told).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_trace_tells_what_was_compared() {
    let filter = |condition: &str| format!("<filter {condition}><then><log/></then></filter>");
    let xpath = |condition: &str| filter(&format!("xpath=\"{condition}\""));
    let order = "<o><symbol>IBM </symbol><symbol>MSFT</symbol><total>100</total></o>";
    // Over the bytes on the wire, over a tree, and over headers alone.
    assert_eq!(
        compared(&xpath("//o/symbol = 'IBM'"), &[], order),
        ["//o/symbol \"IBM \", \"MSFT\" = \"IBM\" is false"]
    );
    let built = format!(
        "<enrich><source xpath='//total'/><target type='property' property='t'/></enrich>{}",
        xpath("//o/total &gt; 99")
    );
    assert_eq!(compared(&built, &[], order), ["//o/total \"100\" > \"99\" is true"]);
    let headers: &[(&str, &str)] = &[("X-Kind", "a")];
    let both = xpath("not($trp:X-Kind = 'b') and //none != ''");
    assert_eq!(
        compared(&both, headers, order),
        ["$trp:X-Kind \"a\" = \"b\" is false", "//none nothing != \"\" is false"]
    );
    // A comparison in a predicate only says which nodes are meant.
    assert_eq!(compared(&xpath("//o[total = 100]"), &[], order), Vec::<String>::new());
    assert_eq!(
        compared(&filter("source='//total' regex='1.*'"), &[], order),
        ["//total \"100\" matches \"1.*\" is true"]
    );
    let switch = "<switch source='$trp:X-Kind'><case regex='b'><log/></case><case regex='a|c'><log/></case>\
                  <case regex='.*'><log/></case></switch>";
    assert_eq!(
        compared(switch, headers, order),
        ["$trp:X-Kind \"a\" matches \"b\" is false", "$trp:X-Kind \"a\" matches \"a|c\" is true"]
    );
    let router = "<conditionalRouter><conditionalRoute><condition><match type='header' source='X-Kind' regex='a'/></condition>\
                  <target><sequence><log/></sequence></target></conditionalRoute></conditionalRouter>";
    assert_eq!(compared(router, headers, order), ["header X-Kind \"a\" matches \"a\" is true"]);
}

#[test]
fn a_trace_tells_what_a_synapse_expression_compared() {
    let compared = |condition: &str, body: &'static str| {
        let filter = format!("<filter xpath=\"${{{condition}}}\"><then><log/></then></filter>");
        compared_of(&filter, move |scenario| {
            let headers = [("Content-Type", "application/json"), ("X-Kind", "a")];
            scenario.serve(crate::common::request("POST", "/services/P", &headers, body));
        })
    };
    let body = r#"{"total": 99.5, "lines": [1, 2]}"#;
    assert_eq!(compared("payload.total &gt; 100", body), ["payload.total \"99.5\" > \"100\" is false"]);
    assert_eq!(
        compared("payload.none == 1 or !(headers.X-Kind != 'a')", body),
        ["payload.none nothing == \"1\" cannot be compared", "headers.X-Kind \"a\" != \"a\" is false"]
    );
    assert_eq!(
        compared("payload.lines == vars.x", body),
        ["payload.lines \"[1,2]\" == vars.x nothing cannot be compared"]
    );
}

#[test]
fn what_is_compared_is_bounded_and_shows_no_secret() {
    let long: &'static str = Box::leak(format!("<o><a>{}</a>{}</o>", "x".repeat(3000), "<b>1</b>".repeat(20)).into());
    let filter = "<filter xpath=\"//a = 'y' or //b = 2\"><then><log/></then></filter>";
    let lines = compared(filter, &[], long);
    assert!(lines[0].starts_with("//a \"xxx") && lines[0].len() < 400, "{}", lines[0]);
    let many = format!("//b {}\"1\" and 12 more = \"2\" is false", "\"1\", ".repeat(7));
    assert_eq!(lines[1], many);

    let decisions = "<property name='pin' expression=\"'canary-7'\"/>
        <filter xpath=\"//password = 'canary-1'\"><then><log/></then></filter>
        <filter xpath=\"$trp:X-Harmless = 'canary-3'\"><then><log/></then></filter>
        <switch source='$trp:Authorization'><case regex='canary-2'><log/></case><default><log/></default></switch>";
    let artefacts = proxy(&format!("<inSequence>{decisions}<respond/></inSequence>"));
    let headers = &[("Authorization", "canary-2"), ("X-Harmless", "canary-3")];
    let body = "<o><password>canary-1</password></o>";
    let traces = traces_of(&artefacts, Some(ALL), false, serve("/services/P", headers, body));
    let secrets = Secrets::new(["canary-3", "canary-7"]);
    let (text, json) = (traces[0].to_text(&secrets), traces[0].to_json(&secrets).to_string());
    for shown in [text, json] {
        assert!(!shown.contains("canary"), "{shown}");
        assert!(shown.contains("//password") && shown.contains("$trp:Authorization"), "{shown}");
    }
}

#[test]
fn steps_are_counted_while_somebody_looks() {
    let tracing = MessageTracing::new(TraceLimits::default());
    let sequence = ROUTING.replace("http://b/", "http://down/").replace(
        "<respond/>",
        "<clone><target><sequence><log/></sequence></target><target><sequence><log/></sequence></target></clone>",
    );
    let artefacts = proxy(&sequence) + &proxy("<inSequence><respond/></inSequence>").replace("'P'", "'Q'");
    traced(&tracing, &artefacts, None, true, |scenario| {
        let order = |symbol| scenario.serve(post("/services/P", &[], &format!("<a><symbol>{symbol}</symbol></a>")));
        order("IBM");
        assert!(tracing.step_counts("proxy P").unwrap().steps.is_empty());
        order("IBM");
        order("MSFT");
        order("IBM");
        scenario.serve(post("/services/Q", &[], "<a/>"));
    });
    let steps = tracing.step_counts("proxy P").unwrap().steps;
    let mut told: Vec<String> = steps
        .iter()
        .map(|(step, counts)| format!("{} {} {} {:?}", step.element, counts.messages, counts.faults, counts.chosen))
        .collect();
    told.sort();
    let expected = [
        // The fault of the call ends the exchange before its clone.
        "call 1 1 {}",
        "clone 2 0 {}",
        "filter 3 0 {\"else\": 1, \"then\": 2}",
        "log 2 0 {}",
        "log 2 0 {}",
        "property 1 0 {}",
        "property 2 0 {}",
    ];
    assert_eq!(told, expected);
    // Counting is no tracing.
    assert_eq!(tracing.last_id(), 0);
}

#[test]
fn a_body_that_changes_is_told_as_a_difference() {
    let artefacts = proxy(
        "<inSequence><payloadFactory media-type='xml'><format><a><c>2</c></a></format><args/></payloadFactory><respond/></inSequence>",
    );
    let traces = traces_of(&artefacts, Some(ALL), false, serve("/services/P", &[], "<a><c>1</c></a>"));
    let trace = json(&traces[0]);
    let changes = nodes(&trace, "step")[0]["changes"].clone();
    let body = changes.as_array().unwrap().iter().find(|change| change["what"] == "body").unwrap();
    let lines: Vec<String> = body["difference"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| format!("{}{}", line[0].as_str().unwrap(), line[1].as_str().unwrap().trim()))
        .collect();
    assert!(lines.contains(&"-<c>1</c>".to_owned()) && lines.contains(&"+<c>2</c>".to_owned()), "{lines:?}");
}

#[test]
fn faults_are_told_with_where_they_were_raised_and_who_handled_them() {
    let artefacts = proxy(
        "<inSequence><send><endpoint><failover>
         <endpoint name='D'><address uri='http://down/'/></endpoint>
         <endpoint name='E'><address uri='http://down2/'/></endpoint></failover></endpoint></send></inSequence>
         <faultSequence><respond/></faultSequence>",
    );
    let traces = traces_of(&artefacts, Some(ALL), true, serve("/services/P", &[], "<a/>"));
    let trace = json(&traces[0]);
    assert_eq!(trace["faulted"], true);
    assert_eq!(nodes(&trace, "fault")[0]["code"], "101503");
    assert!(nodes(&trace, "fault")[0]["trail"][0].as_str().unwrap().contains("endpoint E"), "{trace:#}");
    assert_eq!(nodes(&trace, "handler")[0]["name"], "faultSequence");
    let decisions = nodes(&trace, "decision");
    assert!(decisions[0]["chosen"].as_str().unwrap().starts_with("endpoint D"), "{decisions:?}");
    assert!(decisions[1]["chosen"].as_str().unwrap().starts_with("endpoint E"), "{decisions:?}");
    assert_eq!(decisions[1]["rejected"][0]["reason"], "it failed to take this message");
    assert_eq!(nodes(&trace, "call").len(), 2);
}

#[test]
fn each_branch_is_told_by_itself() {
    let call = "<call><endpoint name='B'><address uri='http://b/'/></endpoint></call>";
    let target = format!("<target><sequence>{call}</sequence></target>");
    let artefacts = proxy(&format!(
        "<inSequence><clone id='c'>{target}{target}</clone><aggregate id='c'><completeCondition><messageCount min='2' max='2'/>\
         </completeCondition><onComplete expression='//b'><respond/></onComplete></aggregate></inSequence>"
    ));
    let traces = traces_of(&artefacts, Some(ALL), false, serve("/services/P", &[], "<a/>"));
    let [trace] = traces.as_slice() else { panic!("{} traces", traces.len()) };
    let trace = json(trace);
    let branches = nodes(&trace, "branch");
    assert_eq!(branches.len(), 2, "{trace:#}");
    for branch in &branches {
        assert_eq!(nodes(branch, "call").len(), 1, "{branch:#}");
    }
    let chosen: Vec<Value> = nodes(&trace, "decision").iter().map(|decision| decision["chosen"].clone()).collect();
    assert!(chosen.contains(&"2 branches, beside each other".into()), "{chosen:?}");
    assert!(chosen.contains(&"2 messages aggregated".into()), "{chosen:?}");
}

#[test]
fn parallel_elements_of_foreach_are_branches() {
    let artefacts = proxy(
        "<inSequence><foreach collection='${payload}' parallel-execution='true'><sequence>
         <call><endpoint name='B'><address uri='http://b/'/></endpoint></call></sequence></foreach><respond/></inSequence>",
    );
    let traces = traces_of(&artefacts, Some(ALL), false, |scenario| {
        let headers = [("Host", "bus"), ("Content-Type", "application/json")];
        scenario.serve(crate::common::request("POST", "/services/P", &headers, "[1,2,3]"));
    });
    let trace = json(&traces[0]);
    assert_eq!(nodes(&trace, "branch").len(), 3, "{trace:#}");
    assert!(nodes(&trace, "branch").iter().all(|branch| nodes(branch, "call").len() == 1), "{trace:#}");
}

#[test]
fn an_api_tells_which_resource_it_chose_and_why_no_other() {
    let artefacts = "<api name='A' context='/a'>
        <resource methods='POST' uri-template='/x'><inSequence><respond/></inSequence></resource>
        <resource methods='GET' uri-template='/x'><inSequence><respond/></inSequence></resource>
        <resource methods='GET' uri-template='/y'><inSequence><respond/></inSequence></resource></api>";
    let traces = traces_of(artefacts, Some(ALL), false, |scenario| {
        assert_eq!(scenario.serve(get("/a/x")).status, 200);
        assert_eq!(scenario.serve(get("/a/nowhere")).status, 404);
    });
    let decision = &nodes(&json(&traces[0]), "decision")[0];
    assert_eq!(decision["chosen"], "resource GET /x");
    assert_eq!(decision["rejected"][0]["reason"], "it has other methods");
    assert_eq!(decision["rejected"][1]["reason"], "it has another path");
    assert_eq!(nodes(&json(&traces[1]), "decision")[0]["chosen"], "no resource");
    assert_eq!(json(&traces[1])["status"], 404);
}

#[test]
fn exchanges_are_chosen_by_service_by_expression_by_number_and_by_fault() {
    let artefacts = "<proxy name='P'><target><inSequence><respond/></inSequence></target></proxy>
        <proxy name='Q'><target><inSequence><throwError type='1' errorMessage='no'/></inSequence></target></proxy>";
    let act = |scenario: &Scenario| {
        for id in ["6", "7", "7"] {
            scenario.serve(post("/services/P", &[("X-Id", id)], "<a><n>1</n></a>"));
        }
        scenario.serve(post("/services/Q", &[("X-Id", "7")], "<a/>"));
    };
    let count = |wish: Wish| traces_of(artefacts, Some(wish), false, act).len();
    assert_eq!(count(ALL), 4);
    assert_eq!(count(Wish { service: Some("proxy P".to_owned()), ..ALL }), 3);
    assert_eq!(count(Wish { service: Some("Q".to_owned()), ..ALL }), 1);
    assert_eq!(count(Wish { when: Some("${headers.X-Id == '7'}".to_owned()), ..ALL }), 3);
    assert_eq!(count(Wish { when: Some("//n = 1".to_owned()), ..ALL }), 3);
    assert_eq!(count(Wish { when: Some("${".to_owned()), ..ALL }), 0);
    assert_eq!(count(Wish { next: Some(2), ..ALL }), 2);
    assert_eq!(count(Wish { faulted: true, ..ALL }), 1);
    assert_eq!(count(Wish { through: Some("sequence inSequence".to_owned()), ..ALL }), 4);
    assert_eq!(count(Wish { through: Some("endpoint inSequence".to_owned()), ..ALL }), 0);
    assert_eq!(count(Wish { lasts: Some(Duration::ZERO), ..ALL }), 0);
    assert_eq!(traces_of(artefacts, None, false, act).len(), 0);
}

#[test]
fn artefacts_with_trace_enable_are_traced_without_a_selection() {
    let of = |artefacts: &str| {
        traces_of(artefacts, None, false, |scenario| {
            scenario.serve(post("/services/P", &[], "<a/>"));
            scenario.serve(post("/services/Q", &[], "<a/>"));
        })
        .len()
    };
    let quiet = "<proxy name='Q'><target><inSequence><respond/></inSequence></target></proxy>";
    let proxy = |attribute: &str, steps: &str| {
        format!(
            "{quiet}<proxy name='P' {attribute}><target><inSequence>{steps}<respond/></inSequence></target></proxy>"
        )
    };
    assert_eq!(of(&proxy("trace='enable'", "")), 1);
    assert_eq!(of(&proxy("trace='disable'", "")), 0);
    assert_eq!(of(&format!("{}<sequence name='s' trace='enable'><drop/></sequence>", proxy("", ""))), 0);
    assert_eq!(of(&format!("{}<sequence name='s' trace='enable'/>", proxy("", "<sequence key='s'/>"))), 1);
    let call = "<call><endpoint><address uri='http://b/' trace='enable'/></endpoint></call>";
    assert_eq!(of(&proxy("", call)), 1);
}

#[test]
fn traces_are_bounded_by_number_bytes_and_steps() {
    let artefacts =
        proxy("<inSequence><property name='a' value='1'/><property name='b' value='1'/><respond/></inSequence>");
    let limits = TraceLimits { kept: 2, steps: 3, body_bytes: 4, ..TraceLimits::default() };
    let tracing = MessageTracing::new(limits);
    traced(&tracing, &artefacts, Some(ALL), false, |scenario| {
        for _ in 0..5 {
            scenario.serve(post("/services/P", &[], "<a>12345</a>"));
        }
    });
    let traces = tracing.traces(None, None, 10);
    assert_eq!(traces.iter().map(|trace| trace.id()).collect::<Vec<_>>(), [5, 4]);
    let trace = json(&traces[0]);
    assert_eq!((&trace["stepsLeftOut"], &trace["request"]["body"]["text"]), (&1.into(), &"<a>1".into()));
    assert_eq!(trace["request"]["body"]["cut"], true);
}

#[test]
fn an_exchange_whose_client_has_gone_is_traced_as_that() {
    let artefacts = proxy("<inSequence><call><endpoint><address uri='http://b/'/></endpoint></call></inSequence>");
    let traces = traces_of(&artefacts, Some(ALL), false, |scenario| {
        scenario.leave(post("/services/P", &[], "<a/>"), Duration::from_millis(10));
    });
    let trace = json(&traces[0]);
    assert_eq!(trace["status"], Value::Null);
    assert_eq!(nodes(&trace, "step")[0]["outcome"], "unfinished");
}

#[test]
fn a_secret_shows_in_no_part_of_a_trace() {
    const CANARY: &str = "c4nary-Secret";
    let artefacts = proxy(&format!(
        "<inSequence><property name='api-key' value='{CANARY}'/><property name='known' value='x {CANARY} y'/>
         <header name='X-Auth-Token' value='{CANARY}' scope='transport'/>
         <call><endpoint><http method='post' uri-template='http://b/?api_key={CANARY}&amp;q=1'/></endpoint></call>
         <throwError type='1' errorMessage='it was {CANARY}'/></inSequence>"
    ));
    let body = format!("<a><password>{CANARY}</password><o>{CANARY}</o></a>");
    let tracing = MessageTracing::new(TraceLimits::default());
    tracing.select(ALL).unwrap();
    let mut settings = myelin_engine::Settings::default();
    settings.security.secrets.insert("canary".to_owned(), CANARY.as_bytes().to_vec().into());
    let loaded = crate::common::load_with(&artefacts, &settings);
    let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "<b/>"))).recorded_by([tracing.recorder_source()]);
    {
        let headers = [("Authorization", "Basic am9lOnB3ZA=="), ("Cookie", CANARY)];
        scenario.serve(post(&format!("/services/P?token={CANARY}"), &headers, &body));
    }
    let trace = &tracing.traces(None, None, 1)[0];
    let secrets = tracing.secrets();
    for shown in
        [trace.to_json(&secrets).to_string(), trace.to_text(&secrets), trace.to_list_json(&secrets).to_string()]
    {
        assert!(!shown.contains(CANARY) && !shown.contains("am9lOnB3ZA"), "{shown}");
        assert!(shown.contains("****"));
    }
}
