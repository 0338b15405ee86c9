//! From what stands in a document to what it means: references and line ends.

use std::borrow::Cow;

/// The text of bytes that the parser has found to be UTF-8.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the parser gives events of valid UTF-8 only, cut at ASCII characters")
}

/// What white space becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// CR and CR LF become LF.
    ///
    /// Source: XML 1.0 §2.11.
    Lines,
    /// Each of TAB, LF, CR and CR LF becomes a space.
    ///
    /// Source: XML 1.0 §3.3.3.
    Attribute,
}

/// Replaces references and white space.
///
/// Shape: `raw` is as the parser lets it through, so each reference is complete and known.
pub(crate) fn normalise(raw: &str, space: Space) -> Cow<'_, str> {
    let special = |byte: &u8| match byte {
        b'&' | b'\r' => true,
        b'\t' | b'\n' => space == Space::Attribute,
        _ => false,
    };
    let bytes = raw.as_bytes();
    let Some(mut next) = bytes.iter().position(special) else { return Cow::Borrowed(raw) };
    let mut value = String::with_capacity(raw.len());
    let mut done = 0;
    loop {
        value.push_str(&raw[done..next]);
        done = match bytes[next] {
            b'&' => {
                let (referred, length) = reference(&raw[next..]);
                value.push(referred);
                next + length
            }
            byte => {
                value.push(if space == Space::Lines { '\n' } else { ' ' });
                let pair = byte == b'\r' && bytes.get(next + 1) == Some(&b'\n');
                next + if pair { 2 } else { 1 }
            }
        };
        match bytes[done..].iter().position(special) {
            Some(distance) => next = done + distance,
            None => break,
        }
    }
    value.push_str(&raw[done..]);
    Cow::Owned(value)
}

/// Replaces CR and CR LF by LF, and nothing else: for comments, instructions and CDATA sections.
pub(crate) fn normalise_lines(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\r') {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.replace("\r\n", "\n").replace('\r', "\n"))
}

/// The character that `text` begins with a reference to, and the bytes of the reference.
fn reference(text: &str) -> (char, usize) {
    let end = text.find(';').expect("the parser lets only complete references through");
    let referred = match &text[1..end] {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        name => {
            let number = match name.strip_prefix("#x") {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => name[1..].parse(),
            };
            number.ok().and_then(char::from_u32).expect("the parser lets only characters of XML through")
        }
    };
    (referred, end + 1)
}
