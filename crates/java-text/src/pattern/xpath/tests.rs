use super::*;

/// Whether a pattern matches, in whichever way it is run.
fn is_match(pattern: &str, flags: &str, text: &str) -> bool {
    let mut left = 100_000_u64;
    let mut pay = |steps: u64| {
        left = left.checked_sub(steps).ok_or(SearchLimit)?;
        Ok(())
    };
    Pattern::new(pattern, flags).expect(pattern).is_match::<SearchLimit>(text, &mut pay).expect(pattern)
}

#[test]
fn patterns_take_what_the_standard_says() {
    let check = |pattern: &str, flags: &str, text: &str, expected: bool| {
        assert_eq!(is_match(pattern, flags, text), expected, "{pattern} {flags} {text:?}");
    };
    check("^a.c$", "", "abc", true);
    check("^a.c$", "", "a\nc", false);
    check("^a.c$", "s", "a\nc", true);
    check("^b$", "m", "a\nb\nc", true);
    check("HELLO", "i", "hello", true);
    check("hello[ ]world", "x", "hello world", true);
    check("hello world", "x", "helloworld", true);
    check("a.b", "q", "axb", false);
    check("^[a-z-[aeiou]]+$", "", "xyz", true);
    check("^[a-z-[aeiou]]+$", "", "xyza", false);
    check("^[^cde-[ag]]+$", "", "bx", true);
    check("^[^cde-[ag]]+$", "", "agb", false);
    check(r"^\i\c*$", "", "a-1", true);
    check(r"^\i\c*$", "", "-a", false);
    check(r"^[\w-]+$", "", "a-b", true);
    check("^[&&~~]+$", "", "&~", true);
    check("^[+-]$", "", "-", true);
    check(r"^(?:ab){2}$", "", "abab", true);
    check(r"\p{Lu}", "", "aB", true);
    check(r"\p{Lu}", "i", "ab", false);
    check(r"^\p{IsGreek}+$", "", "αβγ", true);
    check(r"^[\p{IsBasicLatin}-[0-9]]+$", "", "abc", true);
    check(r"\P{IsBasicLatin}", "", "abc", false);
    check(r"\p{ Is Basic Latin }", "x", "abc", true);
    check("|a", "", "", true);
    check("a{2,3}?b", "", "aab", true);
}

#[test]
fn back_references_match_the_same_text_again() {
    let check = |pattern: &str, flags: &str, text: &str, expected: bool| {
        assert_eq!(is_match(pattern, flags, text), expected, "{pattern} {flags} {text:?}");
    };
    check(r"(a|b)\1", "", "abba", true);
    check(r"(a|b)\1", "", "abab", false);
    check(r"^(['x]).*?\1$", "", "'a'", true);
    check(r"^(a)?\1b$", "", "b", true);
    check(r"^(\w+) \1$", "i", "Ab aB", true);
    check(r"^(a+)\1$", "", "aaaa", true);
    check(r"^(a+)\1$", "", "aaa", false);
    check(r"^(?:(a)|b)*\1$", "", "aba", true);
    check(r"^(a*)*\1$", "", "aa", true);
    check(r"(.)\1{2}", "", "abbbc", true);
    check(r"^(.)(.)\2\1$", "m", "x\nabba\ny", true);
    check(r"^(a){2,3}?\1$", "", "aaaa", true);
    check(r"(a)\10", "", "aa0", true);
}

#[test]
fn searches_that_try_too_much_end_in_an_error() {
    let pattern = Pattern::new(r"^(a*)*(a*)*(a*)*\1b$", "").expect("a pattern");
    let mut left = 100_000_u64;
    let mut pay = |steps: u64| {
        left = left.checked_sub(steps).ok_or(SearchLimit)?;
        Ok(())
    };
    assert_eq!(pattern.is_match::<SearchLimit>(&"a".repeat(200), &mut pay), Err(SearchLimit));
}

#[test]
fn what_is_no_pattern_is_refused_with_a_reason() {
    let check = |pattern: &str, part: &str| {
        let Err(PatternError::Expression(error)) = Pattern::new(pattern, "") else { panic!("{pattern} is a pattern") };
        assert!(error.contains(part), "{pattern}: {error}");
    };
    check("a{,2}", "number of times");
    check("a{3,2}", "more at least");
    check("(?=a)", "only `:`");
    check("[a", "`]` is missing");
    check("a]", "means itself is written");
    check("[]", "takes no character");
    check("[a--z]", "first or last");
    check("[z-a]", "backwards");
    check(r"[a-\d]", "ends in one character");
    check("[-[a]]", "nothing to take");
    check(r"\p{IsKlingon}", "no block");
    check(r"\q", "means nothing");
    check(r"\1(a)", "before the end of the group");
    check(r"(a\1)", "before the end of the group");
    check("(", "`)` is missing");
    check("a)", "closes what nothing");
    check("*", "behind what may be repeated");
    check("a**", "a second number of times");
    check(&"(".repeat(60), "deeper than 50");
    check(r"(a){5000}b{9000}\1", "repeats too much");
    check("a{1000}{1000}", "a second number");
    check("(a{1000}){1000}", "exceeds size limit");
    assert_eq!(Pattern::new("a", "y").err(), Some(PatternError::Flag('y')));
}
