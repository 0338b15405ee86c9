use super::*;

#[test]
fn searches_that_try_too_much_end_in_an_error() {
    let pattern = Pattern::new(r"^(a*)*(a*)*(a*)*\1b$", "").expect("a pattern");
    let text = "a".repeat(200);
    let mut segments = pattern.segments(&text);
    assert_eq!(segments.next().and_then(Result::err).and_then(|error| error.code()), Some("XPDY0130"));
    assert!(segments.next().is_none());
}

#[test]
fn a_text_comes_apart_and_all_of_it_is_there() {
    let check = |pattern: &str, text: &str, expected: &str| {
        let pattern = Pattern::new(pattern, "").expect(pattern);
        let shown: Result<Vec<_>, _> = pattern
            .segments(text)
            .map(|segment| {
                segment.map(|segment| match segment {
                    Segment::Between(text) => text.to_owned(),
                    Segment::Match(groups) => format!("<{}>", groups.join(",")),
                })
            })
            .collect();
        assert_eq!(shown.expect(text).concat(), expected, "{text}");
    };
    check("b", "abbc", "a<b><b>c");
    check("(a)(x)?", "zaaz", "z<a,a,><a,a,>z");
    check("x", "abc", "abc");
    check("x", "", "");
    check("b*", "abbc", "<>a<bb><>c<>");
    check("[0-9]+", "1 22", "<1> <22>");
    check(r"(.)\1", "abbcc", "a<bb,b><cc,c>");
}
