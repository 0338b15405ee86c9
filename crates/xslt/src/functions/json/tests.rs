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
