//! Texts of messages in a line of the access log: nothing of them ends a line, closes a quote or drives a terminal.

use myelin_logging::is_unsafe;
use myelin_secrets::masked_target;

/// A text between quotes: quotes, backslashes, and what could begin a line are escaped.
pub(super) fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    if all(text, is_plain) {
        out.extend_from_slice(text);
        return;
    }
    for letter in String::from_utf8_lossy(text).chars() {
        match letter {
            '"' | '\\' => out.extend_from_slice(&[b'\\', letter as u8]),
            letter if letter == '\t' || is_unsafe(letter) => out.extend(letter.escape_default().map(|c| c as u8)),
            letter => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// Whether a byte stands for itself between quotes.
fn is_plain(byte: u8) -> bool {
    (b' '..0x7f).contains(&byte) & (byte != b'"') & (byte != b'\\')
}

/// A text that stands between blanks: none of its letters is one, nor a quote.
pub(super) fn push_word(out: &mut Vec<u8>, text: &[u8]) {
    let is_harmless = |byte: u8| byte.is_ascii_graphic() & (byte != b'"');
    if all(text, is_harmless) {
        out.extend_from_slice(text);
    } else {
        let text = String::from_utf8_lossy(text);
        let text = text.replace(|letter: char| is_unsafe(letter) || matches!(letter, ' ' | '\t' | '"'), "_");
        out.extend_from_slice(text.as_bytes());
    }
}

/// Whether all bytes of a text are such; none ends the look early, so that many are looked at together.
fn all(text: &[u8], is_such: impl Fn(u8) -> bool) -> bool {
    text.iter().fold(true, |all, byte| all & is_such(*byte))
}

/// A target, or its query, with the values of parameters masked that are secrets by their names.
pub(super) fn push_masked_target(out: &mut Vec<u8>, target: &[u8]) {
    // Only a query has parameters.
    if all(target, |byte| is_plain(byte) & (byte != b'?')) {
        out.extend_from_slice(target);
    } else {
        push_escaped(out, masked_target(&String::from_utf8_lossy(target)).as_bytes());
    }
}

/// A number in decimal digits.
pub(super) fn push_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// The last decimal digits of a number, with zeros before it.
pub(super) fn digits<const WIDTH: usize>(mut number: u32) -> [u8; WIDTH] {
    let mut digits = [b'0'; WIDTH];
    for digit in digits.iter_mut().rev() {
        *digit += (number % 10) as u8;
        number /= 10;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_query_are_masked_by_their_names_and_nothing_can_be_forged() {
        let check = |target: &str, expected: &str| {
            let mut out = Vec::new();
            push_masked_target(&mut out, target.as_bytes());
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{target}");
        };
        check("/a/b", "/a/b");
        check("/a?q=1&Password=x&access_token=y&token=", "/a?q=1&Password=****&access_token=****&token=");
        check("/a?p%61ssword=x&b", "/a?p%61ssword=****&b");
        check("/a\"b\\?c\n\u{1b}[2J=\u{2028}é", "/a\\\"b\\\\?c\\n\\u{1b}[2J=\\u{2028}é");
        let mut out = Vec::new();
        push_word(&mut out, "a b\nc\u{2028}d\te\"".as_bytes());
        push_word(&mut out, b"\xff");
        push_escaped(&mut out, b" \xff");
        assert_eq!(String::from_utf8(out).unwrap(), "a_b_c_d_e_\u{fffd} \u{fffd}");
    }

    #[test]
    fn digits_have_a_width() {
        let mut out = Vec::new();
        push_number(&mut out, u64::MAX);
        assert_eq!(out, u64::MAX.to_string().into_bytes());
        assert_eq!((digits::<3>(7), digits::<3>(987), digits::<6>(1_012)), (*b"007", *b"987", *b"001012"));
    }
}
