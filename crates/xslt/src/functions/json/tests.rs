use super::super::testing::{check, fails};

const OBJECT: &str = r#"'{"a":[1,2.50,"x\/y",true,null,{}],"b":{"c":"d"}}'"#;

#[test]
fn json_becomes_xml() {
    check(&format!("xml-to-json(json-to-xml({OBJECT}))"), r#"{"a":[1,2.5,"x\/y",true,null,{}],"b":{"c":"d"}}"#);
    check(
        &format!("string-join(json-to-xml({OBJECT})//*/name(), ' ')"),
        "map array number number string boolean null map map string",
    );
    check(&format!("json-to-xml({OBJECT})//*[@key = 'c']"), "d");
    check(
        "xml-to-json(json-to-xml('{\"a\":{\"b\":1},\"a\":[2],\"c\":3}', map{'duplicates':'use-first'}))",
        r#"{"a":{"b":1},"c":3}"#,
    );
    check("json-to-xml('\"\\\\\"', map{'escape':true()})/*/@escaped", "true");
    fails("json-to-xml('{\"a\":1,\"a\":2}', map{'duplicates':'reject'})", "FOJS0003");
    check("count(json-to-xml('{\"a\":1,\"a\":2}')/*/*)", "2");
    check("string(json-to-xml('\"\\u0000\"'))", "\u{fffd}");
    fails("json-to-xml('{')", "FOJS0001");
    fails("json-to-xml('1', map{'escape':1})", "FOJS0005");
}

#[test]
fn documents_of_json_are_read() {
    check("json-doc('a.json')?a", "1");
    check("json-doc('a.json', map{'duplicates': 'use-last'})?a", "2");
    fails("json-doc('b.json')", "FOUT1170");
}

#[test]
fn what_xml_cannot_hold_is_escaped_or_replaced() {
    check("string(json-to-xml('[\"a\\uD800\\u00e9\\\\\"]', map{'escape': true()}))", "a\\uD800é\\\\");
    check(
        "string(json-to-xml('[\"\\b\\uDEAD!\"]', map{'fallback': function($s) {'<' || $s || '>'}}))",
        "<\\u0008><\\uDEAD>!",
    );
    check("string(json-to-xml('[\"\\uD83D\\uDE00\\u0001\"]'))", "\u{1F600}\u{fffd}");
    fails("json-to-xml('[\"\\b\"]', map{'fallback': function($s) {1}})", "XPTY0004");
    fails("json-to-xml('1', map{'fallback': concat('a', ?), 'escape': true()})", "FOJS0005");
    fails("json-to-xml('1', map{'validate': true()})", "FOJS0004");
    check("string(json-to-xml('1', map{'liberal': true(), 'validate': false()}))", "1");
}
