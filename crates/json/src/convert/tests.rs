//! Both directions against each other, and against what Synapse's sources, tests and documentation promise.

use myelin_xml::Document;
use proptest::prelude::*;
use regex::Regex;

use super::*;
use crate::{Error, Options, Value};

fn xml_with(json: &str, switches: &Switches) -> Result<String, Error> {
    let mut out = Vec::new();
    to_xml(json.as_bytes(), switches, &Options::default(), 1 << 20, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

/// The same as a tree, which debug builds compare with what the parser sees.
fn document_with(json: &str, switches: &Switches) -> Document {
    let (options, xml_options) = (Options::default(), myelin_xml::Options::default());
    to_document(json.as_bytes(), switches, &options, &xml_options, 1 << 20, Default::default()).unwrap()
}

fn json_with(xml: &str, switches: &Switches) -> Result<String, Error> {
    let document = Document::parse(xml.as_bytes().to_vec(), &myelin_xml::Options::default()).expect(xml);
    let mut out = Vec::new();
    to_json(&document, document.root_element().unwrap(), switches, 1 << 20, &mut out)?;
    let json = String::from_utf8(out).unwrap();
    Value::parse(json.clone().into_bytes(), &Options::default()).unwrap_or_else(|error| panic!("{error}: {json}"));
    Ok(json)
}

#[track_caller]
fn xml(json: &str, expected: &str) {
    assert_eq!(xml_with(json, &Switches::default()).unwrap(), expected, "{json}");
    assert_eq!(document_with(json, &Switches::default()).source(), expected, "{json}");
}

#[track_caller]
fn json(xml: &str, expected: &str) {
    assert_eq!(json_with(xml, &Switches::default()).unwrap(), expected, "{xml}");
}

/// A text that comes back from XML as it was.
#[track_caller]
fn there_and_back(json: &str, switches: &Switches) {
    let xml = xml_with(json, switches).unwrap();
    assert_eq!(document_with(json, switches).source(), xml);
    assert_eq!(json_with(&xml, switches).unwrap(), json, "{xml}");
}

#[test]
fn json_becomes_xml_as_in_synapse() {
    xml(r#"{"object":null}"#, "<jsonObject><object/></jsonObject>");
    xml(r#"{"object":{}}"#, "<jsonObject><object/></jsonObject>");
    xml(r#"{"object":""}"#, "<jsonObject><object></object></jsonObject>");
    xml("{}", "<jsonObject/>");
    xml("[]", "<jsonArray></jsonArray>");
    xml("[1,2]", "<jsonArray><jsonElement>1</jsonElement><jsonElement>2</jsonElement></jsonArray>");
    xml(
        "[1, []]",
        "<jsonArray><jsonElement>1</jsonElement><jsonElement><jsonArray></jsonArray></jsonElement></jsonArray>",
    );
    xml(r#"{"array":[]}"#, "<jsonObject></jsonObject>");
    xml(r#"{"array":[1,2]}"#, "<jsonObject><array>1</array><array>2</array></jsonObject>");
    xml(
        r#"{"array":[[1,2,4]]}"#,
        "<jsonObject><array><jsonArray><jsonElement>1</jsonElement><jsonElement>2</jsonElement>\
         <jsonElement>4</jsonElement></jsonArray></array></jsonObject>",
    );
    xml(
        r#"[{"name":"I","phone":"+94 (11)"},{"name":null,"phone":{}}]"#,
        "<jsonArray><jsonElement><name>I</name><phone>+94 (11)</phone></jsonElement>\
         <jsonElement><name/><phone/></jsonElement></jsonArray>",
    );
    xml(
        r#"{"object":{"@a":"1","child":{"@c":"C","$":"Text"},"inner":{"@i":true,"e":"E"}}}"#,
        r#"<jsonObject><object a="1"><child c="C">Text</child><inner i="true"><e>E</e></inner></object></jsonObject>"#,
    );
    xml(r#""te\"xt""#, r#"<jsonValue>"te\"xt"</jsonValue>"#);
    xml("12.5", "<jsonValue>12.5</jsonValue>");
}

#[test]
fn instructions_say_where_arrays_begin() {
    let switches = Switches { instructions: true, ..Switches::default() };
    let check = |json: &str, expected: &str| {
        assert_eq!(xml_with(json, &switches).unwrap(), expected);
        there_and_back(json, &switches);
    };
    check("[1]", "<jsonArray><?xml-multiple jsonElement?><jsonElement>1</jsonElement></jsonArray>");
    check(r#"{"a":[1]}"#, "<jsonObject><?xml-multiple a?><a>1</a></jsonObject>");
    check(r#"{"a":[],"b":[]}"#, "<jsonObject><?xml-multiple a?><?xml-multiple b?></jsonObject>");
    check(
        r#"{"1":[1,{"$n":["x"]}]}"#,
        "<jsonObject><?xml-multiple 1?><_JsonReader_PD_1>1</_JsonReader_PD_1>\
         <_JsonReader_PD_1><?xml-multiple $n?><_JsonReader_PS_n>x</_JsonReader_PS_n></_JsonReader_PD_1></jsonObject>",
    );
    for json in ["[]", "[[]]", "[[],[[[],[]],[]]]", r#"[{"a?>b":[1]}]"#, r#"{"a":[{"a":[{"a":[[1]]}]}]}"#] {
        there_and_back(json, &switches);
    }
}

#[test]
fn xml_becomes_json_as_in_synapse() {
    json("<test>123</test>", r#"{"test":123}"#);
    json("<a><b/><c></c><d> </d></a>", r#"{"a":{"b":null,"c":null,"d":null}}"#);
    json("<a> 5 </a>", r#"{"a":" 5 "}"#);
    json("<a><b>1</b><b>2</b><c>3</c></a>", r#"{"a":{"b":[1,2],"c":3}}"#);
    json(
        "<object xmlns:n='u' a='Value1' n:b='Value2'>\n  <n:child c='Child'>Child Text</n:child>\n\
         <none>\n <key>ID</key><value>00200</value></none>\n</object>",
        r#"{"object":{"@a":"Value1","@b":"Value2","child":{"@c":"Child","$":"Child Text"},"none":{"key":"ID","value":"00200"}}}"#,
    );
    json("<jsonObject><a>1</a></jsonObject>", r#"{"a":1}"#);
    json("<jsonArray><jsonElement>1</jsonElement><jsonElement>2</jsonElement></jsonArray>", "[1,2]");
    json("<r><jsonObject><a>1</a></jsonObject><jsonObject><a>2</a></jsonObject></r>", r#"{"r":[{"a":1},{"a":2}]}"#);
    json("<r><jsonObject><a>1</a></jsonObject></r>", r#"{"r":{"a":1}}"#);
    json("<jsonValue>\"text\"</jsonValue>", r#""text""#);
    json("<jsonValue>text</jsonValue>", r#""text""#);
    json("<jsonValue>{\"a\": 1}</jsonValue>", r#"{"a": 1}"#);
    json("<a>t<!-- c --><?pi?><![CDATA[<&]]></a>", r#"{"a":"t<&"}"#);
    json("<a>\"\\\n\t\u{1F600}</a>", "{\"a\":\"\\\"\\\\\\n\\t\u{1F600}\"}");
}

#[test]
fn texts_that_are_numbers_or_words_lose_their_quotes() {
    json("<a>true</a>", r#"{"a":true}"#);
    json("<a>null</a>", r#"{"a":null}"#);
    json("<a b='1'>1</a>", r#"{"a":{"@b":"1","$":1}}"#);
    json("<a>True</a>", r#"{"a":"True"}"#);
    json("<a>007</a>", r#"{"a":"007"}"#);
    json("<a>+1</a>", r#"{"a":"+1"}"#);
    let switches = Switches { primitives: false, ..Switches::default() };
    assert_eq!(json_with("<a><b>1</b><b>true</b><b/></a>", &switches).unwrap(), r#"{"a":{"b":["1","true",null]}}"#);
}

/// wso2/product-ei#5458: a text that is JSON is a text still.
#[test]
fn json_in_a_text_is_a_text() {
    json(r#"<p>[{"a":"X"}]</p>"#, r#"{"p":"[{\"a\":\"X\"}]"}"#);
    there_and_back(r#"{"p":"{\"a\":1}"}"#, &Switches::default());
}

/// wso2/product-ei#578 and #2721.
#[test]
fn numbers_keep_their_digits() {
    // Synapse goes through `BigDecimal`, which makes `1E+5` and `1E-7` of some of these.
    for number in ["25.0000", "1e5", "-0", "0.0000001", "1E400", "12345678901234567890123", "0.1e-7"] {
        there_and_back(&format!(r#"{{"a":{number}}}"#), &Switches::default());
    }
}

/// wso2/product-ei#4404: a text that is a number shall stay a text here and there.
#[test]
fn a_pattern_says_which_numbers_stay_texts() {
    let mut switches = Switches::default();
    switches.set("synapse.commons.json.output.disableAutoPrimitive.regex", "[0-9]{3,}", Regex::new).unwrap();
    let made = json_with("<a><b>12</b><c>123</c><d>true</d><e>123.0</e></a>", &switches).unwrap();
    assert_eq!(made, r#"{"a":{"b":12,"c":"123","d":true,"e":123.0}}"#);

    let mut switches = Switches::default();
    let set = "synapse.commons.json.json.output.disableAutoPrimitive.customReplace";
    switches.set(&format!("{set}Regex"), "@string@", Regex::new).unwrap();
    switches.set(&format!("{set}Sequence"), "", Regex::new).unwrap();
    let made = json_with("<a><b>@string@12</b><c>12</c><d>x@string@1</d></a>", &switches).unwrap();
    assert_eq!(made, r#"{"a":{"b":"12","c":12,"d":"x@string@1"}}"#);
}

/// wso2/product-ei#4280, beckchr/staxon#32 and #46: `null` and `""` are told apart on demand.
#[test]
fn null_and_empty_texts_are_told_apart_on_demand() {
    json("<a><b></b></a>", r#"{"a":{"b":null}}"#);
    let switches = Switches { empty_is_null: false, ..Switches::default() };
    assert_eq!(json_with("<a><b></b></a>", &switches).unwrap(), r#"{"a":{"b":""}}"#);
    json(r#"<a><b nil="true"/></a>"#, r#"{"a":{"b":{"@nil":"true"}}}"#);
    let switches = Switches { nil: true, ..Switches::default() };
    there_and_back(r#"{"a":null,"b":"","c":[null,"",null]}"#, &switches);
    let xsi = r#"<a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><b xsi:nil="true"/></a>"#;
    assert_eq!(json_with(xsi, &switches).unwrap(), r#"{"a":{"b":null}}"#);
}

/// wso2/product-ei#4749: attributes behind an array are attributes too.
#[test]
fn attributes_may_stand_anywhere_in_an_object() {
    let json = r#"{"@type":"s","content":"data","value":[{"aaa":"aaa"}],"@odata":"abc","@source":"user"}"#;
    xml(
        json,
        r#"<jsonObject type="s" odata="abc" source="user"><content>data</content><value><aaa>aaa</aaa></value></jsonObject>"#,
    );
    xml(
        r#"{"a":{"b":{"c":1,"@d":2},"@e":3},"@f":4}"#,
        r#"<jsonObject f="4"><a e="3"><b d="2"><c>1</c></b></a></jsonObject>"#,
    );
    let twice = xml_with(r#"{"@a":1,"b":2,"@a":3}"#, &Switches::default());
    assert_eq!(twice, Err(Error::Duplicate { key: "@a".to_owned() }));
}

/// wso2/product-ei#4072: white space is a text where `PRESERVE_SPACES` says so.
#[test]
fn white_space_stays_on_demand() {
    let switches = Switches { spaces: true, ..Switches::default() };
    assert_eq!(json_with("<a> <b>  </b> </a>", &switches).unwrap(), r#"{"a":{"b":"  "}}"#);
}

/// Synapse makes the element alone of an array of one, and `null` of an empty one.
#[test]
fn an_array_without_a_name_stays_an_array() {
    for json in ["[]", "[1]", "[[1]]", r#"[{"a":1}]"#, r#"{"a":[[1],[2]]}"#, "[null]", "{}", r#"[{"b":{"c":2}},[]]"#] {
        there_and_back(json, &Switches::default());
    }
}

/// Synapse writes the key of each run again, and most readers lose all but the last.
#[test]
fn siblings_of_one_name_are_one_array_wherever_they_stand() {
    json("<r><a>1</a><b>2</b><a>3</a><c/><b>4</b></r>", r#"{"r":{"a":[1,3],"b":[2,4],"c":null}}"#);
    json("<r>t<a/><s><x>1</x><y/><x>2</x></s><a/></r>", r#"{"r":{"$":"t","a":[null,null],"s":{"x":[1,2],"y":null}}}"#);
    json("<r><a>1</a><?xml-multiple b?><?xml-multiple a?><a>2</a></r>", r#"{"r":{"a":[1,2],"b":[]}}"#);
    json("<r><a/><b/><a/>x<!-- c -->y</r>", r#"{"r":{"a":[null,null],"b":null,"$":"xy"}}"#);
    json("<r><a/>\u{2003}<!-- c -->\u{2003}<b/><a/></r>", r#"{"r":{"a":[null,null],"b":null}}"#);
    json("<r><?xml-multiple?><a>1</a></r>", r#"{"r":{"a":[1]}}"#);
    json("<r><a>1</a><?xml-multiple a?><a>2</a></r>", r#"{"r":{"a":[1,2]}}"#);
    let switches = Switches { arrays: false, ..Switches::default() };
    assert_eq!(json_with("<r><a>1</a><a>2</a></r>", &switches).unwrap(), r#"{"r":{"a":1,"a":2}}"#);
}

#[test]
fn only_wrappers_alone_vanish() {
    // Synapse leaves away the comma between the two, and so makes what is not JSON.
    json("<a><jsonObject><b>1</b></jsonObject><c>2</c></a>", r#"{"a":{"jsonObject":{"b":1},"c":2}}"#);
    json("<a x='1'><jsonElement>1</jsonElement></a>", r#"{"a":{"@x":"1","jsonElement":1}}"#);
    json("<jsonArray><a>1</a><b>2</b></jsonArray>", r#"{"a":1,"b":2}"#);
}

#[test]
fn text_beside_elements_has_a_place_at_the_start_or_the_end() {
    there_and_back(r#"{"a":{"$":"text","b":1}}"#, &Switches::default());
    there_and_back(r#"{"a":{"@x":"1","b":1,"$":"text"}}"#, &Switches::default());
    for mixed in ["<p>a<b/>c</p>", "<p><b/>c<b/></p>"] {
        assert_eq!(json_with(mixed, &Switches::default()), Err(Error::Mixed { element: "p".to_owned() }));
    }
}

#[test]
fn every_key_has_a_name() {
    for key in
        ["", "@", "$", "$a", "1", "1 2", "a b", "-a", "a:b", ":", "@id", "\u{1F600}\u{F0000}", "\\u0001", "\\\"?>"]
    {
        there_and_back(&format!(r#"{{"{key}":{{"x":1}}}}"#), &Switches::default());
    }
    // JSON-LD: what cannot be an attribute is an element.
    there_and_back(r#"{"@context":{"a":"b"},"@type":["A","B"]}"#, &Switches::default());
    xml(r#"{"@type":["A"]}"#, "<jsonObject><_JsonReader_64_type>A</_JsonReader_64_type></jsonObject>");
}

#[test]
fn a_declared_prefix_is_one() {
    let switches = Switches { prefixes: true, declarations: true, separator: ':', ..Switches::default() };
    let json = r#"{"n:a":{"@xmlns:n":"urn:n","@n:b":"1","n:c":{"m:d":2}}}"#;
    let xml = xml_with(json, &switches).unwrap();
    let expected = r#"<jsonObject><n:a xmlns:n="urn:n" n:b="1"><n:c><m_JsonReader_58_d>2</m_JsonReader_58_d></n:c></n:a></jsonObject>"#;
    assert_eq!(xml, expected);
    there_and_back(json, &switches);
    let plain = Switches { plain_names: true, ..Switches::default() };
    let made = xml_with(r#"{"@xmlns:n":"urn:n","n:a":1}"#, &plain).unwrap();
    assert_eq!(made, r#"<jsonObject xmlns:n="urn:n"><n_JsonReader_58_a>1</n_JsonReader_58_a></jsonObject>"#);
}

#[test]
fn hostile_texts_are_converted_in_linear_time() {
    let many = 20_000;
    let declared: String = (0..many).map(|n| format!(r#""@xmlns:p{n}":"u","@p{n}:a{n}":"","#)).collect();
    let nested = r#"{"a":"#.repeat(900) + "1" + &r#","@b":2}"#.repeat(900);
    for json in [format!("{{{declared}\"end\":1}}"), format!("[{nested}{}]", format!(",{nested}").repeat(20))] {
        let mut out = Vec::new();
        to_xml(json.as_bytes(), &Switches::default(), &Options::default(), 1 << 26, &mut out).unwrap();
    }
    let scattered = "<a/><b/>".repeat(many);
    let commented = "x<!-- c -->".repeat(many);
    let instructed = "<?xml-multiple?><!-- c -->".repeat(many);
    for xml in [scattered, commented, instructed] {
        json_with(&format!("<r>{xml}</r>"), &Switches::default()).unwrap();
    }
}

#[test]
fn prefixes_stay_on_demand() {
    let xml = "<n:a xmlns:n='urn:n' xmlns='urn:d' n:b='1'><c/></n:a>";
    json(xml, r#"{"a":{"@b":"1","c":null}}"#);
    let mut switches = Switches { prefixes: true, ..Switches::default() };
    assert_eq!(json_with(xml, &switches).unwrap(), r#"{"n_a":{"@n_b":"1","c":null}}"#);
    switches.declarations = true;
    let declared = r#"{"n_a":{"@xmlns_n":"urn:n","@xmlns":"urn:d","@n_b":"1","c":null}}"#;
    assert_eq!(json_with(xml, &switches).unwrap(), declared);
}

#[test]
fn what_is_declared_above_is_declared_where_it_is_needed() {
    let xml = "<s:E xmlns:s='urn:s' xmlns:n='urn:n' xmlns:o='urn:o' xmlns='urn:d'><n:a><b o:c='1'/></n:a></s:E>";
    let document = Document::parse(xml.as_bytes().to_vec(), &myelin_xml::Options::default()).unwrap();
    let part = document.first_child(document.root_element().unwrap()).unwrap();
    let switches = Switches { prefixes: true, declarations: true, separator: ':', ..Switches::default() };
    let mut out = Vec::new();
    to_json(&document, part, &switches, 1_000, &mut out).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let expected =
        serde_json::json!({"n:a": {"@xmlns:n": "urn:n", "@xmlns:o": "urn:o", "@xmlns": "urn:d", "b": {"@o:c": "1"}}});
    assert_eq!(json, expected);
}

#[test]
fn two_attributes_of_one_key_are_refused() {
    let refused = json_with("<a xmlns:n='u' n:b='1' b='2'/>", &Switches::default());
    assert_eq!(refused, Err(Error::Duplicate { key: "@b".to_owned() }));
}

#[test]
fn characters_that_xml_has_not_are_refused_with_their_place() {
    let Err(Error::Character(place, character)) = xml_with("{\"a\":\n \"b\\u0000\"}", &Switches::default()) else {
        panic!("it is refused");
    };
    assert_eq!((place.line, place.column, character), (2, 2, '\0'));
    assert!(matches!(xml_with("\"\u{FFFF}\"", &Switches::default()), Err(Error::Character(_, '\u{FFFF}'))));
    xml("{\"a\":\"\u{FFFD}\\r\\n<&>\\\"\"}", "<jsonObject><a>\u{FFFD}&#xD;\n&lt;&amp;&gt;\"</a></jsonObject>");
    xml("{\"@a\":\"\\t\\n\\\"\"}", "<jsonObject a=\"&#x9;&#xA;&quot;\"/>");
}

#[test]
fn what_is_made_has_a_limit() {
    let json = format!(r#"{{"{}":[{}1]}}"#, "k".repeat(8_000), "1,".repeat(1_000));
    let mut out = b"before".to_vec();
    let refused = to_xml(json.as_bytes(), &Switches::default(), &Options::default(), 100_000, &mut out);
    assert_eq!(refused, Err(Error::Converted(100_000)));
    let deep = "[".repeat(100_000);
    assert!(matches!(xml_with(&deep, &Switches::default()), Err(Error::TooLarge(..))));
}

/// The code in a cell of a table.
fn codes(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn the_examples_of_the_documentation_hold() {
    let page = include_str!("../../../../docs/json.md");
    let mut checked = 0;
    let mut table = "";
    for line in page.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [left, right] = cells[..] else {
            table = if line.starts_with("|--") { table } else { "" };
            continue;
        };
        // What stands in the first row of a table says which way it goes.
        table = if table.is_empty() { left.trim() } else { table };
        for example in codes(left) {
            let expected = codes(right).next().expect("a result");
            let instructions = right.contains("<?");
            let switches = Switches { instructions, ..Switches::default() };
            match table {
                "JSON" => assert_eq!(xml_with(example, &switches).unwrap(), expected, "{line}"),
                "XML" => assert_eq!(json_with(example, &switches).unwrap(), expected, "{line}"),
                _ => continue,
            }
            checked += 1;
        }
    }
    assert!(checked > 22, "{checked} examples");
}

/// A text of JSON that XML can say all of: no empty objects within, no texts that are numbers or words, attributes first.
fn sayable() -> impl Strategy<Value = String> {
    let quoted = |text: String| {
        let mut out = Vec::new();
        crate::text::write_string(&text, &mut out);
        String::from_utf8(out).unwrap()
    };
    let text = "[^\\p{Cc}\u{FFFE}\u{FFFF}]{0,6}".prop_map(move |text| quoted(format!("{text}\n~")));
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("\"\"".to_owned()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,3})?",
        text.clone(),
    ];
    leaf.prop_recursive(6, 40, 5, move |inner| {
        let key = prop_oneof!["[a-c1 :$-]{1,3}", "[^\\p{Cc}@\u{FFFE}\u{FFFF}]{1,3}"];
        let members = prop::collection::btree_map(key.prop_filter("it is text", |key| key != "$"), inner.clone(), 0..5);
        let attributes = prop::collection::btree_map("@[a-d: ]{1,3}", text.clone(), 0..3);
        let object = (attributes, members).prop_filter("it is empty", |(a, m)| a.len() + m.len() > 0).prop_map(
            move |(attributes, members)| {
                let all: Vec<String> =
                    attributes.into_iter().chain(members).map(|(key, value)| quoted(key) + ":" + &value).collect();
                format!("{{{}}}", all.join(","))
            },
        );
        let array = prop::collection::vec(inner, 0..4).prop_map(|elements| format!("[{}]", elements.join(",")));
        prop_oneof![object, array]
    })
}

proptest! {
    #[test]
    fn what_xml_can_say_comes_back_as_it_was(json in sayable()) {
        let switches = Switches { instructions: true, nil: true, ..Switches::default() };
        there_and_back(&json, &switches);
        let default = Switches::default();
        let document = document_with(&json, &default);
        prop_assert_eq!(document.source(), xml_with(&json, &default).unwrap());
    }

    #[test]
    fn any_xml_is_refused_or_json(pieces in prop::collection::vec(
        prop::sample::select(vec![
            "<a>", "</a>", "<b x='1'>", "</b>", "<jsonArray>", "</jsonArray>", "<jsonElement>", "</jsonElement>", "<a/>",
            "<jsonObject/>", "t", " ", "1", "<?xml-multiple a?>", "<?xml-multiple?>", "<!-- c -->", "<_JsonReader_34_/>",
        ]), 0..24))
    {
        let xml = format!("<r>{}</r>", pieces.concat());
        if let Ok(document) = Document::parse(xml.into_bytes(), &myelin_xml::Options::default()) {
            let json = json_with(document.source(), &Switches::default());
            let named = matches!(json, Ok(_) | Err(Error::Mixed { .. }));
            prop_assert!(named, "{:?}", json);
        }
    }
}
