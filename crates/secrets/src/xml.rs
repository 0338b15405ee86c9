//! Secrets in XML: what is in an element or an attribute with such a name, or stands beside one.
//!
//! The text is searched by its marks alone, so that one is searched that no parser reads.

use std::ops::Range;

use myelin_spelling::nearest;

use super::names::Text;

/// Elements that hold a value under a name.
const HOLDERS: &[&str] = &[
    "arg",
    "argument",
    "attribute",
    "entry",
    "header",
    "key",
    "localEntry",
    "param",
    "parameter",
    "property",
    "variable",
    "with-param",
];

/// Their attributes that never hold it.
const HARMLESS: &[&str] = &["action", "locked", "scope", "type"];

/// Their attributes that hold it, and do not say what it is.
const HOLDING: &[&str] = &["value", "expression"];

/// The attributes of any element that say what it is about, as messages have them.
const NAMING: &[&str] = &["name", "key"];

/// What is secret of the text in an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    /// The text directly in it.
    Text,
    /// Everything in it.
    All,
}

/// Finds the values of attributes and the texts of elements that have names of secrets, or stand beside one.
pub(super) fn find(kind: Text, text: &str, found: &mut Vec<Range<usize>>) {
    let mut open: Vec<Holds> = Vec::new();
    let mut next = 0;
    while next < text.len() {
        let tag = memchr::memchr(b'<', &text.as_bytes()[next..]).map_or(text.len(), |length| next + length);
        if open.last().is_some_and(|holds| *holds != Holds::Nothing) {
            let inside = &text[next..tag];
            let start = next + (inside.len() - inside.trim_start().len());
            found.push(start..start.max(next + inside.trim_end().len()));
        }
        let rest = text.get(tag + 1..).unwrap_or_default();
        next = tag + 1;
        if rest.starts_with('/') {
            open.pop();
            next += memchr::memchr(b'>', rest.as_bytes()).map_or(0, |length| length + 1);
        } else if let Some(data) = rest.strip_prefix("![CDATA[") {
            next = text.len() - data.len();
            if open.last().is_some_and(|holds| *holds != Holds::Nothing) {
                let (length, close) = data.find("]]>").map_or((data.len(), 0), |end| (end, "]]>".len()));
                found.push(next..next + length);
                next += length + close;
            }
        } else if rest.starts_with(|it: char| it.is_alphabetic() || it == '_') {
            let outer = open.last().copied().unwrap_or(Holds::Nothing);
            let tag = Tag::read(text, next);
            let holds = tag.secrets(kind, text, outer, found);
            next = tag.end;
            if !tag.is_closed {
                open.push(holds);
            }
        }
    }
}

/// A start tag.
struct Tag {
    name: Range<usize>,
    /// The names and values of its attributes.
    attributes: Vec<(Range<usize>, Range<usize>)>,
    is_closed: bool,
    end: usize,
}

impl Tag {
    /// Reads the tag whose name begins at an offset; what is no attribute in it is passed over.
    fn read(text: &str, start: usize) -> Tag {
        let bytes = text.as_bytes();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"-_.:".contains(&byte);
        let name_from =
            |at: usize| bytes[at..].iter().position(|&byte| !is_name(byte)).map_or(bytes.len(), |it| at + it);
        let blanks_from = |at: usize| {
            bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace()).map_or(bytes.len(), |it| at + it)
        };
        let mut at = name_from(start);
        let mut tag = Tag { name: start..at, attributes: Vec::new(), is_closed: false, end: text.len() };
        while at < bytes.len() {
            match bytes[at] {
                b'>' => {
                    (tag.is_closed, tag.end) = (bytes[at - 1] == b'/', at + 1);
                    return tag;
                }
                // The tag was never closed.
                b'<' => {
                    (tag.is_closed, tag.end) = (true, at);
                    return tag;
                }
                byte if is_name(byte) => {
                    let name = at..name_from(at);
                    at = blanks_from(name.end);
                    if bytes.get(at) != Some(&b'=') {
                        continue;
                    }
                    at = blanks_from(at + 1);
                    let Some(&quote @ (b'"' | b'\'')) = bytes.get(at) else { continue };
                    let end = memchr::memchr(quote, &bytes[at + 1..]).map_or(bytes.len(), |length| at + 1 + length);
                    tag.attributes.push((name, at + 1..end));
                    at = end + 1;
                }
                _ => at += 1,
            }
        }
        tag
    }

    /// Notes the secrets among its attributes; what is secret of the text that follows it.
    fn secrets(&self, kind: Text, text: &str, outer: Holds, found: &mut Vec<Range<usize>>) -> Holds {
        let local = |name: &Range<usize>| text[name.clone()].rsplit(':').next().unwrap_or_default();
        let is_holder = kind == Text::Configuration && nearest(local(&self.name), HOLDERS.iter().copied()).is_some();
        let marks = |(name, value): &&(Range<usize>, Range<usize>)| {
            let may = match kind {
                Text::Configuration => is_holder && !HOLDING.contains(&local(name)),
                Text::Message => NAMING.contains(&local(name)),
            };
            may && kind.is_secret(&text[value.clone()])
        };
        let mark = self.attributes.iter().find(marks).map(|(_, value)| value.clone());
        let is_named = kind.is_secret(local(&self.name)) || outer == Holds::All;
        for (name, value) in &self.attributes {
            let is_beside = match kind {
                Text::Configuration => mark.is_some() && !HARMLESS.contains(&local(name)),
                Text::Message => (mark.is_some() || is_named) && local(name) == "value",
            };
            if Some(value) != mark.as_ref() && (is_beside || kind.is_secret(local(name))) {
                found.push(value.clone());
            }
        }
        if is_named || (mark.is_some() && kind == Text::Message) {
            Holds::All
        } else if mark.is_some() {
            Holds::Text
        } else {
            Holds::Nothing
        }
    }
}

/// Finds the texts of elements that stand as text in a document: `&lt;password>hush&lt;/password>`.
pub(super) fn find_escaped(kind: Text, text: &str, found: &mut Vec<Range<usize>>) {
    const BEGIN: &str = "&lt;";
    // The pieces are looked at one by one, so that the time grows with the text and no faster.
    let (mut at, mut is_open) = (0, false);
    for (number, tag) in text.split(BEGIN).enumerate() {
        let name = &tag[..tag.find(|it: char| it.is_whitespace() || "/<>&".contains(it)).unwrap_or(tag.len())];
        // A tag that is not closed goes on in the next piece.
        is_open |= number > 0 && kind.is_secret(name.rsplit(':').next().unwrap_or(name));
        let closed = [">", "&gt;"].iter().filter_map(|close| Some(tag.find(close)? + close.len())).min();
        if let Some(start) = closed.filter(|_| is_open) {
            let end = tag[start..].find(['<', '&']).map_or(tag.len(), |offset| start + offset);
            found.push(at + start..at + end);
            is_open = false;
        }
        at += tag.len() + BEGIN.len();
    }
}
