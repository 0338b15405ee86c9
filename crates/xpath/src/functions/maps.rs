//! Functions on maps (Functions and Operators §17.1).

use super::call::{missing, no_map, wrong_type};
use crate::error::Error;
use crate::function::{Call, Function, Library, Returns, ToValue};
use crate::value::{Array, Atomic, FunctionItem, Item, Map, Value};

use Returns::{Any, Boolean, Number};

pub(super) const FUNCTIONS: &[Function] = &[
    map("merge", 1, 2, Any, merge),
    map("size", 1, 1, Number, |call| Ok(call.whole(call.map(0)?.len() as u64).into())),
    map("keys", 1, 1, Any, keys),
    map("contains", 2, 2, Boolean, |call| Ok(Value::from(call.map(0)?.get(&key(call, 1)?).is_some()))),
    map("get", 2, 2, Any, |call| Ok(call.map(0)?.get(&key(call, 1)?).cloned().unwrap_or(Value::EMPTY))),
    map("find", 2, 2, Any, find),
    map("put", 3, 3, Any, |call| {
        let map = call.run.put(&call.map(0)?, key(call, 1)?, call.value(2)?)?;
        Ok(Value::from(map))
    }),
    map("entry", 2, 2, Any, |call| Map::EMPTY.with(key(call, 0)?, call.value(1)?).map(Value::from)),
    map("remove", 2, 2, Any, remove),
    map("for-each", 2, 2, Any, for_each),
];

const fn map(name: &'static str, least: u8, most: u8, returns: Returns, run: ToValue) -> Function {
    Function { library: Library::Map, ..Function::new(name, least, most, returns, run) }
}

fn key<'a>(call: &Call<'_, 'a>, index: usize) -> Result<Atomic<'a>, Error> {
    call.atomic(index)?.ok_or_else(missing)
}

/// What becomes of the values of a key that comes twice.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Duplicates {
    Reject,
    First,
    Last,
    Combine,
}

impl Duplicates {
    /// By the name that options have for it.
    pub(super) fn named(name: &str) -> Option<Duplicates> {
        Some(match name {
            "reject" => Duplicates::Reject,
            "use-first" | "use-any" => Duplicates::First,
            "use-last" => Duplicates::Last,
            "combine" => Duplicates::Combine,
            _ => return None,
        })
    }
}

fn merge<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut duplicates = Duplicates::First;
    if call.count() == 2
        && let Some(value) = call.map(1)?.get(&Atomic::from("duplicates"))
    {
        let Value::Item(Item::Atomic(Atomic::Text(name, _))) = value else {
            return Err(Error::value("XPTY0004", "the option duplicates of map:merge() is a text"));
        };
        duplicates = Duplicates::named(name).ok_or_else(|| {
            Error::value("FOJS0005", format!("{name:?} is no way to merge maps: use-first, use-last, combine …"))
        })?;
    }
    let mut merged = Map::EMPTY;
    call.each(0, |item| {
        let Item::Function(FunctionItem::Map(map)) = item else { return Err(no_map()) };
        for (key, value) in map.entries() {
            let value = match (merged.get(key), duplicates) {
                (None, _) | (Some(_), Duplicates::Last) => value.clone(),
                (Some(_), Duplicates::First) => continue,
                (Some(known), Duplicates::Combine) => {
                    let mut both = Vec::new();
                    call.gather(&mut both, known.clone())?;
                    call.gather(&mut both, value.clone())?;
                    Value::from_items(both)
                }
                (Some(_), Duplicates::Reject) => {
                    return Err(Error::value(
                        "FOJS0003",
                        format!("the key {:?} comes twice", key.text(call.run.version)),
                    ));
                }
            };
            merged = call.run.put(&merged, key.clone(), value)?;
        }
        Ok(())
    })?;
    Ok(Value::from(merged))
}

fn keys<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let map = call.map(0)?;
    call.run.build(map.len() * size_of::<Item<'_>>())?;
    Ok(Value::from_items(map.entries().map(|(key, _)| Item::Atomic(key.clone())).collect()))
}

fn remove<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut map = call.map(0)?;
    call.each_atomic(1, |key| {
        call.run.grown(map.len())?;
        map = map.without(&key);
        Ok(())
    })?;
    Ok(Value::from(map))
}

fn for_each<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (map, function) = (call.map(0)?, call.function(1)?);
    let mut gathered = Vec::new();
    for (key, value) in map.entries() {
        let result = call.run.call(&function, vec![Value::from(key.clone()), value.clone()])?;
        call.gather(&mut gathered, result)?;
    }
    Ok(Value::from_items(gathered))
}

/// The values of a key in all maps there are, also those inside other maps and arrays.
fn find<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(wanted) = call.atomic(1)? else { return Err(wrong_type("a key", &Atomic::from("nothing"))) };
    let mut found = Vec::new();
    search(call, &call.value(0)?, &wanted, &mut found)?;
    Array::new(found).map(Value::from)
}

/// The recursion is as deep as maps and arrays stand within each other.
fn search<'a>(
    call: &Call<'_, 'a>,
    value: &Value<'a>,
    wanted: &Atomic<'a>,
    found: &mut Vec<Value<'a>>,
) -> Result<(), Error> {
    for item in value.items() {
        call.run.step(1)?;
        match item {
            Item::Function(FunctionItem::Map(map)) => {
                if let Some(value) = map.get(wanted) {
                    call.run.build(size_of::<Value<'_>>())?;
                    found.push(value.clone());
                }
                map.entries().try_for_each(|(_, value)| search(call, value, wanted, found))?;
            }
            Item::Function(FunctionItem::Array(array)) => {
                array.members().try_for_each(|member| search(call, member, wanted, found))?;
            }
            _ => {}
        }
    }
    Ok(())
}
