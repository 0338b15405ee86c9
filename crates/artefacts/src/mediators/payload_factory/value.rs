//! How what was found is written, so that it fits where it goes.
//!
//! Source: wso2-synapse `TemplateProcessor.prepareReplacementValue`.

use crate::placeholders::{PlaceholderContext, TextFormat, escape_xml, json_as_xml, markup, write_text, xml_as_json};
use myelin_content::is_json;
use myelin_flow::context::RequestContext;
use myelin_flow::fault::Outcome;

/// How values are written.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) media: TextFormat,
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
    position: PlaceholderContext,
    context: &RequestContext<'_>,
    out: &mut Vec<u8>,
) -> Outcome<()> {
    let &Given { text, is_literal, is_of_path } = given;
    // As in Synapse, the first character decides.
    let is_json = text.trim_start().starts_with(['{', '[']) && !is_literal;
    match manner.media {
        TextFormat::Text => out.extend_from_slice(text.as_bytes()),
        TextFormat::Xml => match markup(text).filter(|_| position == PlaceholderContext::Content) {
            Some(markup) => out.extend_from_slice(markup.as_bytes()),
            None if is_json && is_of_path && position == PlaceholderContext::Content => {
                json_as_xml(text, context, out)?;
            }
            None => escape_xml(text, position == PlaceholderContext::Quoted, out),
        },
        TextFormat::Json if position == PlaceholderContext::Quoted => match is_json && can_stand_in_string(text) {
            true => out.extend_from_slice(text.as_bytes()),
            false => write_text(text, false, out),
        },
        TextFormat::Json if is_json && is_of_path && manner.escape_breaks => escape_breaks(text, out),
        TextFormat::Json if is_json => out.extend_from_slice(text.as_bytes()),
        TextFormat::Json => match markup(text).filter(|_| !is_of_path && !is_literal) {
            Some(markup) => xml_as_json(markup, context, out)?,
            None => write_text(text, manner.quote && !is_scalar(text.trim()), out),
        },
    }
    Ok(())
}

/// Whether a text can stand in a string of JSON as it is: whoever wrote it has escaped what must be.
fn can_stand_in_string(text: &str) -> bool {
    is_json(&format!("\"{text}\""))
}

/// Whether a text is a value of JSON without quotes.
fn is_scalar(text: &str) -> bool {
    matches!(text, "true" | "false" | "null")
        || (text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) && is_json(text))
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
    fn a_text_with_quotes_of_its_own_ends_a_string() {
        for text in ["[draft]", r#"{\"a\": 1}"#, r"{\\}"] {
            assert!(can_stand_in_string(text), "{text}");
        }
        for text in [r#"{"a":1}"#, r#"[","admin":true,"b":"]"#, "[\n]", r"{\"] {
            assert!(!can_stand_in_string(text), "{text}");
        }
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
