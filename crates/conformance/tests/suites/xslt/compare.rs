//! Whether two results are the same, whatever liberties a serialiser took.
//!
//! Results are compared as what they are: XML by its nodes, HTML by its tags and words, text to the byte.
//! Canonical XML would refuse namespaces that are relative references, which several cases have on purpose, and tells
//! that two documents differ but not where; so nodes are written one to a line here, and lines are compared.

pub(crate) mod html;
pub(crate) mod xml;

use myelin_xml::encoding;

/// How indented results are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Each white space counts.
    Counts,
    /// White space between tags does not: the stylesheet asks for an indented result, or for HTML.
    Indents,
}

/// Whether the result is as expected; `Err`: the first difference.
pub(crate) fn same(expected: &[u8], found: &[u8], space: Space) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let (expected, found) = (decoded(expected), decoded(found));
    if let (Some(expected), Some(found)) = (xml::lines(&expected, space), xml::lines(&found, space)) {
        return first_difference(&expected, &found);
    }
    if html::is_html(&expected) && html::is_html(&found) {
        return first_difference(&html::lines(&expected), &html::lines(&found));
    }
    first_difference(&expected.lines().collect::<Vec<_>>(), &found.lines().collect::<Vec<_>>())
}

/// As [`same`], but without the namespaces that are declared: names and content are the same.
///
/// Source: as Exclusive XML Canonicalization, which writes those that names use; their prefixes do not count either.
pub(crate) fn same_names(expected: &[u8], found: &[u8], space: Space) -> Result<(), String> {
    let lines = |bytes| {
        let mut lines = xml::lines(&decoded(bytes), space)?;
        lines.retain(|line| !line.starts_with(xml::NAMESPACE));
        Some(lines)
    };
    match (lines(expected), lines(found)) {
        (Some(expected), Some(found)) => first_difference(&expected, &found),
        _ => same(expected, found, space),
    }
}

/// Whether the tree that was written as a result is the expected one: what a serialiser adds does not count.
pub(crate) fn same_tree(expected: &[u8], found: &[u8], space: Space) -> Result<(), String> {
    match (xml::tree(&decoded(expected)), xml::result_tree(&decoded(found))) {
        (Some(expected), Some(found)) => {
            first_difference(&xml::tree_lines(&expected, space), &xml::tree_lines(&found, space))
        }
        _ => same(expected, found, space),
    }
}

/// The text of a result in whatever encoding it says; what says none and is no UTF-8 is ISO-8859-1.
pub(crate) fn decoded(bytes: &[u8]) -> String {
    decoded_with_mark(bytes).trim_start_matches('\u{FEFF}').to_owned()
}

/// The same with its byte order mark, if it has one.
pub(crate) fn decoded_with_mark(bytes: &[u8]) -> String {
    let mark =
        bytes.starts_with("\u{FEFF}".as_bytes()) || bytes.starts_with(b"\xFE\xFF") || bytes.starts_with(b"\xFF\xFE");
    let utf8 = encoding::decode(None, bytes).map_or_else(|_| bytes.to_vec(), |(utf8, _)| utf8.into_owned());
    match String::from_utf8(utf8) {
        Ok(text) if mark && !text.starts_with('\u{FEFF}') => format!("\u{FEFF}{text}"),
        Ok(text) => text,
        Err(error) => error.as_bytes().iter().map(|&byte| char::from(byte)).collect(),
    }
}

fn first_difference<L: AsRef<str> + PartialEq>(expected: &[L], found: &[L]) -> Result<(), String> {
    let common = expected.iter().zip(found).take_while(|(one, other)| one == other).count();
    if common == expected.len() && common == found.len() {
        return Ok(());
    }
    let shown = |lines: &[L]| {
        lines.get(common).map_or_else(|| "the end".to_owned(), |line| format!("{:?}", clipped(line.as_ref())))
    };
    Err(format!("expected {}, found {} (part {})", shown(expected), shown(found), common + 1))
}

/// The beginning of a text that is too long for a message.
pub(crate) fn clipped(text: &str) -> &str {
    const CHARACTERS: usize = 160;
    text.char_indices().nth(CHARACTERS).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_attributes_and_the_kind_of_quotes_do_not_count_and_namespaces_do() {
        let check = |one: &str, other: &str| same(one.as_bytes(), other.as_bytes(), Space::Counts).is_ok();
        assert!(check("<a b='1' c='2'>x</a>", "<?xml version=\"1.0\"?>\n<a c=\"2\" b=\"1\"><![CDATA[x]]></a>"));
        assert!(check("x<a/>y", "x<a></a>y"), "a fragment");
        assert!(!check("<a/>", "<a xmlns:p='u:1'/>"));
        assert!(!check("<a> </a>", "<a/>"));
        assert!(!check("one", "two"));
    }

    #[test]
    fn white_space_between_tags_counts_unless_a_result_is_indented() {
        let indented = b"<a>\n  <b> x </b>\n</a>";
        assert!(same(b"<a><b> x </b></a>", indented, Space::Indents).is_ok());
        assert!(same(b"<a><b> x </b></a>", indented, Space::Counts).is_err());
        assert!(same(b"<a><b>x</b></a>", indented, Space::Indents).is_err());
    }

    #[test]
    fn html_is_compared_by_tags_and_words() {
        let one = b"<html><head><title>T</title></head><body><p>a  b</p><br></body></html>";
        let other = b"<HTML>\n<head>\n<title>T</title></head>\n<body>\n<p>a b</p>\n<br>\n</body>\n</HTML>";
        assert!(same(one, other, Space::Indents).is_ok());
        assert!(same(one, &other.to_ascii_uppercase(), Space::Indents).is_err());
    }
}
