//! Secrets in forms, tables, URLs and plain text: `password=…`, `user:…@host`, `Bearer …`.

use std::ops::Range;

use super::names::{LONGEST_BYTES, Text};

/// The schemes of credentials that stand by themselves, in lower case (RFC 9110 §11).
const SCHEMES: &[&str] = &["basic ", "bearer "];

/// Shorter ones are words of a sentence: "a bearer token".
const SHORTEST_CREDENTIAL: usize = 8;

pub(super) fn find(kind: Text, text: &str, found: &mut Vec<Range<usize>>) {
    for at in memchr::memchr2_iter(b'=', b':', text.as_bytes()) {
        found.extend(assigned(kind, text, at));
    }
    for (at, separator) in text.match_indices("://") {
        found.extend(password_of(text, at + separator.len()));
    }
    for scheme in SCHEMES {
        found.extend(starts_of(text, scheme).filter_map(|start| credential(text, start + scheme.len())));
    }
}

/// The value behind an equals sign, or the colon of a table, where a secret is named before it.
fn assigned(kind: Text, text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at + 1..];
    let before = text[..at].trim_end();
    let unquoted = before.strip_suffix(['"', '\'']);
    // JSON is looked at elsewhere, and in a sentence a colon assigns nothing; behind the colon of a name with a prefix
    // is no value.
    if text.as_bytes()[at] == b':' && (kind == Text::Message || unquoted.is_some() || !rest.starts_with([' ', '\t'])) {
        return None;
    }
    let name = name_at_end(unquoted.unwrap_or(before));
    let value = rest.trim_start();
    (!name.is_empty() && kind.is_secret(name)).then(|| value_at(text, text.len() - value.len()))
}

/// The name that a text ends in.
fn name_at_end(text: &str) -> &str {
    let is_of_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'%' | b'[' | b']');
    let length = text.bytes().rev().take(LONGEST_BYTES).take_while(|byte| is_of_name(byte)).count();
    &text[text.len() - length..]
}

/// A value that begins there: what is between its quotation marks, or a word.
fn value_at(text: &str, start: usize) -> Range<usize> {
    let rest = &text[start..];
    if let Some(quote @ ('"' | '\'')) = rest.chars().next() {
        let end = rest[1..].find([quote, '\n']).map_or(text.len(), |offset| start + 1 + offset);
        return start + 1..end;
    }
    let is_end = |c: char| c.is_whitespace() || matches!(c, '&' | ';' | ',' | '"' | '\'' | '<' | '>' | '\\' | '}');
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
