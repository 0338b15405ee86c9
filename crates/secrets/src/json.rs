//! Secrets in JSON: the value of a member with such a name. JSON inside of a JSON text is looked at as well.

use std::ops::Range;

use super::names::{LONGEST_BYTES, Text};

pub(super) fn find(kind: Text, text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = text[at..].find('"') {
        let quote = at + offset;
        at = quote + 1;
        let level = backslashes(bytes, quote);
        let Some((name_end, true)) = end_of_text(bytes, at, level, LONGEST_BYTES) else { continue };
        let name = &text[at..name_end];
        let behind = skip_space(bytes, name_end + level + 1);
        if bytes.get(behind) != Some(&b':') {
            // It may be a value; where a name stands behind it, that one begins at its end.
            continue;
        }
        let value = skip_space(bytes, behind + 1);
        if !kind.is_secret(name) {
            at = behind;
            continue;
        }
        let range = value_at(bytes, value, level);
        at = range.end.max(behind);
        found.push(range);
    }
}

/// How many backslashes stand before a quotation mark.
fn backslashes(bytes: &[u8], quote: usize) -> usize {
    bytes[..quote].iter().rev().take_while(|byte| **byte == b'\\').count()
}

/// Where a text of that level ends, within so many bytes, and whether its own quotation mark ends it: that of a text
/// around it has fewer backslashes.
fn end_of_text(bytes: &[u8], start: usize, level: usize, limit_bytes: usize) -> Option<(usize, bool)> {
    let end = bytes.len().min(start.saturating_add(limit_bytes));
    (start..end).filter(|&at| bytes[at] == b'"').find_map(|at| {
        let own = backslashes(&bytes[start..], at - start);
        (own <= level).then_some((at - own, own == level))
    })
}

fn skip_space(bytes: &[u8], start: usize) -> usize {
    (start..bytes.len()).find(|&at| !bytes[at].is_ascii_whitespace()).unwrap_or(bytes.len())
}

/// The bytes of a value, without its quotation marks; what is cut off counts to the end.
fn value_at(bytes: &[u8], start: usize, level: usize) -> Range<usize> {
    let quote = start + level;
    match bytes.get(start) {
        Some(b'"' | b'\\') if bytes.get(quote) == Some(&b'"') => {
            let end = end_of_text(bytes, quote + 1, level, usize::MAX).map_or(bytes.len(), |(end, _)| end);
            quote + 1..end
        }
        Some(b'{' | b'[') => start..end_of_group(bytes, start),
        _ => {
            let is_end =
                |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}' | b']' | b'\\' | b'"' | b'<');
            let end = (start..bytes.len()).find(|&at| is_end(bytes[at])).unwrap_or(bytes.len());
            // `null` tells nothing, and it helps to see that there was none.
            if &bytes[start..end] == b"null" { start..start } else { start..end }
        }
    }
}

fn end_of_group(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut in_text) = (0usize, false);
    for at in start..bytes.len() {
        match bytes[at] {
            b'"' if bytes[at - 1] != b'\\' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}
