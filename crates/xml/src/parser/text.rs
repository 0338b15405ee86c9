//! Text, CDATA sections and references.

use super::Parser;
use super::stop::{Stop, bad, forbidden, malformed};
use super::token::Token;
use crate::characters;
use crate::error::{ErrorKind, Limit};

/// Bytes at which a short text is looked at more closely, or ends.
const STOPS: [bool; 256] = {
    let mut stops = SPECIAL;
    stops[b'<' as usize] = true;
    stops
};

/// Bytes in text that need a closer look.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = byte != b'\t' as usize && byte != b'\n' as usize;
        byte += 1;
    }
    special[b'&' as usize] = true;
    // It may begin `]]>`.
    special[b']' as usize] = true;
    // It begins U+FFFE and U+FFFF among others.
    special[0xEF] = true;
    special
};

/// Text up to about this length is cheaper byte by byte than with wide instructions.
const SHORT: usize = 32;

impl Parser {
    /// Short text in which nothing needs a closer look.
    #[inline(always)]
    pub(super) fn plain_text(&mut self, window: &[u8]) -> Option<Token> {
        let start = self.at;
        let mut at = start;
        while let Some(eight) = window.get(at..).and_then(<[u8]>::first_chunk::<8>)
            && at - start < SHORT
        {
            for &byte in eight {
                if STOPS[byte as usize] {
                    if byte != b'<' {
                        return None;
                    }
                    self.at = at;
                    return Some(Token::Text { range: start..at, verbatim: true });
                }
                at += 1;
            }
        }
        None
    }

    /// Any text.
    #[inline(never)]
    pub(super) fn text(&mut self, window: &[u8]) -> Result<Token, Stop> {
        let start = self.at;
        let rest = &window[start..];
        let Some(length) = memchr::memchr(b'<', rest) else { return Err(Stop::Starved("")) };
        let end = start + length;
        let verbatim = !any_special(&rest[..length]) || self.examine(window, start, end)?;
        self.at = end;
        Ok(Token::Text { range: start..end, verbatim })
    }

    /// Checks text with special bytes in it; whether it means what stands there.
    #[inline(never)]
    fn examine(&self, window: &[u8], start: usize, end: usize) -> Result<bool, Stop> {
        let mut verbatim = true;
        let mut at = start;
        while let Some(distance) = window[at..end].iter().position(|&byte| SPECIAL[byte as usize]) {
            at += distance;
            match window[at] {
                b'&' => {
                    verbatim = false;
                    at = self.reference(window, at)?;
                    continue;
                }
                b'\r' => verbatim = false,
                b']' if window[at..end].starts_with(b"]]>") => {
                    return forbidden("]]> in text, expected ]]&gt;", at);
                }
                b']' => {}
                _ => character(window, at)?,
            }
            at += 1;
        }
        Ok(verbatim)
    }

    #[inline(never)]
    pub(super) fn cdata(&mut self, window: &[u8]) -> Result<Token, Stop> {
        let start = self.at;
        let inner = start + "<![CDATA[".len();
        let Some(length) = memchr::memmem::find(&window[inner..], b"]]>") else { return Err(Stop::Starved("]]>")) };
        let verbatim = characters(window, inner, inner + length)?;
        self.at = inner + length + "]]>".len();
        Ok(Token::Cdata { range: start..self.at, verbatim })
    }

    /// The place behind the reference at `at`.
    #[inline(never)]
    pub(super) fn reference(&self, window: &[u8], at: usize) -> Result<usize, Stop> {
        let name = at + 1;
        if window.get(name) == Some(&b'#') {
            return character_reference(window, at);
        }
        let length = window[name..].iter().position(|byte| !name_byte(*byte));
        let Some(length) = length else { return Err(Stop::Starved("a reference")) };
        if length > self.options.name_bytes {
            return bad(ErrorKind::Limit(Limit::NameBytes(self.options.name_bytes)), name);
        }
        let end = name + length;
        let entity = String::from_utf8_lossy(&window[name..end]);
        match characters::name_error(&entity) {
            Some(place) if name + place < end => return malformed(window, name + place, "the name of an entity"),
            Some(_) => return malformed(window, end, "the name of an entity"),
            None => {}
        }
        if window[end] != b';' {
            return malformed(window, end, "';' behind a reference");
        }
        if !matches!(&*entity, "amp" | "lt" | "gt" | "quot" | "apos") {
            let kind = match self.doctype {
                true => ErrorKind::EntityNotExpanded(entity.into_owned()),
                false => ErrorKind::UndefinedEntity(entity.into_owned()),
            };
            return bad(kind, at);
        }
        Ok(end + 1)
    }
}

/// Whether one of the bytes is special; in a shape that the compiler turns into wide comparisons.
#[inline(never)]
fn any_special(bytes: &[u8]) -> bool {
    let check = |chunk: &[u8]| {
        chunk.iter().fold(false, |any, &byte| {
            let control = (byte < 0x20) & (byte != b'\t') & (byte != b'\n');
            any | control | (byte == b'&') | (byte == b']') | (byte == 0xEF)
        })
    };
    let (chunks, rest) = bytes.as_chunks::<64>();
    chunks.iter().any(|chunk| check(chunk)) || check(rest)
}

/// Whether a byte can be part of a name, by itself or with those around it.
fn name_byte(byte: u8) -> bool {
    byte >= 0x80 || byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-' | b'.')
}

/// The place behind the character reference at `at`.
fn character_reference(window: &[u8], at: usize) -> Result<usize, Stop> {
    let (radix, digits, expected) = match window.get(at + 2) {
        None => return Err(Stop::Starved("a number")),
        Some(b'x') => (16, at + 3, "a hexadecimal digit"),
        Some(_) => (10, at + 2, "a digit"),
    };
    let mut number: u32 = 0;
    let mut end = digits;
    while let Some(digit) = window.get(end).and_then(|&byte| char::from(byte).to_digit(radix)) {
        // Too large a number stays too large.
        number = number.saturating_mul(radix).saturating_add(digit);
        end += 1;
    }
    if end == digits {
        return malformed(window, end, expected);
    }
    if window.get(end) != Some(&b';') {
        return malformed(window, end, "';' behind a character reference");
    }
    match char::from_u32(number) {
        Some(c) if characters::is_allowed(c) => Ok(end + 1),
        _ => bad(ErrorKind::Character(number), at),
    }
}

/// Checks that the character at `at`, which begins with a control byte or 0xEF, is allowed.
pub(super) fn character(window: &[u8], at: usize) -> Result<(), Stop> {
    let number = match (window[at], window.get(at + 1..at + 3)) {
        (0xEF, Some([0xBF, last @ (0xBE | 0xBF)])) => 0xFFC0 + u32::from(last & 0x3F),
        (0xEF, _) | (b'\t' | b'\n' | b'\r', _) => return Ok(()),
        (byte, _) => u32::from(byte),
    };
    bad(ErrorKind::Character(number), at)
}

/// Checks that all characters are allowed; whether none of them is a carriage return.
pub(super) fn characters(window: &[u8], start: usize, end: usize) -> Result<bool, Stop> {
    let mut verbatim = true;
    for (distance, &byte) in window[start..end].iter().enumerate() {
        if SPECIAL[byte as usize] {
            verbatim &= byte != b'\r';
            if byte != b'&' && byte != b']' {
                character(window, start + distance)?;
            }
        }
    }
    Ok(verbatim)
}
