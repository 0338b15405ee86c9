//! What paths lead to, against what Jayway's library says.
//!
//! `jayway.txt` and `jayway-changes.txt` are the answers of json-path 2.9.0 with json-smart 2.5.0, which writes numbers its own way: they are compared by what they mean.
//! Behind a line `# document` each line is a path (and a change), a tab, and the answer: `D` or `I` for definite or not, then JSON.

use super::*;
use crate::processor_time::processor_time;
use crate::reader::Options;
use crate::value::{New, Type};

fn parse(json: &str) -> Value {
    Value::parse(json.as_bytes().to_vec(), &Options::default()).unwrap()
}

/// As Jayway reads.
fn last() -> Rules {
    Rules { duplicates: Duplicates::Last, ..Rules::default() }
}

fn answer(path: &str, value: &Value) -> String {
    let Ok(path) = Path::compile(path) else { return "!compile".to_owned() };
    let definite = if path.is_definite() { "D" } else { "I" };
    match path.json(value, &last()) {
        Ok(json) => format!("{definite} {json}"),
        Err(Error::NotFound) => format!("{definite} !nothing"),
        Err(_) => format!("{definite} !error"),
    }
}

/// Where we differ on purpose: the path, what we answer, and why.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("$", DOCUMENT, WRITTEN),
    ("$.o.*", r#"I [2,{"x":2,"x":3}]"#, WRITTEN),
    ("$.o..*", r#"I [2,{"x":2,"x":3},3]"#, WRITTEN),
    ("$.a.b.append(5,'x')", "!compile", "drops what is not JSON"),
    (r#"$.concat("a",'b')"#, "!compile", "drops what is not JSON"),
    ("$.n[", "!compile", "takes a bracket that is not closed for nothing"),
    (" $.n ", "D [3,1,2]", "takes white space before a path, not behind it"),
    ("$.n[?(!@ > 1)]", "!compile", "forgets the `!`"),
    ("$.s[?(@ =~ 'x')]", "!compile", "never matches"),
    ("$.m[?(@ all [1,2])]", "!compile", "never holds when written in a path"),
    ("$.n[?(@ type 'number')]", "!compile", "never holds when written in a path"),
    ("$..*.x", "I [1,2,null,1,2]", "mixes the positions of arrays up"),
    ("$.n.foo()", "!compile", "says so only when it runs"),
    ("$.n.first().x", "!compile", LAST),
    ("$.a.first().b", "!compile", LAST),
    ("$.a.first().b[0].x", "!compile", LAST),
    ("$.a.first().b.length()", "!compile", LAST),
    ("$.n.sum().x", "!compile", LAST),
    ("$.o.keys().length()", "!compile", LAST),
    ("$.n.length().length()", "!compile", LAST),
    ("$['n']['length']()", "!compile", LAST),
    ("$.length($.n)", "!compile", "counts something else"),
    ("$.length($.str)", "!compile", "counts something else"),
    ("$.length($..x)", "!compile", "counts something else"),
    ("$..x.first()", "!compile", GATHERED),
    ("$..b.first()", "!compile", GATHERED),
    ("$..n.append(4)", "!compile", GATHERED),
    ("$..o.keys()", "!compile", GATHERED),
    ("$.neg.max()", "D -1.0", "starts from the smallest positive number"),
    ("$.one.last()", "D 5", "fails for one element"),
    (r#"$.p[?(@.b anyof [{"x":1}])]"#, r#"I [{"b":[{"x":1},{"y":2}]}]"#, "fails for objects in a list"),
];
const DOCUMENT: &str = r#"D {"a":{"b":[1,2.50,1e3,12345678901234567890,"x",null,true],"c":"s/t"},"n":null,"e":{},"l":[],"o":[{"x":1,"y":"p"},{"x":5,"y":"q"},{"y":"r"},7],"dup":1,"dup":2,"s":"1","d ot":3,"é":4}"#;
const WRITTEN: &str = "does not write the first of two equal keys; we write what stood in the text";
const LAST: &str = "reads a name `)`";
const GATHERED: &str = "has no use for what `..` finds";

#[test]
fn paths_answer_as_jayway_does() {
    let mut value = parse("null");
    let (mut wrong, mut differences) = (Vec::new(), 0);
    for line in include_str!("jayway.txt").lines() {
        if let Some(document) = line.strip_prefix('#') {
            value = parse(document.trim());
            continue;
        }
        let (path, theirs) = line.split_once('\t').unwrap();
        let ours = answer(path, &value);
        match DIFFERENCES.iter().find(|(different, ..)| *different == path) {
            Some((_, expected, _)) => {
                differences += 1;
                if ours != *expected || ours == theirs {
                    wrong.push(format!("{path}\n  ours      {ours}\n  expected  {expected}\n  Jayway    {theirs}"));
                }
            }
            None if normal(&ours) != normal(theirs) => {
                wrong.push(format!("{path}\n  ours    {ours}\n  Jayway  {theirs}"));
            }
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(differences, DIFFERENCES.len(), "each difference is one of the paths that were asked");
}

#[test]
fn changes_do_as_jayway_does() {
    // Jayway refuses these, each for the reason said.
    const DIFFERENCES: &[(&str, &str, &str)] = &[
        (
            "$.a.zz set",
            r#"{"a":{"b":[1,2],"zz":9},"s":"x","n":null,"o":[{"x":1},{"x":2},{}]}"#,
            "its `set` adds no member",
        ),
        ("$.q set", r#"{"a":{"b":[1,2]},"s":"x","n":null,"o":[{"x":1},{"x":2},{}],"q":9}"#, "its `set` adds no member"),
        ("$ set", "9", "it has nowhere to put another root"),
        (
            "$.a.b[-1] set",
            r#"{"a":{"b":[1,9]},"s":"x","n":null,"o":[{"x":1},{"x":2},{}]}"#,
            "it does not count from the end here",
        ),
        (
            "$.a.b[-1] delete",
            r#"{"a":{"b":[1]},"s":"x","n":null,"o":[{"x":1},{"x":2},{}]}"#,
            "it does not count from the end here",
        ),
        ("$.a.b.length() set", "D !error", "it sets what the function was applied to"),
    ];
    let mut source = "";
    let mut wrong = Vec::new();
    for line in include_str!("jayway-changes.txt").lines() {
        if let Some(document) = line.strip_prefix('#') {
            source = document;
            continue;
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let path = Path::compile(fields[0]).unwrap();
        let mut value = parse(source);
        let new = New::Json(fields[fields.len() - 2].as_bytes());
        let done = match fields[1] {
            "set" => path.set(&mut value, new, &last()),
            "put" => path.put(&mut value, fields[2], new, &last()),
            "add" => path.add(&mut value, new, &last()),
            _ => path.delete(&mut value, &last()),
        };
        let definite = if path.is_definite() { "D" } else { "I" };
        let ours = match done {
            Ok(_) => {
                let mut out = Vec::new();
                value.write_compact(value.root(), &mut out);
                String::from_utf8(out).unwrap()
            }
            Err(Error::NotFound) => format!("{definite} !nothing"),
            Err(_) => format!("{definite} !error"),
        };
        let asked = format!("{} {}", fields[0], fields[1]);
        let theirs = fields[fields.len() - 1];
        let expected = DIFFERENCES.iter().find(|(different, ..)| *different == asked);
        if ours != expected.map_or(theirs, |(_, ours, _)| ours) || (expected.is_some() && ours == theirs) {
            wrong.push(format!("{line}\n  ours  {ours}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An answer by what it means: other libraries write numbers and escapes their own way.
fn normal(answer: &str) -> String {
    match answer.split_once(' ') {
        Some((definite, json)) if !json.starts_with('!') => {
            let value = parse(json);
            let mut texts = Vec::new();
            let mut nodes = vec![value.root()];
            while let Some(node) = nodes.pop() {
                let number = (value.kind(node) == Type::Number).then(|| value.scalar(node).unwrap().parse::<f64>());
                let text = value.scalar(node).filter(|_| number.is_none());
                texts.push(format!("{:?} {:?} {number:?} {text:?}", value.kind(node), value.key(node)));
                nodes.extend(value.children(node));
            }
            format!("{definite} {}", texts.join(" "))
        }
        _ => answer.to_owned(),
    }
}

#[test]
fn results_become_text_as_json_eval_wants_them() {
    let value = parse(r#"{"s":"a\"ß","n":1.50,"t":true,"z":null,"o":{ "k" : [ 1 ] },"l":["x", 2]}"#);
    let check = |path: &str, expected: &str| {
        assert_eq!(Path::compile(path).unwrap().text(&value, &Rules::default()).unwrap(), expected, "{path}");
    };
    check("$.s", "a\"ß");
    check("$.n", "1.50");
    check("$.t", "true");
    check("$.z", "null");
    check("$.o", r#"{"k":[1]}"#);
    check("$.l[*]", r#"["x",2]"#);
    check("$.l[9:]", "[]");
    check("$['s','n']", r#"{"s":"a\"ß","n":1.50}"#);
    check("$.l.length()", "2");
    check("$.o.k.sum()", "1.0");
    check("$.l.concat($.s)", "xa\"ß");
    check("s", "a\"ß");
}

#[test]
fn a_name_may_stand_right_behind_a_bracket() {
    let value = parse(r#"{"rows": [{"first_name": "Ann"}]}"#);
    assert_eq!(answer("rows[0]first_name", &value), r#"D "Ann""#);
    assert_eq!(answer("$['rows'][*]first_name", &value), r#"I ["Ann"]"#);
}

#[test]
fn equal_keys_count_as_the_rules_say() {
    let value = parse(r#"{"a":1,"b":2,"a":3,"c":4,"d":5,"e":6,"f":7,"g":8,"h":9,"h":10}"#);
    let check = |path: &str, first: &str, last: &str| {
        let path = Path::compile(path).unwrap();
        let answer = |duplicates| path.text(&value, &Rules { duplicates, ..Rules::default() });
        assert_eq!(answer(Duplicates::First).unwrap(), first);
        assert_eq!(answer(Duplicates::Last).unwrap(), last);
        assert!(matches!(answer(Duplicates::Refuse), Err(Error::Duplicate { .. })), "{}", path.as_str());
    };
    check("$.a", "1", "3");
    check("$.*", "[1,2,4,5,6,7,8,9]", "[3,2,4,5,6,7,8,10]");
    check("$..h", "[9]", "[10]");
    check("$.length()", "8", "8");
    // After a change both read the same.
    for duplicates in [Duplicates::First, Duplicates::Last] {
        let mut value = value.clone();
        let rules = Rules { duplicates, ..Rules::default() };
        assert_eq!(Path::compile("$.a").unwrap().set(&mut value, New::Text("x"), &rules), Ok(1));
        assert_eq!(Path::compile("$.h").unwrap().delete(&mut value, &rules), Ok(1));
        let mut out = Vec::new();
        value.write(value.root(), &mut out);
        let written = String::from_utf8(out).unwrap();
        assert_eq!((written.matches("\"a\"").count(), written.matches("\"h\"").count()), (1, 0), "{written}");
    }
}

#[test]
fn a_wrong_path_is_refused_with_its_place() {
    let check = |path: &str, expected: &str| {
        assert_eq!(Path::compile(path).unwrap_err().to_string(), format!("JSONPath, offset {expected}"), "{path}");
    };
    check("", "0: expected a path such as `$.a.b`");
    check("  ", "2: expected a path such as `$.a.b`");
    check("$.", "2: expected a name");
    check("$..", "3: expected a name");
    check("$...a", "3: expected a name");
    check("$a", "1: expected `.` or `[`, or the end");
    check("$.a b", "3: a name with white space in it is written `['my name']`");
    check("  $.a[", "6: expected a name in quotes, a number, `*` or `?(`");
    check("$['a", "2: a string is not closed");
    check("$['a' 'b']", "6: expected `]`");
    check("$[1,]", "4: expected an index");
    check("$[99999999999]", "2: expected a number of 32 bits");
    check("$[:]", "3: expected a number before or behind `:`");
    check("$.a.foo()", "9: there is no function `foo`");
    check("$.a.index()", "11: `index` has other arguments");
    check("$.a.sum(x)", "8: expected a path or a JSON value: line 1, column 1: expected a value, found `x`");
    check("$.a.sum().b", "11: nothing may follow a function");
    check("$..sum()", "8: expected a name, `*` or `[` behind `..`");
    check("$[?(@.a = 1)]", "8: `=` is no operator here");
    check("$[?(@.a like 1)]", "8: `like` is no operator here");
    check(
        "$[?(@.a == x)]",
        "11: expected a path, a string in quotes, a number, `true`, `false`, `null`, JSON or a pattern",
    );
    check("$[?(1)]", "5: expected an operator");
    check("$[?(@.a size 'x')]", "16: `size` is compared with a number");
    check("$[?(@.a empty 1)]", "15: `empty` is compared with `true` or `false`");
    check("$[?(@.a == /x/)]", "14: a pattern goes with `=~`");
    check("$[?(@.a == 1-2-3)]", "11: expected a number");
    check("$[?(@.a in [1)]", "11: not JSON: line 1, column 3: expected `,` or `]`, found `)`");
    check("$[?(@.a in [1", "13: an array or object is not closed");
    let look = Path::compile("$[?(@.a =~ /(?=x)/)]").unwrap_err().to_string();
    assert!(look.starts_with("JSONPath, offset 11: not a pattern that can be matched in linear time"), "{look}");
}

#[test]
fn hostile_paths_are_refused() {
    for path in [
        format!("$[?({}@.a{})]", "(".repeat(100_000), ")".repeat(100_000)),
        format!("$[?({}@.a)]", "!".repeat(100_000)),
        format!("$[?({}@.a)]", "(".repeat(30_000)),
        "$[?(@".repeat(10_000),
        format!("$.sum({}1)", "$.sum(".repeat(10_000)),
        "$.a".to_owned() + &".a".repeat(300),
        "$".to_owned() + &"..*".repeat(200),
        format!("$['{}']", "a".repeat(70_000)),
        format!("$[?(@ == {}1)]", "[".repeat(20_000)),
        "$[?(@ in [}]])]".to_owned(),
    ] {
        assert!(matches!(Path::compile(&path), Err(Error::Path { .. })), "{}", &path[..20]);
    }
}

#[test]
fn an_evaluation_stays_within_its_rules() {
    let wide = parse(&format!("[{}1]", "{\"a\":1},".repeat(10_000)));
    let check = |value: &Value, path: &str, visits: usize| {
        let rules = Rules { visits, ..Rules::default() };
        assert_eq!(Path::compile(path).unwrap().find(value, &rules), Err(Error::Visited(visits)), "{path}");
    };
    check(&wide, "$[*]", 5_000);
    check(&wide, "$[-1]", 5_000);
    check(&wide, "$[9999]", 5_000);
    check(&wide, "$[?(@.a == $[9999].a)]", 1_000_000);
    check(&wide, "$[?(@ in $)]", 1_000_000);
    check(&wide, "$..*..*..*..*", 100_000);
    let many = parse(&format!("{{{}\"z\":1}}", "\"a\":1,".repeat(10_000)));
    check(&many, "$.z", 5_000);
    // A text that is compared again and again counts by its length.
    let long = parse(&format!("{{\"text\":\"{}\",\"list\":[{}1]}}", "\\n".repeat(100_000), "1,".repeat(100)));
    check(&long, "$.list[?(@ == $.text)]", 5_000);
    assert_eq!(Path::compile("$.list[?(@ == $.text)]").unwrap().text(&long, &Rules::default()).as_deref(), Ok("[]"));
    // Each of the thousand objects holds all that are within it: text of them all would be quadratic.
    let nested =
        parse(&format!("{}1{}", "{\"a\":".repeat(900), ",\"b\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}".repeat(900)));
    let rules = Rules { bytes: 1 << 20, ..Rules::default() };
    for path in ["$..*", "$..['a','b']", "$..a"] {
        assert_eq!(Path::compile(path).unwrap().text(&nested, &rules), Err(Error::Made(1 << 20)), "{path}");
    }
    let mut wide = wide;
    let big = format!("\"{}\"", "x".repeat(1000));
    assert_eq!(
        Path::compile("$[*]").unwrap().set(&mut wide, New::Json(big.as_bytes()), &rules),
        Err(Error::Made(1 << 20))
    );
}

#[test]
fn deep_and_wide_values_are_searched_in_linear_time() {
    let started = processor_time();
    let options = Options { depth: usize::MAX, ..Options::default() };
    let deep = format!("{}1{}", "{\"a\":".repeat(200_000), "}".repeat(200_000));
    let deep = Value::parse(deep.into_bytes(), &options).unwrap();
    assert_eq!(Path::compile("$..a").unwrap().find(&deep, &Rules::default()).unwrap().len(), 200_000);
    assert_eq!(
        Path::compile("$[?(@ == $)]").unwrap().text(&deep, &Rules::default()).unwrap().len(),
        2 + 6 * 200_000 + 1
    );
    let members: String = (0..100_000).map(|index| format!("\"k{index}\":{{\"x\":1}},")).collect();
    let mut wide = parse(&format!("{{{members}\"last\":2}}"));
    assert_eq!(Path::compile("$.*.x").unwrap().find(&wide, &Rules::default()).unwrap().len(), 100_000);
    assert_eq!(Path::compile("$.*").unwrap().delete(&mut wide, &Rules::default()), Ok(100_001));
    let took = processor_time() - started;
    assert!(took.as_secs() < 20, "{took:?}");
}

#[test]
fn members_are_merged_as_if_they_were_put_one_after_the_other() {
    let check = |duplicates: Duplicates, text: &str, new: &str, expected: Option<&str>| {
        let rules = Rules { duplicates, ..Rules::default() };
        let mut value = parse(text);
        let merged = Path::compile("$.a").unwrap().merge(&mut value, &parse(new), &rules);
        let mut out = Vec::new();
        value.write_compact(value.root(), &mut out);
        assert_eq!(merged.is_ok().then(|| String::from_utf8(out).unwrap()).as_deref(), expected, "{text} {new}");
    };
    check(Duplicates::First, r#"{"a":{"b":1}}"#, r#"{"c":2,"b":3,"c":4}"#, Some(r#"{"a":{"b":3,"c":4}}"#));
    check(Duplicates::First, r#"{"a":{"b":1,"x":0,"b":2}}"#, r#"{"b":3}"#, Some(r#"{"a":{"b":3,"x":0}}"#));
    check(Duplicates::Last, r#"{"a":{"b":1,"x":0,"b":2}}"#, r#"{"b":3}"#, Some(r#"{"a":{"x":0,"b":3}}"#));
    check(Duplicates::Refuse, r#"{"a":{"b":1,"b":2}}"#, r#"{"b":3}"#, None);
    check(Duplicates::First, r#"{"a":[]}"#, r#"{"b":3}"#, None);
    check(Duplicates::First, r#"{"a":{"b":1}}"#, "{}", Some(r#"{"a":{"b":1}}"#));
}
