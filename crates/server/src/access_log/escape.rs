//! Texts of messages in a line of the access log: nothing of them ends a line, closes a quote or drives a terminal.

use myelin_logging::is_unsafe;
use myelin_secrets::masked_target;

/// A text between quotes: quotes, backslashes, and what could begin a line are escaped.
pub(super) fn push_escaped(out: &mut Vec<u8>, text: &str) {
    let is_plain = |byte: u8| (b' '..0x7f).contains(&byte) & (byte != b'"') & (byte != b'\\');
    if all(text, is_plain) {
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
    let is_harmless = |byte: u8| byte.is_ascii_graphic() & (byte != b'"');
    if all(text, is_harmless) {
        out.extend_from_slice(text.as_bytes());
    } else {
        let text = text.replace(|letter: char| is_unsafe(letter) || matches!(letter, ' ' | '\t' | '"'), "_");
        out.extend_from_slice(text.as_bytes());
    }
}

/// Whether all bytes of a text are such; none ends the look early, so that many are looked at together.
fn all(text: &str, is_such: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(true, |all, byte| all & is_such(byte))
}

/// A target, or its query, with the values of parameters masked that are secrets by their names.
pub(super) fn push_masked_target(out: &mut Vec<u8>, target: &str) {
    push_escaped(out, &masked_target(target));
}

/// A number in decimal digits, with zeros before it up to a width.
pub(super) fn push_digits(out: &mut Vec<u8>, number: u64, width: usize) {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(number);
    for _ in digits.len()..width {
        out.push(b'0');
    }
    out.extend_from_slice(digits.as_bytes());
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
        let mut out = Vec::new();
        push_word(&mut out, "a b\nc\u{2028}d\te\"");
        assert_eq!(out, b"a_b_c_d_e_");
    }
}
