//! How values are written in the place of placeholders.

use myelin_json::text::write_string;

use crate::placeholders::context::{PlaceholderContext, TextFormat};
use crate::placeholders::convert::{json_as_xml, xml_as_json};
use myelin_content::{is_json, text_of};
use myelin_flow::context::RequestContext;
use myelin_flow::fault::Outcome;
use myelin_flow::property::Value;

/// Writes the value of a Synapse expression in the place of a placeholder: in quotes as text, elsewhere as what it is.
///
/// Errors: the bus's, where XML would have to become JSON, or JSON XML, and cannot.
pub(crate) fn write_value(
    value: Option<&Value>,
    format: TextFormat,
    position: PlaceholderContext,
    context: &RequestContext<'_>,
    out: &mut Vec<u8>,
) -> Outcome<()> {
    let Some(value) = value else {
        // Nothing at all would leave JSON that is none.
        if format == TextFormat::Json && position == PlaceholderContext::Content {
            out.extend_from_slice(b"null");
        }
        return Ok(());
    };
    let text = value.text();
    match (format, position) {
        (TextFormat::Text, _) => out.extend_from_slice(text.as_bytes()),
        (TextFormat::Xml, PlaceholderContext::Content) if is_markup(value, &text) => {
            out.extend_from_slice(text.as_bytes());
        }
        (TextFormat::Xml, PlaceholderContext::Content)
            if matches!(value, Value::Json(_)) && text.starts_with(['{', '[']) =>
        {
            json_as_xml(&text, context, out)?;
        }
        (TextFormat::Xml, position) => escape_xml(&text, position == PlaceholderContext::Quoted, out),
        (TextFormat::Json, PlaceholderContext::Quoted) => write_text(&text, false, out),
        (TextFormat::Json, PlaceholderContext::Content) if is_markup(value, &text) => xml_as_json(&text, context, out)?,
        (TextFormat::Json, PlaceholderContext::Content) => match is_json(&text) {
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
pub(crate) fn write_text(text: &str, quotes: bool, out: &mut Vec<u8>) {
    let mut string = Vec::with_capacity(text.len() + 2);
    write_string(text, &mut string);
    let cut = usize::from(!quotes);
    out.extend_from_slice(&string[cut..string.len() - cut]);
}

/// Escapes a text for XML; what no XML may hold is left out, as in Synapse.
pub(crate) fn escape_xml(text: &str, in_attribute: bool, out: &mut Vec<u8>) {
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
