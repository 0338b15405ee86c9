//! `<enrich>` beyond the golden cases: what changes, what stays, and what is a fault.

use crate::common::{Scenario, get, post, request};
use myelin_message::Message;

const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";

/// What a message has become when it is sent back after some mediators.
fn echoed(mediators: &str, message: Message) -> (u16, String, String) {
    let proxy = format!(
        "<proxy xmlns:o='urn:o' xmlns:s='{SOAP}' name='P'><target><inSequence>{mediators}<respond/></inSequence></target></proxy>"
    );
    let reply = Scenario::new(&proxy).serve(message);
    let content_type = reply.header("Content-Type").unwrap_or_default().to_owned();
    (reply.status, content_type, reply.body)
}

/// Asserts what a body becomes.
fn check(content_type: &str, mediators: &str, body: &str, expected: &str) {
    let (status, _, changed) =
        echoed(mediators, request("POST", "/services/P", &[("Content-Type", content_type)], body));
    assert_eq!((status, changed.as_str()), (200, expected), "{mediators}");
}

/// Asserts that it is a fault, and what is said.
fn fails(content_type: &str, mediators: &str, body: &str, part: &str) {
    let (status, _, text) = echoed(mediators, request("POST", "/services/P", &[("Content-Type", content_type)], body));
    assert!(status == 500 && text.contains(part), "{mediators}: {status} {text}");
}

fn soap(mediators: &str, body: &str, expected: &str) {
    let whole = |inside: &str| {
        format!("<?xml version='1.0'?>\n<s:Envelope  xmlns:s='{SOAP}'>{inside}</s:Envelope><!-- end -->")
    };
    check("text/xml", mediators, &whole(body), &whole(expected));
}

fn enrich(source: &str, target: &str) -> String {
    format!("<enrich><source {source}</source><target {target}/></enrich>")
}

#[test]
fn all_that_is_not_the_target_keeps_its_bytes() {
    soap(
        &enrich("type='inline'>9", "xpath='//b'"),
        "<s:Body  id = \"1\" ><a x='&#65;'/><b>1<!-- c --></b><![CDATA[<]]><c></c ></s:Body>",
        "<s:Body  id = \"1\" ><a x='&#65;'/><b>9</b><![CDATA[<]]><c></c ></s:Body>",
    );
}

#[test]
fn a_header_is_made_for_a_block() {
    soap(
        &enrich("xpath='//o:a'>", "action='child' xpath='$header'"),
        "<s:Body><o:a xmlns:o='urn:o'/></s:Body>",
        "<s:Header><o:a xmlns:o='urn:o'/></s:Header><s:Body><o:a xmlns:o='urn:o'/></s:Body>",
    );
}

#[test]
fn attributes_and_texts_are_taken_as_text() {
    let body = "<s:Body><a x='1'>t</a><b y='2'/></s:Body>";
    soap(&enrich("xpath='//@x'>", "xpath='//b'"), body, "<s:Body><a x='1'>t</a><b y='2'>1</b></s:Body>");
    soap(&enrich("xpath='//a/text()'>", "xpath='//@y'"), body, "<s:Body><a x='1'>t</a><b y=\"t\"/></s:Body>");
    soap(&enrich("xpath='count(//*)'>", "xpath='//@y'"), body, "<s:Body><a x='1'>t</a><b y=\"4.0\"/></s:Body>");
    soap(&enrich("xpath='//b'>", "xpath='//a/text()'"), body, "<s:Body><a x='1'><b y='2'/></a><b y='2'/></s:Body>");
    soap(&enrich("xpath='//b'>", "xpath='//@x'"), body, body);
    soap(&enrich("type='inline'>t", "action='child' xpath='//b'"), body, body);
}

#[test]
fn several_elements_are_a_list_in_a_property() {
    let body = "<s:Body><a><b>1</b><b>2</b></a></s:Body>";
    let keep = enrich("xpath='//b'>", "type='property' property='p'");
    let text = format!("{keep}{}", enrich("xpath='concat(count($ctx:p), $ctx:p[2])'>", "type='body'"));
    soap(&text, body, "<s:Body><a>22</a></s:Body>");
    let joined = format!(
        "{keep}<property name='q' expression='$ctx:p'/>{}",
        enrich("type='property' property='q'>", "type='body'")
    );
    soap(&joined, body, "<s:Body><a>12</a></s:Body>");
    let back = format!("{keep}{}", enrich("type='property' property='p'>", "type='body'"));
    soap(&back, body, "<s:Body><b>1</b><b>2</b></s:Body>");
    let custom = format!("{keep}{}", enrich("xpath='$ctx:p'>", "type='body' action='child'"));
    soap(&custom, body, "<s:Body><a><b>1</b><b>2</b><b>1</b><b>2</b></a></s:Body>");
}

#[test]
fn what_a_property_holds_can_grow_and_change() {
    let body = "<s:Body><a><b>1</b></a></s:Body>";
    let keep = enrich("type='body'>", "type='property' property='p'");
    let back = enrich("type='property' property='p'>", "type='body'");
    let with = |change: &str| format!("{keep}{change}{back}");
    let new = "type='inline'><c xmlns=''/>";
    let inside = with(&enrich(new, "type='property' property='p' action='child'"));
    soap(&inside, body, "<s:Body><a><b>1</b><c/></a></s:Body>");
    soap(&with(&enrich(new, "action='child' xpath='$ctx:p'")), body, "<s:Body><a><b>1</b><c/></a></s:Body>");
    soap(&with(&enrich(new, "action='sibling' xpath='$ctx:p/b'")), body, "<s:Body><a><b>1</b><c/></a></s:Body>");
    soap(&with(&enrich(new, "xpath='$ctx:p/b'")), body, "<s:Body><a><c/></a></s:Body>");
    soap(&with(&enrich(new, "xpath='$ctx:p'")), body, "<s:Body><c/></s:Body>");
    soap(&with(&enrich("type='inline'>2", "xpath='$ctx:p/b'")), body, "<s:Body><a><b>2</b></a></s:Body>");
    soap(
        &with(&enrich("xpath='//b'>", "type='property' property='p' action='sibling'")),
        body,
        "<s:Body><b>1</b></s:Body>",
    );
}

#[test]
fn a_source_that_finds_nothing_empties_a_property() {
    let body = "<s:Body><a/></s:Body>";
    let mediators = format!(
        "<property name='p' value='old'/>{}{}",
        enrich("xpath='//none'>", "type='property' property='p'"),
        enrich("xpath=\"concat('[', $ctx:p, ']')\">", "xpath='//a'")
    );
    soap(&mediators, body, "<s:Body><a>[]</a></s:Body>");
}

#[test]
fn nodes_can_be_removed() {
    let body = "<s:Body><a x='1' y='2'><b/><c/></a></s:Body>";
    let removed = enrich("xpath='//b | //@x'>", "type='body' action='remove'");
    soap(&removed, body, "<s:Body><a y='2'><c/></a></s:Body>");
    soap(&enrich("xpath='//none'>", "type='body' action='remove'"), body, body);
    fails(
        "text/xml",
        &enrich("xpath='$body'>", "type='body' action='remove'"),
        &format!("<s:Envelope xmlns:s='{SOAP}'><s:Body/></s:Envelope>"),
        "parts of an envelope",
    );
}

#[test]
fn envelopes_stay_envelopes_and_documents_stay_documents() {
    let envelope = format!("<s:Envelope xmlns:s='{SOAP}'><s:Body><a/></s:Body></s:Envelope>");
    let fails_in_soap = |mediators: &str, part: &str| fails("text/xml", mediators, &envelope, part);
    fails_in_soap(&enrich("xpath='//a'>", "xpath='$body'"), "parts of an envelope");
    fails_in_soap(&enrich("type='inline'>t", "xpath='/*'"), "parts of an envelope");
    fails_in_soap(&enrich("xpath='//a'>", "type='envelope'"), "Only a SOAP envelope");
    fails_in_soap(&enrich("xpath='//none'>", "type='envelope'"), "Only a SOAP envelope");
    fails_in_soap(&enrich("type='envelope'>", "type='body'"), "whole envelope");
    fails_in_soap(&enrich("xpath='//a' clone='false'>", "action='child' xpath='//a'"), "XML cannot hold");
    fails_in_soap(&enrich("xpath='//a'>", "xpath='//none'"), "finds nothing");
    fails_in_soap(&enrich("xpath='//a'>", "type='property' property='unset' action='child'"), "finds nothing");
    fails("application/xml", &enrich("xpath='//b'>", "type='body'"), "<a><b/><b/></a>", "one root element");
    fails(
        "application/xml",
        &enrich("xpath='//b'>", "type='body' action='sibling'"),
        "<a><b/></a>",
        "one root element",
    );
    let kept = enrich("xpath='//a'>", "type='property' property='p'");
    let beside = enrich("xpath='//a'>", "action='sibling' xpath='$ctx:p'");
    fails_in_soap(&format!("{kept}{beside}"), "has no siblings");
    check("application/xml", &enrich("xpath='//b'>", "type='body'"), "<?x?><a><b/></a>", "<?x?><b/>");
    check("application/xml", &enrich("xpath='//b' clone='false'>", "type='body'"), "<a>t<b/></a>", "<b/>");
}

#[test]
fn an_envelope_comes_back_from_a_property_of_plain_xml_too() {
    let mediators = [
        enrich("type='envelope'>", "type='property' property='p'"),
        enrich("type='inline'><x xmlns=''/>", "type='body'"),
        enrich("type='property' property='p'>", "type='envelope'"),
    ];
    check("application/xml", &mediators.concat(), "<a><b>1</b></a>", "<a><b>1</b></a>");
}

#[test]
fn another_soap_brings_its_content_type() {
    let soap12 = "<e:Envelope xmlns:e='http://www.w3.org/2003/05/soap-envelope'><e:Body/></e:Envelope>";
    let mediators = enrich(&format!("type='inline'>{soap12}"), "type='envelope'");
    let envelope = format!("<s:Envelope xmlns:s='{SOAP}'><s:Body/></s:Envelope>");
    let (_, content_type, body) = echoed(&mediators, post("/services/P", &[], &envelope));
    assert_eq!(content_type, "application/soap+xml; charset=UTF-8");
    assert_eq!(body, soap12);
}

#[test]
fn json_is_changed_where_a_path_leads() {
    let json = |mediators: &str, body: &str, expected: &str| check("application/json", mediators, body, expected);
    let body = r#"{"a": [1.0, {"b":"x"}],  "c":null}"#;
    json(&enrich("type='inline'>7", "xpath='json-eval($.c)'"), body, r#"{"a":[1.0, {"b":"x"}],"c":7}"#);
    json(&enrich("type='inline'>seven", "xpath='json-eval($.c)'"), body, r#"{"a":[1.0, {"b":"x"}],"c":"seven"}"#);
    json(
        &enrich("type='inline'>7", "action='child' xpath='json-eval($.a)'"),
        body,
        r#"{"a":[1.0,{"b":"x"},7],"c":null}"#,
    );
    let two = r#"type='inline'>{"b":1,"d":[]}"#;
    json(&enrich(two, "action='child' xpath='json-eval($.a[1])'"), body, r#"{"a":[1.0,{"b":1,"d":[]}],"c":null}"#);
    json(
        &enrich("xpath='json-eval($.a[1])'>", "xpath='json-eval($.c)'"),
        body,
        r#"{"a":[1.0, {"b":"x"}],"c":{"b":"x"}}"#,
    );
    json(
        &enrich("xpath='json-eval($.c, $.a[0], $.none)'>", "type='body' action='remove'"),
        body,
        r#"{"a":[{"b":"x"}]}"#,
    );
    json(
        &enrich("type='inline'> B ", "type='key' xpath='json-eval($.a[1].b)'"),
        body,
        r#"{"a":[1.0,{"B":"x"}],"c":null}"#,
    );
    json(&enrich("type='inline'>[]", "type='body'"), body, "[]");
    json(&enrich("xpath='json-eval($.none)'>", "type='body'"), body, body);
    json(&enrich("type='inline'><x/>", "xpath='json-eval($.c)'"), body, r#"{"a":[1.0, {"b":"x"}],"c":{"x":null}}"#);
    let fails = |mediators: &str, part: &str| fails("application/json", mediators, body, part);
    fails(&enrich("type='inline'>7", "xpath='json-eval($.none.b)'"), "finds nothing");
    fails(&enrich("type='inline'>7", "type='body'"), "Only an object or an array");
    fails(&enrich("type='inline'>7", "action='child' xpath='json-eval($.a[1])'"), "members of an object");
    fails(&enrich("type='inline'>7", "action='child' xpath='json-eval($.c)'"), "could not be changed");
    fails(&enrich("type='inline'>7", "xpath='//d'"), "finds nothing");
}

#[test]
fn json_waits_in_properties() {
    let keep = enrich("type='body'>", "type='property' property='p'");
    let back = enrich("type='property' property='p'>", "type='body'");
    let other = enrich("type='inline'>{}", "type='body'");
    let body = r#"{"a": 1.0}"#;
    check("application/json", &format!("{keep}{other}{back}"), body, body);
    let without = enrich("xpath='json-eval($.a,$.b)'>", "type='property' property='p' action='remove'");
    check("application/json", &format!("{keep}{without}{back}"), body, "{}");
    let name = enrich("xpath='json-eval($.n)'>", "type='property' property='n'");
    let named = enrich("type='property' property='n'>", "xpath='json-eval($.m)'");
    check("application/json", &format!("{name}{named}"), r#"{"n":"Tom","m":0}"#, r#"{"n":"Tom","m":"Tom"}"#);
}

#[test]
fn a_body_of_another_kind_brings_its_content_type() {
    let becomes = |mediators: &str, message: Message, content_type: &str, body: &str| {
        assert_eq!(echoed(mediators, message), (200, content_type.to_owned(), body.to_owned()));
    };
    let json = || request("POST", "/services/P", &[("Content-Type", "application/json")], "{}");
    let text = || request("POST", "/services/P", &[("Content-Type", "text/plain")], "hello");
    let to_xml = enrich("type='inline'><x xmlns=''/>", "type='body'");
    let to_json = enrich("type='inline'>{\"x\": 1}", "type='body'");
    becomes(&to_xml, json(), "application/xml; charset=UTF-8", "<x xmlns=''/>");
    becomes(&to_xml, text(), "application/xml; charset=UTF-8", "<x xmlns=''/>");
    becomes(&to_xml, get("/services/P"), "application/xml; charset=UTF-8", "<x xmlns=''/>");
    becomes(&to_json, post("/services/P", &[], "<x/>"), "application/json", "{\"x\": 1}");
    becomes(&to_json, get("/services/P"), "application/json", "{\"x\": 1}");
}

#[test]
fn elements_in_each_other_cannot_multiply_a_message() {
    let body = format!("{}{}", "<a>".repeat(900), "</a>".repeat(900));
    fails("application/xml", &enrich("xpath='//a'>", "type='property' property='p'"), &body, "too large together");
    let few = enrich("xpath='//a'>", "type='property' property='p'");
    check("application/xml", &few, "<a><a/></a>", "<a><a/></a>");
}

#[test]
fn what_an_expression_gives_stays_in_its_place() {
    let body = r#"{"s":"a\",\"admin\":true,\"b\":\"c","n":7,"l":"x</a><admin/><a>","w":"two words"}"#;
    let json = |inside: &str, expected: &str| {
        check("application/json", &enrich(&format!("type='inline'>{inside}"), "type='body'"), body, expected);
    };
    let escaped = r#""a\",\"admin\":true,\"b\":\"c""#;
    json(r#"{"x": {json-eval($.s)}}"#, &format!(r#"{{"x": {escaped}}}"#));
    json(r#"{"x": "{json-eval($.s)}"}"#, &format!(r#"{{"x": {escaped}}}"#));
    json(
        r#"{"x": ${payload.s}, "y": "n ${payload.n}", "z": ${payload.none}}"#,
        &format!(r#"{{"x": {escaped}, "y": "n 7", "z": null}}"#),
    );
    json(r#"{"x": {json-eval($.w)}, "n": {json-eval($.n)}}"#, r#"{"x": "two words", "n": 7}"#);
    let member = |inside: &str, expected: &str| {
        let mediators = enrich(&format!("type='inline'>{inside}"), "xpath='json-eval($.n)'");
        let first = body.split_once("\"n\":7").unwrap();
        check("application/json", &mediators, body, &format!("{}\"n\":{expected}{}", first.0, first.1));
    };
    member("{json-eval($.s)}", escaped);
    member("${payload.s}", escaped);
    let xml = |inside: &str, expected: &str| {
        let mediators = format!(
            "<property name='l' expression='json-eval($.l)'/>{}",
            enrich(&format!("type='inline'>{inside}"), "type='body'")
        );
        check("application/json", &mediators, body, expected);
    };
    xml("<r xmlns=''><a>{$ctx:l}</a></r>", "<r xmlns=''><a>\"x&lt;/a&gt;&lt;admin/&gt;&lt;a&gt;\"</a></r>");
    xml("<r xmlns=''><a>${properties.synapse.l}</a></r>", "<r xmlns=''><a>x&lt;/a&gt;&lt;admin/&gt;&lt;a&gt;</a></r>");
    xml("<r xmlns='' a='{$ctx:l}'/>", "<r xmlns='' a='x&lt;/a&gt;&lt;admin/&gt;&lt;a&gt;'/>");
}

#[test]
fn objects_of_very_many_members_become_one_in_no_more_than_one_pass() {
    let members = |letter: char| (0..50_000).map(|n| format!("\"{letter}{n}\":{n}")).collect::<Vec<_>>().join(",");
    let body = format!("{{\"x\":{{{}}},\"y\":{{\"k1\":\"old\",{}}}}}", members('k'), members('m'));
    let sent = |mediators: &str| {
        echoed(mediators, request("POST", "/services/P", &[("Content-Type", "application/json")], &body)).2
    };
    let merged = sent(&enrich("xpath='json-eval($.x)'>", "action='child' xpath='json-eval($.y)'"));
    assert!(
        merged.contains("{\"k1\":1,\"m0\":0") && merged.ends_with("\"k49998\":49998,\"k49999\":49999}}"),
        "{}",
        merged.len()
    );
    let renamed = sent(&enrich("type='inline'>z", "type='key' xpath='json-eval($.x.*)'"));
    assert!(renamed.starts_with("{\"x\":{\"z\":49999},\"y\""), "{}", renamed.len());
}

#[test]
fn members_that_go_into_very_many_objects_are_bounded() {
    let source = (0..5_000).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(",");
    let targets = vec!["{}"; 5_000].join(",");
    let body = format!("{{\"x\":{{{source}}},\"y\":[{targets}]}}");
    let mediators = enrich("xpath='json-eval($.x)'>", "action='child' xpath='json-eval($.y[*])'");
    fails("application/json", &mediators, &body, "could not be changed");
}
