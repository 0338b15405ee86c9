use super::super::testing::{check, check_in, fails};

const OBJECT: &str = r#"'{"a":[1,2.50,"x\/y",true,null,{}],"b":{"c":"d"}}'"#;

#[test]
fn json_becomes_maps_and_arrays() {
    check(&format!("parse-json({OBJECT})?b?c"), "d");
    check(&format!("array:size(parse-json({OBJECT})?a)"), "6");
    check(&format!("string-join(parse-json({OBJECT})?a?(1 to 4) ! string(), ' ')"), "1 2.5 x/y true");
    check("count(parse-json('null'))", "0");
    check("parse-json('{\"a\":1,\"a\":2}')?a", "1");
    check("parse-json('{\"a\":1,\"a\":2}', map{'duplicates':'use-last'})?a", "2");
    check("parse-json('\"\\u0000\\\\\"')", "\u{fffd}\\");
    check("parse-json('\"\\u0000\\\\\"', map{'escape':true()})", "\\u0000\\\\");
    fails("parse-json('{\"a\":1,\"a\":2}', map{'duplicates':'reject'})", "FOJS0003");
    fails("parse-json('{')", "FOJS0001");
    fails("parse-json('1', map{'escape':1})", "FOJS0005");
}

#[test]
fn json_becomes_xml_and_xml_json() {
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
    fails("xml-to-json(json-to-xml('{\"a\":1,\"a\":2}'))", "FOJS0006");
}

#[test]
fn xml_is_written_as_json() {
    let check = |xml: &str, expected: &str| {
        check_in(&xml.replacen('>', " xmlns='http://www.w3.org/2005/xpath-functions'>", 1), "xml-to-json(/)", expected);
    };
    check("<array> <!-- c --><number> 1e3 </number> <boolean>0</boolean><null></null></array>", "[1000,false,null]");
    check("<map><string key='k'>a\"b/\u{e9}</string></map>", "{\"k\":\"a\\\"b\\/\u{e9}\"}");
    check("<array><string escaped='1'>\\u00e9\"</string></array>", "[\"\\u00e9\\\"\"]");
    check("<map></map>", "{}");
    check("<array><array><array></array></array><map><array key='x'></array></map></array>", "[[[]],{\"x\":[]}]");
}

#[test]
fn xml_that_is_no_json_is_refused() {
    for xml in [
        "<a/>",
        "<array>x</array>",
        "<map><null/></map>",
        "<null>1</null>",
        "<number>INF</number>",
        "<string x='1'/>",
        "<boolean>yes</boolean>",
        "<string><null/></string>",
    ] {
        let xml = xml.replace("<array", "<array xmlns='http://www.w3.org/2005/xpath-functions'");
        let wrapped = format!("<d xmlns='http://www.w3.org/2005/xpath-functions'>{xml}</d>");
        assert_eq!(
            super::super::testing::evaluate(&wrapped, "xml-to-json(/*/*)", 3.0).err().and_then(|error| error.code()),
            Some("FOJS0006"),
            "{xml}"
        );
    }
    fails(
        "xml-to-json(parse-xml('<string xmlns=\"http://www.w3.org/2005/xpath-functions\" escaped=\"true\">\\x</string>'))",
        "FOJS0007",
    );
}
