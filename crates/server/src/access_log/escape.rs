//! Texts of messages in a line of the access log: nothing of them ends a line, closes a quote or drives a terminal.

use myelin_logging::is_unsafe;
use myelin_secrets::masked_target;

/// A text between quotes: quotes, backslashes, and what could begin a line are escaped.
pub(super) fn push_escaped(out: &mut Vec<u8>, text: &[u8]) {
    if none(text, |word| unusual(word, b' ') | equal(word, b'\\')) {
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

/// A text that stands between blanks: none of its letters is one, nor a quote.
pub(super) fn push_word(out: &mut Vec<u8>, text: &[u8]) {
    if none(text, |word| unusual(word, b' ' + 1)) {
        out.extend_from_slice(text);
    } else {
        let text = String::from_utf8_lossy(text);
        let text = text.replace(|letter: char| is_unsafe(letter) || matches!(letter, ' ' | '\t' | '"'), "_");
        out.extend_from_slice(text.as_bytes());
    }
}

/// Whether no byte of a text is marked, eight of which are looked at together; `marks` is zero where none is.
#[inline]
fn none(text: &[u8], marks: impl Fn(u64) -> u64) -> bool {
    let of = |word: &[u8; 8]| marks(u64::from_le_bytes(*word));
    // The last eight hold what is left behind the others, and some that were looked at before.
    let Some(last) = text.last_chunk() else {
        let mut short = [b'a'; 8];
        short[..text.len()].copy_from_slice(text);
        return of(&short) == 0;
    };
    text.as_chunks().0.iter().fold(of(last), |found, word| found | of(word)) == 0
}

/// Eight times the same byte.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Marks the bytes below a limit, of those that are ASCII.
fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(each(limit)) & !word & each(0x80)
}

/// Marks the bytes that are this one.
fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ each(byte), 1)
}

/// Marks what is no ASCII, a control character, a quote, or below a limit.
fn unusual(word: u64, limit: u8) -> u64 {
    word & each(0x80) | below(word, limit) | equal(word, 0x7f) | equal(word, b'"')
}

/// A target, or its query, with the values of parameters masked that are secrets by their names.
pub(super) fn push_masked_target(out: &mut Vec<u8>, target: &[u8]) {
    // Only a query has parameters.
    if none(target, |word| unusual(word, b' ') | equal(word, b'\\') | equal(word, b'?')) {
        out.extend_from_slice(target);
    } else {
        push_escaped(out, masked_target(&String::from_utf8_lossy(target)).as_bytes());
    }
}

/// A number in decimal digits.
pub(super) fn push_number(out: &mut Vec<u8>, number: u64) {
    if number < 10 {
        out.push(b'0' + number as u8);
    } else {
        out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
    }
}

/// The last eight decimal digits of a number, with zeros before it, all of them at once.
pub(super) fn digits(number: u32) -> [u8; 8] {
    // Halves of four digits, then quarters of two, then digits: each in its place, the first in the lowest byte. To
    // divide is to multiply by a fraction.
    let number = u64::from(number % 100_000_000);
    let halves = ((number % 10_000) << 32) | (number / 10_000);
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let quarters = ((halves - 100 * hundreds) << 16) | hundreds;
    let tens = ((quarters * 103) >> 10) & 0x000f_000f_000f_000f;
    let digits = ((quarters - 10 * tens) << 8) | tens;
    (digits + each(b'0')).to_le_bytes()
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
    fn each_byte_is_written_or_escaped_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for length in [1, 7, 8, 20] {
                for place in 0..length {
                    let mut text = vec![b'a'; length];
                    text[place] = byte;
                    let (mut word, mut quoted, mut target) = (Vec::new(), Vec::new(), Vec::new());
                    push_word(&mut word, &text);
                    push_escaped(&mut quoted, &text);
                    push_masked_target(&mut target, &text);
                    let is_quoted = (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
                    assert_eq!(quoted == text, is_quoted, "{byte:#x} at {place} of {length}");
                    assert_eq!(target, quoted, "{byte:#x} at {place} of {length}");
                    assert_eq!(word == text, byte.is_ascii_graphic() && byte != b'"', "{byte:#x} at {place}");
                }
            }
        }
    }

    #[test]
    fn digits_have_a_width() {
        let mut out = Vec::new();
        push_number(&mut out, u64::MAX);
        assert_eq!(out, u64::MAX.to_string().into_bytes());
        for number in (0..100_000_000).step_by(997).chain([9_999, 10_000, 99_999_999]) {
            assert_eq!(digits(number), format!("{number:08}").as_bytes());
        }
        assert_eq!(digits(123_456_789), *b"23456789");
    }
}
