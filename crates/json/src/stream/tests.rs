//! A stream says what the tree says, as early as it can.

use proptest::prelude::*;

use super::*;
use crate::path::{Path, Rules};
use crate::value::Value;
use crate::value::tests::any_json;

const ALL: [Duplicates; 3] = [Duplicates::First, Duplicates::Last, Duplicates::Refuse];

fn plan(paths: &[&str], duplicates: Duplicates) -> Arc<Plan> {
    let paths: Vec<Path> = paths.iter().map(|path| Path::compile(path).unwrap()).collect();
    Arc::new(Plan::new(&paths.iter().collect::<Vec<_>>(), duplicates).unwrap())
}

/// Runs over `source` in pieces that end at `cuts`; gives the run and how many bytes had come at the decision.
fn run(plan: &Arc<Plan>, source: &[u8], cuts: &[usize]) -> (Run, usize) {
    try_run(plan, source, cuts).unwrap()
}

fn try_run(plan: &Arc<Plan>, source: &[u8], cuts: &[usize]) -> Result<(Run, usize), Error> {
    let mut run = Run::new(plan.clone(), Options::default());
    let mut gone = 0;
    for (index, &end) in cuts.iter().chain([&source.len()]).enumerate() {
        if run.next(&source[gone..end], index == cuts.len())? == Progress::Decided {
            return Ok((run, end));
        }
        let decided = gone + run.position();
        run.forget(&source[gone..decided]);
        gone = decided;
    }
    panic!("a complete text decides");
}

fn answers(run: &Run, source: &[u8]) -> Vec<String> {
    run.answers().iter().map(|answer| shown(answer.text(source).map(Cow::into_owned))).collect()
}

fn shown(answer: Result<String, Error>) -> String {
    match answer {
        Ok(text) => format!("= {text}"),
        Err(Error::Duplicate { .. }) => "duplicate".to_owned(),
        Err(Error::NotFound) => "nothing".to_owned(),
        Err(error) => panic!("{error}"),
    }
}

/// What the paths lead to, and how many bytes it takes to know.
fn check(paths: &[&str], duplicates: Duplicates, source: &str, expected: &[&str], bytes: usize) {
    let plan = plan(paths, duplicates);
    let every: Vec<usize> = (1..source.len()).collect();
    let (run, end) = run(&plan, source.as_bytes(), &every);
    assert_eq!(
        (answers(&run, source.as_bytes()), end),
        (expected.iter().map(|&text| text.to_owned()).collect(), bytes)
    );
}

#[test]
fn an_answer_falls_as_early_as_it_can() {
    let order = r#"{"id": "x\u0031", "lines": [{"n": 1, "m": [1, 2]}, {"n": 2}], "rest": [0]}"#;
    // A value has ended when what follows it is there.
    check(&["$.id"], Duplicates::First, order, &["= x1"], 17);
    check(&["$.lines[1].n", "$.id"], Duplicates::First, order, &["= 2", "= x1"], 59);
    check(&["$.lines[0].m"], Duplicates::First, order, &["= [1,2]"], 49);
    check(&["$.lines.n"], Duplicates::First, order, &["nothing"], 28);
    check(&["$[0]"], Duplicates::First, order, &["nothing"], 1);
    check(&["$.id.x", "$.id[0]"], Duplicates::First, order, &["nothing", "nothing"], 17);
    check(&["$.lines[2]"], Duplicates::First, order, &["nothing"], 61);
    check(&["$.absent"], Duplicates::First, order, &["nothing"], order.len());
    check(&["$.lines[0]", "$.lines[0].n"], Duplicates::First, order, &["= {\"n\":1,\"m\":[1,2]}", "= 1"], 50);
    check(&["$"], Duplicates::First, " [1 , 2] ", &["= [1,2]"], 9);
    check(&["$", "$.a"], Duplicates::First, "\"a\" ", &["= a", "nothing"], 4);
    check(&[], Duplicates::First, "[]", &[], 1);
}

#[test]
fn equal_keys_are_read_as_the_plan_says() {
    let twice = r#"[{"a": 1, "a": {"b": 2}}, {"a": 3}, 0]"#;
    let paths = ["$[0].a", "$[0].a.b", "$[1].a"];
    check(&paths, Duplicates::First, twice, &["= 1", "nothing", "= 3"], 34);
    // The last counts only when the object has ended.
    check(&paths, Duplicates::Last, twice, &["= {\"b\":2}", "= 2", "= 3"], 35);
    check(&paths, Duplicates::Refuse, twice, &["duplicate", "duplicate", "= 3"], 35);
    // A key that no path asks for may occur twice.
    check(&["$.b"], Duplicates::Refuse, r#"{"a": 1, "a": 2, "b": 3}"#, &["= 3"], 24);
}

#[test]
fn only_definite_paths_from_the_front_can_be_streamed() {
    for path in ["$..a", "$.*", "$.a[-1]", "$.a[0,1]", "$['a','b']", "$.a[1:]", "$[?(@.a)]", "$.a.length()"] {
        let path = Path::compile(path).unwrap();
        assert_eq!(Plan::new(&[&Path::compile("$.a").unwrap(), &path], Duplicates::First).err(), Some(1));
    }
}

#[test]
fn a_run_is_ready_again_after_a_text_that_broke_off() {
    let plan = plan(&["$.a"], Duplicates::First);
    let mut run = Run::new(plan.clone(), Options::default());
    assert_eq!(run.next(b"{\"b\": [", false), Ok(Progress::More));
    run.restart(plan);
    assert_eq!(run.next(b"{\"a\": 1 ,", false), Ok(Progress::Decided));
    assert_eq!(run.answers()[0].text(b"{\"a\": 1 ,").unwrap(), "1");
    assert_eq!(run.next(b"{\"a\": 1 , x", true), Ok(Progress::Decided), "what follows a decision is not looked at");
}

#[test]
fn a_scalar_decides_nothing_before_it_has_ended() {
    let plan = plan(&["$.a"], Duplicates::First);
    let not_json =
        ["0x10", "01", "-01", "1_000", "1.0.0", "1e5e5", "0 0", "truefalse", "true1", "nullx", "null\"\"", "\"x\"y"];
    let not_json = not_json.into_iter().chain(["\"x\"\"y\"", "\"x\":1", "1:1", "1]", "{}x", "[]]", "[]{}", "{}1"]);
    for value in not_json {
        let source = format!("{{\"a\":{value}}}");
        let tree = Value::parse(source.clone().into_bytes(), &Options::default()).unwrap_err();
        for cut in 0..=source.len() {
            assert_eq!(try_run(&plan, source.as_bytes(), &[cut]).unwrap_err(), tree, "{source} cut at {cut}");
        }
    }
}

fn any_path() -> impl Strategy<Value = String> {
    let step = prop_oneof![4 => "\\.[abcd]", 2 => "\\[[0-2]\\]", 1 => Just("['a-']".to_owned())];
    proptest::collection::vec(step, 0..4).prop_map(|steps| format!("${}", steps.concat()))
}

/// Texts that are JSON, or nearly.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let tokens = [
        "{", "}", "[", "]", ",", ":", "\"a\":", "\"b\":", "\"x\"", "0", "1", "-", ".5", "e1", "true", "null", " ", "x",
    ];
    let near = proptest::collection::vec(proptest::sample::select(tokens.to_vec()), 0..14);
    let damaged = (any_json(), any::<proptest::sample::Index>(), any::<u8>()).prop_map(|(json, at, byte)| {
        let mut bytes = json.into_bytes();
        let at = at.index(bytes.len() + 1);
        bytes.insert(at, byte);
        bytes
    });
    prop_oneof![near.prop_map(|tokens| tokens.concat().into_bytes()), damaged]
}

/// Where the tree finds a fault.
fn offset(error: &Error) -> usize {
    match error {
        Error::Malformed { place, .. } | Error::Encoding(place) | Error::TooLarge(_, place) => place.offset,
        error => panic!("{error}"),
    }
}

proptest! {
    #[test]
    fn the_stream_refuses_what_the_tree_refuses(
        source in nearly_json(),
        paths in proptest::collection::vec(any_path(), 1..4),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..5),
    ) {
        let tree = Value::parse(source.clone(), &Options::default());
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.index(source.len() + 1)).collect();
        cuts.sort_unstable();
        let plan = plan(&paths.iter().map(String::as_str).collect::<Vec<_>>(), Duplicates::First);
        let whole = try_run(&plan, &source, &[]).map(|(run, _)| (run.answers().to_vec(), run.position()));
        let split = try_run(&plan, &source, &cuts);
        match (whole, split, tree) {
            (Err(whole), split, tree) => {
                prop_assert_eq!(&split.unwrap_err(), &whole);
                prop_assert_eq!(tree.unwrap_err(), whole);
            }
            (Ok((answers, position)), split, tree) => {
                let (split, _) = split.unwrap();
                prop_assert_eq!(split.answers(), answers);
                // Only what stands behind the comma or bracket that ends the deciding value, or behind the bracket that decided, is unknown.
                let known = position - usize::from(matches!(source[position - 1], b'[' | b'{'));
                prop_assert!(tree.err().is_none_or(|error| offset(&error) > known));
            }
        }
    }

    #[test]
    fn the_stream_says_what_the_tree_says(
        json in any_json(),
        paths in proptest::collection::vec(any_path(), 1..5),
        cuts in proptest::collection::vec(0usize..80, 0..5),
    ) {
        let value = Value::parse(json.clone().into_bytes(), &Options::default()).unwrap();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(json.len())).collect();
        cuts.sort_unstable();
        for duplicates in ALL {
            let rules = Rules { duplicates, ..Rules::default() };
            let tree: Vec<String> =
                paths.iter().map(|path| shown(Path::compile(path).unwrap().text(&value, &rules))).collect();
            let plan = plan(&paths.iter().map(String::as_str).collect::<Vec<_>>(), duplicates);
            let (run, _) = run(&plan, json.as_bytes(), &cuts);
            prop_assert_eq!(answers(&run, json.as_bytes()), tree, "{:?}", duplicates);
        }
    }
}
