//! Bodies in the forms that somebody asks for: within bounds, and as operators say.

use std::sync::Arc;

use crate::common::{Scenario, load_with, request, response};
use myelin_engine::{ContentTypes, Settings};
use myelin_message::Body;

/// Serves a request with a sequence that answers with it; status, content type and body of the answer.
fn answer_with(settings: &Settings, sequence: &str, content_type: &str, body: &str) -> (u16, String, String) {
    let proxy = format!("<proxy name=\"P\"><target><inSequence>{sequence}<respond/></inSequence></target></proxy>");
    let loaded = load_with(&proxy, settings);
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "")));
    let answer = scenario.serve(request("POST", "/services/P", &[("Content-Type", content_type)], body));
    (answer.status, answer.header("Content-Type").unwrap_or_default().to_owned(), answer.body)
}

fn answer(sequence: &str, content_type: &str, body: &str) -> (u16, String, String) {
    answer_with(&Settings::default(), sequence, content_type, body)
}

#[test]
fn only_what_is_true_holds_as_a_condition_of_json() {
    let check = |value: &str, expected: &str| {
        let sequence = "<filter xpath='json-eval($.a)'><then><property name='x' value='yes'/></then></filter>\
            <payloadFactory media-type='text'><format>$1</format><args><arg expression='$ctx:x'/></args></payloadFactory>";
        assert_eq!(answer(sequence, "application/json", &format!("{{\"a\":{value}}}")).2, expected, "{value}");
    };
    check("true", "yes");
    check("\"True\"", "yes");
    for value in ["false", "null", "\"\"", "1", "\"x\"", "[true]", "{}"] {
        check(value, "");
    }
}

#[test]
fn the_path_to_all_gives_the_body_as_it_came() {
    let sequence = "<property name='x' expression='json-eval($)'/>\
        <payloadFactory media-type='text'><format>$1</format><args><arg expression='$ctx:x'/></args></payloadFactory>";
    let check = |body: &str, expected: &str| assert_eq!(answer(sequence, "application/json", body).2, expected);
    check("{ \"a\" : [1.0,\t2] }", "{ \"a\" : [1.0,\t2] }");
    check("\u{feff}[ ]", "[ ]");
}

const TO_XML: &str = "<property name=\"messageType\" value=\"application/xml\" scope=\"axis2\"/>";
const TO_JSON: &str = "<property name=\"messageType\" value=\"application/json\" scope=\"axis2\"/>";

#[test]
fn a_conversion_that_grows_without_measure_is_refused() {
    // Each element repeats the name of the array.
    let key = "k".repeat(10_000);
    let body = format!("{{\"{key}\":[{}0]}}", "0,".repeat(100_000));
    let (status, _, _) = answer(TO_XML, "application/json", &body);
    assert_eq!(status, 400);
}

#[test]
fn json_that_is_too_deep_is_refused_whoever_looks() {
    let body = "[".repeat(100_000) + &"]".repeat(100_000);
    for sequence in [TO_XML, "<property name=\"a\" expression=\"//a\"/>"] {
        assert_eq!(answer(sequence, "application/json", &body).0, 400);
    }
    let body = "<a>".repeat(900) + &"</a>".repeat(900);
    assert_eq!(answer(TO_JSON, "application/xml", &body).0, 200);
}

#[test]
fn a_large_body_is_converted_like_a_small_one() {
    let lines = "<line>x</line>".repeat(20_000);
    let (status, content_type, body) = answer(TO_JSON, "application/xml", &format!("<order>{lines}</order>"));
    assert_eq!((status, content_type.as_str()), (200, "application/json"));
    assert_eq!(body.len(), "{\"order\":{\"line\":[]}}".len() + 20_000 * 4 - 1);
    let sequence = "<filter xpath=\"count(//line) = 20000\"><then><property name=\"HTTP_SC\" value=\"201\" scope=\"axis2\"/>\
                    </then></filter>";
    let (status, _, again) = answer(sequence, "application/json", &body);
    assert_eq!(status, 201);
    assert!(again == body, "what nobody changes leaves as it came");
}

#[test]
fn xml_leaves_in_a_package_where_that_is_wanted() {
    let sequence = "<property name=\"enableMTOM\" value=\"true\" scope=\"axis2\"/>";
    let soap = "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body/></s:Envelope>";
    let (_, content_type, body) = answer(sequence, "text/xml", soap);
    assert!(content_type.starts_with("multipart/related; boundary=\"MIMEBoundary_"), "{content_type}");
    assert!(content_type.contains("start-info=\"text/xml\""), "{content_type}");
    let boundary = content_type.split('"').nth(1).unwrap();
    assert!(body.starts_with(&format!("--{boundary}\r\n")) && body.ends_with(&format!("--{boundary}--\r\n")), "{body}");
    assert!(body.contains(soap), "{body}");
    // JSON is no XML that could be packed.
    assert_eq!(answer(sequence, "application/json", "{}").1, "application/json");
}

#[test]
fn a_boundary_that_is_in_what_was_put_in_gives_way_to_another() {
    let sequence = "<enrich><source type=\"inline\">x&#10;--b&#10;y</source><target xpath=\"//a\"/></enrich>";
    let form = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b--\r\n";
    let (_, content_type, body) = answer(sequence, "multipart/form-data; boundary=b", form);
    assert!(content_type.contains("boundary=\"MIMEBoundary_"), "{content_type}");
    assert!(body.contains("x\n--b\ny"), "{body}");
}

#[test]
fn an_operator_says_what_further_content_types_are_read_as() {
    let mut types = ContentTypes::default();
    types.insert("text/html", "application/xml");
    types.insert("application/json", "application/octet-stream");
    let settings = Settings { content_types: Some(Arc::new(types)), ..Settings::default() };
    let (_, _, body) = answer_with(&settings, TO_JSON.replace("json", "xml").as_str(), "text/html", "<a> x</a>");
    assert_eq!(body, "<a> x</a>");
    // Where the length of binary content is not known before, a mediator has to ask for it first.
    let sequence = "<builder/><property name=\"X-Root\" expression=\"local-name($body/*)\" scope=\"transport\"/>\
                    <filter source=\"local-name($body/*)\" regex=\"binary\"><then><property name=\"HTTP_SC\" value=\"201\" \
                    scope=\"axis2\"/></then></filter>";
    assert_eq!(answer_with(&settings, sequence, "application/json; charset=UTF-8", "{}").0, 201);
}

#[test]
fn empty_bodies_are_no_fault_and_hold_nothing() {
    let sequence = "<property name=\"a\" expression=\"//a\"/><property name=\"b\" expression=\"json-eval($.a)\"/>";
    let types = ["application/json", "text/xml", "application/xml", "application/x-www-form-urlencoded", "text/plain"];
    for content_type in types {
        for to in ["", TO_JSON, TO_XML] {
            let (status, _, body) = answer(&format!("{sequence}{to}"), content_type, "");
            assert_eq!((status, body.as_str()), (200, ""), "{content_type} {to}");
        }
    }
}

#[test]
fn a_message_type_says_no_other_character_set_than_the_body_is_in() {
    let typed = |value: &str| format!("<property name='messageType' value='{value}' scope='axis2'/>");
    let check = |value: &str, content_type: &str, bytes: &[u8], expected: (&str, &str)| {
        let proxy =
            format!("<proxy name='P'><target><inSequence>{}<respond/></inSequence></target></proxy>", typed(value));
        let mut message = request("POST", "/services/P", &[("Content-Type", content_type)], "");
        message.body = Body::Bytes(bytes.to_vec());
        let reply = Scenario::new(&proxy).serve(message);
        assert_eq!((reply.header("Content-Type").unwrap(), reply.body.as_str()), expected, "{value} of {content_type}");
    };
    let (latin, json) = (b"<a>\xe9</a>".as_slice(), "{\"a\":\"é\"}".as_bytes());
    check(
        "application/xml; charset=ISO-8859-1",
        "application/json",
        json,
        ("application/xml; charset=UTF-8", "<jsonObject><a>é</a></jsonObject>"),
    );
    // Nobody has read this body, and it would be another text under another name.
    check("application/xml", "application/xml; charset=ISO-8859-1", latin, ("application/xml", "<a>é</a>"));
    check("text/plain; charset=UTF-8", "text/plain; charset=ISO-8859-1", b"\xe9", ("text/plain; charset=UTF-8", "é"));
}

#[test]
fn what_one_part_of_a_package_holds_cannot_multiply_a_message() {
    let include = "<x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:p'/>".repeat(400);
    let body =
        format!("--b\r\n\r\n<a>{include}</a>\r\n--b\r\nContent-ID: <p>\r\n\r\n{}\r\n--b--\r\n", "x".repeat(300_000));
    let sequence = "<property name='messageType' value='text/xml' scope='axis2'/>";
    let (status, _, _) = answer(sequence, "multipart/related; boundary=b", &body);
    assert_eq!(status, 400);
}

#[test]
fn what_is_taken_out_of_a_package_takes_along_what_it_refers_to() {
    let body = "--b\r\n\r\n<a><f><x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:p'/></f></a>\r\n\
        --b\r\nContent-ID: <p>\r\n\r\n\u{1}\u{2}\r\n--b--\r\n";
    let call = "<call><endpoint><address uri='http://b/'/></endpoint></call>";
    let sent = |sequence: &str| {
        let proxy = format!("<proxy name='P'><target><inSequence>{sequence}</inSequence></target></proxy>");
        let scenario = Scenario::new(&proxy);
        scenario.serve(request("POST", "/services/P", &[("Content-Type", "multipart/related; boundary=b")], body));
        let last = scenario.sent().last().map(|sent| sent.body.clone());
        last.unwrap()
    };
    let parts = format!("<iterate expression='//f'><target><sequence>{call}</sequence></target></iterate>");
    assert!(sent(&parts).contains("<f>AQI=</f>"), "{}", sent(&parts));
    let kept = format!(
        "<enrich><source type='body'/><target type='property' property='p'/></enrich>{call}\
         <enrich><source type='property' property='p'/><target type='body'/></enrich>{call}<respond/>"
    );
    assert!(sent(&kept).contains("<a><f>AQI=</f></a>"), "{}", sent(&kept));
}

/// How often each `n` of a list is compared with each that follows: longer than others on a thread should wait.
const TAKES_LONG: &str = "count(//n[not(. = following-sibling::n)])";

/// A list of so many numbers, no two of which are the same, as XML and as JSON.
fn numbers(count: usize) -> [(&'static str, String); 2] {
    let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    let xml = numbers.iter().map(|number| format!("<n>{number}</n>")).collect::<String>();
    [
        ("application/xml", format!("<list>{xml}</list>")),
        ("application/json", format!("{{\"n\":[{}]}}", numbers.join(","))),
    ]
}

/// Serves a body with a sequence that answers with it; the header line `X-Told`, and how often another thread was asked.
fn told(sequence: &str, content_type: &str, body: &str) -> (Option<String>, usize) {
    let proxy = format!("<proxy name='P'><target><inSequence>{sequence}<respond/></inSequence></target></proxy>");
    let scenario = Scenario::new(&proxy);
    let answer = scenario.serve(request("POST", "/services/P", &[("Content-Type", content_type)], body));
    (answer.header("X-Told").map(str::to_owned), scenario.worked())
}

fn tells(expression: &str) -> String {
    format!("<property name='X-Told' expression=\"{expression}\" scope='transport'/>")
}

#[test]
fn an_expression_that_takes_long_is_answered_on_another_thread_and_others_at_once() {
    for (content_type, body) in numbers(600) {
        let check = |sequence: &str, expected: &str, worked: usize| {
            let found = told(sequence, content_type, &body);
            assert_eq!(found, (Some(expected.to_owned()), worked), "{sequence} of {content_type}");
        };
        check(&tells("concat('', count(//n[3]))"), "1", 0);
        check(&tells(&format!("concat('', {TAKES_LONG})")), "600", 1);
        let filter = format!("<filter xpath=\"{TAKES_LONG} &gt; 599\"><then>{}</then></filter>", tells("'yes'"));
        check(&filter, "yes", 1);
        // What asks for a property as well is answered where it is asked.
        let mixed = format!("<property name='p' value='x'/>{}", tells(&format!("concat($ctx:p, {TAKES_LONG})")));
        check(&mixed, "x600", 0);
    }
    let [(content_type, body), _] = numbers(3);
    assert_eq!(
        told(&tells(TAKES_LONG), content_type, &body),
        (Some("3.0".to_owned()), 0),
        "what is small takes no time"
    );
}

/// The same as a path: each number of an array is compared with the largest.
const LONG_PATH: &str = "$.n[?(@ == $.n.max())]";

#[test]
fn a_path_that_takes_long_is_followed_on_another_thread_and_others_at_once() {
    let [(xml, of_xml), (json, of_json)] = numbers(600);
    // Of a plain list no array is made at the top.
    let of_xml = of_xml.replace("list>", "n>").replace("<n><n>", "<list><n>").replace("</n></n>", "</n></list>");
    for (content_type, body, root) in [(json, &of_json, ""), (xml, &of_xml, ".list")] {
        let check = |sequence: &str, expected: &str, worked: usize| {
            let found = told(&sequence.replace("$.n", &format!("${root}.n")), content_type, body);
            assert_eq!(found, (Some(expected.to_owned()), worked), "{sequence} of {content_type}");
        };
        check(&tells("json-eval($.n[3])"), "3", 0);
        check(&tells("json-eval($.n[-1:])"), "[599]", 0);
        check(&tells(&format!("json-eval({LONG_PATH})")), "[599]", 1);
    }
    let many = &numbers(30_000)[1].1;
    let check = |expression: &str, expected: &str, worked: usize| {
        assert_eq!(told(&tells(expression), json, many), (Some(expected.to_owned()), worked), "{expression}");
    };
    check("${payload.n[29999]}", "29999", 1);
    check("${payload.n[?(@ &gt; 29997)]}", "[29998,29999]", 1);
    check("${length(payload.n[?(@ &gt; 7)]) + 1}", "29993", 1);
    // What is filled into a path is known only where it is followed.
    check("${payload.n[?(@ &gt; payload.n[29997])]}", "[29998,29999]", 1);
    let small = numbers(3)[1].1.clone();
    assert_eq!(told(&tells(&format!("json-eval({LONG_PATH})")), json, &small), (Some("[2]".to_owned()), 0));
}

#[test]
fn a_path_takes_long_by_what_the_body_is_now_and_beside_an_expression_that_does() {
    let [(xml, of_xml), (json, of_json)] = numbers(600);
    let larger = format!(
        "<property name='larger' value='{of_json}' type='STRING'/><enrich><source type='property' property='larger'/>\
         <target type='body'/></enrich>{}",
        tells(&format!("json-eval({LONG_PATH})"))
    );
    assert_eq!(told(&larger, json, "{\"ok\":1}"), (Some("[599]".to_owned()), 1));
    let path = LONG_PATH.replace("$.n", "$.list.n");
    let both = format!(
        "<payloadFactory media-type='text'><format>$1 $2</format><args><arg expression='{TAKES_LONG}'/>\
         <arg evaluator='json' expression='{path}'/></args></payloadFactory>{}",
        tells("//text()")
    );
    assert_eq!(told(&both, xml, &of_xml), (Some("600.0 [599]".to_owned()), 1));
}

#[test]
fn what_cannot_be_json_is_no_fault_as_long_as_nobody_asks_for_that() {
    let mixed = format!("<d>{}</d>", "<p>a<b/>c</p>".repeat(30_000));
    let unasked = "<property name='X-Told' expression=\"${exists(vars.none) ? payload.b : 'none'}\" \
                   scope='transport'/>";
    assert_eq!(told(unasked, "application/xml", &mixed).0.as_deref(), Some("none"));
    let asked = "<property name='X-Told' expression='${payload.d}' scope='transport'/>";
    assert_eq!(told(asked, "application/xml", &mixed).0, None);
}

#[test]
fn where_a_path_led_before_a_change_does_not_count_behind_it() {
    let [_, (content_type, body)] = numbers(600);
    let asks = tells(&format!("json-eval({LONG_PATH})"));
    let change = "<enrich><source type='inline'>700</source><target action='child' xpath='json-eval($.n)'/></enrich>";
    assert_eq!(told(&format!("{asks}{change}{asks}"), content_type, &body), (Some("[700]".to_owned()), 2));
}

#[test]
fn what_was_found_before_a_change_does_not_count_behind_it() {
    let [(content_type, body), _] = numbers(600);
    let asks = tells(&format!("concat('', {TAKES_LONG})"));
    let change = "<enrich><source type='inline'><n xmlns=''>0</n></source>\
                  <target action='child' xpath='//list'/></enrich>";
    assert_eq!(told(&format!("{asks}{change}{asks}"), content_type, &body), (Some("600".to_owned()), 2));
    let twice = "<enrich><source type='inline'><n xmlns=''>0</n></source><target action='child' xpath='//list'/></enrich>\
                 <enrich><source type='inline'><n xmlns=''>1</n></source><target action='child' xpath='//list'/></enrich>";
    let distinct = tells("concat('', count(//n), ' ', count(//n[. = following-sibling::n]))");
    assert_eq!(told(&format!("{distinct}{twice}{distinct}"), content_type, &body).0.as_deref(), Some("602 2"));
}

#[test]
fn an_expression_that_does_more_than_it_may_fails_once() {
    let [(content_type, body), _] = numbers(600);
    let sequence =
        format!("<property name='built' expression='//list' type='OM'/>{}", tells("count(//n[//n[//n = 'none']])"));
    assert_eq!(told(&sequence, content_type, &body), (None, 1));
}
