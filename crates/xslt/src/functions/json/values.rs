//! JSON as maps, arrays, texts, doubles and booleans; null is the empty sequence.

use myelin_json::{Event, Kind};
use myelin_xpath::{Array, Atomic, Error, Map, Value};

use super::{Duplicates, Options, duplicate, events, meaning};
use crate::functions::Call;

/// An object or array that has begun.
enum Open<'a> {
    /// The key is that of the value that comes next.
    Object(Map<'a>, String),
    Array(Vec<Value<'a>>),
}

pub(super) fn parse<'a>(call: &Call<'_, 'a>, text: &str, options: &Options) -> Result<Value<'a>, Error> {
    let mut open: Vec<Open<'a>> = Vec::new();
    let mut whole = Value::EMPTY;
    events(call, text, |event| {
        let value = match event.kind {
            Kind::ObjectStart => {
                open.push(Open::Object(Map::EMPTY, String::new()));
                return Ok(());
            }
            Kind::ArrayStart => {
                open.push(Open::Array(Vec::new()));
                return Ok(());
            }
            Kind::Key => {
                if let Some(Open::Object(_, key)) = open.last_mut() {
                    *key = meaning(&event, options).into_owned();
                }
                return Ok(());
            }
            Kind::ObjectEnd | Kind::ArrayEnd => match open.pop() {
                Some(Open::Object(map, _)) => Value::from(map),
                Some(Open::Array(members)) => Value::from(Array::new(members)?),
                None => return Ok(()),
            },
            _ => scalar(&event, options),
        };
        match open.last_mut() {
            None => whole = value,
            Some(Open::Array(members)) => members.push(value),
            Some(Open::Object(map, key)) => {
                let key = std::mem::take(key);
                let taken = map.get(&Atomic::from(key.as_str())).is_some();
                match options.duplicates {
                    Duplicates::Reject if taken => return Err(duplicate(&key)),
                    Duplicates::First if taken => {}
                    _ => *map = map.with(Atomic::from(key), value)?,
                }
            }
        }
        Ok(())
    })?;
    Ok(whole)
}

fn scalar<'a>(event: &Event<'_>, options: &Options) -> Value<'a> {
    match event.kind {
        Kind::True => Value::from(true),
        Kind::False => Value::from(false),
        Kind::Number => Value::from(event.text().parse().unwrap_or(f64::NAN)),
        Kind::String => Value::from(meaning(event, options).into_owned()),
        _ => Value::EMPTY,
    }
}
