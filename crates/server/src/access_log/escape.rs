//! Texts of messages in a line of the access log: nothing of them ends a line, closes a quote or drives a terminal.

use std::borrow::Cow;

use myelin_logging::is_unsafe;
use myelin_observe::secrets::is_secret_name;

/// What stands in the place of a secret.
const MASK: &str = "****";

/// A text between quotes: quotes, backslashes, and what could begin a line are escaped.
pub(super) fn push_escaped(out: &mut Vec<u8>, text: &str) {
    let is_plain = |byte: u8| (b' '..0x7f).contains(&byte) && !matches!(byte, b'"' | b'\\');
    if text.bytes().all(is_plain) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend_from_slice(&[b'\\', letter as u8]),
            letter if letter == '\t' || is_unsafe(letter) => out.extend(letter.escape_default().map(|c| c as u8)),
            letter => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// A text that stands between blanks: none of its letters is one, nor a quote.
pub(super) fn push_word(out: &mut Vec<u8>, text: &str) {
    let is_harmless = |byte: u8| byte.is_ascii_graphic() && byte != b'"';
    if text.bytes().all(is_harmless) {
        out.extend_from_slice(text.as_bytes());
    } else {
        let text = text.replace(|letter: char| is_unsafe(letter) || matches!(letter, ' ' | '\t' | '"'), "_");
        out.extend_from_slice(text.as_bytes());
    }
}

/// A target, or its query, with the values of parameters masked that are secrets by their names.
pub(super) fn push_masked_target(out: &mut Vec<u8>, target: &str) {
    push_escaped(out, &masked_target(target));
}

/// The same as a text, in which nothing is escaped.
pub(super) fn masked_target(target: &str) -> Cow<'_, str> {
    let Some((path, query)) = target.split_once('?') else { return Cow::Borrowed(target) };
    let masked = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        (!value.is_empty() && is_secret(name)).then(|| format!("{name}={MASK}"))
    };
    if !query.split('&').any(|pair| masked(pair).is_some()) {
        return Cow::Borrowed(target);
    }
    let pairs: Vec<String> = query.split('&').map(|pair| masked(pair).unwrap_or_else(|| pair.to_owned())).collect();
    Cow::Owned(format!("{path}?{}", pairs.join("&")))
}

/// Whether a parameter of that name is a secret; percent signs do not hide it.
fn is_secret(name: &str) -> bool {
    if name.contains('%') { is_secret_name(&decoded(name)) } else { is_secret_name(name) }
}

/// A name without its percent signs (RFC 3986 §2.1); what is no such sign stays.
fn decoded(name: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), name.as_bytes());
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            out.push(byte);
            rest = &behind[2..];
        } else {
            out.push(first);
            rest = behind;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A number in decimal digits, with zeros before it up to a width.
pub(super) fn push_digits(out: &mut Vec<u8>, mut number: u64, width: usize) {
    // As many as the largest number has.
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    while number > 0 {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits[first.min(digits.len() - width)..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_query_are_masked_by_their_names_and_nothing_can_be_forged() {
        let check = |target: &str, expected: &str| {
            let mut out = Vec::new();
            push_masked_target(&mut out, target);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{target}");
        };
        check("/a/b", "/a/b");
        check("/a?q=1&Password=x&access_token=y&token=", "/a?q=1&Password=****&access_token=****&token=");
        check("/a?p%61ssword=x&b", "/a?p%61ssword=****&b");
        check("/a\"b\\?c\n\u{1b}[2J=\u{2028}é", "/a\\\"b\\\\?c\\n\\u{1b}[2J=\\u{2028}é");
        assert_eq!(masked_target("/a?pwd=x&%"), "/a?pwd=****&%");
        let mut out = Vec::new();
        push_word(&mut out, "a b\nc\u{2028}d\te\"");
        assert_eq!(out, b"a_b_c_d_e_");
    }
}
