//! XML and JSON with a line for each element or member, so that differences are of lines.

use std::borrow::Cow;

use serde_json::Value;

/// The same text with line breaks and indents; as it is where it is no XML or JSON.
pub(super) fn lines(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim_start();
    if trimmed.starts_with('<') {
        return Cow::Owned(xml(trimmed));
    }
    if trimmed.starts_with(['{', '[']) && serde_json::from_str::<Value>(trimmed).is_ok() {
        return Cow::Owned(json(trimmed));
    }
    Cow::Borrowed(text)
}

/// Breaks lines between members. Their order and their numbers stay as they are written.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let (mut depth, mut is_string, mut is_escaped) = (0usize, false, false);
    // Whether an object or array has just begun, which may have nothing in it.
    let mut is_open = false;
    let new_line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth.min(40)));
    };
    for letter in text.chars() {
        if is_string {
            is_string = is_escaped || letter != '"';
            is_escaped = !is_escaped && letter == '\\';
            out.push(letter);
            continue;
        }
        if letter.is_ascii_whitespace() {
            continue;
        }
        let closes = matches!(letter, '}' | ']');
        depth = if closes { depth.saturating_sub(1) } else { depth };
        if is_open != closes {
            new_line(&mut out, depth);
        }
        is_open = matches!(letter, '{' | '[');
        depth += usize::from(is_open);
        is_string = letter == '"';
        out.push(letter);
        match letter {
            ',' => new_line(&mut out, depth),
            ':' => out.push(' '),
            _ => {}
        }
    }
    out
}

/// Breaks lines between tags. It need not be well-formed, as it may be cut off.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let (mut depth, mut rest) = (0usize, text.trim());
    // Whether the last thing was an opening tag, whose end may stand on the same line.
    let mut is_open = false;
    while !rest.is_empty() {
        let end = if rest.starts_with('<') { end_of_tag(rest) } else { rest.find('<').unwrap_or(rest.len()) };
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        if !piece.starts_with('<') {
            let words = piece.trim();
            if !words.is_empty() {
                // Text stands with the tag before it, with its spaces: they may be why a comparison fails.
                out.push_str(if piece.contains('\n') { words } else { piece });
            }
            continue;
        }
        let closes = piece.starts_with("</");
        depth = if closes { depth.saturating_sub(1) } else { depth };
        let has_text = !out.is_empty() && !out.ends_with('>');
        if !out.is_empty() && !(closes && (is_open || has_text)) {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth.min(40)));
        }
        out.push_str(piece);
        is_open = !closes && !piece.ends_with("/>") && !piece.starts_with("<?") && !piece.starts_with("<!");
        depth += usize::from(is_open);
    }
    out
}

/// Where a tag, a comment or a CDATA section ends, behind its last character.
fn end_of_tag(text: &str) -> usize {
    let until = |end: &str| text.find(end).map_or(text.len(), |at| at + end.len());
    if text.starts_with("<!--") {
        return until("-->");
    }
    if text.starts_with("<![CDATA[") {
        return until("]]>");
    }
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, '>') => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_element_and_member_has_a_line() {
        let check = |text: &str, expected: &str| assert_eq!(lines(text), expected);
        check("<a><b>x</b><c d='>'/><e><f/></e></a>", "<a>\n  <b>x</b>\n  <c d='>'/>\n  <e>\n    <f/>\n  </e>\n</a>");
        check("<a></a>", "<a></a>");
        check("<a><b>x </b></a>", "<a>\n  <b>x </b>\n</a>");
        check("<?xml version='1.0'?><a>\n <b>x", "<?xml version='1.0'?>\n<a>\n  <b>x");
        check(r#"{"a":[1],"b":"c"}"#, "{\n  \"a\": [\n    1\n  ],\n  \"b\": \"c\"\n}");
        check(r#"{ "b": 1.50, "a": {}, "c" :[ ]}"#, "{\n  \"b\": 1.50,\n  \"a\": {},\n  \"c\": []\n}");
        check(r#"["\\", "\"{,:", 1]"#, "[\n  \"\\\\\",\n  \"\\\"{,:\",\n  1\n]");
        check("{cut", "{cut");
        check("plain", "plain");
    }
}
