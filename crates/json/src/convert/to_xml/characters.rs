//! What stands in a JSON token, as text or attribute value of XML.

use std::borrow::Cow;

use crate::reader::{Event, Kind};
use crate::text::escape_at;
use crate::words::{HIGHS, ONES, equal, find};

/// Where characters are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    Text,
    /// Between double quotes.
    Attribute,
}

/// Marks the bytes of a JSON string that are not copied as they are: what XML escapes, backslashes, and what the two characters of the plane that XML excludes begin with.
#[inline]
fn special(word: u64) -> u64 {
    // One bit is all that `<` and `>` differ in.
    let angles = equal(word | (ONES * 2), b'>');
    let marks = angles | equal(word, b'&') | equal(word, b'\\');
    if word & HIGHS == 0 { marks } else { marks | equal(word, 0xEF) }
}

/// Writes a plain value.
///
/// Shape: whether it is written without references.
/// Errors: the character that XML cannot hold.
#[inline]
pub(super) fn write_string(event: &Event<'_>, context: Context, out: &mut Vec<u8>) -> Result<bool, char> {
    match event.kind {
        Kind::String => write_characters(event.inner(), true, context, out),
        Kind::Null => Ok(true),
        // Digits and letters.
        _ => {
            out.extend_from_slice(event.raw);
            Ok(true)
        }
    }
}

/// A plain value as text; `null` is empty.
pub(super) fn plain_text<'a>(event: &Event<'a>) -> Cow<'a, str> {
    if event.kind == Kind::Null { Cow::Borrowed("") } else { event.text() }
}

/// Writes what is in a JSON string; `escaped` says whether a backslash is one.
///
/// Shape: as [`write_string`].
#[inline]
pub(super) fn write_characters(raw: &[u8], escaped: bool, context: Context, out: &mut Vec<u8>) -> Result<bool, char> {
    let mut verbatim = true;
    let (mut copied, mut at) = (0, 0);
    while let Some(place) = find(raw, at, special) {
        at = place;
        let (character, length) = match raw[at] {
            b'\\' if escaped => {
                let (character, length) = escape_at(&raw[at..]);
                (character.unwrap_or(char::REPLACEMENT_CHARACTER), length)
            }
            // The reader let only UTF-8 through, so that two bytes follow.
            0xEF => match raw[at..] {
                [_, 0xBF, 0xBE, ..] => return Err('\u{FFFE}'),
                [_, 0xBF, 0xBF, ..] => return Err('\u{FFFF}'),
                _ => {
                    at += 1;
                    continue;
                }
            },
            byte => (char::from(byte), 1),
        };
        out.extend_from_slice(&raw[copied..at]);
        at += length;
        copied = at;
        verbatim &= write_character(character, context, out)?;
    }
    out.extend_from_slice(&raw[copied..]);
    Ok(verbatim)
}

fn write_character(character: char, context: Context, out: &mut Vec<u8>) -> Result<bool, char> {
    let attribute = context == Context::Attribute;
    let reference = match character {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' if attribute => "&quot;",
        '\t' if attribute => "&#x9;",
        '\n' if attribute => "&#xA;",
        '\r' => "&#xD;",
        '\t' | '\n' | ' '..='\u{FFFD}' | '\u{10000}'.. => {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(true);
        }
        _ => return Err(character),
    };
    out.extend_from_slice(reference.as_bytes());
    Ok(false)
}
