//! HTML as lines: a tag, a comment or some words on each.

/// Elements that have no end tag.
const EMPTY: [&str; 13] =
    ["area", "base", "br", "col", "frame", "hr", "img", "input", "isindex", "link", "meta", "param", "wbr"];

/// Whether a text begins as HTML does.
pub(crate) fn is_html(text: &str) -> bool {
    let begin = text.trim_start();
    begin.starts_with('<') && !begin.starts_with("<?xml ")
}

/// The parts of a page, with names in lower case, attributes sorted and white space at tags left out.
pub(crate) fn lines(page: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = page;
    while !rest.is_empty() {
        let (words, behind) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        push_words(words, &mut lines);
        let Some(length) = markup_length(behind) else {
            push_words(behind, &mut lines);
            break;
        };
        let (markup, behind) = behind.split_at(length);
        let tag = tag(markup);
        rest = behind;
        let name = name_of(&tag).to_owned();
        lines.push(tag);
        if matches!(&*name, "script" | "style") {
            // What is in these two is no HTML; its end is the next end tag.
            let (inside, behind) = rest.split_at(rest.find("</").unwrap_or(rest.len()));
            push_words(inside, &mut lines);
            rest = behind;
        } else if markup.ends_with("/>") && !EMPTY.contains(&&*name) {
            // Elements of other namespaces are written as XML, and by some as HTML.
            lines.push(format!("</{name}>"));
        }
    }
    lines
}

/// The name in a tag as [`tag`] writes it.
fn name_of(tag: &str) -> &str {
    tag[1..].split([' ', '>']).next().unwrap_or_default()
}

fn push_words(text: &str, lines: &mut Vec<String>) {
    let words = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    if !words.is_empty() {
        lines.push(decoded(&words));
    }
}

/// The page as XML: what has no end tag gets one, and the `meta` that only says how the page is written is left out.
///
/// What a serialiser of HTML writes has quotes around each value, and end tags where HTML wants them.
pub(crate) fn as_xml(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        out += &rest[..at].replace("&nbsp;", "\u{A0}");
        let Some(length) = markup_length(&rest[at..]) else { break };
        let markup = &rest[at..at + length];
        rest = &rest[at + length..];
        let tag = tag(markup);
        let name = name_of(&tag);
        if tag.starts_with("<meta charset=") {
            rest = rest.trim_ascii_start().strip_prefix("</meta>").unwrap_or(rest);
        } else if EMPTY.contains(&name) && !markup.ends_with("/>") {
            out += &format!("{}/>", markup.trim_end_matches('>'));
        } else {
            out += markup;
        }
    }
    out + rest
}

/// How long the markup is that a text begins with.
fn markup_length(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return text.find("-->").map(|at| at + 3);
    }
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match (character, quote) {
            ('>', None) => return Some(at + 1),
            ('"' | '\'', None) => quote = Some(character),
            (_, Some(open)) if open == character => quote = None,
            _ => {}
        }
    }
    None
}

/// A tag with its name in lower case and its attributes in order; other markup with its white space made even.
fn tag(markup: &str) -> String {
    let inside = markup.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
    if markup.starts_with("<!") || markup.starts_with("<?") {
        return markup.split_ascii_whitespace().collect::<Vec<_>>().join(" ").replace("<!doctype", "<!DOCTYPE");
    }
    let end = inside.find(|character: char| character.is_ascii_whitespace()).unwrap_or(inside.len());
    let name = inside[..end].to_ascii_lowercase();
    let mut attributes = Vec::new();
    let mut rest = inside[end..].trim_start();
    while !rest.is_empty() {
        let end =
            rest.find(|character: char| character == '=' || character.is_ascii_whitespace()).unwrap_or(rest.len());
        let attribute = rest[..end].to_ascii_lowercase();
        rest = rest[end..].trim_start();
        let Some(value) = rest.strip_prefix('=') else {
            attributes.push(attribute);
            continue;
        };
        let value = value.trim_start();
        let (value, behind) = match value.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
            Some(quote) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            None => {
                value.split_at(value.find(|character: char| character.is_ascii_whitespace()).unwrap_or(value.len()))
            }
        };
        // The element that names the encoding may be written in either case.
        let value = if name == "meta" { value.to_ascii_lowercase() } else { decoded(value) };
        attributes.push(format!("{attribute}={value:?}"));
        rest = behind.trim_start();
    }
    // HTML has no namespaces.
    attributes.retain(|attribute| !attribute.starts_with("xmlns"));
    attributes.sort();
    // HTML 4 and HTML 5 have different elements for the encoding.
    if let Some(encoding) = encoding_of(&name, &attributes) {
        return format!("<meta charset={encoding:?}>");
    }
    attributes.insert(0, name);
    format!("<{}>", attributes.join(" "))
}

/// The encoding that a `meta` of HTML 4 names.
fn encoding_of(name: &str, attributes: &[String]) -> Option<String> {
    let content =
        attributes.iter().find_map(|attribute| attribute.strip_prefix("content=\"")).filter(|_| name == "meta")?;
    let (_, encoding) = content.trim_end_matches('"').split_once("charset=")?;
    attributes.iter().any(|attribute| attribute == "http-equiv=\"content-type\"").then(|| encoding.to_owned())
}

/// The text with the entities that serialisers like to use, as characters.
fn decoded(text: &str) -> String {
    const ENTITIES: [(&str, &str); 8] = [
        ("nbsp", "\u{A0}"),
        ("copy", "\u{A9}"),
        ("reg", "\u{AE}"),
        ("eacute", "\u{E9}"),
        ("quot", "\""),
        ("lt", "<"),
        ("gt", ">"),
        ("amp", "&"),
    ];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out += before;
        let reference = behind.split_once(';').and_then(|(name, behind)| {
            let number = match name.strip_prefix('#').map(|number| (number.strip_prefix(['x', 'X']), number)) {
                Some((Some(digits), _)) => u32::from_str_radix(digits, 16).ok(),
                Some((None, digits)) => digits.parse().ok(),
                None => None,
            };
            let known = ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
            known.or_else(|| number.and_then(char::from_u32).map(String::from)).map(|text| (text, behind))
        });
        match reference {
            Some((character, behind)) => {
                out += &character;
                rest = behind;
            }
            None => {
                out.push('&');
                rest = behind;
            }
        }
    }
    out + rest
}
