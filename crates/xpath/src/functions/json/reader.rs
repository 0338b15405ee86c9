//! From JSON to maps and arrays.

use std::borrow::Cow;

use myelin_json::text::escape_at;
use myelin_json::{Event, Kind, Limit, Options as Bounds, Reader as Json, Step};

use super::Options;
use crate::error::Error;
use crate::function::Call;
use crate::functions::maps::Duplicates;
use crate::functions::strings::is_xml;
use crate::value::{Array, Atomic, Item, Map, Value};

/// Objects and arrays within each other deeper than this are refused, as maps and arrays are.
const DEPTH_LIMIT: usize = 190;

/// The value of a JSON text.
///
/// Errors: `FOJS0001` with the place where it is none, `FOJS0003` for a key that comes twice.
pub(super) fn read<'a>(call: &Call<'_, 'a>, text: &str, options: &Options<'a>) -> Result<Value<'a>, Error> {
    // The text is held already, which bounds all but the depth.
    let bounds = Bounds { depth: DEPTH_LIMIT, key_bytes: usize::MAX, number_bytes: usize::MAX, ..Bounds::default() };
    let mut reader = Reader { call, text, json: Json::new(bounds), options };
    let first = reader.event()?;
    let value = reader.value(first)?;
    match reader.next()? {
        None => Ok(value),
        Some(_) => Err(refused(&"there is more behind the value")),
    }
}

fn refused(what: &dyn std::fmt::Display) -> Error {
    Error::value("FOJS0001", format!("parse-json(): {what}"))
}

struct Reader<'c, 'r, 'a> {
    call: &'c Call<'r, 'a>,
    text: &'c str,
    json: Json,
    options: &'c Options<'a>,
}

impl<'c, 'a> Reader<'c, '_, 'a> {
    fn next(&mut self) -> Result<Option<Event<'c>>, Error> {
        match self.json.next(self.text.as_bytes(), true) {
            Ok(Step::Event(event)) => Ok(Some(event)),
            Ok(Step::More | Step::End) => Ok(None),
            Err(myelin_json::Error::TooLarge(Limit::Depth(limit), _)) => {
                Err(Error::value("XPDY0130", format!("parse-json(): the text nests deeper than {limit}")))
            }
            Err(error) => Err(refused(&error)),
        }
    }

    fn event(&mut self) -> Result<Event<'c>, Error> {
        self.next()?.ok_or_else(|| refused(&"a value is missing"))
    }

    /// The recursion is as deep as the text nests.
    fn value(&mut self, event: Event<'c>) -> Result<Value<'a>, Error> {
        self.call.run.step(1)?;
        self.call.run.build(size_of::<Value<'_>>())?;
        match event.kind {
            Kind::ObjectStart => self.object(),
            Kind::ArrayStart => self.array(),
            Kind::String | Kind::Key => self.string(event).map(Value::from),
            Kind::Number => {
                let digits = &self.text[event.range()];
                digits.parse::<f64>().map(Value::from).map_err(|_| refused(&format_args!("{digits:?} is no number")))
            }
            Kind::True => Ok(Value::from(true)),
            Kind::False => Ok(Value::from(false)),
            Kind::Null | Kind::ObjectEnd | Kind::ArrayEnd => Ok(Value::EMPTY),
        }
    }

    fn object(&mut self) -> Result<Value<'a>, Error> {
        let mut map = Map::EMPTY;
        loop {
            let event = self.event()?;
            if event.kind == Kind::ObjectEnd {
                return Ok(Value::from(map));
            }
            let key = Atomic::from(self.string(event)?);
            let event = self.event()?;
            let value = self.value(event)?;
            match (map.get(&key), self.options.duplicates) {
                (Some(_), Duplicates::Reject) => {
                    let shown = key.text(self.call.run.version);
                    return Err(Error::value("FOJS0003", format!("parse-json(): the key {shown:?} comes twice")));
                }
                (Some(_), Duplicates::First) => {}
                _ => map = self.call.run.put(&map, key, value)?,
            }
        }
    }

    fn array(&mut self) -> Result<Value<'a>, Error> {
        let mut members = Vec::new();
        loop {
            let event = self.event()?;
            if event.kind == Kind::ArrayEnd {
                return Array::new(members).map(Value::from);
            }
            members.push(self.value(event)?);
        }
    }

    /// A text between quotes, what it escapes made plain as the options say.
    fn string(&self, event: Event<'c>) -> Result<String, Error> {
        let range = event.range();
        let mut rest = &self.text[range.start + 1..range.end - 1];
        let mut text = String::new();
        loop {
            let plain = if event.escaped { rest.find('\\').unwrap_or(rest.len()) } else { rest.len() };
            let (piece, behind) = rest.split_at(plain);
            self.call.run.build(piece.len())?;
            text.extend(piece.chars().map(|letter| if is_xml(letter) { letter } else { '\u{fffd}' }));
            if behind.is_empty() {
                return Ok(text);
            }
            let (letter, length) = escape_at(behind.as_bytes());
            let (source, behind) = behind.split_at(length);
            let written = self.written(letter, source)?;
            self.call.run.build(written.len())?;
            text.push_str(&written);
            rest = behind;
        }
    }

    /// What an escaped character becomes; `source` is the escape.
    fn written(&self, letter: Option<char>, source: &str) -> Result<Cow<'a, str>, Error> {
        // The digits of an escape that stays are in upper case.
        let kept = || match source.strip_prefix("\\u") {
            Some(digits) => Cow::Owned(format!("\\u{}", digits.to_uppercase())),
            None => Cow::Owned(source.to_owned()),
        };
        match (letter.filter(|letter| is_xml(*letter)), &self.options.fallback) {
            (Some(letter), _) if self.options.escape => Ok(match letter {
                '\\' => Cow::Borrowed("\\\\"),
                '\n' => Cow::Borrowed("\\n"),
                '\r' => Cow::Borrowed("\\r"),
                '\t' => Cow::Borrowed("\\t"),
                other => Cow::Owned(other.to_string()),
            }),
            (Some(letter), _) => Ok(Cow::Owned(letter.to_string())),
            (None, _) if self.options.escape => Ok(kept()),
            (None, None) => Ok(Cow::Borrowed("\u{fffd}")),
            (None, Some(fallback)) => {
                let escape = match letter {
                    Some(letter) if !source.starts_with("\\u") => Cow::Owned(format!("\\u{:04X}", u32::from(letter))),
                    _ => kept(),
                };
                match self.call.run.call(fallback, vec![Value::from(escape)])?.first() {
                    Some(Item::Atomic(Atomic::Text(text, _))) => Ok(text),
                    _ => Err(Error::value("XPTY0004", "the fallback of parse-json() gives no text")),
                }
            }
        }
    }
}
