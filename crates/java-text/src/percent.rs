//! Percent-encoding (RFC 3986 §2.1), done and undone.

use std::borrow::Cow;

/// What a plus stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plus {
    /// For itself, as in a path.
    Itself,
    /// For a blank, as in the parameters of a form and, with Java, of a query.
    Blank,
}

/// The text as it was before it was put into a URI; broken escapes stay, and what is not UTF-8 then is replaced.
pub fn decoded(text: &str, plus: Plus) -> Cow<'_, str> {
    match decoded_bytes(text, plus) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// The same for a text in any character set.
pub fn decoded_bytes(text: &str, plus: Plus) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'%', b'+', text.as_bytes()).is_none() {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        let digit = |at: usize| behind.get(at).and_then(|&digit| char::from(digit).to_digit(16));
        match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &behind[2..];
            }
            (b'+', ..) if plus == Plus::Blank => bytes.push(b' '),
            _ => bytes.push(byte),
        }
    }
    Cow::Owned(bytes)
}

/// Whether a percent sign has no two digits behind it.
pub fn is_broken(text: &str) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'%', bytes).any(|at| !is_digit(bytes.get(at + 1)) || !is_digit(bytes.get(at + 2)))
}

/// The text with `%` and two digits for each byte of its UTF-8 that is not kept.
///
/// Shape: only bytes of ASCII are kept, whatever `is_kept` says of the others.
pub fn encoded(text: &str, is_kept: impl Fn(u8) -> bool) -> Cow<'_, str> {
    let is_kept = |byte: u8| byte.is_ascii() && is_kept(byte);
    if text.bytes().all(is_kept) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    push(text.as_bytes(), is_kept, &mut out);
    Cow::Owned(out)
}

/// Writes bytes behind what is there, those that are not kept as `%` and two digits.
///
/// Shape: as [`encoded`].
pub fn push(bytes: &[u8], is_kept: impl Fn(u8) -> bool, out: &mut String) {
    for &byte in bytes {
        if byte.is_ascii() && is_kept(byte) {
            out.push(char::from(byte));
        } else {
            push_byte(byte, out);
        }
    }
}

/// Writes a byte as `%` and two digits.
pub fn push_byte(byte: u8, out: &mut String) {
    let digit = |half: u8| char::from(b"0123456789ABCDEF"[usize::from(half)]);
    out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_broken_escapes_stay() {
        let check = |text: &str, expected: &str| assert_eq!(decoded(text, Plus::Blank), expected);
        check("a%20b+c", "a b c");
        check("100%", "100%");
        check("%zz%4", "%zz%4");
        check("%c3%a9", "é");
        check("%FF", "\u{FFFD}");
        check("plain", "plain");
        assert_eq!(decoded("a%2Bb+c", Plus::Itself), "a+b+c");
        assert!(is_broken("100%") && is_broken("%4") && is_broken("%zz") && !is_broken("%c3%a9"));
    }

    #[test]
    fn bytes_that_are_not_kept_are_encoded() {
        assert_eq!(encoded("a/b é%", |byte| byte.is_ascii_alphanumeric()), "a%2Fb%20%C3%A9%25");
        assert!(matches!(encoded("plain", |_| true), Cow::Borrowed("plain")));
        assert_eq!(encoded("é", |_| true), "%C3%A9");
    }
}
