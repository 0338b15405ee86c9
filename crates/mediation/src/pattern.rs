//! Regular expressions as configurations write them: Java's, run by the `regex` crate.
//!
//! The two differ in what letters mean (Java's `\d`, `\w` and `\s` are ASCII, its `.` stops at more line ends)
//! and in what exists (look-around, back-references and possessive repetition need backtracking,
//! which hostile input can make take for ever). The first is translated, the second refused when loading.

use std::borrow::Cow;

use regex::Regex;

/// A pattern that a whole value must match, as Java's `Matcher.matches` has it.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// As the configuration has it.
    java: String,
    regex: Regex,
    // Most patterns of real configurations are plain words, which need no engine.
    is_literal: bool,
}

/// Patterns longer than this are refused.
const LIMIT_BYTES: usize = 16 * 1024;

impl Pattern {
    /// Compiles a pattern.
    ///
    /// Errors: a sentence that says what of Java's syntax is not offered, or what is wrong; the configuration's.
    pub(crate) fn compile(java: &str) -> Result<Pattern, String> {
        let regex = compile(java, |translated| format!("^(?:{translated})$"))?;
        let is_literal = !java.contains(|letter: char| r"\.[]{}()*+?^$|".contains(letter));
        Ok(Pattern { java: java.to_owned(), regex, is_literal })
    }

    /// Whether the whole value matches.
    pub(crate) fn matches(&self, value: &str) -> bool {
        if self.is_literal { self.java == value } else { self.regex.is_match(value) }
    }

    /// The pattern as it is read by people.
    pub(crate) fn label(&self) -> &str {
        &self.java
    }

    /// The text of a group where the whole value matches; group 0 is the value.
    pub(crate) fn group<'v>(&self, value: &'v str, group: usize) -> Option<&'v str> {
        self.regex.captures(value)?.get(group).map(|found| found.as_str())
    }

    /// How many groups there are, the whole not counted.
    pub(crate) fn groups(&self) -> usize {
        self.regex.captures_len() - 1
    }
}

/// A pattern of Java's as one of ours.
///
/// Errors: as [`Pattern::compile`].
pub(crate) fn translated(java: &str) -> Result<Regex, String> {
    compile(java, str::to_owned)
}

/// A pattern that is looked for in a value, as Java's `String.replaceAll` has it.
#[derive(Debug)]
pub(crate) struct Finder {
    regex: Regex,
}

impl Finder {
    /// Compiles a pattern.
    ///
    /// Errors: as [`Pattern::compile`].
    pub(crate) fn compile(java: &str) -> Result<Finder, String> {
        compile(java, str::to_owned).map(|regex| Finder { regex })
    }

    /// Whether it is found somewhere in a value.
    pub(crate) fn finds(&self, value: &str) -> bool {
        self.regex.is_match(value)
    }

    /// The parts of a value between what is found, without empty ones at the end; nothing is found at the very start
    /// that has no length.
    ///
    /// Source: `java.lang.String.split`.
    pub(crate) fn split<'v>(&self, value: &'v str) -> Vec<&'v str> {
        let (mut parts, mut start) = (Vec::new(), 0);
        for found in self.regex.find_iter(value).filter(|found| found.end() > 0) {
            // An empty match at the end parts nothing.
            if found.start() < value.len() || !found.is_empty() {
                parts.push(&value[start..found.start()]);
                start = found.end();
            }
        }
        // A value in which nothing was found is its only part, even an empty one.
        if parts.is_empty() {
            return vec![value];
        }
        parts.push(&value[start..]);
        let end = parts.iter().rposition(|part| !part.is_empty()).map_or(0, |last| last + 1);
        parts.truncate(end);
        parts
    }

    /// Whether a text can take the place of what is found.
    ///
    /// Errors: a sentence that says what in it stands for nothing.
    pub(crate) fn check(&self, with: &str) -> Result<(), String> {
        self.pieces(with).map(|_| ())
    }

    /// The value with another text in the place of all that is found; in it `$1` and `${name}` stand for groups,
    /// and a backslash makes the next letter stand for itself.
    ///
    /// Errors: as [`Finder::check`]; where the result would be longer than `limit_bytes`.
    /// Source: `java.util.regex.Matcher.appendReplacement`.
    pub(crate) fn replace_all(&self, value: &str, with: &str, limit_bytes: usize) -> Result<String, String> {
        let pieces = self.pieces(with)?;
        let (mut out, mut copied, mut at) = (String::new(), 0, 0);
        // Java finds an empty match right behind another match, too.
        while let Some(found) = self.regex.captures_at(value, at) {
            let whole = found.get_match();
            out.push_str(&value[copied..whole.start()]);
            for piece in &pieces {
                out.push_str(match piece {
                    Piece::Text(text) => text,
                    Piece::Group(group) => found.get(*group).map_or("", |group| group.as_str()),
                });
                if out.len() > limit_bytes {
                    return Err(format!("a replacement makes a text longer than {limit_bytes} bytes"));
                }
            }
            copied = whole.end();
            at = copied;
            if whole.is_empty() {
                let Some(letter) = value[at..].chars().next() else { break };
                at += letter.len_utf8();
            }
        }
        out.push_str(&value[copied..]);
        Ok(out)
    }

    fn pieces(&self, with: &str) -> Result<Vec<Piece>, String> {
        let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), with);
        while let Some(at) = rest.find(['\\', '$']) {
            text.push_str(&rest[..at]);
            let (is_group, behind) = (rest[at..].starts_with('$'), &rest[at + 1..]);
            if is_group {
                let (group, behind) = self.group(behind)?;
                pieces.extend([Piece::Text(std::mem::take(&mut text)), Piece::Group(group)]);
                rest = behind;
            } else {
                let letter = behind.chars().next().ok_or("a replacement ends with a backslash")?;
                text.push(letter);
                rest = &behind[letter.len_utf8()..];
            }
        }
        text.push_str(rest);
        pieces.push(Piece::Text(text));
        Ok(pieces)
    }

    /// The group that a text begins with, and what follows: as many digits as make the number of a group.
    fn group<'t>(&self, text: &'t str) -> Result<(usize, &'t str), String> {
        if let Some((name, behind)) = text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            let group = self.regex.capture_names().position(|known| known == Some(name));
            return group.map(|group| (group, behind)).ok_or_else(|| format!("there is no group {name:?}"));
        }
        let digit =
            |at: usize| text[at..].chars().next().and_then(|digit| digit.to_digit(10)).map(|digit| digit as usize);
        let mut group =
            digit(0).ok_or("a dollar sign in a replacement stands before a group; \\$ is the sign itself")?;
        if group >= self.regex.captures_len() {
            return Err(format!("there is no group {group}"));
        }
        let mut end = 1;
        while let Some(longer) = digit(end).map(|digit| group * 10 + digit).filter(|&n| n < self.regex.captures_len()) {
            group = longer;
            end += 1;
        }
        Ok((group, &text[end..]))
    }
}

/// A part of what takes the place of a match.
enum Piece {
    Text(String),
    Group(usize),
}

/// Compiles what `whole` makes of a translated pattern.
fn compile(java: &str, whole: impl Fn(&str) -> String) -> Result<Regex, String> {
    if java.len() > LIMIT_BYTES {
        return Err(format!("the regular expression is longer than {LIMIT_BYTES} bytes"));
    }
    let translated = translate(java)?;
    Regex::new(&whole(&translated)).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "the regular expression is too large".to_owned(),
        _ => {
            // The parser's own text shows the wrapped pattern over several lines; its last one is the reason.
            let reason = Regex::new(&translated).map_or_else(|error| error.to_string(), |_| String::new());
            let reason = reason.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
            format!("not a regular expression: {reason}")
        }
    })
}

fn translate(java: &str) -> Result<String, String> {
    let dot_matches_all = java.contains("(?s") || java.contains("(?is") || java.contains("(?ms");
    let mut out = String::with_capacity(java.len() + 16);
    let mut rest = java;
    let mut class_depth = 0_usize;
    // Whether the last item was a repetition, so that a plus behind it would be possessive.
    let mut repeated = false;
    while let Some(letter) = rest.chars().next() {
        let behind = &rest[letter.len_utf8()..];
        let was_repeated = std::mem::replace(&mut repeated, false);
        match letter {
            '\\' => {
                rest = escape(behind, class_depth > 0, &mut out)?;
                continue;
            }
            '[' => class_depth += 1,
            ']' if class_depth > 0 => class_depth -= 1,
            _ if class_depth > 0 => {}
            '(' if behind.starts_with('?') => refuse_group(behind)?,
            '.' if !dot_matches_all => {
                out.push_str(r"[^\n\r\u{85}\u{2028}\u{2029}]");
                rest = behind;
                continue;
            }
            '+' if was_repeated => return Err("possessive repetition (`++`, `*+`, `?+`) is not offered".to_owned()),
            '*' | '+' | '?' | '}' => repeated = true,
            _ => {}
        }
        out.push(letter);
        rest = behind;
    }
    Ok(out)
}

/// Java's groups that need backtracking.
fn refuse_group(behind: &str) -> Result<(), String> {
    let refused = [
        ("?=", "look-ahead"),
        ("?!", "look-ahead"),
        ("?<=", "look-behind"),
        ("?<!", "look-behind"),
        ("?>", "an atomic group"),
    ];
    match refused.iter().find(|(start, _)| behind.starts_with(start)) {
        Some((start, name)) => Err(format!("{name} `({start}…)` is not offered in regular expressions")),
        None => Ok(()),
    }
}

/// Translates one escape; gives what follows it.
fn escape<'a>(behind: &'a str, in_class: bool, out: &mut String) -> Result<&'a str, String> {
    let Some(letter) = behind.chars().next() else {
        return Err("not a regular expression: it ends with a backslash".to_owned());
    };
    let rest = &behind[letter.len_utf8()..];
    let class = |inside: &str, outside: &str| if in_class { inside.to_owned() } else { outside.to_owned() };
    match letter {
        'd' => out.push_str(&class("0-9", "[0-9]")),
        'D' => out.push_str("[^0-9]"),
        'w' => out.push_str(&class("a-zA-Z0-9_", "[a-zA-Z0-9_]")),
        'W' => out.push_str("[^a-zA-Z0-9_]"),
        's' => out.push_str(&class(r" \t\n\x0B\f\r", r"[ \t\n\x0B\f\r]")),
        'S' => out.push_str(r"[^ \t\n\x0B\f\r]"),
        'h' => out.push_str(&class(r" \t\u{A0}", r"[ \t\u{A0}]")),
        'R' if !in_class => out.push_str(r"(?:\r\n|[\n\x0B\f\r\u{85}\u{2028}\u{2029}])"),
        'e' => out.push_str(r"\x1B"),
        // The regex crate reads these two as edges of words.
        '<' | '>' => out.push(letter),
        '1'..='9' | 'k' => return Err("back-references are not offered in regular expressions".to_owned()),
        '0' | 'c' | 'G' | 'Z' | 'X' | 'v' | 'H' | 'V' | 'N' => {
            return Err(format!("`\\{letter}` is not offered in regular expressions"));
        }
        'p' | 'P' => return property(letter, rest, out),
        'Q' => {
            let (inside, rest) = rest.split_once(r"\E").unwrap_or((rest, ""));
            out.push_str(&regex::escape(inside));
            return Ok(rest);
        }
        other if other.is_ascii_alphanumeric() || other.is_ascii_punctuation() || other == ' ' => {
            out.push('\\');
            out.push(other);
        }
        other => out.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
    }
    Ok(rest)
}

/// Java's names for ASCII classes; Unicode's own names are the same in both.
fn property<'a>(letter: char, rest: &'a str, out: &mut String) -> Result<&'a str, String> {
    let Some((name, behind)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
        out.push('\\');
        out.push(letter);
        return Ok(rest);
    };
    let ascii = match name {
        "Lower" => "lower",
        "Upper" => "upper",
        "ASCII" => "ascii",
        "Alpha" => "alpha",
        "Digit" => "digit",
        "Alnum" => "alnum",
        "Punct" => "punct",
        "Graph" => "graph",
        "Print" => "print",
        "Blank" => "blank",
        "Cntrl" => "cntrl",
        "XDigit" => "xdigit",
        "Space" => "space",
        _ if name.starts_with("java") => return Err(format!("`\\p{{{name}}}` is not offered in regular expressions")),
        _ => {
            let name: Cow<'_, str> = name.strip_prefix("Is").map_or(name.into(), Into::into);
            out.push_str(&format!("\\{letter}{{{name}}}"));
            return Ok(behind);
        }
    };
    let negation = if letter == 'P' { "^" } else { "" };
    out.push_str(&format!("[[:{negation}{ascii}:]]"));
    Ok(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_the_whole_value_as_java_does() {
        let check = |pattern: &str, value: &str, expected: bool| {
            assert_eq!(Pattern::compile(pattern).unwrap().matches(value), expected, "{pattern} on {value:?}");
        };
        check("IBM", "IBM", true);
        check("IBM", "IBM2", false);
        check("a|ab", "ab", true);
        check("^IB\\w*", "IBM", true);
        check("^$", "", true);
        check(".*", "a\nb", false);
        check(".*", "a\rb", false);
        check("(?s).*", "a\nb", true);
        check("(?i)ibm", "iBm", true);
        check("\\d+", "12", true);
        check("\\d+", "\u{0661}", false);
        check("\\w", "é", false);
        check("[\\d\\-]+", "1-2", true);
        check("[^\\s]+", "a b", false);
        check("\\Qa.b\\E", "a.b", true);
        check("\\Qa.b\\E", "axb", false);
        check("\\p{Upper}+", "AB", true);
        check("\\p{Alpha}", "é", false);
        check("\\p{L}", "é", true);
        check("\\P{Digit}", "1", false);
        check("a\\<b", "a<b", true);
        check("a\\/b\\.c", "a/b.c", true);
        check("[a-z&&[^b]]", "b", false);
        check("a{2,3}", "aaa", true);
        check("\\x41\\u0042", "AB", true);
        check("[+]+", "++", true);
        check(".*SimpleStockQuoteService.*", "http://h/SimpleStockQuoteService?x", true);
        check("x$", "x\n", false);
    }

    #[test]
    fn what_needs_backtracking_is_refused_by_name() {
        let check = |pattern: &str, word: &str| {
            let message = Pattern::compile(pattern).unwrap_err();
            assert!(message.contains(word), "{pattern}: {message}");
        };
        check("(?=a)b", "look-ahead");
        check("(?!a)b", "look-ahead");
        check("(?<=a)b", "look-behind");
        check("(?<!a)b", "look-behind");
        check("(?>a)b", "atomic");
        check("(a)\\1", "back-reference");
        check("a++b", "possessive");
        check("a*+", "possessive");
        check("a{1}+", "possessive");
        check("(a", "not a regular expression");
        check("a\\", "backslash");
        check("\\p{javaLowerCase}", "javaLowerCase");
    }

    #[test]
    fn groups_are_those_of_the_whole_match() {
        let pattern = Pattern::compile("([a-z]+)([0-9]+)").unwrap();
        assert_eq!(pattern.group("abc123", 2), Some("123"));
        assert_eq!(pattern.group("abc123x", 2), None);
        assert_eq!(pattern.groups(), 2);
    }

    #[test]
    fn a_value_is_split_as_java_does() {
        let check = |pattern: &str, value: &str, expected: &[&str]| {
            assert_eq!(Finder::compile(pattern).unwrap().split(value), expected, "{pattern} on {value:?}");
        };
        check(",", "a,b,,c,,", &["a", "b", "", "c"]);
        check(",", ",a", &["", "a"]);
        check(",", "abc", &["abc"]);
        check(",", "", &[""]);
        check(",", ",,", &[]);
        check("", "abc", &["a", "b", "c"]);
        check("[, ]", "a b,c", &["a", "b", "c"]);
        check("x*", "axb", &["a", "b"]);
    }

    #[test]
    fn what_is_found_is_replaced_as_java_does() {
        let check = |pattern: &str, value: &str, with: &str, expected: Result<&str, &str>| {
            let replaced = Finder::compile(pattern).unwrap().replace_all(value, with, 100);
            match (replaced, expected) {
                (Ok(text), Ok(expected)) => assert_eq!(text, expected, "{pattern} on {value:?}"),
                (Err(message), Err(part)) => assert!(message.contains(part), "{pattern} on {value:?}: {message}"),
                (replaced, _) => panic!("{pattern} on {value:?}: {replaced:?}"),
            }
        };
        check("soap", "/soap/soap", "services", Ok("/services/services"));
        check("/s(o)ap/(.)", "/soap/a", r"/$2$1\$", Ok("/ao$"));
        check("(?<name>a)|b", "ab", "<${name}>", Ok("<a><>"));
        check("(a)", "a", "$12", Ok("a2"));
        check("\\w*", "http", "X", Ok("XX"));
        check("x*", "aé", "-", Ok("-a-é-"));
        check("", "", "-", Ok("-"));
        check("a", "b", "$0", Ok("b"));
        check("a", "b", "$3", Err("no group 3"));
        check("a", "b", "${b}", Err("no group \"b\""));
        check("a", "b", "$", Err("before a group"));
        check("a", "b", "\\", Err("backslash"));
        check("a", "aa", &"b".repeat(60), Err("longer than 100"));
    }
}
