//! What fills a hole, and how it is written so that it fits there.
//!
//! Source: wso2-synapse `TemplateProcessor.prepareReplacementValue`.

use std::borrow::Cow;

use myelin_json::text::write_string;
use myelin_xml::{Document, Kind, Options};

use super::Media;
use crate::config::{Element, Loader, Problem};
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::{Fault, Outcome};
use crate::mediators::setting::Setting;

/// One argument.
pub(super) struct Argument {
    setting: Setting,
    /// Whether JSON and XML in it is text.
    literal: bool,
}

/// How values are written.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) media: Media,
    /// Whether line breaks and tabs are escaped in the JSON that a JSONPath finds.
    pub(super) escape_breaks: bool,
    /// Whether texts get quotes in JSON.
    pub(super) quote: bool,
}

impl Argument {
    pub(super) fn read(element: &Element, media: Media, loader: &mut Loader) -> Result<Argument, Problem> {
        if !element.is("arg") {
            return Err(element.problem(format!("<args> holds arg elements, not {}", element.tag())));
        }
        element.attribute("deepCheck");
        let literal = element.switch("literal", false)?;
        let is_path = match element.attribute("evaluator").map(|evaluator| (evaluator.value.trim(), evaluator)) {
            None | Some(("xml" | "", _)) => false,
            Some(("json", _)) => true,
            Some((other, text)) => return Err(text.problem(format!("evaluator {other:?} is neither xml nor json"))),
        };
        let setting = match element.attribute("expression") {
            Some(path) if is_path && element.attribute("value").is_none() => {
                Setting::Computed(Expression::compile_path(path, loader)?)
            }
            _ => Setting::read_as(element, Wanted::Text, loader)?
                .ok_or_else(|| element.problem("<arg> needs value or expression"))?,
        };
        match &setting {
            Setting::Fixed(value) if media == Media::Json && markup(value).is_some() => {
                Err(element.problem("XML in JSON is not offered yet"))
            }
            _ => Ok(Argument { setting, literal }),
        }
    }

    /// The expression, if it is one.
    pub(super) fn expression(&self) -> Option<&Expression> {
        self.setting.expression()
    }

    /// What it stands for; empty where there is nothing.
    ///
    /// Errors: as [`Expression::text`].
    pub(super) fn value<'a>(&'a self, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Outcome<Cow<'a, str>> {
        self.setting.text(exchange, scene).map(Option::unwrap_or_default)
    }

    /// Writes a value of it into a hole.
    ///
    /// Errors: the bus's, where XML would have to become JSON, or JSON XML.
    pub(super) fn write(&self, value: &str, manner: Manner, in_attribute: bool, out: &mut Vec<u8>) -> Outcome<()> {
        let is_of_path = self.expression().is_some_and(|expression| expression.json().is_some());
        // As in Synapse, the first character decides.
        let is_json = value.trim_start().starts_with(['{', '[']) && !self.literal;
        match manner.media {
            Media::Text => out.extend_from_slice(value.as_bytes()),
            Media::Xml => match markup(value) {
                Some(markup) => out.extend_from_slice(markup.as_bytes()),
                None if is_json && is_of_path => return Err(no_conversion("JSON", "XML")),
                None => escape_xml(value, in_attribute, out),
            },
            Media::Json if is_json && is_of_path && manner.escape_breaks => escape_breaks(value, out),
            Media::Json if is_json => out.extend_from_slice(value.as_bytes()),
            Media::Json if !is_of_path && !self.literal && markup(value).is_some() => {
                return Err(no_conversion("XML", "JSON"));
            }
            Media::Json => {
                let mut string = Vec::with_capacity(value.len() + 2);
                write_string(value, &mut string);
                let quotes = usize::from(!manner.quote || is_scalar(value.trim()));
                out.extend_from_slice(&string[quotes..string.len() - quotes]);
            }
        }
        Ok(())
    }
}

fn no_conversion(from: &str, to: &str) -> Box<Fault> {
    Fault::bus(format!("{from} cannot stand in the {to} of <payloadFactory>; converting it is not offered yet"))
}

/// The elements, and texts between them, that a value is, without an XML declaration in front; `None` of any other text.
fn markup(value: &str) -> Option<&str> {
    let value = value.trim();
    if !value.starts_with('<') || !value.ends_with('>') {
        return None;
    }
    let inside = match value.strip_prefix("<?xml ") {
        Some(declaration) => declaration.split_once("?>")?.1.trim_start(),
        None => value,
    };
    let document = Document::parse(format!("<a>{inside}</a>").into_bytes(), &Options::default()).ok()?;
    let mut children = document.children(document.root_element()?);
    children.any(|child| document.kind(child) == Kind::Element).then_some(inside)
}

/// Whether a text is a value of JSON without quotes.
fn is_scalar(text: &str) -> bool {
    matches!(text, "true" | "false" | "null")
        || (text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && myelin_json::Value::parse(text.into(), &myelin_json::Options::default()).is_ok())
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
    fn xml_is_elements_and_nothing_that_is_no_xml() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(markup(text), expected, "{text}");
        check(" <a/> ", Some("<a/>"));
        check("<a/>t<b/>", Some("<a/>t<b/>"));
        check("<?xml version='1.0'?> <a/>", Some("<a/>"));
        check("t<a/>", None);
        check("<a>", None);
        check("<a></a></a><a><b/>", None);
        check("<b/></a><a><c/>", None);
        check("<p:a/>", None);
        check("<!-- a -->", None);
        check("<!DOCTYPE a><a/>", None);
        check("<?xml ><a/>", None);
        check("", None);
    }

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
