//! Which texts of XML stand without quotes in JSON.

use myelin_java_text::pattern::Replacement;
use regex::{Captures, Regex};

use super::Switches;
use crate::reader::NumberState;
use crate::text::write_string;

/// Writes the text of an element as a value.
///
/// Numbers keep the digits they are written with, where Synapse writes Java's `BigDecimal` of them.
/// Source: `AutoPrimitiveTarget` and its two variants with patterns.
#[inline]
pub(super) fn write_text(text: &str, switches: &Switches, out: &mut Vec<u8>) {
    if !switches.primitives {
        return write_string(text, out);
    }
    let stays = match (&switches.text_pattern, &switches.replaced_pattern) {
        (None, None) => false,
        (Some(pattern), _) => pattern.is_match(text),
        (None, Some(pattern)) => {
            if let Some(found) = pattern.captures(text) {
                return write_string(&replaced(text, pattern, &found, &switches.replacement), out);
            }
            false
        }
    };
    if is_word(text) || (!stays && is_number(text)) {
        out.extend_from_slice(text.as_bytes());
    } else {
        write_string(text, out);
    }
}

fn is_word(text: &str) -> bool {
    matches!(text, "true" | "false" | "null")
}

/// A longer text is no number that anybody could count with, and no reader of JSON that has bounds would take it.
const MOST_DIGITS: usize = 1_000;

/// Whether `text` is a number of JSON and nothing else.
#[inline]
fn is_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= MOST_DIGITS && matches!(bytes.first(), Some(b'-' | b'0'..=b'9')) && {
        let mut state = NumberState::Start;
        state.scan(bytes, 0) == bytes.len() && state.lacks().is_none()
    }
}

/// `text` with `replacement` in the place of what was found of a pattern.
fn replaced(text: &str, pattern: &Regex, found: &Captures<'_>, replacement: &str) -> String {
    let range = found.get_match().range();
    let mut made = text[..range.start].to_owned();
    let replacement = Replacement::lenient(replacement, pattern);
    replacement.push(&mut made, |group| found.get(group).map_or("", |group| group.as_str()));
    made.push_str(&text[range.end..]);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_what_json_has_as_one() {
        for number in ["0", "-0", "10", "1.50", "1e5", "-1.0E+10", "123456789012345678901234567890"] {
            assert!(is_number(number), "{number}");
        }
        assert!(is_number(&"1".repeat(MOST_DIGITS)) && !is_number(&"1".repeat(MOST_DIGITS + 1)));
        for text in ["", "-", "007", "+1", "1.", ".5", "1e", "0x10", "1 ", " 1", "١", "NaN", "1,5"] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn a_replacement_reads_as_in_java() {
        let check = |pattern: &str, replacement: &str, expected: &str| {
            let pattern = Regex::new(pattern).unwrap();
            assert_eq!(
                replaced("str:12", &pattern, &pattern.captures("str:12").unwrap(), replacement),
                expected,
                "{replacement}"
            );
        };
        check("^str:", "", "12");
        check("^(s)(t)r:", "$2$1", "ts12");
        check("^(s)tr:", "$10-", "s0-12");
        check("^(?P<a>s)tr:", r"${a}\$\\", r"s$\12");
        check("^str:", "$", "12");
    }
}
