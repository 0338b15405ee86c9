use std::time::{Duration, Instant};

use super::*;
use crate::error::Place;
use crate::facts::{Effect, Known, Scope, Value};
use crate::limits::Limits;
use crate::script::{Call, Source};

fn script(text: &str) -> Script {
    let source = Source { file: "a.xml".into(), line: 10, column: 5, text: text.to_owned() };
    Script::compile(vec![source], &Call::Whole).unwrap_or_else(|problem| panic!("{text}: {problem}"))
}

fn terms() -> Terms {
    let end = Instant::now() + Duration::from_secs(5);
    Terms { limits: Limits::default(), polls: None, expired: Box::new(move || Instant::now() > end) }
}

fn outcome(text: &str, facts: &Facts) -> Outcome {
    run(&script(text), facts, terms()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn json(text: &str) -> Facts {
    Facts { json: Some(text.to_owned()), ..Facts::default() }
}

fn xml(text: &str) -> Facts {
    Facts { xml: Some(text.to_owned()), ..Facts::default() }
}

fn known(name: &str) -> Known {
    Known { scope: Scope::Default, name: name.to_owned() }
}

/// What the expression is, told by a property of that name.
fn shown(expression: &str, facts: &Facts) -> String {
    match outcome(&format!("mc.setProperty('x', String({expression}))"), facts).effects.pop() {
        Some(Effect::Property(_, Some(Value::Text(text)))) => text,
        other => panic!("{expression}: {other:?}"),
    }
}

fn thrown(text: &str, facts: &Facts) -> (String, Option<Place>) {
    match run(&script(text), facts, terms()) {
        Err(Error::Thrown { text, place }) => (text, place),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn json_is_read_as_objects_and_written_back() {
    let facts = json(r#"{"name":"Ann","tags":["a"],"none":null}"#);
    let out = outcome("var p = mc.getPayloadJSON(); p.tags.push(1.5, p.none); p.n = 3; mc.setPayloadJSON(p);", &facts);
    assert_eq!(out.effects, [Effect::Json(r#"{"name":"Ann","tags":["a",1.5,null],"none":null,"n":3}"#.to_owned())]);
    assert!(out.goes_on && out.unknown.is_empty());
    assert_eq!(shown("mc.getPayloadText()", &facts), facts.json.clone().unwrap());
    assert_eq!(shown("JSON.stringify(mc.getPayloadJSON())", &Facts::default()), "{}");
}

#[test]
fn a_text_that_is_json_is_set_as_it_is_and_any_other_as_a_text() {
    let check = |value: &str, expected: &str| {
        let out = outcome(&format!("mc.setPayloadJSON({value})"), &Facts::default());
        assert_eq!(out.effects, [Effect::Json(expected.to_owned())], "{value}");
    };
    check(r#"'{"a": 1.0}'"#, r#"{"a": 1.0}"#);
    check("'Ann'", "\"Ann\"");
    check("null", "null");
    check("[1, 'é', undefined]", "[1,\"é\",null]");
    assert!(thrown("mc.setPayloadJSON(undefined)", &Facts::default()).0.starts_with("TypeError: setPayloadJSON takes"));
}

#[test]
fn xml_is_a_text_that_xpath_looks_into() {
    let facts = xml("<o><item id='1'>A</item><item id='2'>B</item></o>");
    assert_eq!(shown("mc.getPayloadXML()", &facts), facts.xml.clone().unwrap());
    assert_eq!(shown("mc.getPayloadXML().split('item').length", &facts), "5");
    assert_eq!(shown("mc.getPayloadXML() + '!'", &facts), format!("{}!", facts.xml.clone().unwrap()));
    assert_eq!(shown("mc.getPayloadXML().getText()", &facts), "AB");
    let found = "mc.getXpathResult('//item').selectNodes(mc.getPayloadXML())";
    assert_eq!(shown(&format!("{found}.size() + {found}.get(1).getText()"), &facts), "2B");
    assert_eq!(shown(&format!("{found}.get(1).getAttributeValue('id')"), &facts), "2");
    assert_eq!(shown("mc.getXpathResult('count(//item)').numberValueOf(mc.getPayloadXML()) + 1", &facts), "3");
    assert_eq!(shown("mc.parseXml('<a><b>1</b></a>').getElementsByTagName('b').item(0).getTextContent()", &facts), "1");
    assert_eq!(shown("mc.getPayloadXML()", &Facts::default()), "null");
    let out = outcome("mc.setPayloadXML('<a>' + mc.getPayloadXML().getText() + '</a>')", &facts);
    assert_eq!(out.effects, [Effect::Xml("<a>AB</a>".to_owned())]);
}

#[test]
fn children_of_xml_by_name_are_e4x_and_said_to_be() {
    let facts = xml("<o><item/></o>");
    let check = |text: &str| assert!(thrown(text, &facts).0.contains("E4X"), "{text}");
    check("mc.getPayloadXML().item");
    check("var p = mc.getPayloadXML(); delete p.item;");
    check("var p = mc.getPayloadXML(); p.item = 'x';");
}

#[test]
fn properties_keep_their_types() {
    let check = |value: &str, expected: Option<Value>| {
        let out = outcome(&format!("mc.setProperty('x', {value})"), &xml("<a/>"));
        assert_eq!(out.effects, [Effect::Property(known("x"), expected)], "{value}");
    };
    check("'a' + 1", Some(Value::Text("a1".to_owned())));
    check("2 + 3", Some(Value::Integer(5)));
    check("0.5", Some(Value::Double(0.5)));
    check("1 > 2", Some(Value::Boolean(false)));
    check("mc.getPayloadXML()", Some(Value::Xml("<a/>".to_owned())));
    check("{a: [1]}", Some(Value::Json(r#"{"a":[1]}"#.to_owned())));
    check("null", None);
}

#[test]
fn properties_are_read_from_the_facts_and_from_what_the_script_set() {
    let mut facts = Facts::default();
    facts.properties.push((known("count"), Some(Value::Integer(7))));
    facts.properties.push((known("none"), None));
    facts.properties.push((known("json"), Some(Value::Json("[1,2]".to_owned()))));
    assert_eq!(shown("mc.getProperty('count') + 1", &facts), "8");
    assert_eq!(shown("mc.getProperty('none') === null", &facts), "true");
    assert_eq!(shown("mc.getProperty('json')[1]", &facts), "2");
    let out =
        outcome("mc.setProperty('a', 1, 'axis2'); mc.getProperty('b', 'axis2') + mc.getProperty('a', 'axis2')", &facts);
    assert_eq!(out.unknown, [Known { scope: Scope::Axis2, name: "b".to_owned() }]);
    let out = outcome("mc.getProperty('c').d", &facts);
    assert_eq!(out.unknown, [Known { scope: Scope::Default, name: "c".to_owned() }]);
    facts.properties.push((Known { scope: Scope::Variable, name: "v".to_owned() }, Some(Value::Integer(1))));
    assert_eq!(shown("mc.getVariable('v') + 1", &facts), "2");
    let out = outcome("mc.setVariable('w', true); mc.removeVariable('v')", &facts);
    let variable = |name: &str| Known { scope: Scope::Variable, name: name.to_owned() };
    let expected = [Effect::Property(variable("w"), Some(Value::Boolean(true))), Effect::Property(variable("v"), None)];
    assert_eq!(out.effects, expected);
    let out = outcome("mc.removeProperty('a', 'transport'); mc.setProperty('b', 1, 'elsewhere')", &facts);
    assert_eq!(out.effects[0], Effect::Property(Known { scope: Scope::Transport, name: "a".to_owned() }, None));
    assert!(
        matches!(&out.effects[1], Effect::Log { level, text, .. } if level == "warn" && text.contains("elsewhere"))
    );
}

#[test]
fn the_flow_ends_after_false_and_nothing_else() {
    let check = |text: &str, expected: bool| assert_eq!(outcome(text, &Facts::default()).goes_on, expected, "{text}");
    check("1 == 2", false);
    check("if (mc) { false }", false);
    check("var a = false;", true);
    check("0", true);
    check("1 == 1", true);
    check("", true);
}

#[test]
fn a_function_is_called_with_the_message() {
    let parts =
        ["function mediate(mc) { mc.setProperty('x', twice(2)); return false; }", "function twice(a) { return 2 * a }"];
    let sources =
        parts.iter().map(|text| Source { file: "a.js".into(), line: 1, column: 1, text: (*text).to_owned() }).collect();
    let script = Script::compile(sources, &Call::Function("mediate".to_owned())).unwrap();
    for _ in 0..2 {
        let out = run(&script, &Facts::default(), terms()).unwrap();
        assert_eq!(
            (out.effects.as_slice(), out.goes_on),
            ([Effect::Property(known("x"), Some(Value::Integer(4)))].as_slice(), false)
        );
    }
}

#[test]
fn what_was_thrown_has_its_line_and_the_next_run_is_sound() {
    let (text, place) = thrown("var a = 1;\n\nthrow new Error('no ' + a)", &Facts::default());
    assert_eq!((text.as_str(), place), ("Error: no 1", Some(Place { file: "a.xml".into(), line: 12, column: 25 })));
    let (text, place) = thrown("var a;\nif (mc) {\n a.b.c }", &Facts::default());
    assert_eq!(
        (text.as_str(), place.map(|place| place.line)),
        ("TypeError: cannot read property 'b' of undefined", Some(12))
    );
    let first = thrown("  throw new Error('x')", &Facts::default()).1.unwrap();
    assert_eq!((first.line, first.column), (10, 17));
    assert_eq!(thrown("throw 'plain'", &Facts::default()).0, "plain");
    assert_eq!(shown("1", &Facts::default()), "1");
}

#[test]
fn what_no_message_can_hold_is_told_where_it_is_given() {
    for text in [
        "mc.setPayloadXML('<a>')",
        "mc.addHeader(false, 'a')",
        "mc.setProperty('X', 'a\\r\\nY: b', 'transport')",
        "mc.setProperty('X Y', 'a', 'transport')",
    ] {
        let (_, place) = thrown(&format!("mc.setProperty('a', 1);\n{text}"), &Facts::default());
        assert_eq!(place.map(|place| place.line), Some(11), "{text}");
        let caught = outcome(&format!("try {{ {text} }} catch (e) {{}} 1"), &Facts::default());
        assert_eq!(caught.effects, [], "{text}");
    }
    assert_eq!(outcome("mc.setProperty('X-Y', 1, 'transport')", &Facts::default()).effects.len(), 1);
}

#[test]
fn half_a_letter_in_a_message_is_no_fault() {
    let facts = json(r#"{"a":"x\ud800"}"#);
    let text =
        "var a = mc.getPayloadJSON().a; mc.setProperty(a, a); console.log(a); mc.setTo(a); mc.setPayloadJSON(a);";
    let effects = outcome(text, &facts).effects;
    assert_eq!(effects[0], Effect::Property(known("x\u{fffd}"), Some(Value::Text("x\u{fffd}".to_owned()))));
    assert_eq!(effects.len(), 4);
}

#[test]
fn a_script_that_does_not_end_ends_within_its_time() {
    let expired = || {
        let end = Instant::now() + Duration::from_millis(30);
        Terms { expired: Box::new(move || Instant::now() > end), ..terms() }
    };
    for text in [
        "while (true) {}",
        "try { while (true) {} } catch (e) { while (true) {} }",
        "Array.prototype.indexOf.call({length: 9007199254740991}, 1)",
        "/(a+)+b/.test('a'.repeat(40))",
        "Promise.resolve().then(function f() { return Promise.resolve().then(f) })",
        "new Array(4294967295).join()",
        "var a = []; a[4294967294] = 1; mc.setPayloadJSON(a)",
        "[].concat(new Array(4294967295))",
        "new Array(4294967295).slice(0)",
        "new Array(4294967295).splice(0)",
        "new Array(4294967295).unshift(1)",
        "new Array(4294967295).toLocaleString()",
        "Array.prototype.reverse.call({length: 9007199254740991})",
    ] {
        let since = Instant::now();
        let result = run(&script(text), &Facts::default(), expired());
        // Without its time limit it would take hours.
        assert!(since.elapsed() < Duration::from_secs(60), "{text}: {:?}", since.elapsed());
        assert!(matches!(result, Err(Error::Time | Error::Thrown { .. })), "{text}: {result:?}");
        assert_eq!(shown("1", &Facts::default()), "1");
    }
    for text in ["while (true) {}", "for (var i = 0; i < 500; i++) mc.parseXml('<a>' + ' '.repeat(9999) + '</a>')"] {
        let long = run(&script(text), &Facts::default(), Terms { polls: Some(2), ..terms() });
        assert_eq!(long, Err(Error::Long), "{text}");
    }
    // Few steps, each of which takes its time.
    let text = "var a = []; for (var i = 0; i < 40; i++) { a.push(new Uint8Array(1 << 20)); }";
    assert_eq!(run(&script(text), &Facts::default(), Terms { polls: Some(2), ..terms() }), Err(Error::Long));
    assert!(run(&script(text), &Facts::default(), terms()).is_ok());
}

#[test]
fn a_script_that_asks_for_too_much_ends() {
    let limits = Limits { memory_bytes: 4 << 20, ..Limits::default() };
    for text in [
        "var a = []; while (true) { a.push({a: a.length}); }",
        "var s = 'x'; while (true) { s += s; }",
        "new ArrayBuffer(1e9)",
        "(function f() { f(); })()",
        "JSON.parse('['.repeat(200000))",
        "var o = {}; for (var i = 0; ; i++) { o['k' + i] = i; }",
        "var a = []; while (true) { a.push([a.length]); }",
    ] {
        let result = run(&script(text), &Facts::default(), Terms { limits, ..terms() });
        let Err(Error::Thrown { text: told, .. }) = &result else { panic!("{text}: {result:?}") };
        let says = ["out of memory", "call stack size", "string too long", "rray buffer"];
        assert!(says.iter().any(|says| told.contains(says)), "{text}: {told}");
        assert_eq!(shown("1", &Facts::default()), "1");
    }
}

#[test]
fn nothing_of_one_run_is_left_for_the_next() {
    for text in [
        "leak = 1; this.other = 2;",
        "Math.leak = 1; [].constructor.leak = 1; JSON = {leak: 1};",
        "var o = {}, c = 'constructor'; o[c].leak = 1; arguments.callee.leak = 1;",
        "var m = mc; m.leak = 1; console.leak = 1; java['leak'] = 1; 'x'.constructor.leak = 1",
    ] {
        outcome(text, &Facts::default());
    }
    let seen = "typeof leak + typeof other + Math.leak + [].leak + Array.leak + JSON.leak + Object.leak + mc['leak'] \
                + console.leak + java['leak'] + String.leak + arguments.callee.leak + typeof JSON.parse";
    let expected = format!("{}{}function", "undefined".repeat(2), "undefined".repeat(10));
    assert_eq!(shown(seen, &Facts::default()), expected);
}

#[test]
fn a_name_in_data_cannot_change_the_language() {
    let facts = json(r#"{"a":"__proto__","b":"leak"}"#);
    outcome("var p = mc.getPayloadJSON(), o = {}; o[p.a][p.b] = 'yes';", &facts);
    assert_eq!(shown("({}).leak", &Facts::default()), "undefined");
}

#[test]
fn objects_can_have_members_of_the_names_that_the_language_has() {
    assert_eq!(
        shown("(function(){ var o = {}; o.toString = function() { return 'own'; }; return o; })()", &json("{}")),
        "own"
    );
    assert_eq!(shown("(function(){ var o = {}; o.constructor = 5; return o.constructor; })()", &json("{}")), "5");
    assert_eq!(
        shown("(function(){ var e = new Error('a'); e.message = 'b'; e.name = 'C'; return e; })()", &json("{}")),
        "C: b"
    );
}

#[test]
fn a_script_that_adds_to_the_language_does_so_for_itself() {
    let text = "String.prototype.twice = function() { return this + this; }; mc.setProperty('x', 'a'.twice())";
    assert_eq!(
        outcome(text, &Facts::default()).effects,
        [Effect::Property(known("x"), Some(Value::Text("aa".to_owned())))]
    );
    assert_eq!(shown("typeof 'a'.twice", &Facts::default()), "undefined");
}

#[test]
fn what_java_brings_is_there_where_it_can_be() {
    let id = shown("java.util.UUID.randomUUID().toString()", &Facts::default());
    assert_eq!((id.len(), &id[14..15]), (36, "4"));
    assert_ne!(id, shown("java.util.UUID.randomUUID()", &Facts::default()));
    assert_eq!(
        shown("'Ab'.equalsIgnoreCase('aB') + '' + 'x'.equals('y') + ''.isEmpty() + 'abc'.contains('b')", &json("{}")),
        "truefalsetruetrue"
    );
    assert_eq!(outcome("java.lang.Thread.sleep(15);", &Facts::default()).effects, [Effect::Pause(15)]);
}

#[test]
fn what_a_script_logs_says_in_which_line_it_stands() {
    let text =
        "print('a', 1);\nfunction tell(it) {\n  console.error(it.a);\n}\ntell({a: 1});\nmc.getServiceLog().warn('w')";
    let told = |effect: Effect| match effect {
        Effect::Log { level, text, place } => (level, text, place.map(|place| place.line)),
        other => panic!("{other:?}"),
    };
    let told: Vec<_> = outcome(text, &Facts::default()).effects.into_iter().map(told).collect();
    let log = |level: &str, text: &str, line| (level.to_owned(), text.to_owned(), Some(line));
    assert_eq!(told, [log("info", "a 1", 10), log("error", "1", 12), log("warn", "w", 15)]);
}

#[test]
fn addresses_are_read_and_set() {
    let facts = Facts { headers: vec![(crate::facts::Header::To, "http://a".to_owned())], ..Facts::default() };
    assert_eq!(shown("mc.getTo().getAddress()", &facts), "http://a");
    assert_eq!(shown("mc.getReplyTo()", &facts), "null");
    let out = outcome("mc.setTo('http://b'); mc.setSoapAction('urn:' + mc.getTo().getAddress())", &facts);
    let header = |header, text: &str| Effect::Header(header, text.to_owned());
    assert_eq!(
        out.effects,
        [header(crate::facts::Header::To, "http://b"), header(crate::facts::Header::Action, "urn:http://b")]
    );
}

#[test]
fn what_only_eval_runs_is_the_same_for_each_message_whatever_names_it_gives_values_to() {
    let script = script("if (mc) { text = source = code = 'mc.setProperty(\"x\", 1)'; }");
    for _ in 0..2 {
        assert_eq!(run(&script, &Facts::default(), terms()).unwrap().effects, []);
    }
}

#[test]
fn what_was_promised_before_it_threw_does_not_happen_to_the_next_message() {
    thrown("Promise.resolve().then(() => console.log('late')); throw new Error('x')", &Facts::default());
    assert_eq!(outcome("1", &Facts::default()).effects, []);
}
