//! Characters that cannot stand for themselves.
//!
//! Canonical XML replaces just those that have to be, so that it and ordinary writing need one set of rules.

use crate::sink::Sink;

/// Writes text so that reading it gives the same.
///
/// Source: Canonical XML 1.1 §2.3, text nodes. `>` always, so that no `]]>` can come about.
pub fn escape_text(text: &str, out: &mut (impl Sink + ?Sized)) {
    escape(text, out, |byte| match byte {
        b'&' => "&amp;",
        b'<' => "&lt;",
        b'>' => "&gt;",
        b'\r' => "&#xD;",
        _ => "",
    });
}

/// Writes the value of an attribute in double quotes so that reading it gives the same.
///
/// Source: Canonical XML 1.1 §2.3, attribute nodes.
pub fn escape_attribute(value: &str, out: &mut (impl Sink + ?Sized)) {
    escape(value, out, |byte| match byte {
        b'&' => "&amp;",
        b'<' => "&lt;",
        b'"' => "&quot;",
        b'\t' => "&#x9;",
        b'\n' => "&#xA;",
        b'\r' => "&#xD;",
        _ => "",
    });
}

/// Writes `text` with what `replaced` gives for a byte in its place, where that is not empty.
#[inline]
fn escape(text: &str, out: &mut (impl Sink + ?Sized), replaced: impl Fn(u8) -> &'static str) {
    let bytes = text.as_bytes();
    let mut done = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        // All that is ever replaced lies below this; most of text is above.
        if byte > b'>' {
            continue;
        }
        let replacement = replaced(byte);
        if !replacement.is_empty() {
            out.write(&bytes[done..at]);
            out.write(replacement.as_bytes());
            done = at + 1;
        }
    }
    out.write(&bytes[done..]);
}
