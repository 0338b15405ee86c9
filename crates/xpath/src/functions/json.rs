//! JSON as maps and arrays, and elements as JSON (Functions and Operators §17.5).

mod reader;
mod writer;

use super::maps::Duplicates;
use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::value::{Atomic, FunctionItem, Item, Map, Value};

use Returns::{Any, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("parse-json", 1, 2, Any, parse_json),
    Function::new("xml-to-json", 1, 2, Text, writer::xml_to_json),
];

/// How a JSON text is read.
struct Options<'a> {
    duplicates: Duplicates,
    /// Whether backslashes stay before what XML or JSON cannot say otherwise.
    escape: bool,
    /// Gives the text for a character that XML does not have.
    fallback: Option<FunctionItem<'a>>,
}

fn parse_json<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let options = options(call)?;
    let Some(text) = call.optional_text(0)? else { return Ok(Value::EMPTY) };
    reader::read(call, &text, &options)
}

fn options<'a>(call: &Call<'_, 'a>) -> Result<Options<'a>, Error> {
    let mut options = Options { duplicates: Duplicates::First, escape: false, fallback: None };
    if call.count() < 2 {
        return Ok(options);
    }
    let given = call.map(1)?;
    let option = |name: &'static str| given.get(&Atomic::from(name));
    if let Some(value) = option("duplicates") {
        let Value::Item(Item::Atomic(Atomic::Text(name, _))) = value else { return Err(wrong("duplicates")) };
        let known = Duplicates::named(name).filter(|known| *known != Duplicates::Combine && name != "use-any");
        options.duplicates = known.ok_or_else(|| {
            let message = format!("{name:?} is no way to treat keys that come twice: use-first, use-last or reject");
            Error::value("FOJS0005", message)
        })?;
    }
    options.escape = truth(&given, "escape")?;
    // What a liberal reader would take beside JSON is left to it; this one takes nothing.
    truth(&given, "liberal")?;
    if let Some(value) = option("fallback") {
        let Value::Item(Item::Function(function)) = value else { return Err(wrong("fallback")) };
        if options.escape {
            return Err(Error::value("FOJS0005", "the options escape and fallback exclude each other"));
        }
        if function.arity() != 1 {
            return Err(wrong("fallback"));
        }
        options.fallback = Some(function.clone());
    }
    Ok(options)
}

/// An option that is true or false, and false where it is not given.
fn truth(options: &Map<'_>, name: &'static str) -> Result<bool, Error> {
    match options.get(&Atomic::from(name)) {
        None => Ok(false),
        Some(Value::Item(Item::Atomic(Atomic::Boolean(truth)))) => Ok(*truth),
        Some(_) => Err(wrong(name)),
    }
}

fn wrong(option: &str) -> Error {
    Error::value("XPTY0004", format!("the option {option} is of another type"))
}
