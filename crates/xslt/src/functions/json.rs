//! What of JSON makes or reads documents: `json-to-xml()` and `json-doc()` (Functions and Operators §17.4 and §17.5).

mod elements;

use std::borrow::Cow;

use myelin_json::{Event, Reader, Step};
use myelin_xpath::{Array, Atomic, Error, FunctionItem, Item, Map, Value};

use super::documents::is_foreign;
use super::{Call, Function};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::own("json-doc", 1, 2, json_doc),
    Function::own("json-to-xml", 1, 2, |call| match call.optional_text(0)? {
        Some(text) => elements::parse(call, &text, &Options::of(call)?),
        None => Ok(Value::EMPTY),
    }),
];

/// The text is read here, and becomes a value by XPath's own function.
fn json_doc<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(text) = super::documents::text(call, 1)? else { return Ok(Value::EMPTY) };
    let options = if call.count() == 2 { call.value(1).clone() } else { Value::from(Map::EMPTY) };
    let arguments = Array::new([Value::from(text), options])?;
    let parse = call.machine.expression("parse-json(?1, ?2)", call.scope)?;
    call.machine.run(parse, Some(Item::Function(FunctionItem::Array(arguments))), 1, 1)
}

/// The namespace of JSON as XML.
const NAMESPACE: &str = "http://www.w3.org/2005/xpath-functions";

/// What happens to a key that an object has twice.
#[derive(Clone, Copy, PartialEq)]
enum Duplicates {
    Reject,
    First,
    Retain,
}

/// What the second argument asks for.
struct Options {
    duplicates: Duplicates,
    /// Whether what XML cannot hold, and the backslash, stay as JSON escapes them.
    escape: bool,
}

impl Options {
    fn of(call: &Call<'_, '_>) -> Result<Options, Error> {
        let mut options = Options { duplicates: Duplicates::Retain, escape: false };
        if call.count() < 2 {
            return Ok(options);
        }
        let Some(Item::Function(FunctionItem::Map(given))) = call.value(1).get(0) else {
            return Err(Error::value("XPTY0004", "options are a map"));
        };
        let refused =
            |option: &str| Error::value("FOJS0005", format!("the option {option} has a value that says nothing"));
        if let Some(escape) = option(&given, "escape") {
            let Some(Item::Atomic(Atomic::Boolean(escape))) = escape else { return Err(refused("escape")) };
            options.escape = escape;
        }
        if let Some(duplicates) = option(&given, "duplicates") {
            let text = duplicates.map(|item| item.into_text(call.version()));
            options.duplicates = match text.as_deref() {
                Some("reject") => Duplicates::Reject,
                Some("use-first") => Duplicates::First,
                Some("retain") => Duplicates::Retain,
                _ => return Err(refused("duplicates")),
            };
        }
        Ok(options)
    }
}

/// The only item of an option, if it is given.
fn option<'a>(options: &Map<'a>, name: &str) -> Option<Option<Item<'a>>> {
    let value = options.get(&Atomic::from(name))?;
    Some(value.get(0).filter(|_| value.len() == 1))
}

/// Tells the tokens of a text one by one.
fn events(call: &Call<'_, '_>, text: &str, mut sink: impl FnMut(Event<'_>) -> Result<(), Error>) -> Result<(), Error> {
    /// What the nodes of a text take, for each of its bytes, at most about.
    const BYTES: usize = 24;
    call.machine.build(text.len() * BYTES)?;
    let mut reader = Reader::new(myelin_json::Options::default());
    loop {
        match reader.next(text.as_bytes(), true) {
            Ok(Step::Event(event)) => sink(event)?,
            Ok(Step::End | Step::More) => return Ok(()),
            Err(error) => return Err(Error::value("FOJS0001", format!("the text is no JSON: {error}"))),
        }
    }
}

/// What a string or key means.
fn meaning<'t>(event: &Event<'t>, options: &Options) -> Cow<'t, str> {
    let text = event.text();
    let special = |letter: char| is_foreign(letter) || (options.escape && (letter == '\\' || letter.is_control()));
    if !text.contains(special) {
        return text;
    }
    let mut written = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            letter if !special(letter) => written.push(letter),
            letter if options.escape => escape(letter, &mut written),
            _ => written.push('\u{fffd}'),
        }
    }
    written.into()
}

/// A character as JSON escapes it.
pub(super) fn escape(letter: char, out: &mut String) {
    let short = match letter {
        '"' | '\\' | '/' => letter,
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        other => return out.push_str(&format!("\\u{:04X}", u32::from(other))),
    };
    out.extend(['\\', short]);
}

#[cfg(test)]
mod tests;
