//! MIME: the parameters of header values, and the parts of a multipart body.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

/// Bodies of more parts are not read.
const PART_LIMIT: usize = 1_000;
/// Heads of parts that are longer are not read.
const HEAD_LIMIT_BYTES: usize = 16 * 1024;

/// One part of a multipart body: where its head and its content stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) head: Range<usize>,
    pub(super) content: Range<usize>,
}

/// The parts of a body, without what stands before the first and behind the last.
///
/// Errors: the sender's, as a sentence.
/// Source: RFC 2046 §5.1.1; line ends may be LF alone, as from many programs.
pub(super) fn parts(bytes: &[u8], boundary: &str) -> Result<Vec<Part>, &'static str> {
    let dashed = format!("--{boundary}");
    let mut parts = Vec::new();
    let mut open: Option<usize> = None;
    for at in memmem::find_iter(bytes, dashed.as_bytes()) {
        let behind = &bytes[at + dashed.len()..];
        let is_last = behind.starts_with(b"--");
        let blank = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        // Another boundary may begin with this one, and the word may stand anywhere in a part.
        let is_line = (at == 0 || bytes[at - 1] == b'\n') && (is_last || behind.get(blank) == Some(&b'\n'));
        if !is_line {
            continue;
        }
        if let Some(start) = open.take() {
            if parts.len() >= PART_LIMIT {
                return Err("it has more than 1000 parts");
            }
            parts.push(part(bytes, start, at)?);
        }
        if is_last {
            return Ok(parts);
        }
        open = Some(at + dashed.len() + blank + 1);
    }
    Err("it does not end with its boundary")
}

/// The part between two boundaries.
fn part(bytes: &[u8], start: usize, end: usize) -> Result<Part, &'static str> {
    // The line end before a boundary belongs to the boundary.
    let end = if bytes[..end].ends_with(b"\r\n") { end - 2 } else { end - 1 };
    if end < start {
        // The head is empty, and so is the content.
        return Ok(Part { head: start..start, content: start..start });
    }
    let part = &bytes[start..end];
    let mut at = 0;
    loop {
        let line = part[at..].iter().position(|&byte| byte == b'\n').map_or(part.len(), |length| at + length + 1);
        if part[at..line].trim_ascii().is_empty() {
            return Ok(Part { head: start..start + at, content: start + line..end });
        }
        if line >= part.len() || line > HEAD_LIMIT_BYTES {
            return Err("the head of a part does not end");
        }
        at = line;
    }
}

impl Part {
    /// The value of a header line of its head; the first where there are several.
    pub(super) fn header<'a>(&self, bytes: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
        let head = &bytes[self.head.clone()];
        let mut lines = head.split(|&byte| byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
            if !line[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes()) {
                continue;
            }
            let mut value = String::from_utf8_lossy(line[colon + 1..].trim_ascii());
            // A line that begins with a blank goes on with the one before it.
            while let Some(more) = lines.next_if(|line| line.starts_with(b" ") || line.starts_with(b"\t")) {
                value.to_mut().push(' ');
                value.to_mut().push_str(&String::from_utf8_lossy(more.trim_ascii()));
            }
            return Some(value);
        }
        None
    }
}

/// Splits a header value: what stands before the first `;`, then each parameter as it stands there.
///
/// A `;` in quotes does not split.
pub fn split_parameters(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(value);
    std::iter::from_fn(move || {
        let (piece, behind) = rest.map(|text| text.split_at(end_of_parameter(text)))?;
        rest = behind.strip_prefix(';');
        Some(piece)
    })
}

/// Whether a piece that [`split_parameters`] gives is the parameter of that name.
pub fn is_parameter(piece: &str, name: &str) -> bool {
    piece.split_once('=').is_some_and(|(key, _)| key.trim().eq_ignore_ascii_case(name))
}

/// A parameter behind the first `;` of a header value; quotes around it are taken off.
pub(crate) fn parameter(value: &str, name: &str) -> Option<String> {
    let piece = split_parameters(value).skip(1).find(|piece| is_parameter(piece, name))?;
    piece.split_once('=').map(|(_, value)| unquoted(value.trim()))
}

/// The value with another value of that parameter, in quotes.
pub(super) fn with_parameter(value: &str, name: &str, new: &str) -> String {
    format!("{}; {name}=\"{new}\"", without_parameter(value, name))
}

/// A header value without that parameter.
pub fn without_parameter(value: &str, name: &str) -> String {
    let mut all = split_parameters(value);
    let first = all.next().unwrap_or_default();
    let kept = all.filter(|piece| !is_parameter(piece, name));
    std::iter::once(first).chain(kept).collect::<Vec<_>>().join(";")
}

/// Where the next `;` stands that is in no quotes.
fn end_of_parameter(text: &str) -> usize {
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b';' if !is_quoted => return at,
            _ => {}
        }
    }
    text.len()
}

fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return value.to_owned() };
    let mut out = String::with_capacity(inner.len());
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            // Browsers send the backslashes of a path as they are, and escape quotes alone.
            '\\' if matches!(letters.peek(), Some('"' | '\\')) => out.extend(letters.next()),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_in_quotes_and_without() {
        let check = |value: &str, name: &str, expected: Option<&str>| {
            assert_eq!(parameter(value, name).as_deref(), expected, "{value}");
        };
        check("a/b; boundary=x", "boundary", Some("x"));
        check("a/b;a=\"1;boundary=2\" ; Boundary=\"x y\"", "boundary", Some("x y"));
        check("form-data; name=\"a\\\"b\"; filename=\"C:\\dir\"", "name", Some("a\"b"));
        check("form-data; name=\"a\\\"b\"; filename=\"C:\\dir\"", "filename", Some("C:\\dir"));
        check("a/b", "boundary", None);
        check("a/b; ; x", "boundary", None);
        check("a/b; x=\"a\\\";boundary=1\"; boundary=2", "boundary", Some("2"));
        assert_eq!(split_parameters("a/b;c=\";\";").collect::<Vec<_>>(), ["a/b", "c=\";\"", ""]);
    }

    #[test]
    fn a_parameter_takes_the_place_of_one_of_its_name() {
        let check = |value: &str, expected: &str| assert_eq!(with_parameter(value, "boundary", "n"), expected);
        check("a/b; boundary=x; c=\"1;boundary=2\"", "a/b; c=\"1;boundary=2\"; boundary=\"n\"");
        check("a/b", "a/b; boundary=\"n\"");
    }

    #[test]
    fn parts_stand_between_boundaries() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let found = parts(text.as_bytes(), "b").unwrap();
            let found: Vec<_> =
                found.iter().map(|part| (&text[part.head.clone()], &text[part.content.clone()])).collect();
            assert_eq!(found, expected, "{text:?}");
        };
        check("--b\r\nA: 1\r\n\r\nx\r\n--b--\r\n", &[("A: 1\r\n", "x")]);
        check("before\r\n--b \r\n\r\n--bc\r\n--b\r\n\r\n\r\n--b--behind", &[("", "--bc"), ("", "")]);
        check("--b\nA: 1\n\nx\n--b--", &[("A: 1\n", "x")]);
        check("--b\r\n--b--", &[("", "")]);
        check("--b--", &[]);
    }

    #[test]
    fn what_is_no_multipart_body_is_told() {
        let check = |text: &str, expected: &str| {
            let error = parts(text.as_bytes(), "b").unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check("", "does not end");
        check("--b\r\nA: 1\r\n\r\nx", "does not end");
        check("--b\r\nA: 1\r\n--b--", "head");
        check(&("--b\r\n\r\n\r\n".repeat(1_001) + "--b--"), "1000 parts");
    }

    #[test]
    fn a_header_line_of_a_part_may_be_folded() {
        let text = b"--b\r\ncontent-type: a;\r\n  b=c\r\nX: y\r\n\r\n\r\n--b--";
        let part = &parts(text, "b").unwrap()[0];
        assert_eq!(part.header(text, "Content-Type").as_deref(), Some("a; b=c"));
        assert_eq!(part.header(text, "x").as_deref(), Some("y"));
        assert_eq!(part.header(text, "z"), None);
    }
}
