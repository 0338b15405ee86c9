//! Secrets in forms, URLs and plain text: `password=…`, `user:…@host`, `Bearer …`.

use std::ops::Range;

use super::names::is_secret_name;

/// The schemes of credentials that stand by themselves, in lower case (RFC 9110 §11).
const SCHEMES: &[&str] = &["basic ", "bearer "];

/// Shorter ones are words of a sentence: "a bearer token".
const SHORTEST_CREDENTIAL: usize = 8;

/// Names are not longer than this.
const LONGEST_NAME_BYTES: usize = 128;

pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices('=') {
        if is_secret_name(name_before(text, at)) {
            found.push(value_behind(text, at + 1));
        }
    }
    for (at, separator) in text.match_indices("://") {
        found.extend(password_of(text, at + separator.len()));
    }
    for scheme in SCHEMES {
        found.extend(starts_of(text, scheme).filter_map(|start| credential(text, start + scheme.len())));
    }
}

/// The name that ends where an equals sign stands.
fn name_before(text: &str, end: usize) -> &str {
    let is_of_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'%' | b'[' | b']');
    let before = text.as_bytes()[..end].iter().rev();
    let length = before.take(LONGEST_NAME_BYTES).take_while(|byte| is_of_name(byte)).count();
    &text[end - length..end]
}

fn value_behind(text: &str, start: usize) -> Range<usize> {
    let rest = &text[start..];
    if let Some(quote @ ('"' | '\'')) = rest.chars().next() {
        let end = rest[1..].find(quote).map_or(text.len(), |offset| start + 1 + offset);
        return start + 1..end;
    }
    let is_end =
        |c: char| c.is_whitespace() || matches!(c, '&' | ';' | ',' | '"' | '\'' | '<' | '>' | '\\' | ')' | '#');
    start..rest.find(is_end).map_or(text.len(), |offset| start + offset)
}

/// The password of an authority, `user:password@host`, that begins there (RFC 3986 §3.2.1).
fn password_of(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    let is_end = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '<' | '>');
    let authority = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    let at = authority.rfind('@')?;
    let colon = authority[..at].find(':')?;
    Some(start + colon + 1..start + at)
}

/// Where a word begins, whatever its case.
fn starts_of<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    let is_word = move |(at, window): &(usize, &[u8])| {
        window.eq_ignore_ascii_case(word.as_bytes()) && !(*at > 0 && bytes[at - 1].is_ascii_alphanumeric())
    };
    bytes.windows(word.len()).enumerate().filter(is_word).map(|(at, _)| at)
}

fn credential(text: &str, start: usize) -> Option<Range<usize>> {
    let is_of_credential = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '.' | '_' | '~');
    let rest = &text[start..];
    let length = rest.find(|c: char| !is_of_credential(c)).unwrap_or(rest.len());
    (length >= SHORTEST_CREDENTIAL).then_some(start..start + length)
}
