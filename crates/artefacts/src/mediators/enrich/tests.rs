//! What `<enrich>` refuses when it is loaded.

use crate::mediators::tests::{check, check_missing};
use crate::message_edits::json::split;

#[test]
fn what_cannot_be_enriched_is_a_problem_at_its_place() {
    let enrich = |source: &str, target: &str| format!("<enrich><source {source}</source><target {target}/></enrich>");
    let missing = |source: &str, target: &str, part: &str| check_missing(&enrich(source, target), part);
    let check = |source: &str, target: &str, part: &str| check(&enrich(source, target), part);
    check("type='body'>", "type='property' property='p'", "");
    check("xpath='//a'>", "xpath='//b'", "");
    check(">", "type='body'", "\"xpath\" is missing");
    check("type='body'>", "", "\"xpath\" is missing");
    check("type='property'>", "type='body'", "\"property\" is missing");
    check("type='inline'>", "type='body'", "needs an element, a text or a key");
    missing("type='inline' key='nobody'>", "type='body'", "there is no local entry \"nobody\"");
    missing("type='inline' key='gov:/x'>", "type='body'", "registry");
    check("type='variable'>", "type='body'", "\"variable\" is missing");
    missing("type='inline'>{$ctx:}", "type='body'", "expression");
    check("type='inline'>${payload.}", "type='body'", "expression");
    check("type='header'>", "type='body'", "type \"header\" is unknown");
    check("type='body' clone='maybe'>", "type='property' property='p'", "neither true nor false");
    check("type='body'>", "type='inline'", "type \"inline\" is unknown");
    check("type='body'>", "type='body' action='add'", "action \"add\"");
    check("type='body'>", "type='body' action='remove'", "said by xpath");
    check("xpath='//a'>", "type='property' property='p' action='remove'", "removed from the body");
    check("xpath='json-eval($.a, $.b[)'>", "type='body' action='remove'", "json-eval");
    check("type='inline'>n", "type='key' xpath='//a'", "json-eval path");
    check("xpath='//a['>", "type='body'", "expression");
}

#[test]
fn an_enrich_has_one_source_and_one_target() {
    check("<enrich><source type='body'/></enrich>", "needs a source and a target");
    check("<enrich><source type='body'/><source type='body'/></enrich>", "one source and one target");
    check("<enrich><origin/></enrich>", "not <origin>");
}

#[test]
fn paths_are_parted_by_commas_outside_brackets_and_quotes() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(split(text).into_iter().map(|range| &text[range]).collect::<Vec<_>>(), expected);
    };
    check("$.a", &["$.a"]);
    check("$.a, $.b[1,2],$['c,d']", &["$.a", " $.b[1,2]", "$['c,d']"]);
    check("$[?(@.x == 'it\\',s')],é", &["$[?(@.x == 'it\\',s')]", "é"]);
    check("", &[""]);
}
