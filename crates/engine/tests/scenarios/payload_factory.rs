//! `<payloadFactory>` beyond the golden cases: how each kind of value is written into each kind of body.

use crate::common::{Scenario, fails_when_reached, load_with, refused, report, request};
use myelin_engine::Settings;

const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";

/// What becomes of a message: status, content type and body.
fn echoed(mediators: &str, content_type: &str, body: &str) -> (u16, String, String) {
    let proxy = format!(
        "<proxy xmlns='http://ws.apache.org/ns/synapse' xmlns:s='{SOAP}' name='P'>\
         <target><inSequence>{mediators}<respond/></inSequence></target></proxy>"
    );
    let message = request("POST", "/services/P", &[("Content-Type", content_type)], body);
    let reply = Scenario::new(&proxy).serve(message);
    let content_type = reply.header("Content-Type").unwrap_or_default().to_owned();
    (reply.status, content_type, reply.body)
}

fn factory(media: &str, format: &str, arguments: &str) -> String {
    format!("<payloadFactory media-type='{media}'><format>{format}</format><args>{arguments}</args></payloadFactory>")
}

/// Asserts what a JSON body becomes with one argument in `{format}`.
fn json(attributes: &str, body: &str, format: &str, expected: &str) {
    let made = echoed(&factory("json", format, &format!("<arg {attributes}/>")), "application/json", body);
    assert_eq!(made, (200, "application/json".to_owned(), expected.to_owned()), "{attributes}");
}

/// Asserts what plain XML becomes with one argument in an element.
fn xml(attributes: &str, body: &str, expected: &str) {
    let made = echoed(&factory("xml", "<r xmlns=''>$1</r>", &format!("<arg {attributes}/>")), "application/xml", body);
    assert_eq!(made, (200, "application/xml".to_owned(), expected.to_owned()), "{attributes}");
}

/// Asserts that it is a fault, and what is said.
fn fails(mediators: &str, content_type: &str, body: &str, part: &str) {
    let (status, _, text) = echoed(mediators, content_type, body);
    assert!(status == 500 && text.contains(part), "{mediators}: {status} {text}");
}

#[test]
fn a_text_is_escaped_in_json_and_json_stays_json() {
    let path = |path: &str| format!("evaluator='json' expression='{path}'");
    let body = r#"{"a":"q\" b\\ n\n é \u0001 $1","n":1.50,"o":{ "x": [1, "y"] },"s":"{\n1}","t":true,"x":"<b/>"}"#;
    json(&path("$.a"), body, r#"{"a":"$1"}"#, r#"{"a":"q\" b\\ n\n é \u0001 $1"}"#);
    json(&path("$.n"), body, "[$1]", "[1.50]");
    json(&path("$.o"), body, "[$1]", r#"[{"x":[1,"y"]}]"#);
    json(&path("json-eval($.t)"), body, "[$1]", "[true]");
    json(&path("$.x"), body, r#"["$1"]"#, r#"["<b/>"]"#);
    json(&path("$.nowhere"), body, r#"["$1"]"#, r#"[""]"#);
    json("expression='json-eval($.n)'", body, "[$1]", "[1.50]");
    json("value='5 &gt; &quot;3&quot;'", body, r#"["$1"]"#, r#"["5 > \"3\""]"#);
    // As in Synapse, what begins as JSON does is JSON, unless it is said to be literal.
    let whole = factory("json", "[$1]", &format!("<arg {}/>", path("$.w")));
    assert_eq!(echoed(&whole, "application/json", r#"{"w":"{\"a\":\n1}"}"#).2, "[{\"a\":\n1}]");
    json(&format!("literal='true' {}", path("$.o")), body, r#"["$1"]"#, r#"["{\"x\":[1,\"y\"]}"]"#);
}

#[test]
fn what_is_not_json_is_a_fault() {
    let path = |path: &str| format!("<arg evaluator='json' expression='{path}'/>");
    let body = r#"{"a":"x","s":"{1}"}"#;
    let check = |format: &str, arguments: &str| {
        fails(&factory("json", format, arguments), "application/json", body, "What <payloadFactory> made is not JSON");
    };
    check(r#"{"first":"$1","last":$2,"c":1}"#, &(path("$.a") + &path("$.none")));
    check("[$1]", &path("$.s"));
    check(r#"{"a":1,}"#, "");
    check(r#" {"a":$1"#, &path("$.a"));
}

#[test]
fn line_breaks_in_what_begins_as_json_can_be_escaped() {
    let mediator = factory("json", "[\"$1\"]", "<arg evaluator='json' expression='$.s'/>");
    let mediator = mediator.replace("<payloadFactory", "<payloadFactory escapeXmlChars='true'");
    let (_, _, made) = echoed(&mediator, "application/json", r#"{"s":"[a]\n\t"}"#);
    assert_eq!(made, r#"["[a]\n\t"]"#);
}

#[test]
fn strings_get_quotes_where_a_property_says_so() {
    let quote = "<property name='QUOTE_STRING_IN_PAYLOAD_FACTORY_JSON' value='true'/>";
    let check = |value: &str, expected: &str| {
        let body = format!("{{\"v\":{value}}}");
        let mediators = quote.to_owned() + &factory("json", "[$1]", "<arg evaluator='json' expression='$.v'/>");
        assert_eq!(echoed(&mediators, "application/json", &body).2, expected);
    };
    check("\"a\"", "[\"a\"]");
    check("\"\"", "[\"\"]");
    check("1", "[1]");
    check("\"01\"", "[\"01\"]");
    check("null", "[null]");
    check("[1]", "[[1]]");
}

#[test]
fn a_text_is_escaped_in_xml_and_xml_stays_xml() {
    let body =
        "<a xmlns:p='urn:p'><b>1 &lt; 2 &amp; \"3\"</b><p:c>x</p:c><d><e/> </d><f>&lt;g/></f><h>{\"i\":1}</h></a>";
    xml("expression='//b'", body, "<r>1 &lt; 2 &amp; \"3\"</r>");
    xml("expression='//d'", body, "<r><d><e/> </d></r>");
    xml("expression='//f'", body, "<r><g/></r>");
    xml("expression='//h'", body, "<r>{\"i\":1}</r>");
    xml("expression='//z'", body, "<r/>");
    xml("expression='/*/*/*/*[2]' literal='true'", body, "<r>x</r>");
    xml("expression='count(//b)'", body, "<r>1.0</r>");
    xml("value='&lt;g>a&lt;/g>&lt;g/>'", body, "<r><g>a</g><g/></r>");
    xml("value='a &lt;b'", body, "<r>a &lt;b</r>");
    xml("value=\"&lt;?xml version='1.0'?>&lt;g/>\"", body, "<r><g/></r>");
}

#[test]
fn a_value_cannot_leave_the_attribute_it_stands_in() {
    let body = "<a>&lt;'\"&#10;&amp;</a>";
    let mediator = factory("xml", "<r xmlns='' b='$1'>$1</r>", "<arg expression='//a'/>");
    assert_eq!(echoed(&mediator, "application/xml", body).2, "<r b='&lt;&apos;&quot;&#10;&amp;'>&lt;'\"\n&amp;</r>");
}

#[test]
fn the_content_type_is_that_of_what_was_made() {
    let check = |media: &str, format: &str, content_type: &str, expected: &str| {
        let (status, made, _) = echoed(&factory(media, format, ""), content_type, "");
        assert_eq!((status, made.as_str()), (200, expected), "{media} {content_type}");
    };
    check("xml", "<a/>", "application/json", "application/xml; charset=UTF-8");
    check("xml", "<a/>", "application/vnd.a+xml", "application/vnd.a+xml");
    check("json", "{}", "application/xml", "application/json");
    check("text", "a", "application/xml", "text/plain; charset=UTF-8");
    check("xml", "<s:Envelope><s:Body/></s:Envelope>", "application/json", "text/xml; charset=UTF-8");
    check("xml", "<s:Envelope><s:Body/></s:Envelope>", "text/xml", "text/xml");
}

#[test]
fn what_was_said_about_the_old_body_does_not_hold_for_the_new_one() {
    let mediators = "<property name='NO_ENTITY_BODY' value='true' scope='axis2'/>\
                     <property name='ContentType' value='text/csv' scope='axis2'/>"
        .to_owned()
        + &factory("json", "{}", "");
    let made = echoed(&mediators, "text/csv", "1,2");
    assert_eq!(made, (200, "application/json".to_owned(), "{}".to_owned()));
}

#[test]
fn an_envelope_takes_the_place_of_the_message_and_other_xml_that_of_what_is_in_its_body() {
    let check = |format: &str, expected: &str| {
        let body =
            format!("<s:Envelope xmlns:s='{SOAP}'><s:Header><h/></s:Header><s:Body><a>1</a></s:Body></s:Envelope>");
        let (_, content_type, made) = echoed(&factory("xml", format, "<arg expression='//a'/>"), "text/xml", &body);
        assert_eq!((content_type.as_str(), made.as_str()), ("text/xml", expected));
    };
    check(
        "<b xmlns=''>$1</b>",
        &format!("<s:Envelope xmlns:s='{SOAP}'><s:Header><h/></s:Header><s:Body><b>1</b></s:Body></s:Envelope>"),
    );
    check(
        "<s:Envelope><s:Body><b xmlns=''>$1</b></s:Body></s:Envelope>",
        &format!("<s:Envelope xmlns:s=\"{SOAP}\"><s:Body><b xmlns=''>1</b></s:Body></s:Envelope>"),
    );
}

#[test]
fn what_is_made_can_be_read_behind_it() {
    let mediators = factory("json", "{\"a\": $1}", "<arg expression='//b'/>")
        + &factory("xml", "<r xmlns=''>$1</r>", "<arg evaluator='json' expression='$.a'/>")
        + &factory("text", "it is $1: $1 $2", "<arg expression='//r'/>");
    assert_eq!(echoed(&mediators, "application/xml", "<b>7</b>").2, "it is 7: 7 $2");
}

#[test]
fn xml_becomes_json_and_json_xml_where_it_stands_in_the_other() {
    let check = |mediator: &str, content_type: &str, body: &str, expected: &str| {
        assert_eq!(echoed(mediator, content_type, body).2, expected, "{mediator}");
    };
    let json = |arguments: &str| factory("json", "{\"a\": $1}", arguments);
    check(&json("<arg expression='//b'/>"), "application/xml", "<a><b><c>1</c></b></a>", r#"{"a": {"b":{"c":1}}}"#);
    check(&json("<arg value='&lt;a>x&lt;/a>'/>"), "application/xml", "<a/>", r#"{"a": {"a":"x"}}"#);
    let literal = "<arg literal='true' expression='//b'/>";
    let markup = "<a><b><c>\"</c></b></a>";
    check(&factory("json", "[\"$1\"]", literal), "application/xml", markup, r#"["<b><c>\"</c></b>"]"#);
    let xml = factory("xml", "<r xmlns=''>$1</r>", "<arg evaluator='json' expression='$.a'/>");
    check(&xml, "application/json", r#"{"a":{"b":1,"c":[2,3]}}"#, "<r xmlns=''><b>1</b><c>2</c><c>3</c></r>");
    check(
        &xml,
        "application/json",
        r#"{"a":[1,"<"]}"#,
        "<r xmlns=''><jsonElement>1</jsonElement><jsonElement>&lt;</jsonElement></r>",
    );
    let in_name =
        "<payloadFactory template-type='freemarker'><format><![CDATA[<a>${'<b>'}</a>]]></format></payloadFactory>";
    fails(in_name, "application/xml", "<b/>", "not well-formed");
}

#[test]
fn synapse_expressions_are_text_in_quotes_and_what_they_are_elsewhere() {
    let body = r#"{"s":"a\"b<","n":1.50,"t":true,"o":{"x":[1]},"z":null,"d":"5"}"#;
    let json = |format: &str, expected: &str| {
        let made = echoed(&factory("json", format, ""), "application/json", body);
        assert_eq!(made, (200, "application/json".to_owned(), expected.to_owned()), "{format}");
    };
    json(r#"{"a": "${payload.s}", "b": ${payload.s}}"#, r#"{"a": "a\"b<", "b": "a\"b<"}"#);
    json(r#"[${payload.n}, ${payload.t}, ${payload.d}, ${payload.n + 1}]"#, "[1.50, true, 5, 2.5]");
    json(r#"[${payload.o}, "${payload.o}"]"#, r#"[{"x":[1]}, "{\"x\":[1]}"]"#);
    json(r#"["${payload.nowhere}", ${payload.nowhere}]"#, r#"["", null]"#);
    json(r#"["it is ${payload.d} $1"]"#, r#"["it is 5 $1"]"#);
    let xml = factory("xml", "<r xmlns='' b='${payload.s}'>${payload.s}<c>${payload.o}</c></r>", "");
    assert_eq!(echoed(&xml, "application/json", body).2, "<r xmlns='' b='a&quot;b&lt;'>a\"b&lt;<c><x>1</x></c></r>");
    let text = factory("text", "${payload.s} $1 ${payload.o}", "<arg expression='${payload.n}'/>");
    assert_eq!(echoed(&text, "application/json", body).2, r#"a"b< 1.50 {"x":[1]}"#);
}

fn template(media: &str, text: &str, arguments: &str) -> String {
    format!(
        "<payloadFactory media-type='{media}' template-type='freemarker'>\
         <format><![CDATA[{text}]]></format><args>{arguments}</args></payloadFactory>"
    )
}

#[test]
fn a_template_sees_the_body_arguments_properties_headers_and_variables() {
    let before = "<property name='p' value='from ctx'/><property name='s' scope='axis2' value='from axis2'/>\
                  <variable name='v' type='INTEGER' value='41'/>\
                  <variable name='j' type='JSON' value='{&quot;k&quot;: [1, 2]}'/>";
    let check = |text: &str, body: &str, expected: &str| {
        let mediators = before.to_owned() + &template("json", text, "<arg value='one'/><arg expression='$ctx:p'/>");
        let made = echoed(&mediators, "application/json", body);
        assert_eq!(made, (200, "application/json".to_owned(), expected.to_owned()), "{text}");
    };
    check("[${args.arg1}, ${args.arg2}]", "{}", "[one, from ctx]");
    check("[${ctx.p}, ${axis2.s}, ${axis2.HTTP_METHOD}, ${ctx.none!'-'}]", "{}", "[from ctx, from axis2, POST, -]");
    check("[${trp['Content-Type']}, ${trp.none!'-'}]", "{}", "[application/json, -]");
    check("[${vars.v + 1}, ${var.v}, ${vars.j.k[1]}]", "{}", "[42, 41, 2]");
    check("${ctx?keys?join(',')} ${vars?keys?sort?join(',')}", "{}", "p j,v");
    check("<#assign k = 'p'>${ctx[k]} ${'ctx.p'?eval}", "{}", "from ctx from ctx");
    check(
        "[<#list payload.items as i>{\"sku\": \"${i.sku}\"}<#sep>,</#list>]",
        r#"{"items": [{"sku": "a"}, {"sku": "b"}]}"#,
        r#"[{"sku": "a"},{"sku": "b"}]"#,
    );
    check("${payload[1].a}", r#"[1, {"a": 2.50}]"#, "2.5");
}

#[test]
fn a_template_sees_xml_as_a_document_and_makes_it() {
    let text = "<r><#list payload.order.item as i><i n='${i.@id}'>${i}</i></#list>${args.arg1}</r>";
    let mediator = template("xml", text, "<arg expression='//item[1]/@id'/>");
    let body = "<order><item id='1'>a</item><item id='2'>b</item></order>";
    let made = echoed(&mediator, "application/xml", body);
    assert_eq!(made, (200, "application/xml".to_owned(), "<r><i n='1'>a</i><i n='2'>b</i>1</r>".to_owned()));
    let soap = format!("<s:Envelope xmlns:s='{SOAP}'><s:Body>{body}</s:Body></s:Envelope>");
    let made = echoed(&template("text", "${payload.order.item?size}", ""), "text/xml", &soap);
    assert_eq!(made, (200, "text/plain; charset=UTF-8".to_owned(), "2".to_owned()));
}

#[test]
fn a_template_that_fails_or_has_no_end_is_a_fault() {
    for text in [
        "${payload.a.b}",
        "<#list 1.. as n></#list>",
        "<#assign x='x'><#list 1.. as n><#assign x=x+x></#list>",
        "<#stop 'enough'>",
    ] {
        fails(&template("json", text, ""), "application/json", "{}", "The template of <payloadFactory> failed");
    }
}

#[test]
fn a_template_that_takes_long_gives_the_same() {
    let text = "<#assign n = 0><#list 1..50000 as i><#assign n = n + i></#list>[${n?c}, ${payload.a}]";
    assert_eq!(echoed(&template("json", text, ""), "application/json", r#"{"a": 1}"#).2, "[1250025000, 1]");
}

#[test]
fn a_key_that_is_worked_out_names_a_local_entry() {
    let check = |kind: &str, expected: &str| {
        let configuration = format!(
            "<localEntry key='a'>[\"$1 ${{ctx.k!}}\"]</localEntry>\
             <proxy name='P'><target><inSequence><property name='k' value='a'/>\
             <payloadFactory media-type='json' template-type='{kind}'><format key='{{$ctx:k}}'/>\
             <args><arg value='1'/></args></payloadFactory><respond/></inSequence></target></proxy>"
        );
        let message = request("POST", "/services/P", &[("Content-Type", "application/json")], "{}");
        assert_eq!(Scenario::new(&configuration).serve(message).body, expected);
    };
    check("default", r#"["1 ${ctx.k!}"]"#);
    check("freemarker", r#"["$1 a"]"#);
    let nowhere = "<payloadFactory media-type='json'><format key='{$ctx:k}'/></payloadFactory>";
    fails(nowhere, "application/json", "{}", "does not exist");
}

#[test]
fn what_is_made_is_bounded_like_any_body() {
    let twice = factory("json", "[\"$1\",\"$1\"]", "<arg literal='true' evaluator='json' expression='$'/>");
    let proxy =
        format!("<proxy name='P'><target><inSequence>{}<respond/></inSequence></target></proxy>", twice.repeat(40));
    let settings = Settings { body_limit_bytes: 100_000, ..Settings::default() };
    let scenario = Scenario::of(load_with(&proxy, &settings), |_, _| unreachable!("nothing is sent"));
    let reply = scenario.serve(request("POST", "/services/P", &[("Content-Type", "application/json")], "[1]"));
    assert_eq!(reply.status, 500);
    assert!(reply.body.contains("larger than a body may be"), "{}", reply.body);
}

#[test]
fn a_body_that_nothing_asks_for_is_not_read() {
    let mediator = factory("json", "{}", "<arg value='1'/>");
    assert_eq!(echoed(&mediator, "application/xml", "<no xml").2, "{}");
}

#[test]
fn what_is_not_offered_or_wrong_is_a_problem_at_its_place() {
    let check = |mediator: &str, part: &str| refused(&format!("<sequence name='s'>{mediator}</sequence>"), part);
    check("<payloadFactory/>", "needs a format");
    check("<payloadFactory media-type='yaml'><format/></payloadFactory>", "xml, json and text are known");
    check("<payloadFactory template-type='velocity'><format/></payloadFactory>", "neither default nor freemarker");
    check(&factory("json", "{\"a\": \"${payload.}\"}", ""), "expression");
    check(&template("json", "[<#list payload as p>]", ""), "1:134: FreeMarker: <#list> is not closed");
    check(&template("json", "<#include 'x'>", ""), "<#include> is not offered");
    check(&factory("xml", "", ""), "needs an element inside");
    check(&factory("xml", "<a/><b/>", ""), "holds one element");
    check(&factory("json", "<a/>", ""), "holds text");
    fails_when_reached(
        "<sequence name='s'><payloadFactory><format key='nowhere'/></payloadFactory></sequence>",
        "there is no local entry",
    );
    check(&factory("json", "[]", "<arg/>"), "needs value or expression");
    check(&factory("json", "[]", "<argument value='1'/>"), "holds arg elements");
    check(&factory("json", "[]", "<arg expression='${payload.}'/>"), "expression");
    check(&factory("json", "[]", "<arg evaluator='yaml' expression='$'/>"), "neither xml nor json");
    check(&factory("json", "[]", "<arg evaluator='json' expression='$['/>"), "expression \"$[\"");
    check(&factory("json", "[]", "<arg value='1' expression='2'/>"), "exclude each other");
    check("<payloadFactory><format><a/></format><format><a/></format></payloadFactory>", "holds one format");
}

#[test]
fn a_number_without_an_argument_is_told_of() {
    let report = report(&format!("<sequence name='s'>{}</sequence>", factory("json", "[$1, $3]", "<arg value='1'/>")));
    let warnings: Vec<String> = report.artefacts[0].warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.len() == 1 && warnings[0].contains("no argument for $3"), "{warnings:?}");
}

#[test]
fn what_stands_in_quotes_stays_in_them() {
    let body = r#"{"s":"[\",\"admin\":true,\"x\":\"]","o":{"a":"b\"c"},"d":"[draft]"}"#;
    let expected = r#"{"note":"[\",\"admin\":true,\"x\":\"]"}"#;
    json("evaluator='json' expression='$.s'", body, r#"{"note":"$1"}"#, expected);
    json("expression='json-eval($.d)'", body, r#"{"note":"$1"}"#, r#"{"note":"[draft]"}"#);
    json("evaluator='json' expression='$.o'", body, r#"["$1"]"#, r#"["{\"a\":\"b\\\"c\"}"]"#);
    // Who has escaped it is left alone, as in Synapse.
    json(r#"value='{\&quot;a\&quot;: 1}'"#, body, r#"["$1"]"#, r#"["{\"a\": 1}"]"#);
    json("value='&lt;a b=&quot;1&quot;/&gt;'", body, r#"["$1"]"#, r#"["<a b=\"1\"/>"]"#);
    let (status, _, made) = echoed(
        &factory("xml", "<r xmlns='' a='$1'/>", "<arg expression='//t'/>"),
        "application/xml",
        "<t><x y='1'/></t>",
    );
    assert_eq!((status, made.as_str()), (200, "<r a='&lt;t&gt;&lt;x y=&apos;1&apos;/&gt;&lt;/t&gt;'/>"));
}

#[test]
fn the_text_that_an_xpath_finds_is_escaped_where_a_synapse_expression_asks_for_it() {
    // After WSO2's RegexTemplateProcessorTest, cases 6 and 7.
    let body = "<p><n>A &amp; &lt;b/&gt; \"c\"</n><i>false</i><e><f>1</f></e></p>";
    let made = |media: &str, format: &str| echoed(&factory(media, format, ""), "application/xml", body).2;
    assert_eq!(
        made("xml", "<r xmlns=''>${xpath('//n')}${xpath('//e')}</r>"),
        "<r>A &amp; &lt;b/&gt; \"c\"<e><f>1</f></e></r>"
    );
    assert_eq!(
        made("json", r#"{"n":${xpath('//n')},"q":"${xpath('//n')}","i":${xpath('//i')},"e":${xpath('//e')}}"#),
        r#"{"n":"A & <b/> \"c\"","q":"A & <b/> \"c\"","i":false,"e":{"e":{"f":1}}}"#
    );
}

#[test]
fn a_format_that_can_make_no_json_is_told_while_it_is_loaded() {
    let check = |format: &str, expected: Option<&str>| {
        let report = report(&format!(
            "<sequence name='s'>\n<payloadFactory media-type='json'><format>{format}</format><args><arg value='1'/></args>\
             </payloadFactory></sequence>"
        ));
        let found: Vec<_> = report.artefacts[0].latent.iter().collect();
        assert_eq!((report.faulty(), found.len()), (0, usize::from(expected.is_some())), "{format}: {found:?}");
        let Some(part) = expected else { return };
        assert_eq!((found[0].line(), found[0].column()), (2, 35), "{}", found[0]);
        assert!(found[0].message().starts_with("the format makes no JSON: ") && found[0].message().contains(part));
    };
    check(r#"{"a": 1}"#, None);
    check("", None);
    check("{\n\"a\": 1,\n}", Some("line 3, column 1: expected a key"));
    check("{'a': 1}", Some("in \"{'a': 1}\""));
    check(r#"{"a": $1}"#, None);
    check(r#"{"a": $1, 'b'}"#, None);
    check(r#"{"a": "$1", b}"#, Some("b"));
    check(r#"{"a": "$1"}"#, None);
    check(r#"{"a": ${payload.a}}"#, None);
    check(r#"{"a": "${payload.a}"}}"#, Some("}}"));
    // A number without an argument stays as it is written.
    check(r#"{"a": $2}"#, Some("$2"));
    check("plain", Some("plain"));
}
