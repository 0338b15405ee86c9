//! What stands inside of a source, with expressions in it: `{$ctx:x}`, `{json-eval($.x)}`, or `${…}`.

use crate::loader::Loader;
use crate::message_edits::Content;
use crate::placeholders::{ContextTracker, PlaceholderContext, TextFormat, escape_xml, write_text, write_value};
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_content::Fragment;
use myelin_content::{into_utf8, is_json};
use myelin_expression::Need;
use myelin_expression::{Expression, InlinePart, InlineText, ResultType};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// A text whose holes are filled for each message.
pub(super) struct InlineSource {
    /// The pieces, and what each stands in.
    pieces: Vec<(InlinePart, PlaceholderContext)>,
    /// What it is to be again.
    format: TextFormat,
    /// Whether what is neither JSON nor XML gets quotes, as what stands in braces does.
    quotes: bool,
}

impl InlineSource {
    /// Reads what stands inside; `None` where no expression is in it, and where a key names something else.
    pub(super) fn read(element: &Element, loader: &mut Loader) -> Result<Option<InlineSource>, Problem> {
        if element.attribute("key").is_some() {
            return Ok(None);
        }
        let xml = element.children.first().map(Element::standalone);
        let whole = element.text();
        let text = xml.as_deref().map_or(whole, |xml| whole.standing_for(xml));
        let quotes = !Expression::is_in(text.value);
        let pieces = if quotes { pieces(text, loader)? } else { InlineText::compile(text, loader)?.into_pieces() };
        if !pieces.iter().any(|piece| matches!(piece, InlinePart::Hole(_))) {
            return Ok(None);
        }
        let format = match xml {
            Some(_) => TextFormat::Xml,
            None => language_of(&pieces, quotes),
        };
        let mut tracker = ContextTracker::new(format);
        let place = |piece: InlinePart| {
            if let InlinePart::Text(text) = &piece {
                tracker.pass(text);
            }
            let position = tracker.context();
            (piece, position)
        };
        Ok(Some(InlineSource { pieces: pieces.into_iter().map(place).collect(), format, quotes }))
    }

    /// What its expressions look at.
    pub(super) fn need(&self) -> Need {
        let expressions = self.pieces.iter().filter_map(|(piece, _)| match piece {
            InlinePart::Hole(expression) => Some(expression),
            InlinePart::Text(_) => None,
        });
        Need::of(expressions)
    }

    /// The text with what the expressions give, as XML where it was XML.
    ///
    /// Errors: those of the expressions, and the bus's, where it is no XML any more.
    pub(super) fn content(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Content> {
        let mut out = Vec::new();
        for (piece, position) in &self.pieces {
            match piece {
                InlinePart::Text(text) => out.extend_from_slice(text.as_bytes()),
                InlinePart::Hole(expression) if self.quotes => {
                    let value = expression.text(exchange, context)?.unwrap_or_default();
                    self.write(&value, *position, expression.json().is_some(), &mut out);
                }
                InlinePart::Hole(expression) if self.format == TextFormat::Text => {
                    let value = expression.text(exchange, context)?.unwrap_or_default();
                    out.extend_from_slice(value.as_bytes());
                }
                InlinePart::Hole(expression) => {
                    let value = expression.typed(exchange, context)?;
                    write_value(value.as_ref(), self.format, *position, context, &mut out)?;
                }
            }
            if out.len() as u64 > context.definitions.settings.body_limit_bytes {
                return Err(Fault::bus("What enrich makes of its source is larger than a body may be"));
            }
        }
        let text = into_utf8(out);
        if self.format != TextFormat::Xml {
            return Ok(Content::Text(text));
        }
        let fragment = Fragment::parse(&text);
        let broken = || Fault::bus("The inline source of enrich is no XML with what its expressions give");
        fragment.map(|fragment| Content::Elements(vec![fragment])).ok_or_else(broken)
    }

    /// Writes what stands in braces, so that it stays in its place.
    ///
    /// Shape: JSON and XML as they are; any other text in quotes, as in Synapse, and so is what a JSONPath does not find.
    /// A hole in quotes takes any value as a text.
    fn write(&self, value: &str, position: PlaceholderContext, is_of_path: bool, out: &mut Vec<u8>) {
        let is_markup = Fragment::parse(value).is_some();
        let is_plain = is_markup || if value.is_empty() { !is_of_path } else { is_json(value) };
        match (self.format, position) {
            (TextFormat::Json, PlaceholderContext::Content) if is_plain => out.extend_from_slice(value.as_bytes()),
            (TextFormat::Json, position) => write_text(value, position == PlaceholderContext::Content, out),
            (TextFormat::Xml, PlaceholderContext::Quoted) => escape_xml(value, true, out),
            (TextFormat::Xml, PlaceholderContext::Content) if is_markup => out.extend_from_slice(value.as_bytes()),
            (TextFormat::Xml, PlaceholderContext::Content) if is_plain => escape_xml(value, false, out),
            (TextFormat::Xml, PlaceholderContext::Content) => escape_xml(&format!("\"{value}\""), false, out),
            (TextFormat::Text, _) if is_plain => out.extend_from_slice(value.as_bytes()),
            (TextFormat::Text, _) => out.extend([b"\"", value.as_bytes(), b"\""].concat()),
        }
    }
}

/// What a text with holes is that is no XML.
fn language_of(pieces: &[InlinePart], quotes: bool) -> TextFormat {
    let mut said = pieces.iter().filter(|piece| !matches!(piece, InlinePart::Text(text) if text.trim().is_empty()));
    match (said.next(), said.next()) {
        (Some(InlinePart::Text(text)), _) if text.trim_start().starts_with(['{', '[']) => TextFormat::Json,
        // With the quotes that it gets it is a string of JSON.
        (Some(InlinePart::Hole(_)), None) if quotes => TextFormat::Json,
        _ => TextFormat::Text,
    }
}

/// Cuts a text at its expressions in braces, which hold no white space, quotes, commas or brackets.
fn pieces(text: Text<'_>, loader: &mut Loader) -> Result<Vec<InlinePart>, Problem> {
    let (mut pieces, mut done, mut at) = (Vec::new(), 0, 0);
    while let Some(start) = text.value[at..].find('{').map(|found| at + found) {
        let inside = &text.value[start + 1..];
        let length = inside.find(|letter: char| letter.is_whitespace() || "\",<>}]".contains(letter));
        at = start + 1;
        let Some(length) = length.filter(|&length| length > 0 && inside[length..].starts_with('}')) else { continue };
        let expression = Expression::compile(text.part(at..at + length), ResultType::Text, loader)?;
        if start > done {
            pieces.push(InlinePart::Text(text.value[done..start].to_owned()));
        }
        pieces.push(InlinePart::Hole(expression));
        at += length + 1;
        done = at;
    }
    pieces.push(InlinePart::Text(text.value[done..].to_owned()));
    Ok(pieces)
}
