//! What stands inside of a source, with expressions in it: `{$ctx:x}`, `{json-eval($.x)}`, or `${…}`.

use super::source::Content;
use crate::config::{Element, Loader, Problem, Text};
use crate::content::{Need, is_json};
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Inline, Piece, Wanted};
use crate::fault::{Fault, Outcome};
use crate::property::Fragment;

/// A text whose holes are filled for each message.
pub(super) struct Worked {
    pieces: Vec<Piece>,
    /// Whether it was XML, and is to be XML again.
    is_xml: bool,
    /// Whether what is neither JSON nor XML gets quotes, as what stands in braces does.
    quotes: bool,
}

impl Worked {
    /// Reads what stands inside; `None` where no expression is in it, and where a key names something else.
    pub(super) fn read(element: &Element, loader: &mut Loader) -> Result<Option<Worked>, Problem> {
        if element.attribute("key").is_some() {
            return Ok(None);
        }
        let xml = element.children.first().map(Element::standalone);
        let is_xml = xml.is_some();
        let whole = element.text();
        let text = xml.as_deref().map_or(whole, |xml| whole.standing_for(xml));
        if Expression::is_in(text.value) {
            let pieces = Inline::compile(text, loader)?.into_pieces();
            return Ok(Some(Worked { pieces, is_xml, quotes: false }));
        }
        let pieces = pieces(text, loader)?;
        let has_holes = pieces.iter().any(|piece| matches!(piece, Piece::Hole(_)));
        Ok(has_holes.then_some(Worked { pieces, is_xml, quotes: true }))
    }

    /// What its expressions look at.
    pub(super) fn need(&self) -> Need {
        let expressions = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Hole(expression) => Some(expression),
            Piece::Text(_) => None,
        });
        Need::of(expressions)
    }

    /// The text with what the expressions give, as XML where it was XML.
    ///
    /// Errors: those of the expressions, and the bus's, where it is no XML any more.
    pub(super) fn content(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Content> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Hole(expression) => {
                    let value = expression.text(exchange, scene)?.unwrap_or_default();
                    let is_quoted = self.quotes && needs_quotes(&value, expression.json().is_some());
                    let quote = if is_quoted { "\"" } else { "" };
                    text.extend([quote, &value, quote]);
                }
            }
            if text.len() as u64 > scene.bus.settings.body_limit_bytes {
                return Err(Fault::bus("What enrich makes of its source is larger than a body may be"));
            }
        }
        if !self.is_xml {
            return Ok(Content::Text(text));
        }
        let fragment = Fragment::parse(&text);
        let broken = || Fault::bus("The inline source of enrich is no XML with what its expressions give");
        fragment.map(|fragment| Content::Elements(vec![fragment])).ok_or_else(broken)
    }
}

/// Whether Synapse puts a value in quotes: it is neither JSON nor XML, or what a JSONPath does not find.
fn needs_quotes(value: &str, is_of_path: bool) -> bool {
    if value.is_empty() {
        return is_of_path;
    }
    !is_json(value) && Fragment::parse(value).is_none()
}

/// Cuts a text at its expressions in braces, which hold no white space, quotes, commas or brackets.
fn pieces(text: Text<'_>, loader: &mut Loader) -> Result<Vec<Piece>, Problem> {
    let (mut pieces, mut done, mut at) = (Vec::new(), 0, 0);
    while let Some(start) = text.value[at..].find('{').map(|found| at + found) {
        let inside = &text.value[start + 1..];
        let length = inside.find(|letter: char| letter.is_whitespace() || "\",<>}]".contains(letter));
        at = start + 1;
        let Some(length) = length.filter(|&length| length > 0 && inside[length..].starts_with('}')) else { continue };
        let expression = Expression::compile(text.part(at..at + length), Wanted::Text, loader)?;
        if start > done {
            pieces.push(Piece::Text(text.value[done..start].to_owned()));
        }
        pieces.push(Piece::Hole(expression));
        at += length + 1;
        done = at;
    }
    pieces.push(Piece::Text(text.value[done..].to_owned()));
    Ok(pieces)
}
