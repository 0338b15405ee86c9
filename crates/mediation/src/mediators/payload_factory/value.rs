//! How what was found is written, so that it fits where it goes.
//!
//! Source: wso2-synapse `TemplateProcessor.prepareReplacementValue`.

use myelin_json::text::write_string;

use super::Media;
use super::convert::{json_as_xml, markup, xml_as_json};
use super::template::Around;
use crate::content::is_json;
use crate::exchange::Scene;
use crate::fault::Outcome;
use crate::property;

/// How values are written.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) media: Media,
    /// Whether line breaks and tabs are escaped in the JSON that a JSONPath finds.
    pub(super) escape_breaks: bool,
    /// Whether texts get quotes in JSON.
    pub(super) quote: bool,
}

/// The value of an argument.
pub(super) struct Given<'a> {
    pub(super) text: &'a str,
    /// Whether JSON and XML in it is text.
    pub(super) is_literal: bool,
    /// Whether a JSONPath found it.
    pub(super) is_of_path: bool,
}

/// Writes an argument's value into a hole.
///
/// Errors: the bus's, where XML would have to become JSON, or JSON XML, and cannot.
pub(super) fn write_given(
    given: &Given<'_>,
    manner: Manner,
    around: Around,
    scene: &Scene<'_>,
    out: &mut Vec<u8>,
) -> Outcome<()> {
    let &Given { text, is_literal, is_of_path } = given;
    // As in Synapse, the first character decides.
    let is_json = text.trim_start().starts_with(['{', '[']) && !is_literal;
    match manner.media {
        Media::Text => out.extend_from_slice(text.as_bytes()),
        Media::Xml => match markup(text) {
            Some(markup) => out.extend_from_slice(markup.as_bytes()),
            None if is_json && is_of_path => json_as_xml(text, scene, out)?,
            None => escape_xml(text, around == Around::Quotes, out),
        },
        Media::Json if is_json && is_of_path && manner.escape_breaks => escape_breaks(text, out),
        Media::Json if is_json => out.extend_from_slice(text.as_bytes()),
        Media::Json => match markup(text).filter(|_| !is_of_path && !is_literal) {
            Some(markup) => xml_as_json(markup, scene, out)?,
            None => write_text(text, manner.quote && !is_scalar(text.trim()), out),
        },
    }
    Ok(())
}

/// Writes the value of a Synapse expression into a hole: in quotes as text, elsewhere as what it is.
///
/// Errors: as [`write_given`].
pub(super) fn write_value(
    value: Option<&property::Value>,
    media: Media,
    around: Around,
    scene: &Scene<'_>,
    out: &mut Vec<u8>,
) -> Outcome<()> {
    use property::Value;
    let Some(value) = value else {
        // Nothing at all would leave JSON that is none.
        if media == Media::Json && around == Around::Nothing {
            out.extend_from_slice(b"null");
        }
        return Ok(());
    };
    let text = value.text();
    match (media, around, value) {
        (Media::Text, ..) => out.extend_from_slice(text.as_bytes()),
        (Media::Xml, Around::Nothing, Value::Xml(_) | Value::List(_)) => out.extend_from_slice(text.as_bytes()),
        (Media::Xml, Around::Nothing, Value::Json(_)) if text.starts_with(['{', '[']) => {
            json_as_xml(&text, scene, out)?;
        }
        (Media::Xml, around, _) => escape_xml(&text, around == Around::Quotes, out),
        (Media::Json, Around::Quotes, _) => write_text(&text, false, out),
        (Media::Json, Around::Nothing, Value::Xml(_) | Value::List(_)) => xml_as_json(&text, scene, out)?,
        (Media::Json, Around::Nothing, Value::Text(_)) => match is_json(&text) {
            true => out.extend_from_slice(text.as_bytes()),
            false => write_text(&text, true, out),
        },
        (Media::Json, Around::Nothing, _) => out.extend_from_slice(text.as_bytes()),
    }
    Ok(())
}

/// Writes a text as it stands in a string of JSON, with the quotes or without them.
fn write_text(text: &str, quotes: bool, out: &mut Vec<u8>) {
    let mut string = Vec::with_capacity(text.len() + 2);
    write_string(text, &mut string);
    let cut = usize::from(!quotes);
    out.extend_from_slice(&string[cut..string.len() - cut]);
}

/// Whether a text is a value of JSON without quotes.
fn is_scalar(text: &str) -> bool {
    matches!(text, "true" | "false" | "null")
        || (text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) && is_json(text))
}

/// Escapes a text for XML; what no XML may hold is left out, as in Synapse.
fn escape_xml(text: &str, in_attribute: bool, out: &mut Vec<u8>) {
    for letter in text.chars() {
        let escaped = match letter {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '\r' => "&#13;",
            '"' if in_attribute => "&quot;",
            '\'' if in_attribute => "&apos;",
            '\t' if in_attribute => "&#9;",
            '\n' if in_attribute => "&#10;",
            '\0'..'\t' | '\u{b}' | '\u{c}' | '\u{e}'..' ' | '\u{fffe}' | '\u{ffff}' => "",
            other => {
                out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
        };
        out.extend_from_slice(escaped.as_bytes());
    }
}

fn escape_breaks(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_place_in_xml() {
        let check = |in_attribute: bool, expected: &str| {
            let mut out = Vec::new();
            escape_xml("<é&'\"\r\n\u{1}]]>", in_attribute, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        };
        check(false, "&lt;é&amp;'\"&#13;\n]]&gt;");
        check(true, "&lt;é&amp;&apos;&quot;&#13;&#10;]]&gt;");
    }

    #[test]
    fn numbers_of_json_are_told_from_texts_that_look_like_them() {
        for scalar in ["true", "null", "0", "-1.5e3"] {
            assert!(is_scalar(scalar), "{scalar}");
        }
        for text in ["", "True", "01", "1.", "+1", "0x1", "1 2", "\"a\"", "NaN"] {
            assert!(!is_scalar(text), "{text}");
        }
    }
}
