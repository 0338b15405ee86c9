//! Sequence templates: what they are given, when it is worked out, how deep they call each other.

use crate::common::{Scenario, post, report, response};

/// Appends what an expression gives to the header `X-Said`.
fn say(expression: &str) -> String {
    format!("<property name='X-Said' scope='transport' expression=\"concat($trp:X-Said, {expression}, ';')\"/>")
}

/// What was said while a request with that body was served, and the status.
fn said(templates: &str, in_sequence: &str, body: &str) -> (u16, String) {
    let scenario = Scenario::new(&format!(
        "{templates}<proxy name='P'><target><inSequence><property name='given' value='IBM'/>{in_sequence}<respond/></inSequence></target></proxy>"
    ));
    let reply = scenario.serve(post("/services/P", &[], body));
    (reply.status, reply.header("X-Said").unwrap_or_default().to_owned())
}

fn template(name: &str, parameters: &str, sequence: &str) -> String {
    format!("<template name='{name}'>{parameters}<sequence>{sequence}</sequence></template>")
}

#[test]
fn parameters_are_values_expressions_and_defaults() {
    let parameters = "<parameter name='a'/><parameter name='b' defaultValue='none'/><parameter name='c'/>";
    let body =
        [say("$func:a"), say("get-property('func', 'b')"), say("get-property('func', concat('', 'c'))")].concat();
    let templates = template("t", parameters, &body);
    let check = |arguments: &str, expected: &str| {
        let call = format!("<call-template target='t'>{arguments}</call-template>");
        assert_eq!(said(&templates, &call, "<a/>"), (200, expected.to_owned()), "{arguments}");
    };
    check("", ";none;;");
    check("<with-param name='a' value='1'/><with-param name='c' value='3'/>", "1;none;3;");
    check("<with-param name='a' value='{$ctx:given}'/><with-param name='b' value='{$ctx:nothing}'/>", "IBM;none;;");
    check("<with-param name='b' value='{count(//x) + 1}'/>", ";1.0;;");
}

#[test]
fn an_expression_in_double_braces_is_worked_out_when_it_is_read() {
    let change = "<enrich><source type='inline'><order xmlns=''><symbol>SUN</symbol></order></source><target type='body'/></enrich>";
    let body = [
        say("$func:what"),
        say("count($func:nodes)"),
        say("$func:nodes[last()]"),
        change.to_owned(),
        say("$func:what"),
        say("count($func:nodes)"),
        "<filter xpath='$func:test'><then><property name='X-Test' scope='transport' value='1'/></then></filter>"
            .to_owned(),
        "<property name='X-First' scope='transport' expression='$func:nodes'/>".to_owned(),
        say("$trp:X-First"),
    ];
    let templates =
        template("t", "<parameter name='what'/><parameter name='nodes'/><parameter name='test'/>", &body.concat());
    let call = "<call-template target='t'><with-param name='what' value='{{string(//symbol)}}'/>\
                <with-param name='nodes' value=' {{//symbol}} '/><with-param name='test' value='{{//symbol}}'/></call-template>";
    let body = "<order><symbol>IBM</symbol><symbol>MSFT</symbol></order>";
    assert_eq!(said(&templates, call, body), (200, "IBM;2;MSFT;SUN;1;SUN;".to_owned()));
}

#[test]
fn templates_call_each_other_and_keep_their_own_parameters_through_a_call() {
    let inner = template("inner", "<parameter name='x'/>", &say("$func:x"));
    let body = [
        say("$func:x"),
        "<call><endpoint><address uri='http://back/'/></endpoint></call>".to_owned(),
        say("$func:x"),
        "<call-template target='{concat(\"in\", \"ner\")}'><with-param name='x' value='two'/></call-template>"
            .to_owned(),
        say("$func:x"),
    ];
    let outer = template("outer", "<parameter name='x'/>", &body.concat());
    let call = "<call-template target='outer'><with-param name='x' value='one'/></call-template>";
    let artefacts = format!(
        "{inner}{outer}<proxy name='P'><target><inSequence>{call}{}<respond/></inSequence></target></proxy>",
        say("$func:x")
    );
    let scenario = Scenario::with(&artefacts, |_, _| Ok(response(200, &[("X-Said", "answered;")], "")));
    let reply = scenario.serve(post("/services/P", &[], "<a/>"));
    assert_eq!((reply.status, reply.header("X-Said")), (200, Some("answered;one;two;one;;")));
}

#[test]
fn a_template_that_calls_itself_without_end_is_a_fault() {
    let templates = template("t", "", "<call-template target='t'/>");
    assert_eq!(said(&templates, "<call-template target='t'/>", "<a/>").0, 500);
    assert_eq!(said("", "<call-template target='{$ctx:given}'/>", "<a/>").0, 500);
}

#[test]
fn what_fails_in_a_template_is_handled_by_on_error_which_sees_the_parameters() {
    let templates = template("t", "<parameter name='x'/>", "<throwError type='1' errorMessage='failed'/>");
    let handler =
        format!("<sequence name='handler'>{}<respond/></sequence>", say("concat($ctx:ERROR_MESSAGE, $func:x)"));
    let call = "<call-template target='t' onError='handler'><with-param name='x' value='!'/></call-template>";
    assert_eq!(said(&format!("{templates}{handler}"), call, "<a/>"), (200, "failed!;".to_owned()));
}

#[test]
fn what_a_call_gets_wrong_is_told_when_loading() {
    let templates = template(
        "t",
        "<parameter name='a' isMandatory='true'/><parameter name='b' isMandatory='true' defaultValue='1'/>",
        "",
    );
    let check = |artefacts: &str, part: &str| {
        let report = report(&format!("{templates}{artefacts}"));
        let text = report.to_text();
        assert!(if part.is_empty() { report.faulty() == 0 } else { text.contains(part) }, "{artefacts}: {text}");
    };
    let call = |attributes: &str, arguments: &str| {
        format!("<sequence name='s'><call-template {attributes}>{arguments}</call-template></sequence>")
    };
    let a = "<with-param name='a' value='1'/>";
    check(&call("target='t'", a), "");
    check(&call("", a), "\"target\" is missing");
    check(&call("target='u'", a), "there is no template \"u\"");
    check(&call("target='t'", ""), "the template needs the parameter \"a\"");
    check(&call("target='t'", &format!("{a}{a}")), "given twice");
    check(&call("target='t'", &format!("{a}<with-param name='z' value='1'/>")), "\"z\" has no effect");
    check(&call("target='t'", "<with-param name='a'/>"), "needs a value");
    check(&call("target='t'", "<with-param name='a' value='{{$ctx:x}}'/>"), "looks at the message alone");
    check(&call("target='t'", "<with-param name='a' value='{{//x:y}}'/>"), "expression \"//x:y\"");
    check(&call("target='t' onError='nobody'", a), "there is no sequence \"nobody\"");
    check(
        "<template name='u'><parameter name='a'/><parameter name='a'/><sequence/></template>",
        "another parameter \"a\"",
    );
    check("<template name='u'><sequence><nothing/></sequence></template>", "unknown mediator");
    check(
        &format!("<template name='u'><sequence><nothing/></sequence></template>{}", call("target='u'", "")),
        "needs template \"u\", which is faulty",
    );
}

#[test]
fn a_template_that_is_found_while_serving_may_still_lack_a_parameter() {
    let templates = template("IBM", "<parameter name='a' isMandatory='true'/>", "");
    assert_eq!(said(&templates, "<call-template target='{$ctx:given}'/>", "<a/>").0, 500);
}
