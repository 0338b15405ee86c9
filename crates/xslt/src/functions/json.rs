//! JSON as maps and arrays, and as XML (Functions and Operators §17.4 and §17.5).

mod elements;
mod values;
mod writing;

use std::borrow::Cow;

use myelin_json::{Event, Kind, Reader, Step};
use myelin_xpath::{Atomic, Error, FunctionItem, Item, Map, Value};

use super::documents::is_foreign;
use super::{Call, Function};
pub(super) use writing::quote;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::own("parse-json", 1, 2, |call| match call.optional_text(0)? {
        Some(text) => values::parse(call, &text, &Options::of(call, Duplicates::First)?),
        None => Ok(Value::EMPTY),
    }),
    Function::own("json-doc", 1, 2, |call| match super::documents::text(call, 1)? {
        Some(text) => values::parse(call, &text, &Options::of(call, Duplicates::First)?),
        None => Ok(Value::EMPTY),
    }),
    Function::own("json-to-xml", 1, 2, |call| match call.optional_text(0)? {
        Some(text) => elements::parse(call, &text, &Options::of(call, Duplicates::Retain)?),
        None => Ok(Value::EMPTY),
    }),
    Function::own("xml-to-json", 1, 2, |call| match call.nodes(0)?.as_slice() {
        [] => Ok(Value::EMPTY),
        [node] => {
            check_indent(call)?;
            call.built(writing::write(*node)?)
        }
        _ => Err(Error::value("XPTY0004", "xml-to-json(): one node is wanted, and there are several")),
    }),
];

/// The namespace of JSON as XML.
const NAMESPACE: &str = "http://www.w3.org/2005/xpath-functions";

/// What happens to a key that an object has twice.
#[derive(Clone, Copy, PartialEq)]
enum Duplicates {
    Reject,
    First,
    Last,
    Retain,
}

/// What the second argument asks for.
struct Options {
    duplicates: Duplicates,
    /// Whether what XML cannot hold, and the backslash, stay as JSON escapes them.
    escape: bool,
}

impl Options {
    fn of(call: &Call<'_, '_>, duplicates: Duplicates) -> Result<Options, Error> {
        let mut options = Options { duplicates, escape: false };
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
                Some("use-last") if options.duplicates == Duplicates::First => Duplicates::Last,
                Some("retain") if options.duplicates == Duplicates::Retain => Duplicates::Retain,
                _ => return Err(refused("duplicates")),
            };
        }
        Ok(options)
    }
}

/// Options of `xml-to-json()`: whether white space is put in, which nobody has to do.
fn check_indent(call: &Call<'_, '_>) -> Result<(), Error> {
    if call.count() < 2 {
        return Ok(());
    }
    let Some(Item::Function(FunctionItem::Map(given))) = call.value(1).get(0) else {
        return Err(Error::value("XPTY0004", "options are a map"));
    };
    match option(&given, "indent") {
        None | Some(Some(Item::Atomic(Atomic::Boolean(_)))) => Ok(()),
        Some(_) => Err(Error::value("XPTY0004", "xml-to-json(): indent is true or false")),
    }
}

/// The only item of an option, if it is given.
fn option<'a>(options: &Map<'a>, name: &str) -> Option<Option<Item<'a>>> {
    let value = options.get(&Atomic::from(name))?;
    Some(value.get(0).filter(|_| value.len() == 1))
}

/// Tells the tokens of a text one by one.
fn events(call: &Call<'_, '_>, text: &str, mut sink: impl FnMut(Event<'_>) -> Result<(), Error>) -> Result<(), Error> {
    /// What the values of a text take, for each of its bytes, at most about.
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

fn duplicate(key: &str) -> Error {
    Error::value("FOJS0003", format!("the key {key:?} is there twice"))
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
fn escape(letter: char, out: &mut String) {
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

/// Whether a token is a value, or begins one.
fn is_value(kind: Kind) -> bool {
    !matches!(kind, Kind::Key | Kind::ObjectEnd | Kind::ArrayEnd)
}

#[cfg(test)]
mod tests;
