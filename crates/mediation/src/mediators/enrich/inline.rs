//! What stands inside of a source, with expressions in it: `{$ctx:x}`, `{json-eval($.x)}`, or `${…}`.

use super::source::Content;
use crate::config::{Element, Loader, Problem, Text};
use crate::content::{Need, into_utf8, is_json};
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Inline, Piece, Wanted};
use crate::fault::{Fault, Outcome};
use crate::mediators::filling::{Around, Language, Surroundings, escape_xml, write_text, write_value};
use crate::property::Fragment;

/// A text whose holes are filled for each message.
pub(super) struct Worked {
    /// The pieces, and what each stands in.
    pieces: Vec<(Piece, Around)>,
    /// What it is to be again.
    language: Language,
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
        let whole = element.text();
        let text = xml.as_deref().map_or(whole, |xml| whole.standing_for(xml));
        let quotes = !Expression::is_in(text.value);
        let pieces = if quotes { pieces(text, loader)? } else { Inline::compile(text, loader)?.into_pieces() };
        if !pieces.iter().any(|piece| matches!(piece, Piece::Hole(_))) {
            return Ok(None);
        }
        let language = match xml {
            Some(_) => Language::Xml,
            None => language_of(&pieces, quotes),
        };
        let mut surroundings = Surroundings::new(language);
        let place = |piece: Piece| {
            if let Piece::Text(text) = &piece {
                surroundings.pass(text);
            }
            let around = surroundings.around();
            (piece, around)
        };
        Ok(Some(Worked { pieces: pieces.into_iter().map(place).collect(), language, quotes }))
    }

    /// What its expressions look at.
    pub(super) fn need(&self) -> Need {
        let expressions = self.pieces.iter().filter_map(|(piece, _)| match piece {
            Piece::Hole(expression) => Some(expression),
            Piece::Text(_) => None,
        });
        Need::of(expressions)
    }

    /// The text with what the expressions give, as XML where it was XML.
    ///
    /// Errors: those of the expressions, and the bus's, where it is no XML any more.
    pub(super) fn content(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Content> {
        let mut out = Vec::new();
        for (piece, around) in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Hole(expression) if self.quotes => {
                    let value = expression.text(exchange, scene)?.unwrap_or_default();
                    self.write(&value, *around, expression.json().is_some(), &mut out);
                }
                Piece::Hole(expression) if self.language == Language::Text => {
                    let value = expression.text(exchange, scene)?.unwrap_or_default();
                    out.extend_from_slice(value.as_bytes());
                }
                Piece::Hole(expression) => {
                    let value = expression.typed(exchange, scene)?;
                    write_value(value.as_ref(), self.language, *around, scene, &mut out)?;
                }
            }
            if out.len() as u64 > scene.bus.settings.body_limit_bytes {
                return Err(Fault::bus("What enrich makes of its source is larger than a body may be"));
            }
        }
        let text = into_utf8(out);
        if self.language != Language::Xml {
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
    fn write(&self, value: &str, around: Around, is_of_path: bool, out: &mut Vec<u8>) {
        let is_markup = Fragment::parse(value).is_some();
        let is_plain = is_markup || if value.is_empty() { !is_of_path } else { is_json(value) };
        match (self.language, around) {
            (Language::Json, Around::Nothing) if is_plain => out.extend_from_slice(value.as_bytes()),
            (Language::Json, around) => write_text(value, around == Around::Nothing, out),
            (Language::Xml, Around::Quotes) => escape_xml(value, true, out),
            (Language::Xml, Around::Nothing) if is_markup => out.extend_from_slice(value.as_bytes()),
            (Language::Xml, Around::Nothing) if is_plain => escape_xml(value, false, out),
            (Language::Xml, Around::Nothing) => escape_xml(&format!("\"{value}\""), false, out),
            (Language::Text, _) if is_plain => out.extend_from_slice(value.as_bytes()),
            (Language::Text, _) => out.extend([b"\"", value.as_bytes(), b"\""].concat()),
        }
    }
}

/// What a text with holes is that is no XML.
fn language_of(pieces: &[Piece], quotes: bool) -> Language {
    let mut said = pieces.iter().filter(|piece| !matches!(piece, Piece::Text(text) if text.trim().is_empty()));
    match (said.next(), said.next()) {
        (Some(Piece::Text(text)), _) if text.trim_start().starts_with(['{', '[']) => Language::Json,
        // With the quotes that it gets it is a string of JSON.
        (Some(Piece::Hole(_)), None) if quotes => Language::Json,
        _ => Language::Text,
    }
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
