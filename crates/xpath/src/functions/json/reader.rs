//! From JSON to maps and arrays (RFC 8259).

use std::borrow::Cow;

use super::Options;
use crate::error::Error;
use crate::functions::Call;
use crate::functions::maps::Duplicates;
use crate::functions::strings::is_xml;
use crate::value::{Array, Atomic, Item, Map, Value};

/// Objects and arrays within each other deeper than this are refused, as maps and arrays are.
const DEPTH_LIMIT: u32 = 190;

/// The value of a JSON text.
///
/// Errors: `FOJS0001` with the place where it is none, `FOJS0003` for a key that comes twice.
pub(super) fn read<'a>(call: &Call<'_, 'a>, text: &str, options: &Options<'a>) -> Result<Value<'a>, Error> {
    let mut reader = Reader { call, text, at: 0, depth: 0, options };
    reader.skip_space();
    let value = reader.value()?;
    reader.skip_space();
    if reader.at < text.len() { Err(reader.refused("there is more behind the value")) } else { Ok(value) }
}

struct Reader<'c, 'r, 'a> {
    call: &'c Call<'r, 'a>,
    text: &'c str,
    at: usize,
    depth: u32,
    options: &'c Options<'a>,
}

impl<'a> Reader<'_, '_, 'a> {
    fn refused(&self, what: &str) -> Error {
        Error::value("FOJS0001", format!("parse-json(): {what} at byte {}", self.at))
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().bytes().take_while(|byte| b" \t\r\n".contains(byte)).count();
    }

    fn take(&mut self, symbol: char) -> bool {
        let there = self.rest().starts_with(symbol);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self) -> Result<Value<'a>, Error> {
        self.call.run.step(1)?;
        self.call.run.build(size_of::<Value<'_>>())?;
        match self.rest().bytes().next() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Value::from),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let words = [("true", Some(true)), ("false", Some(false)), ("null", None)];
                let found = words.into_iter().find(|(word, _)| self.rest().starts_with(word));
                let (word, truth) = found.ok_or_else(|| self.refused("a value is missing"))?;
                self.at += word.len();
                Ok(truth.map_or(Value::EMPTY, Value::from))
            }
        }
    }

    fn nested(&mut self, inside: fn(&mut Self) -> Result<Value<'a>, Error>) -> Result<Value<'a>, Error> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Error::value("XPDY0130", format!("parse-json(): the text nests deeper than {DEPTH_LIMIT}")));
        }
        self.at += 1;
        self.skip_space();
        let value = inside(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Value<'a>, Error> {
        let mut map = Map::EMPTY;
        if self.take('}') {
            return Ok(Value::from(map));
        }
        loop {
            if !self.rest().starts_with('"') {
                return Err(self.refused("a key is missing"));
            }
            let key = Atomic::from(self.string()?);
            self.skip_space();
            if !self.take(':') {
                return Err(self.refused("a `:` is missing"));
            }
            self.skip_space();
            let value = self.value()?;
            match (map.get(&key), self.options.duplicates) {
                (Some(_), Duplicates::Reject) => {
                    let shown = key.text(self.call.run.version);
                    return Err(Error::value("FOJS0003", format!("parse-json(): the key {shown:?} comes twice")));
                }
                (Some(_), Duplicates::First) => {}
                _ => map = self.call.run.put(&map, key, value)?,
            }
            self.skip_space();
            if self.take('}') {
                return Ok(Value::from(map));
            }
            if !self.take(',') {
                return Err(self.refused("a `,` or `}` is missing"));
            }
            self.skip_space();
        }
    }

    fn array(&mut self) -> Result<Value<'a>, Error> {
        let mut members = Vec::new();
        if self.take(']') {
            return Array::new(members).map(Value::from);
        }
        loop {
            members.push(self.value()?);
            self.skip_space();
            if self.take(']') {
                return Array::new(members).map(Value::from);
            }
            if !self.take(',') {
                return Err(self.refused("a `,` or `]` is missing"));
            }
            self.skip_space();
        }
    }

    fn number(&mut self) -> Result<Value<'a>, Error> {
        let length = self.rest().bytes().take_while(|byte| b"+-.eE0123456789".contains(byte)).count();
        let digits = &self.rest()[..length];
        let number = is_number(digits).then(|| digits.parse::<f64>().ok()).flatten();
        let number = number.ok_or_else(|| self.refused("there is no number of JSON"))?;
        self.at += length;
        Ok(Value::from(number))
    }

    /// A text between quotes, what it escapes made plain as the options say.
    fn string(&mut self) -> Result<String, Error> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let plain = self.rest().find(['"', '\\']).ok_or_else(|| self.refused("a `\"` is missing"))?;
            let piece = &self.rest()[..plain];
            if let Some(control) = piece.find(|letter: char| letter < ' ') {
                self.at += control;
                return Err(self.refused("a control character is not escaped"));
            }
            self.call.run.build(piece.len())?;
            text.extend(piece.chars().map(|letter| if is_xml(letter) { letter } else { '\u{fffd}' }));
            self.at += plain + 1;
            if self.text.as_bytes()[self.at - 1] == b'"' {
                return Ok(text);
            }
            let start = self.at - 1;
            let letter = self.escaped()?;
            let written = self.written(letter, &self.text[start..self.at])?;
            self.call.run.build(written.len())?;
            text.push_str(&written);
        }
    }

    /// The character behind a backslash; `None`: half a pair of surrogates.
    fn escaped(&mut self) -> Result<Option<char>, Error> {
        let letter = match self.rest().bytes().next() {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'u') => return self.unicode(),
            _ => return Err(self.refused("`\\` escapes nothing")),
        };
        self.at += 1;
        Ok(Some(letter))
    }

    fn unicode(&mut self) -> Result<Option<char>, Error> {
        let first = self.hex()?;
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
            let behind_first = self.at;
            self.at += 1;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                return Ok(char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)));
            }
            self.at = behind_first;
        }
        Ok(char::from_u32(first))
    }

    /// `u` and four digits.
    fn hex(&mut self) -> Result<u32, Error> {
        let digits =
            self.text.get(self.at + 1..self.at + 5).filter(|text| text.bytes().all(|it| it.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let number = number.ok_or_else(|| self.refused("behind `\\u` there are four digits"))?;
        self.at += 5;
        Ok(number)
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

/// `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`
fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let text = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(text);
    if whole == 0 || (whole > 1 && text.starts_with('0')) {
        return false;
    }
    let mut rest = &text[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        if digits(fraction) == 0 {
            return false;
        }
        rest = &fraction[digits(fraction)..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        return digits(exponent) > 0 && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}
