//! What functions do with texts; lengths and places count UTF-16, as Java's do.

use std::borrow::Cow;

use myelin_content::Charset;
use myelin_java_text::pattern::Finder;
use myelin_java_text::percent::{Plus, decoded, is_broken, push_byte};
use myelin_json::text::write_string;

use crate::synapse::failure::{Failure, Result};
use crate::text::LIMIT_BYTES;

/// How many units of UTF-16 a text has.
pub(super) fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// The byte at which the unit stands; half a surrogate pair counts as its whole. `None` behind the end.
fn byte_at(text: &str, unit: i64) -> Option<usize> {
    let unit = usize::try_from(unit).ok()?;
    if text.is_ascii() {
        return (unit <= text.len()).then_some(unit);
    }
    let mut units = 0;
    for (at, letter) in text.char_indices() {
        if units >= unit {
            return Some(at);
        }
        units += letter.len_utf16();
    }
    (units >= unit).then_some(text.len())
}

/// The part of a text from one place to another, or to its end.
pub(super) fn part(text: &str, from: i64, to: Option<i64>) -> Result<String> {
    let outside = || Failure::Nothing(format!("no part from {from} of a text of {} characters", length(text)));
    let start = byte_at(text, from).ok_or_else(outside)?;
    let end = match to {
        Some(to) => byte_at(text, to).ok_or_else(outside)?,
        None => text.len(),
    };
    text.get(start..end).map(str::to_owned).ok_or_else(outside)
}

/// Where a part first stands, from a place on; -1 where it does not.
pub(super) fn index_of(text: &str, part: &str, from: i64) -> i64 {
    let Some(start) = byte_at(text, from.max(0)) else {
        return if part.is_empty() { length(text) as i64 } else { -1 };
    };
    text[start..].find(part).map_or(-1, |at| length(&text[..start + at]) as i64)
}

/// The text with every `from` replaced.
pub(super) fn replaced(text: &str, from: &str, to: &str) -> Result<String> {
    let found = text.matches(from).count();
    if text.len().saturating_add(found.saturating_mul(to.len())) > LIMIT_BYTES {
        return Err(Failure::too_long(LIMIT_BYTES));
    }
    Ok(text.replace(from, to))
}

/// The parts of a text between what is found, as a JSON array.
pub(super) fn split(text: &str, finder: &Finder) -> Result<String> {
    let mut json = vec![b'['];
    for part in finder.split(text) {
        if json.len() > 1 {
            json.push(b',');
        }
        write_string(part, &mut json);
        if json.len() > LIMIT_BYTES {
            return Err(Failure::too_long(LIMIT_BYTES));
        }
    }
    json.push(b']');
    Ok(String::from_utf8(json).unwrap_or_default())
}

/// The character set with that name.
fn charset(name: &str) -> Result<Charset> {
    Charset::of(name).ok_or_else(|| Failure::Nothing(format!("character set {name:?} is not offered")))
}

/// The bytes of a text in a character set.
pub(super) fn encoded<'a>(text: &'a str, name: &str) -> Result<Cow<'a, [u8]>> {
    Ok(charset(name)?.encode_text(text))
}

/// A text as `URLEncoder` writes it; a blank as `%20` where it `is_path`, which Synapse asks for of UTF-8.
pub(super) fn url_encoded(bytes: &[u8], is_path: bool) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => out.push(byte.into()),
            b'*' if !is_path => out.push('*'),
            b' ' if !is_path => out.push('+'),
            _ => push_byte(byte, &mut out),
        }
    }
    out
}

/// A text as `URLDecoder` reads it.
pub(super) fn url_decoded(text: &str) -> Result<String> {
    if is_broken(text) {
        return Err(Failure::Nothing("urlDecode(): a percent sign without two digits".to_owned()));
    }
    Ok(decoded(text, Plus::Blank).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_as_java_counts_them() {
        assert_eq!(length("aß😀"), 4);
        assert_eq!(part("aß😀b", 1, Some(4)).unwrap(), "ß😀");
        assert_eq!(part("abc", 3, None).unwrap(), "");
        assert!(part("abc", 4, None).is_err() && part("abc", -1, None).is_err() && part("abc", 2, Some(1)).is_err());
        assert_eq!(index_of("ß😀b", "b", 0), 3);
        assert_eq!(index_of("aXaX", "X", 2), 3);
        assert_eq!(index_of("abc", "c", 50), -1);
        assert_eq!(index_of("abc", "a", -5), 0);
    }

    #[test]
    fn a_text_is_encoded_in_the_character_set_that_is_asked_for() {
        assert_eq!(&*encoded("é€", "ISO-8859-1").unwrap(), b"\xe9?");
        assert_eq!(&*encoded("é", "us-ascii").unwrap(), b"?");
        assert_eq!(&*encoded("é", "UTF-16").unwrap(), b"\xfe\xff\0\xe9");
        assert!(encoded("é", "UTF-99").is_err());
        assert_eq!(url_encoded("a b*~é".as_bytes(), true), "a%20b%2A%7E%C3%A9");
        assert_eq!(url_encoded(b"a b*", false), "a+b*");
        assert_eq!(url_decoded("a+b%26%C3%A9").unwrap(), "a b&é");
        assert!(url_decoded("%2").is_err() && url_decoded("%zz").is_err());
    }

    #[test]
    fn a_replacement_that_explodes_ends() {
        let long = "a".repeat(1 << 20);
        assert!(matches!(replaced(&long, "", &long), Err(Failure::Fault(_))));
        assert_eq!(replaced("Hello", "l", "p").unwrap(), "Heppo");
    }
}
