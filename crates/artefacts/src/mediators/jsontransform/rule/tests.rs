use crate::mediators::jsontransform::rule::*;

fn parse(text: &str) -> Value {
    Value::parse(text.into(), &myelin_json::Options::default()).unwrap()
}

fn corrected(schema: &str, text: &str) -> Result<String, String> {
    let rule = Rule::compile(&parse(schema)).unwrap();
    let (value, mut out) = (parse(text), Vec::new());
    rule.write(&value, value.root(), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

fn check(schema: &str, text: &str, expected: &str) {
    assert_eq!(corrected(schema, text).as_deref(), Ok(expected), "{schema}");
}

fn refused(schema: &str, text: &str, part: &str) {
    let message = corrected(schema, text).unwrap_err();
    assert!(message.contains(part), "{schema} {text}: {message}");
}

#[test]
fn a_value_of_another_type_becomes_one_of_the_right_one() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"number"},"i":{"type":"integer"},"s":{"type":"string"},
        "b":{"type":"boolean"},"a":{"type":"array","items":{"type":"number"}},"z":{"type":"null"}}}"#;
    check(
        schema,
        r#"{ "n": "12.50", "i": "7", "s": 007.0, "b": "true", "a": "4", "z": "", "other": [1, 2] }"#.replace("007.0", "7.0").as_str(),
        r#"{"n":12.50,"i":7,"s":"7.0","b":true,"a":[4],"z":null,"other":[1,2]}"#,
    );
    check(r#"{"type":"array","items":{"type":"object"}}"#, r#"{"a":1}"#, r#"[{"a":1}]"#);
    check(r#"{"type":"number"}"#, r#""1e3""#, "1e3");
    check(r#"{"type":"number"}"#, r#"".5""#, "0.5");
    check("true", r#"{"a": "1"}"#, r#"{"a":"1"}"#);
}

#[test]
fn what_cannot_be_corrected_is_said_with_its_place() {
    refused(r#"{"type":"object","properties":{"n":{"type":"number"}}}"#, r#"{"n":"x"}"#, "n: the schema expects");
    refused(r#"{"type":"integer"}"#, r#""1.5""#, "another number");
    refused(r#"{"type":"boolean"}"#, r#""yes""#, "true or false");
    refused(r#"{"type":"string"}"#, r#"{"a":1}"#, "a text");
    refused(r#"{"type":"object"}"#, "3", "an object");
    refused(r#"{"type":"null"}"#, "3", "null");
}

#[test]
fn the_other_words_of_a_schema_hold() {
    refused(r#"{"type":"object","required":["a"]}"#, r#"{"b":1}"#, "with \"a\"");
    refused(r#"{"type":"object","additionalProperties":false,"properties":{"a":{}}}"#, r#"{"b":1}"#, "without \"b\"");
    refused(r#"{"type":"object","maxProperties":1}"#, r#"{"a":1,"b":2}"#, "at most 1 members");
    refused(r#"{"type":"array","minItems":2}"#, "[1]", "at least 2 elements");
    refused(r#"{"type":"array","uniqueItems":true}"#, "[1,1]", "without equal elements");
    refused(r#"{"type":"array","items":[{},{}]}"#, "[1]", "at least 2 elements");
    refused(r#"{"type":"array","items":[{}],"additionalItems":false}"#, "[1,2]", "of 1 elements");
    refused(r#"{"type":"string","pattern":"[a-z]+"}"#, r#""A""#, "matches");
    refused(r#"{"type":"string","maxLength":2}"#, r#""abc""#, "at most 2 characters");
    refused(r#"{"type":"string","enum":["a","b"]}"#, r#""c""#, "the schema lists");
    refused(r#"{"type":"number","minimum":2,"exclusiveMaximum":5}"#, "5", "another number");
    refused(r#"{"type":"number","multipleOf":3}"#, "4", "another number");
    refused(r#"{"type":"number","const":3}"#, "4", "another number");
    check(r#"{"type":"object","patternProperties":{"^n_":{"type":"number"}}}"#, r#"{"n_a":"1"}"#, r#"{"n_a":1}"#);
    check(r#"{"type":"object","additionalProperties":{"type":"string"}}"#, r#"{"a":1}"#, r#"{"a":"1"}"#);
    check(
        r#"{"type":"array","items":[{"type":"number"}],"additionalItems":{"type":"string"}}"#,
        r#"["1",2]"#,
        r#"[1,"2"]"#,
    );
}

#[test]
fn a_schema_that_says_nothing_or_nonsense_is_refused() {
    let check =
        |schema: &str, part: &str| assert!(Rule::compile(&parse(schema)).err().unwrap().contains(part), "{schema}");
    check("{}", "no \"type\"");
    check("false", "false");
    check("[1]", "an object");
    check(r#"{"type":"text"}"#, "unknown");
    check(r#"{"type":["string","null"]}"#, "several types");
    check(r#"{"type":"string","pattern":"("}"#, "");
    check(r#"{"type":"array","minItems":-1}"#, "negative");
}
