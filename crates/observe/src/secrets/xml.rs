//! Secrets in XML: what is in an element or an attribute with such a name, or in one that names a property so.

use std::ops::Range;

use super::names::is_secret_name;

/// The attributes that say what an element is about, as `<property name="…" value="…"/>` has them.
const NAMING: &[&str] = &["name", "key"];

/// An opening tag.
struct Tag<'a> {
    name: &'a str,
    /// Names and values of its attributes; values with where they stand.
    attributes: Vec<(&'a str, Range<usize>)>,
    /// Where it ends, behind the `>`.
    end: usize,
    is_empty: bool,
}

pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(offset) = text[at..].find('<') {
        at += offset + 1;
        let Some(tag) = read(text, at) else { continue };
        let is_naming = |(name, value): &(&str, Range<usize>)| {
            NAMING.contains(&local(name)) && is_secret_name(&text[value.clone()])
        };
        let is_secret = is_secret_name(local(tag.name)) || tag.attributes.iter().any(is_naming);
        for (name, value) in &tag.attributes {
            if is_secret_name(local(name)) || (is_secret && local(name) == "value") {
                found.push(value.clone());
            }
        }
        at = tag.end;
        if is_secret && !tag.is_empty {
            let close = format!("</{}", tag.name);
            let end = text[at..].find(&close).map_or(text.len(), |offset| at + offset);
            if text[at..end].trim().is_empty() {
                continue;
            }
            found.push(at..end);
            at = end;
        }
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Reads the opening tag whose name begins at `start`; what is cut off counts as far as it goes.
fn read(text: &str, start: usize) -> Option<Tag<'_>> {
    let name_end = start + text[start..].find(|c: char| c.is_whitespace() || matches!(c, '/' | '>' | '<' | '"'))?;
    let name = &text[start..name_end];
    if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    let mut tag = Tag { name, attributes: Vec::new(), end: name_end, is_empty: false };
    let mut at = name_end;
    loop {
        at += text[at..].find(|c: char| !c.is_whitespace()).unwrap_or(text.len() - at);
        let rest = &text[at..];
        if rest.is_empty() || rest.starts_with('<') {
            tag.end = at;
            // It is no tag, or cut off: nothing can be inside.
            tag.is_empty = true;
            return Some(tag);
        }
        if rest.starts_with('>') || rest.starts_with("/>") {
            tag.is_empty = rest.starts_with('/');
            tag.end = at + 1 + usize::from(tag.is_empty);
            return Some(tag);
        }
        let length = rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/' | '<')).unwrap_or(rest.len());
        let (attribute, behind) = (&rest[..length], rest[length..].trim_start());
        at += length.max(1);
        // A letter that begins nothing is passed over whole.
        while !text.is_char_boundary(at) {
            at += 1;
        }
        let Some(value) = behind.strip_prefix('=').map(str::trim_start) else { continue };
        let Some(quote @ ('"' | '\'')) = value.chars().next() else { continue };
        let value_start = text.len() - value.len() + 1;
        let value_end = text[value_start..].find(quote).map_or(text.len(), |offset| value_start + offset);
        tag.attributes.push((attribute, value_start..value_end));
        at = (value_end + 1).min(text.len());
    }
}
