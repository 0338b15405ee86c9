//! A template cut into texts, tags and interpolations, with the white space taken away that stands around tags.

use std::ops::Range;

use crate::error::ErrorKind;

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    /// Where the whole piece stands.
    pub(crate) range: Range<usize>,
}

/// What a piece is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What is printed as it is: this part of it.
    Text(Range<usize>),
    /// What stands in `<#noparse>`.
    Raw(Range<usize>),
    /// `${…}`, with where the expression stands.
    Print(Range<usize>),
    /// `<#name …>`, with where the rest stands.
    Open { name: String, rest: Range<usize>, is_closed: bool },
    /// `</#name>`
    Close { name: String },
    /// `<@expression …>`, with where all behind the `@` stands.
    Call { rest: Range<usize>, is_closed: bool },
    /// `</@…>`
    CallEnd,
    /// `<#-- … -->`
    Comment,
}

/// What cannot be cut: its kind, where, and a sentence.
pub(crate) type Refusal = (ErrorKind, usize, String);

/// Cuts a template; `inside` says whether something stands on the line around it.
pub(crate) fn scan(text: &str, inside: bool) -> Result<Vec<Piece>, Refusal> {
    let mut pieces = Vec::new();
    let (mut at, mut done) = (0, 0);
    while let Some(found) = text[at..].find(['<', '$', '#']) {
        let start = at + found;
        let Some(piece) = tag(text, start)? else {
            at = start + 1;
            continue;
        };
        push_text(&mut pieces, done..start);
        at = piece.range.end;
        if matches!(&piece.kind, Kind::Open { name, .. } if name == "noparse") {
            let end = text[at..].find("</#noparse>").map(|end| at + end);
            let end = end.ok_or_else(|| (ErrorKind::Syntax, start, "<#noparse> is not closed".to_owned()))?;
            let raw = Kind::Raw(at..end);
            at = end + "</#noparse>".len();
            pieces.push(Piece { kind: raw, range: start..at });
        } else {
            pieces.push(piece);
        }
        done = at;
    }
    push_text(&mut pieces, done..text.len());
    strip(text, &mut pieces, inside);
    Ok(pieces)
}

fn push_text(pieces: &mut Vec<Piece>, range: Range<usize>) {
    if !range.is_empty() {
        pieces.push(Piece { kind: Kind::Text(range.clone()), range });
    }
}

/// What begins here, if anything but text does.
fn tag(text: &str, start: usize) -> Result<Option<Piece>, Refusal> {
    let rest = &text[start..];
    let syntax = |message: String| (ErrorKind::Syntax, start, message);
    if rest.starts_with("<#--") {
        let end = rest.find("-->").ok_or_else(|| syntax("the comment is not closed".to_owned()))?;
        return Ok(Some(Piece { kind: Kind::Comment, range: start..start + end + 3 }));
    }
    if rest.starts_with("#{") {
        let message = "#{…} is not offered: write ${…?string(\"0.##\")}, or ${…?c}".to_owned();
        return Err((ErrorKind::Unsupported, start, message));
    }
    if rest.starts_with("${") {
        let end = end_of(text, start + 2, b'}').ok_or_else(|| syntax("${ is not closed".to_owned()))?;
        return Ok(Some(Piece { kind: Kind::Print(start + 2..end), range: start..end + 1 }));
    }
    let (prefix, closes) = match () {
        () if rest.starts_with("<#") || rest.starts_with("<@") => (2, false),
        () if rest.starts_with("</#") || rest.starts_with("</@") => (3, true),
        () => return Ok(None),
    };
    let is_call = rest.as_bytes()[prefix - 1] == b'@';
    let length = rest[prefix..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if length == 0 && !is_call {
        // As in FreeMarker, what is no name is no tag.
        return Ok(None);
    }
    let name = rest[prefix..prefix + length].to_owned();
    let begin = start + prefix + if is_call { 0 } else { length };
    let end = end_of(text, begin, b'>')
        .ok_or_else(|| syntax(format!("the tag {} is not closed", &rest[..prefix + length])))?;
    let is_closed = !closes && text[begin..end].ends_with('/');
    let inner = begin..end - usize::from(is_closed);
    let kind = match (is_call, closes) {
        (true, true) => Kind::CallEnd,
        (true, false) => Kind::Call { rest: inner, is_closed },
        (false, true) if text[begin..end].trim().is_empty() => Kind::Close { name },
        (false, true) => return Err(syntax(format!("</#{name}> has nothing behind its name"))),
        (false, false) => Kind::Open { name, rest: inner, is_closed },
    };
    Ok(Some(Piece { kind, range: start..end + 1 }))
}

/// Where the expressions end that begin here: at this byte outside of all brackets and quotes.
fn end_of(text: &str, start: usize, wanted: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            _ if byte == wanted && depth == 0 => return Some(at),
            b'"' | b'\'' => at = end_of_string(bytes, at)?,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b'<' if bytes[at..].starts_with(b"<#--") => at += text[at..].find("-->")? + 2,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the string that begins here ends: at its last quote.
pub(crate) fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let is_raw = start > 0
        && bytes[start - 1] == b'r'
        && !start.checked_sub(2).is_some_and(|at| bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_');
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if !is_raw => at += 1,
            _ if byte == bytes[start] => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Takes away indentation and line breaks of lines that hold tags and nothing else, and all that stands between
/// tags that print nothing.
///
/// As in FreeMarker, what the template begins with stays.
fn strip(text: &str, pieces: &mut [Piece], inside: bool) {
    let is_blank = |range: &Range<usize>| text[range.clone()].trim().is_empty();
    let ignorable: Vec<bool> = (0..pieces.len())
        .map(|index| {
            let Kind::Text(range) = &pieces[index].kind else { return false };
            let before =
                index.checked_sub(1).map_or(!inside, |before| prints_nothing_before(&pieces[before].kind, text));
            let behind = pieces.get(index + 1).map_or(!inside, |behind| prints_nothing_behind(&behind.kind));
            is_blank(range) && before && behind
        })
        .collect();
    let (first_lines, last_lines): (Vec<usize>, Vec<usize>) = lines(text, pieces).into_iter().unzip();
    // Lines on which something is printed keep what stands around it.
    let mut printed = vec![false; last_lines.last().map_or(0, |last| last + 2)];
    if inside && !printed.is_empty() {
        printed[0] = true;
        printed[last_lines[pieces.len() - 1]] = true;
    }
    for (index, piece) in pieces.iter().enumerate() {
        let (first, last) = (first_lines[index], last_lines[index]);
        match &piece.kind {
            Kind::Print(_) => printed[first..=last].fill(true),
            Kind::Text(range) | Kind::Raw(range) if !ignorable[index] => {
                let (head, tail) = edges(text, range);
                let is_one = head.is_empty() && tail == *range;
                printed[first] |= if is_one { true } else { !is_blank(&head) };
                printed[last] |= if is_one { true } else { !is_blank(&tail) };
            }
            _ => {}
        }
    }
    for (index, piece) in pieces.iter_mut().enumerate() {
        let Kind::Text(range) = &mut piece.kind else { continue };
        if ignorable[index] {
            range.end = range.start;
        } else if index > 0 {
            let (head, tail) = edges(text, range);
            if !printed[first_lines[index]] {
                range.start = head.end;
            }
            if !printed[last_lines[index]] {
                range.end = tail.start.max(range.start);
            }
        }
    }
}

/// What a text has up to its first line break, and behind its last one.
fn edges(text: &str, range: &Range<usize>) -> (Range<usize>, Range<usize>) {
    let source = &text[range.clone()];
    let head = source.find('\n').map_or(0, |at| at + 1);
    let tail = source.rfind('\n').map_or(0, |at| at + 1);
    (range.start..range.start + head, range.start + tail..range.end)
}

/// The lines on which each piece begins and ends.
fn lines(text: &str, pieces: &[Piece]) -> Vec<(usize, usize)> {
    let mut line = 0;
    let mut of = |piece: &Piece| {
        let first = line;
        line += text[piece.range.clone()].bytes().filter(|&byte| byte == b'\n').count();
        (first, line)
    };
    pieces.iter().map(&mut of).collect()
}

/// Whether white space behind it can go with it.
fn prints_nothing_before(kind: &Kind, text: &str) -> bool {
    match kind {
        Kind::Comment => true,
        Kind::Close { name } => matches!(name.as_str(), "macro" | "function" | "assign" | "local" | "global"),
        Kind::Open { name, rest, .. } => match name.as_str() {
            "setting" | "ftl" => true,
            // Without an operator, what follows is what the variable becomes.
            "assign" | "local" | "global" => ["=", "++", "--"].iter().any(|sign| text[rest.clone()].contains(sign)),
            _ => false,
        },
        _ => false,
    }
}

/// Whether white space in front of it can go with it.
fn prints_nothing_behind(kind: &Kind) -> bool {
    match kind {
        Kind::Comment => true,
        Kind::Open { name, .. } => {
            matches!(name.as_str(), "macro" | "function" | "assign" | "local" | "global" | "setting")
        }
        _ => false,
    }
}
