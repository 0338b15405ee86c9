//! What a value keeps, and what a change leaves alone.

use proptest::prelude::*;

use super::edit::New;
use super::*;

fn parse(text: &str) -> Value {
    Value::parse(text.as_bytes().to_vec(), &Options::default()).unwrap()
}

fn written(value: &Value) -> String {
    let mut out = Vec::new();
    value.write_document(&mut out);
    String::from_utf8(out).unwrap()
}

fn compact(value: &Value) -> String {
    let mut out = Vec::new();
    value.write_compact(value.root(), &mut out);
    String::from_utf8(out).unwrap()
}

/// The member or element at the end of `steps`; a number is an index.
fn at(value: &Value, steps: &[&str]) -> NodeId {
    steps.iter().fold(value.root(), |node, step| match step.parse::<usize>() {
        Ok(index) => value.children(node).nth(index).unwrap(),
        Err(_) => value.children(node).find(|&child| value.has_key(child, step)).unwrap(),
    })
}

const ORDER: &str = " { \"id\" : 1.00 , \"lines\": [ {\"n\":1e3} , \"a\\u00dfb\" ] , \"\\u0078\":null }\n";

#[test]
fn a_value_shows_what_was_written() {
    let value = parse(ORDER);
    assert_eq!(value.kind(value.root()), Type::Object);
    assert_eq!(value.scalar(at(&value, &["id"])).unwrap(), "1.00");
    assert_eq!(value.scalar(at(&value, &["lines", "1"])).unwrap(), "aßb");
    assert_eq!(value.scalar(at(&value, &["lines"])), None);
    assert_eq!(value.key(at(&value, &["x"])).unwrap(), "x");
    assert_eq!(&ORDER[value.range(at(&value, &["lines", "0"])).unwrap()], "{\"n\":1e3}");
    assert_eq!(written(&value), ORDER);
    assert_eq!(compact(&value), r#"{"id":1.00,"lines":[{"n":1e3},"a\u00dfb"],"\u0078":null}"#);
    assert_eq!(value.into_source(), ORDER.as_bytes());
}

#[test]
fn a_change_leaves_the_rest_as_it_was() {
    let check = |change: &dyn Fn(&mut Value), expected: &str| {
        let mut value = parse(ORDER);
        change(&mut value);
        assert_eq!(written(&value), expected);
        assert_eq!(value.source(), ORDER.as_bytes());
        // What was written is what the tree says.
        assert_eq!(compact(&parse(expected)), compact(&value));
    };
    let lines = r#"[ {"n":1e3} , "a\u00dfb" ]"#;
    let id = |value: &Value| at(value, &["id"]);
    check(
        &|value| value.replace(id(value), New::Text("a\"b")).unwrap(),
        &format!(r#"{{"id":"a\"b","lines":{lines},"\u0078":null}}"#),
    );
    check(&|value| value.remove(id(value)), &format!(r#"{{"lines":{lines},"\u0078":null}}"#));
    check(&|value| value.remove(at(value, &["x"])), &format!(r#"{{"id":1.00,"lines":{lines}}}"#));
    check(
        &|value| {
            value.push(at(value, &["lines"]), New::Json(b" [1, 2] ")).unwrap();
        },
        r#"{"id":1.00,"lines":[{"n":1e3},"a\u00dfb",[1, 2]],"\u0078":null}"#,
    );
    check(
        &|value| {
            value.insert(at(value, &["lines", "0"]), "k\n", New::Json(b"true")).unwrap();
        },
        r#"{"id":1.00,"lines":[{"n":1e3,"k\n":true},"a\u00dfb"],"\u0078":null}"#,
    );
    check(&|value| value.replace(value.root(), New::Json(b" [3 ,4]")).unwrap(), "[3 ,4]");
    check(
        &|value| {
            let other = parse(r#"{"deep": {"a" : [ ]}}"#);
            value.replace(id(value), New::Node(&other, at(&other, &["deep"]))).unwrap();
            value.insert(id(value), "b", New::Json(b"0")).unwrap();
        },
        &format!(r#"{{"id":{{"a":[ ],"b":0}},"lines":{lines},"\u0078":null}}"#),
    );
    check(
        &|value| {
            value.remove(at(value, &["lines", "0"]));
            value.remove(at(value, &["lines", "0"]));
        },
        r#"{"id":1.00,"lines":[],"\u0078":null}"#,
    );
}

#[test]
fn what_cannot_be_put_in_changes_nothing() {
    let mut value = parse("[1]");
    let one = at(&value, &["0"]);
    assert!(matches!(value.replace(one, New::Json(b"{,}")), Err(Error::Malformed { .. })));
    assert!(matches!(value.push(one, New::Json(b"1")), Err(Error::Unchangeable(_))));
    assert!(matches!(value.insert(value.root(), "a", New::Json(b"1")), Err(Error::Unchangeable(_))));
    assert_eq!(written(&value), "[1]");
}

#[test]
fn a_tree_has_no_more_nodes_than_it_may() {
    let options = Options { nodes: 4, ..Options::default() };
    assert!(Value::parse(b"[1,2,3]".to_vec(), &options).is_ok());
    let error = Value::parse(b"[1,2,3,\n 4]".to_vec(), &options).unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 2: a tree of more than 4 nodes");
}

#[test]
fn deep_and_wide_values_are_read_written_and_dropped() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let options = Options { depth: usize::MAX, ..Options::default() };
    let value = Value::parse(deep.clone().into_bytes(), &options).unwrap();
    assert_eq!(written(&value), deep);
    assert_eq!(compact(&value), deep);
    let wide = format!("[{}0]", "1,".repeat(1_000_000));
    let mut value = parse(&wide);
    // Removing from the front, one by one, is not quadratic.
    for _ in 0..1_000_000 {
        value.remove(value.first_child(value.root()).unwrap());
    }
    assert_eq!(written(&value), "[0]");
}

/// Any value as text, with white space where it may stand.
pub(crate) fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,2})?([eE][+-]?[0-9])?",
        "\"([a-c ß€😀]|\\\\n|\\\\u00e4){0,5}\"",
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            (proptest::collection::vec(inner.clone(), 0..5), " ?")
                .prop_map(|(elements, gap)| format!("[{gap}{}]", elements.join(&format!("{gap},")))),
            (proptest::collection::vec(("\"([abcd]|\\\\u0061|a-)\"", inner), 0..5), "[ \n]?").prop_map(
                |(members, gap)| {
                    let members: Vec<String> =
                        members.iter().map(|(key, value)| format!("{key}{gap}:{gap}{value}")).collect();
                    format!("{{{}{gap}}}", members.join(","))
                }
            ),
        ]
    })
}

fn reachable(value: &Value) -> Vec<NodeId> {
    let mut nodes = vec![value.root()];
    let mut done = 0;
    while done < nodes.len() {
        nodes.extend(value.children(nodes[done]));
        done += 1;
    }
    nodes
}

proptest! {
    #[test]
    fn what_is_unchanged_is_written_as_it_came(json in any_json()) {
        let value = parse(&json);
        prop_assert_eq!(&written(&value), &json);
        let theirs: serde_json::Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&compact(&value)).unwrap(), theirs);
    }

    #[test]
    fn a_written_change_reads_as_the_changed_tree(json in any_json(), other in any_json(), picks in proptest::collection::vec((0usize..60, 0u8..4), 1..5)) {
        let mut value = parse(&json);
        for (pick, change) in picks {
            let nodes = reachable(&value);
            let node = nodes[pick % nodes.len()];
            match change {
                0 => value.replace(node, New::Json(other.as_bytes())).unwrap(),
                1 => value.remove(node),
                2 if value.kind(node) == Type::Array => { value.push(node, New::Json(other.as_bytes())).unwrap(); }
                _ if value.kind(node) == Type::Object => { value.insert(node, "new", New::Text(&other)).unwrap(); }
                _ => {}
            }
        }
        prop_assert_eq!(compact(&parse(&written(&value))), compact(&value));
    }
}
