//! Regular expressions as configurations write them: Java's, run by the `regex` crate.
//!
//! The two differ in what letters mean (Java's `\d`, `\w` and `\s` are ASCII, its `.` stops at more line ends)
//! and in what exists (look-around, back-references and possessive repetition need backtracking,
//! which hostile input can make take for ever). The first is translated, the second refused when loading.

mod replacement;
mod translate;
pub mod xpath;

use regex::{Captures, Regex, RegexBuilder};

pub use replacement::Replacement;
use translate::translate;

/// A pattern that a whole value must match, as Java's `Matcher.matches` has it.
#[derive(Debug)]
pub struct Pattern {
    /// As the configuration has it.
    java: String,
    regex: Regex,
    /// The only value that matches. Most patterns of real configurations are plain words, which need no engine.
    literal: Option<String>,
}

/// Patterns longer than this are refused.
const LIMIT_BYTES: usize = 16 * 1024;

impl Pattern {
    /// Compiles a pattern.
    ///
    /// Errors: a sentence that says what of Java's syntax is not offered, or what is wrong; the configuration's.
    pub fn compile(java: &str) -> Result<Pattern, String> {
        let regex = compiled(java, &Flags { is_whole: true, ..Flags::default() })?;
        Ok(Pattern { java: java.to_owned(), regex, literal: literal(java) })
    }

    /// Whether the whole value matches.
    pub fn matches(&self, value: &str) -> bool {
        match &self.literal {
            Some(literal) => literal == value,
            None => self.regex.is_match(value),
        }
    }

    /// The pattern as it is read by people.
    pub fn label(&self) -> &str {
        &self.java
    }

    /// The text of a group where the whole value matches; group 0 is the value.
    pub fn group<'v>(&self, value: &'v str, group: usize) -> Option<&'v str> {
        self.regex.captures(value)?.get(group).map(|found| found.as_str())
    }

    /// How many groups there are, the whole not counted.
    pub fn groups(&self) -> usize {
        self.regex.captures_len() - 1
    }
}

/// The text that a pattern stands for, where it is one.
fn literal(java: &str) -> Option<String> {
    let mut literal = String::with_capacity(java.len());
    let mut letters = java.chars();
    while let Some(letter) = letters.next() {
        literal.push(match letter {
            // Behind a backslash letters and digits mean something, and all else itself.
            '\\' => letters.next().filter(char::is_ascii_punctuation)?,
            '.' | '[' | ']' | '{' | '}' | '(' | ')' | '*' | '+' | '?' | '^' | '$' | '|' => return None,
            letter => letter,
        });
    }
    Some(literal)
}

/// A pattern of Java's as one of ours.
///
/// Errors: as [`Pattern::compile`].
pub fn translated(java: &str) -> Result<Regex, String> {
    compiled(java, &Flags::default())
}

/// What beside a pattern says how it is meant.
#[derive(Clone, Copy, Debug)]
pub struct Flags {
    /// Whether the whole value must match.
    pub is_whole: bool,
    /// Letters are the same in upper and lower case.
    pub caseless: bool,
    /// `^` and `$` stand for the ends of lines, too.
    pub multi_line: bool,
    /// The dot takes ends of lines, too.
    pub dot_all: bool,
    /// White space means nothing, and what stands behind `#` is a comment.
    pub comments: bool,
    /// A pattern that takes more memory once it is compiled is refused.
    pub limit_bytes: usize,
}

impl Default for Flags {
    fn default() -> Flags {
        Flags {
            is_whole: false,
            caseless: false,
            multi_line: false,
            dot_all: false,
            comments: false,
            limit_bytes: 10 << 20,
        }
    }
}

/// A pattern of Java's with its flags as one of ours.
///
/// Errors: as [`Pattern::compile`].
pub fn compiled(java: &str, flags: &Flags) -> Result<Regex, String> {
    if java.len() > LIMIT_BYTES {
        return Err(format!("the regular expression is longer than {LIMIT_BYTES} bytes"));
    }
    let mut translated = translate(java, flags.dot_all)?;
    if flags.is_whole {
        // The line feed ends a comment that the pattern may close with.
        let end = if flags.comments { "\n" } else { "" };
        translated = format!(r"\A(?:{translated}{end})\z");
    }
    let mut builder = RegexBuilder::new(&translated);
    builder.case_insensitive(flags.caseless).multi_line(flags.multi_line).dot_matches_new_line(flags.dot_all);
    builder.ignore_whitespace(flags.comments).size_limit(flags.limit_bytes);
    builder.build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "the regular expression is too large".to_owned(),
        _ => format!("not a regular expression: {}", reason(&error)),
    })
}

/// The last line of an error of the `regex` crate; those before draw the translated pattern, which nobody wrote.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or("it cannot be compiled").trim();
    last.trim_start_matches("error: ").to_owned()
}

/// The matches of a pattern in a value, one after the other: Java finds an empty one right behind another, too.
pub fn matches<'r, 'v>(regex: &'r Regex, value: &'v str) -> impl Iterator<Item = Captures<'v>> + use<'r, 'v> {
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let found = regex.captures_at(value, at?)?;
        let whole = found.get_match();
        at = match whole.is_empty() {
            false => Some(whole.end()),
            true => value[whole.end()..].chars().next().map(|letter| whole.end() + letter.len_utf8()),
        };
        Some(found)
    })
}

/// The parts of a value between the matches of a pattern, without empty ones at the end; nothing is found at the very
/// start that has no length.
///
/// Source: `java.lang.String.split`.
pub fn split<'v>(regex: &Regex, value: &'v str) -> Vec<&'v str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for found in regex.find_iter(value).filter(|found| found.end() > 0) {
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

/// A pattern that is looked for in a value, as Java's `String.replaceAll` has it.
#[derive(Debug)]
pub struct Finder {
    regex: Regex,
}

impl Finder {
    /// Compiles a pattern.
    ///
    /// Errors: as [`Pattern::compile`].
    pub fn compile(java: &str) -> Result<Finder, String> {
        translated(java).map(|regex| Finder { regex })
    }

    /// Whether it is found somewhere in a value.
    pub fn finds(&self, value: &str) -> bool {
        self.regex.is_match(value)
    }

    /// The parts of a value between what is found; see [`split`].
    pub fn split<'v>(&self, value: &'v str) -> Vec<&'v str> {
        split(&self.regex, value)
    }

    /// Whether a text can take the place of what is found.
    ///
    /// Errors: as [`Replacement::java`].
    pub fn check(&self, with: &str) -> Result<(), String> {
        Replacement::java(with, &self.regex).map(|_| ())
    }

    /// The value with another text in the place of all that is found, which may name groups.
    ///
    /// Errors: as [`Replacement::java`]; where the result would be longer than `limit_bytes`.
    pub fn replace_all(&self, value: &str, with: &str, limit_bytes: usize) -> Result<String, String> {
        let replacement = Replacement::java(with, &self.regex)?;
        let (mut out, mut copied) = (String::new(), 0);
        for found in matches(&self.regex, value) {
            let whole = found.get_match();
            out.push_str(&value[copied..whole.start()]);
            replacement.push(&mut out, |group| found.get(group).map_or("", |group| group.as_str()));
            if out.len() > limit_bytes {
                return Err(format!("a replacement makes a text longer than {limit_bytes} bytes"));
            }
            copied = whole.end();
        }
        out.push_str(&value[copied..]);
        Ok(out)
    }
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
        check("a;b#1\\.0##", "a;b#1.0##", true);
        check("a;b#1\\.0##", "a;b#1x0##", false);
        check("a\\\\b", "a\\b", true);
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
