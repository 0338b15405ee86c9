//! Texts that cannot forge a line of a log.

use std::borrow::Cow;

/// The text without what could begin a line of a log, drive a terminal, or turn the order of what is shown; tabs stay.
///
/// Shape: `\n`, `\r`, and `\u{1b}` for every other such character.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_unsafe(letter) {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

/// Controls (C0, DEL, C1), the separators of lines and paragraphs, and the controls of writing direction.
pub fn is_unsafe(letter: char) -> bool {
    let is_separator_or_direction =
        matches!(letter, '\u{2028}'..='\u{202e}' | '\u{200e}' | '\u{200f}' | '\u{2066}'..='\u{2069}');
    letter != '\t' && (letter.is_control() || is_separator_or_direction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_harmless_stays() {
        for text in ["", "plain", "tab\tß€😀", "back\\nslash \"quote\""] {
            assert!(matches!(escaped(text), Cow::Borrowed(same) if same == text));
        }
    }
}
