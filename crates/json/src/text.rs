//! Strings as JSON writes them and as they are meant.

use std::borrow::Cow;

use crate::words;

/// What stands between the quotes of a string, with its escapes resolved.
///
/// `raw` is what the reader let through: valid UTF-8, every escape complete.
/// Half a surrogate pair, which the grammar allows and no text can hold, becomes U+FFFD.
/// Source: RFC 8259 §7.
pub fn unescape(raw: &[u8]) -> Cow<'_, str> {
    match memchr::memchr(b'\\', raw) {
        None => String::from_utf8_lossy(raw),
        Some(first) => Cow::Owned(resolve(raw, first)),
    }
}

fn resolve(raw: &[u8], first: usize) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut next = Some(first);
    while let Some(backslash) = next {
        text.push_str(&String::from_utf8_lossy(&rest[..backslash]));
        let (character, length) = escape_at(&rest[backslash..]);
        text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &rest[backslash + length..];
        next = memchr::memchr(b'\\', rest);
    }
    text.push_str(&String::from_utf8_lossy(rest));
    text
}

/// The character of the escape that `bytes` start with, `None` for half a surrogate pair, and its length in bytes.
pub fn escape_at(bytes: &[u8]) -> (Option<char>, usize) {
    let simple = match bytes.get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_at(bytes),
        Some(&byte) => char::from(byte),
        // Not from a reader: a lone backslash at the end stands for itself.
        None => return (Some('\\'), 1),
    };
    (Some(simple), 2)
}

/// `\uXXXX`, or two of them that make one character.
fn unicode_at(bytes: &[u8]) -> (Option<char>, usize) {
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6).filter(|digits| digits.starts_with(b"\\u"))?;
        u32::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    let Some(first) = unit(0) else { return (None, bytes.len().min(6)) };
    if (0xD800..0xDC00).contains(&first)
        && let Some(second @ 0xDC00..0xE000) = unit(6)
    {
        let point = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return (char::from_u32(point), 12);
    }
    (char::from_u32(first), 6)
}

/// Writes `text` as a JSON string, quotes included: only what must be escaped is.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    while let Some(index) = words::find(bytes, copied, words::stops) {
        out.extend_from_slice(&bytes[copied..index]);
        copied = index + 1;
        let byte = bytes[index];
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            _ => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.push(DIGITS[usize::from(byte >> 4)]);
                out.push(DIGITS[usize::from(byte & 15)]);
            }
        }
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

/// Whether a raw string means `text`, without building it where it has no escapes.
pub(crate) fn means(raw: &[u8], escaped: bool, text: &str) -> bool {
    if escaped { unescape(raw) == text } else { raw == text.as_bytes() }
}

/// A JSON text without the white space between its tokens.
pub(crate) fn compact(json: &[u8]) -> String {
    let mut out = Vec::with_capacity(json.len());
    let (mut quoted, mut escaped) = (false, false);
    for &byte in json {
        if quoted || !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            out.push(byte);
        }
        quoted ^= byte == b'"' && !escaped;
        escaped = quoted && byte == b'\\' && !escaped;
    }
    into_string(out)
}

/// What was written as JSON, as text.
pub(crate) fn into_string(json: Vec<u8>) -> String {
    String::from_utf8(json).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_what_they_mean() {
        let check = |raw: &str, expected: &str| assert_eq!(unescape(raw.as_bytes()), expected, "{raw}");
        check("", "");
        check("plain ß", "plain ß");
        check(r#"a\"b\\c\/d"#, r#"a"b\c/d"#);
        check(r"\b\f\n\r\t", "\u{8}\u{c}\n\r\t");
        check(r"\u0041\u00df\u20AC", "Aß€");
        check(r"\ud83d\ude00!", "😀!");
        check(r"\ud83d", "\u{fffd}");
        check(r"\ud83dx\ude00", "\u{fffd}x\u{fffd}");
        check(r"\ud83d\ud83d\ude00", "\u{fffd}😀");
    }

    #[test]
    fn what_is_written_reads_back() {
        let text: String = (0..0x250).filter_map(char::from_u32).collect();
        let mut out = Vec::new();
        write_string(&text, &mut out);
        assert_eq!(unescape(&out[1..out.len() - 1]), text);
        assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
    }
}
