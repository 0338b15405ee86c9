//! How values are written into holes.

use myelin_json::text::write_string;

use super::convert::{json_as_xml, xml_as_json};
use super::surroundings::{Around, Language};
use crate::content::{is_json, text_of};
use crate::exchange::Scene;
use crate::fault::Outcome;
use crate::property::Value;

/// Writes the value of a Synapse expression into a hole: in quotes as text, elsewhere as what it is.
///
/// Errors: the bus's, where XML would have to become JSON, or JSON XML, and cannot.
pub(in crate::mediators) fn write_value(
    value: Option<&Value>,
    language: Language,
    around: Around,
    scene: &Scene<'_>,
    out: &mut Vec<u8>,
) -> Outcome<()> {
    let Some(value) = value else {
        // Nothing at all would leave JSON that is none.
        if language == Language::Json && around == Around::Nothing {
            out.extend_from_slice(b"null");
        }
        return Ok(());
    };
    let text = value.text();
    match (language, around) {
        (Language::Text, _) => out.extend_from_slice(text.as_bytes()),
        (Language::Xml, Around::Nothing) if is_markup(value, &text) => out.extend_from_slice(text.as_bytes()),
        (Language::Xml, Around::Nothing) if matches!(value, Value::Json(_)) && text.starts_with(['{', '[']) => {
            json_as_xml(&text, scene, out)?;
        }
        (Language::Xml, around) => escape_xml(&text, around == Around::Quotes, out),
        (Language::Json, Around::Quotes) => write_text(&text, false, out),
        (Language::Json, Around::Nothing) if is_markup(value, &text) => xml_as_json(&text, scene, out)?,
        (Language::Json, Around::Nothing) => match is_json(&text) {
            true => out.extend_from_slice(text.as_bytes()),
            false => write_text(&text, true, out),
        },
    }
    Ok(())
}

/// Whether the text of a value is XML, and not the text directly in an element, which is printed in its place.
fn is_markup(value: &Value, text: &str) -> bool {
    let fragments = match value {
        Value::Xml(fragment) => std::slice::from_ref(fragment),
        Value::List(fragments) => fragments,
        _ => return false,
    };
    let written: String = fragments.iter().map(|fragment| text_of(&fragment.document, fragment.node)).collect();
    written == text
}

/// Writes a text as it stands in a string of JSON, with the quotes or without them.
pub(in crate::mediators) fn write_text(text: &str, quotes: bool, out: &mut Vec<u8>) {
    let mut string = Vec::with_capacity(text.len() + 2);
    write_string(text, &mut string);
    let cut = usize::from(!quotes);
    out.extend_from_slice(&string[cut..string.len() - cut]);
}

/// Escapes a text for XML; what no XML may hold is left out, as in Synapse.
pub(in crate::mediators) fn escape_xml(text: &str, in_attribute: bool, out: &mut Vec<u8>) {
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
}
