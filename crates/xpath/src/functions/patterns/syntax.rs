//! From the regular expressions of XPath (XML Schema's, with anchors and groups) to those of the `regex` crate.

/// The first and the later characters of names, for `\i` and `\c`.
const NAME_START: &str = r":A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}";
const NAME_MORE: &str = r"\-.0-9\x{B7}\x{300}-\x{36F}\x{203F}-\x{2040}";

/// Translates a pattern; `dot_all` and `spaced` are the flags `s` and `x`.
///
/// Errors: what is wrong, as a sentence.
pub(super) fn translate(source: &str, dot_all: bool, spaced: bool) -> Result<String, String> {
    let mut out = String::with_capacity(source.len() + 16);
    let mut rest = source.chars().peekable();
    // How many character classes are open: a class can be taken away from another, `[a-z-[aeiou]]`.
    let mut classes = 0_usize;
    let mut class_is_empty = false;
    while let Some(letter) = rest.next() {
        let inside = classes > 0;
        let first = std::mem::replace(&mut class_is_empty, false);
        match letter {
            '\\' => escape(rest.next(), &mut rest, &mut out)?,
            '[' if inside => return Err("a `[` inside `[…]` is written `\\[`".to_owned()),
            '[' => {
                classes = 1;
                open(&mut rest, &mut out);
                class_is_empty = true;
            }
            ']' if inside && first => return Err("`[]` takes no character".to_owned()),
            ']' if inside => {
                classes -= 1;
                out.push(']');
                if classes > 0 && rest.peek() != Some(&']') {
                    return Err("what is taken away from `[…]` stands at its end".to_owned());
                }
            }
            ']' => return Err("a `]` outside `[…]` is written `\\]`".to_owned()),
            '-' if inside && rest.peek() == Some(&'[') => {
                rest.next();
                classes += 1;
                out.push_str("--");
                open(&mut rest, &mut out);
                class_is_empty = true;
            }
            // These mean something to the `regex` crate where they stand twice.
            '&' | '~' | '^' if inside => out.extend(['\\', letter]),
            '-' if inside && (first || rest.peek() == Some(&']')) => out.push_str("\\-"),
            other if spaced && !inside && matches!(other, ' ' | '\t' | '\r' | '\n') => {}
            other if inside => out.push(other),
            '.' if dot_all => out.push_str(r"[\s\S]"),
            '.' => out.push_str(r"[^\n\r]"),
            '(' => {
                out.push('(');
                if rest.next_if_eq(&'?').is_some() {
                    if rest.next_if_eq(&':').is_none() {
                        return Err("behind `(?` only `:` is offered".to_owned());
                    }
                    out.push_str("?:");
                }
            }
            '{' => {
                if !rest.peek().is_some_and(char::is_ascii_digit) {
                    return Err("a `{` stands before a number of times".to_owned());
                }
                out.push('{');
            }
            other => out.push(other),
        }
    }
    if classes > 0 {
        return Err("a `]` is missing".to_owned());
    }
    Ok(out)
}

/// Behind a `[`: its `^`, if it has one.
fn open(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
}

/// What stands behind a backslash; the same inside and outside of classes, as all it gives are classes or characters.
fn escape(
    letter: Option<char>,
    rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
    out: &mut String,
) -> Result<(), String> {
    match letter {
        Some('n') => out.push_str(r"\n"),
        Some('r') => out.push_str(r"\r"),
        Some('t') => out.push_str(r"\t"),
        Some('s') => out.push_str(r"[ \t\n\r]"),
        Some('S') => out.push_str(r"[^ \t\n\r]"),
        Some('d') => out.push_str(r"\p{Nd}"),
        Some('D') => out.push_str(r"\P{Nd}"),
        Some('w') => out.push_str(r"[^\p{P}\p{Z}\p{C}]"),
        Some('W') => out.push_str(r"[\p{P}\p{Z}\p{C}]"),
        Some('i') => out.push_str(&format!("[{NAME_START}]")),
        Some('I') => out.push_str(&format!("[^{NAME_START}]")),
        Some('c') => out.push_str(&format!("[{NAME_START}{NAME_MORE}]")),
        Some('C') => out.push_str(&format!("[^{NAME_START}{NAME_MORE}]")),
        Some(property @ ('p' | 'P')) => {
            let mut name = String::new();
            if rest.next() != Some('{') {
                return Err(format!("behind `\\{property}` stands a category: `\\{property}{{Lu}}`"));
            }
            loop {
                match rest.next() {
                    Some('}') => break,
                    Some(letter) => name.push(letter),
                    None => return Err("a `}` is missing".to_owned()),
                }
            }
            if name.starts_with("Is") {
                return Err(format!(
                    "blocks such as `\\p{{{name}}}` are not offered; categories such as `\\p{{Lu}}` are"
                ));
            }
            let valid = (1..=2).contains(&name.len()) && name.chars().all(|letter| letter.is_ascii_alphabetic());
            if !valid {
                return Err(format!("{name:?} is no category"));
            }
            out.push_str(&format!("\\{property}{{{name}}}"));
        }
        Some('1'..='9') => return Err("back-references such as `\\1` are not offered".to_owned()),
        Some(letter @ ('\\' | '|' | '.' | '?' | '*' | '+' | '(' | ')' | '{' | '}' | '-' | '[' | ']' | '^' | '$')) => {
            out.extend(['\\', letter]);
        }
        Some(other) => return Err(format!("`\\{other}` means nothing")),
        None => return Err("the `\\` at its end has nothing behind it".to_owned()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;

    #[test]
    fn patterns_take_what_the_standard_says() {
        let check = |pattern: &str, flags: &str, text: &str, expected: bool| {
            let compiled = Pattern::new(pattern, flags).expect(pattern);
            assert_eq!(compiled.regex.is_match(text), expected, "{pattern} {flags} {text:?}");
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
        check(r"^\i\c*$", "", "a-1", true);
        check(r"^\i\c*$", "", "-a", false);
        check(r"^[\w-]+$", "", "a-b", true);
        check("^[&&~~]+$", "", "&~", true);
        check("^[+-]$", "", "-", true);
        check(r"^(?:ab){2}$", "", "abab", true);
        check(r"\p{Lu}", "", "aB", true);
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_a_reason() {
        let check = |pattern: &str, part: &str| {
            let error = Pattern::new(pattern, "").expect_err(pattern).to_string();
            assert!(error.contains(part), "{pattern}: {error}");
        };
        check("a{,2}", "number of times");
        check(r"(a)\1", "back-references");
        check("(?=a)", "only `:`");
        check("[a", "`]` is missing");
        check("a]", "outside");
        check("[]", "takes no character");
        check(r"\p{IsGreek}", "blocks");
        check(r"\q", "means nothing");
        check("(", "unclosed group");
        check("*", "repetition operator missing expression");
        assert!(Pattern::new("a", "y").is_err());
    }
}
