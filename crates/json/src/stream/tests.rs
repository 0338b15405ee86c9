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
    let mut run = Run::new(plan.clone(), Options::default());
    let mut gone = 0;
    for &end in cuts.iter().chain([&source.len()]) {
        if run.next(&source[gone..end], end == source.len()).unwrap() == Progress::Decided {
            return (run, end);
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
    // A number has ended when the next byte is there.
    check(&["$.id"], Duplicates::First, order, &["= x1"], 16);
    check(&["$.lines[1].n", "$.id"], Duplicates::First, order, &["= 2", "= x1"], 59);
    check(&["$.lines[0].m"], Duplicates::First, order, &["= [1,2]"], 48);
    check(&["$.lines.n"], Duplicates::First, order, &["nothing"], 28);
    check(&["$[0]"], Duplicates::First, order, &["nothing"], 1);
    check(&["$.id.x", "$.id[0]"], Duplicates::First, order, &["nothing", "nothing"], 16);
    check(&["$.lines[2]"], Duplicates::First, order, &["nothing"], 60);
    check(&["$.absent"], Duplicates::First, order, &["nothing"], order.len());
    check(&["$.lines[0]", "$.lines[0].n"], Duplicates::First, order, &["= {\"n\":1,\"m\":[1,2]}", "= 1"], 49);
    check(&["$"], Duplicates::First, " [1 , 2] ", &["= [1,2]"], 8);
    check(&["$", "$.a"], Duplicates::First, "\"a\" ", &["= a", "nothing"], 3);
    check(&[], Duplicates::First, "[]", &[], 1);
}

#[test]
fn equal_keys_are_read_as_the_plan_says() {
    let twice = r#"[{"a": 1, "a": {"b": 2}}, {"a": 3}, 0]"#;
    let paths = ["$[0].a", "$[0].a.b", "$[1].a"];
    check(&paths, Duplicates::First, twice, &["= 1", "nothing", "= 3"], 34);
    // The last counts only when the object has ended.
    check(&paths, Duplicates::Last, twice, &["= {\"b\":2}", "= 2", "= 3"], 34);
    check(&paths, Duplicates::Refuse, twice, &["duplicate", "duplicate", "= 3"], 34);
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
    assert_eq!(run.next(b"{\"a\": 1 ", false), Ok(Progress::Decided));
    assert_eq!(run.answers()[0].text(b"{\"a\": 1 ").unwrap(), "1");
    assert!(run.next(b"{\"a\": 1 x", true).is_ok(), "what follows a decision is not looked at");
}

fn any_path() -> impl Strategy<Value = String> {
    let step = prop_oneof![4 => "\\.[abcd]", 2 => "\\[[0-2]\\]", 1 => Just("['a-']".to_owned())];
    proptest::collection::vec(step, 0..4).prop_map(|steps| format!("${}", steps.concat()))
}

proptest! {
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
