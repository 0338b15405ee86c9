//! What templates match, and what they find.

use std::collections::HashMap;

use proptest::prelude::*;

use crate::apis::template::*;
use myelin_config::element::Element;

fn parse(template: &str, names: &mut Names) -> Result<Template, String> {
    let template = template.replace('&', "&amp;");
    let element = Element::parse(&"a.xml".into(), format!("<resource uri-template='{template}'/>")).unwrap();
    let parsed = Template::parse(element.attribute("uri-template").unwrap(), names);
    parsed.map_err(|problem| problem.to_string())
}

/// The variables found, as `name=value` joined by blanks; `None` without a match.
fn matched(template: &str, path: &str) -> Option<String> {
    let mut names = Names::default();
    let template = parse(template, &mut names).unwrap();
    let known: HashMap<Slot, &str> = names.below("uri.var.").map(|(name, slot)| (slot, name)).collect();
    let found = template.matches(path)?;
    Some(found.iter().map(|(slot, value)| format!("{}={value}", known[slot])).collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn check(template: &str, path: &str, expected: &str) {
    assert_eq!(matched(template, path).as_deref(), Some(expected), "{template} on {path}");
}

#[track_caller]
fn check_none(template: &str, path: &str) {
    assert_eq!(matched(template, path), None, "{template} on {path}");
}

#[test]
fn a_variable_goes_up_to_the_next_reserved_character() {
    check("/admin/~{user}", "/admin/~ann", "user=ann");
    check("/admin/~{user}", "/admin/~an.n", "user=an.n");
    check_none("/admin/~{user}", "/admi/~ann");
    check_none("/admin/~{user}", "/admin/ann");
    check_none("/admin/~{user}", "/admin/~ann/foo");
    check("/d/foo-{user}-bar", "/d/foo-ann-bar", "user=ann");
    check("/d/foo-{user}-bar", "/d/foo--bar", "user=");
    check_none("/d/foo-{user}-bar", "/d/foo-bar");
    check("/alert/{id}.json", "/alert/foo.json", "id=foo");
    check("/a/{one},{two},{three}*", "/a/1,2,3/test", "one=1 two=2 three=3");
}

#[test]
fn a_length_a_list_and_a_name_that_comes_up_twice_restrict_what_matches() {
    check("/d/{char:1}/{word}", "/d/c/cat", "char=c word=cat");
    check_none("/d/{char:1}/{word}", "/d/co/cat");
    check("/d/{char}/{word,count}", "/d/c/cat,5", "char=c word=cat count=5");
    check("/d/{char}/{word,count}", "/d/c/cat", "char=c word=cat count=");
    check("/d/{char}/{word,count}", "/d/c/,5", "char=c word= count=5");
    check("/d/{char,word}/{count}", "/d/c/5", "char=c word= count=5");
    check_none("/d/{char,word}/{count}", "/d/c,ca,cat/5");
    check("/d/{user}/test?a={user}", "/d/ann/test?a=ann", "user=ann");
    check_none("/d/{user}/test?a={user}", "/d/ann/test?a=bob");
}

#[test]
fn values_are_decoded_and_a_plus_stays_one() {
    check("/d/{word}", "/d/hello%20world", "word=hello world");
    check("/d/{word}", "/d/%C3%A9", "word=é");
    check("/d/{word}", "/d/a%2Fb", "word=a/b");
    check("/d/{+word}", "/d/hello+world", "word=hello+world");
    check("/d/{+word}", "/d/hello%2Bworld", "word=hello+world");
    check("/d/{+word}", "/d/%FF", "word=\u{FFFD}");
    check("/d/{word}", "/d/100%", "word=100%");
}

#[test]
fn a_reserved_variable_takes_what_is_left() {
    check("/admin/~{+user}", "/admin/~foo!bar", "user=foo!bar");
    check("/files/{+path}", "/files/a/b?c=d", "path=a/b?c=d");
    check("/words?{+query}", "/words?a=5", "query=a=5");
    check("/{symbol}/feed.rss{+rest}", "/IBM/feed.rss?max=30", "symbol=IBM rest=?max=30");
    check_none("/{symbol}/feed.rss{+rest}", "/IBM?max=30");
}

#[test]
fn labels_and_segments_start_with_their_sign() {
    check("/admin{.action}", "/admin.do", "action=do");
    check_none("/admin{.action}", "/admin.do.bad");
    check("/admin{.action,sub}", "/admin.do.view", "action=do sub=view");
    check("/admin{/context}", "/admin/foo", "context=foo");
    check("/admin{/action,sub}", "/admin/do/view", "action=do sub=view");
    check_none("/admin{/context}", "/admin.do");
}

#[test]
fn a_star_takes_the_rest_with_the_query() {
    check("/", "/", "");
    check("/*", "/", "");
    check("/*", "/a/b?c=d", "");
    check("/a/*", "/a/", "");
    check_none("/a/*", "/a");
    check("/a*", "/a", "");
    check("/a*", "/ab/c", "");
    check("/{x}/*", "/a", "x=a");
    check("/{x}/*", "/a/?t=1", "x=a");
    check("/t{format}*", "/t.json?test", "format=.json");
    check("/s/~{t}?*", "/s/~x?y", "t=x");
    check("/s/{name,id}/*", "/s/ann,190/test?y=1", "name=ann id=190");
    check("/{name,id}/*", "/s/ann,190,11", "name=s id=");
    check_none("/{name,id}/*", "/ann,190,11/test");
}

#[test]
fn a_query_is_matched_where_the_template_has_one_and_forgiven_otherwise() {
    check("/view/{symbol}", "/view/IBM?x=1", "symbol=IBM");
    check("/view/{symbol}", "/view/IBM/", "symbol=IBM");
    check_none("/view/{symbol}", "/view/IBM/?x=1");
    check("/view", "/view?x=1/", "");
    check("/view/", "/view", "");
    check_none("/", "?x=1");
    check("/?q={q}", "/?q=a", "q=a");
    check_none("/?q={q}", "/?q=a&r=b");
    check("/p?a={a}&b={b}", "/p?a=1&b=2", "a=1 b=2");
    check("/p?a={a}&b={b}", "/p?a=&b=2", "a= b=2");
    check("/p?a={a}&b={b}", "/p?a=1&b=", "a=1");
    check_none("/p?a={a}&b={b}", "/p?b=2&a=1");
    check("/p?a={+a}&b={+b}", "/p?a=x/y&b=z", "a=x/y b=z");
}

#[test]
fn what_cannot_be_matched_is_a_problem_at_its_place() {
    let check = |template: &str, expected: &str| {
        let problem = parse(template, &mut Names::default()).unwrap_err();
        assert!(problem.starts_with("a.xml:1:") && problem.contains(expected), "{template}: {problem}");
    };
    check("/a/{b", "the brace is not closed");
    check("/a/b}", "1:29: the brace was not opened");
    check("/a/{}", "is no variable");
    check("/a/{b{c}", "is no variable");
    check("/a/{b,}", "is no variable");
    check("/a/{b:0}", "is no variable");
    check("/a/{?b}", "is not offered");
    check("/a/{#b}", "no request has a fragment");
    check(&"x".repeat(5000), "longer than");
}

/// Every byte but letters and digits as its escape.
fn escaped(value: &str) -> String {
    let escape = |byte: u8| match char::from(byte) {
        letter if letter.is_ascii_alphanumeric() => letter.to_string(),
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(escape).collect()
}

proptest! {
    #[test]
    fn a_template_finds_again_what_was_put_in_its_place(values in prop::collection::vec("[a-z9._~é/? -]{1,8}", 1..4)) {
        let template: String = (0..values.len()).map(|index| format!("/{index}-{{v{index}}}")).collect();
        let paths = values.iter().enumerate().map(|(index, value)| format!("/{index}-{}", escaped(value)));
        let path: String = paths.collect();
        let parsed = parse(&template, &mut Names::default()).unwrap();
        let found = parsed.matches(&path).unwrap().into_iter().map(|(_, value)| value.into_owned());
        prop_assert_eq!(found.collect::<Vec<_>>(), values);
    }

    #[test]
    fn no_path_is_too_strange(template in "[/{}+.,:*?=&a-cé]{0,24}", path in "[/+.,:*?=&%a-cé]{0,24}") {
        if let Ok(template) = parse(&template, &mut Names::default()) {
            template.matches(&path);
        }
    }
}
