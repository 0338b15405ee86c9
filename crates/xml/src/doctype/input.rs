//! What declarations are read from: the document itself, an external file, or the text of a parameter entity.

use std::rc::Rc;

/// A text of which a part has been read.
pub(super) struct Input<'s> {
    text: Text<'s>,
    pub(super) at: usize,
    /// The parameter entity that it is; `None`: the document itself or the file that its document type names.
    pub(super) name: Option<String>,
    /// The URI that references in it are relative to.
    pub(super) uri: Rc<str>,
    /// Whether it is an external file or stands in one: references may stand within declarations then.
    pub(super) external: bool,
    /// `<![INCLUDE[` that are open.
    pub(super) sections: usize,
}

enum Text<'s> {
    Source(&'s str),
    Made(Rc<str>),
}

impl<'s> Input<'s> {
    pub(super) fn source(text: &'s str, at: usize, uri: Rc<str>) -> Input<'s> {
        Input { text: Text::Source(text), at, name: None, uri, external: false, sections: 0 }
    }

    pub(super) fn made(text: Rc<str>, name: Option<String>, uri: Rc<str>, external: bool) -> Input<'s> {
        Input { text: Text::Made(text), at: 0, name, uri, external, sections: 0 }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &str {
        &self.text()[self.at..]
    }

    pub(super) fn text(&self) -> &str {
        match &self.text {
            Text::Source(text) => text,
            Text::Made(text) => text,
        }
    }
}

/// The length of the comment, instruction or CDATA section that a text begins with, to the end of the text where it has
/// no end.
pub(super) fn markup_length(text: &str) -> Option<usize> {
    let marks = [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")];
    let (open, close) = marks.into_iter().find(|(open, _)| text.starts_with(open))?;
    let end = memchr::memmem::find(&text.as_bytes()[open.len()..], close.as_bytes());
    Some(end.map_or(text.len(), |end| open.len() + end + close.len()))
}

/// The name that a text begins with; empty: none.
pub(super) fn name_at(text: &str) -> &str {
    use crate::characters::{is_name_character, is_name_start};
    if !text.starts_with(is_name_start) {
        return "";
    }
    &text[..text.find(|letter| !is_name_character(letter)).unwrap_or(text.len())]
}

/// The name of the reference that a text begins with, behind its `&` or `%`.
pub(super) fn reference_at(text: &str) -> Option<&str> {
    let name = name_at(&text[1..]);
    (!name.is_empty() && text[1 + name.len()..].starts_with(';')).then_some(name)
}

/// The character of a reference such as `&#160;`, and how long the reference is.
pub(super) fn character_at(text: &str) -> Option<(char, usize)> {
    let inside = text.strip_prefix("&#")?;
    let end = inside.as_bytes().iter().take(12).position(|byte| *byte == b';')?;
    let number = match inside[..end].strip_prefix('x') {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => u32::from_str_radix(digits, 16),
        None if inside[..end].bytes().all(|digit| digit.is_ascii_digit()) => inside[..end].parse(),
        _ => return None,
    };
    let letter = number.ok().and_then(char::from_u32).filter(|letter| crate::characters::is_allowed(*letter))?;
    Some((letter, end + 3))
}
