//! Functions on conditions and sequences (XPath 1.0 §4.1 and §4.3, Functions and Operators §7 and §14).

use super::equality;
use crate::ast::Comparison;
use crate::compare;
use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::run::Stop;
use crate::value::{Atomic, Distinct, Item, Value};

use Returns::{Any, Boolean};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::condition("true", 0, 0, |_| Ok(true)),
    Function::condition("false", 0, 0, |_| Ok(false)),
    Function::condition("not", 1, 1, |call| Ok(!call.condition(0)?)),
    Function::condition("boolean", 1, 1, |call| call.condition(0)),
    Function::condition("exists", 1, 1, exists),
    Function::condition("empty", 1, 1, |call| Ok(!exists(call)?)),
    Function::count("position", 0, 0, |call| focused(call, call.focus.position)),
    Function::count("last", 0, 0, |call| focused(call, call.focus.size)),
    Function::count("count", 1, 1, |call| call.length(0)),
    Function::new("data", 0, 1, Any, data).or_context(),
    Function::new("head", 1, 1, Any, head),
    Function::new("tail", 1, 1, Any, |call| kept(call, |position| position > 1)),
    Function::new("reverse", 1, 1, Any, reverse),
    Function::new("subsequence", 2, 3, Any, subsequence),
    Function::new("insert-before", 3, 3, Any, insert_before),
    Function::new("remove", 2, 2, Any, remove),
    Function::new("unordered", 1, 1, Any, |call| call.value(0)),
    Function::new("index-of", 2, 3, Any, index_of),
    Function::new("distinct-values", 1, 2, Any, distinct_values),
    Function::new("deep-equal", 2, 3, Boolean, equality::deep_equal),
    Function::new("zero-or-one", 1, 1, Any, |call| counted(call, 0, 1, "FORG0003")),
    Function::new("one-or-more", 1, 1, Any, |call| counted(call, 1, usize::MAX, "FORG0004")),
    Function::new("exactly-one", 1, 1, Any, |call| counted(call, 1, 1, "FORG0005")),
    Function::new("trace", 1, 2, Any, |call| call.value(0)),
    Function::new("error", 0, 3, Any, error),
];

fn exists(call: &Call<'_, '_>) -> Result<bool, Error> {
    let mut found = false;
    call.any_until(0, &mut |_| {
        found = true;
        Err(Stop::Enough)
    })?;
    Ok(found)
}

fn focused(call: &Call<'_, '_>, number: u64) -> Result<u64, Error> {
    if call.focus.item.is_none() && !call.is_v1() {
        return Err(Error::NoContext);
    }
    Ok(number)
}

fn data<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut items = Vec::new();
    call.each_atomic(0, |atomic| call.gather(&mut items, Value::from(atomic)))?;
    Ok(Value::from_items(items))
}

/// What becomes of the items of the first argument.
fn collected<'a>(
    call: &Call<'_, 'a>,
    mut change: impl FnMut(Item<'a>) -> Option<Item<'a>>,
) -> Result<Value<'a>, Error> {
    let mut items = Vec::new();
    call.each(0, |item| {
        if let Some(item) = change(item) {
            call.run.build(size_of::<Item<'_>>())?;
            items.push(item);
        }
        Ok(())
    })?;
    Ok(Value::from_items(items))
}

/// The items at some positions, counted from 1.
fn kept<'a>(call: &Call<'_, 'a>, keep: impl Fn(u64) -> bool) -> Result<Value<'a>, Error> {
    let mut position = 0;
    collected(call, |item| {
        position += 1;
        keep(position).then_some(item)
    })
}

fn head<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut first = None;
    call.each_until(0, &mut |item| {
        first = Some(item);
        Err(Stop::Enough)
    })?;
    Ok(first.map_or(Value::EMPTY, Value::Item))
}

fn reverse<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let value = call.value(0)?;
    call.run.build(value.len() * size_of::<Item<'_>>())?;
    Ok(Value::from_items(value.items().rev().collect()))
}

fn subsequence<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let first = crate::value::number::round(call.required_double(1)?);
    let behind = match call.count() {
        3 => first + crate::value::number::round(call.required_double(2)?),
        _ => f64::INFINITY,
    };
    kept(call, |position| position as f64 >= first && (position as f64) < behind)
}

fn insert_before<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (value, inserted) = (call.value(0)?, call.value(2)?);
    let at = usize::try_from(call.integer(1)?.max(1) - 1).unwrap_or(usize::MAX).min(value.len());
    call.run.build((value.len() + inserted.len()) * size_of::<Item<'_>>())?;
    let mut items: Vec<Item<'a>> = value.items().take(at).collect();
    items.extend(inserted.into_items());
    items.extend(value.items().skip(at));
    Ok(Value::from_items(items))
}

fn remove<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let at = call.integer(1)?;
    kept(call, |position| i64::try_from(position) != Ok(at))
}

fn index_of<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let collation = call.collation(2)?;
    let Some(wanted) = call.atomic(1)? else { return Ok(Value::EMPTY) };
    let mut position = 0;
    let mut found = Vec::new();
    call.each_atomic(0, |atomic| {
        position += 1;
        let now = call.run.context.now;
        let equal = compare::atomic_by(Comparison::Equal, &atomic, &wanted, now, &collation);
        // What cannot be compared is not equal (§14.2.2).
        if equal.unwrap_or(false) {
            call.run.build(size_of::<Item<'_>>())?;
            found.push(Item::Atomic(call.whole(position)));
        }
        Ok(())
    })?;
    Ok(Value::from_items(found))
}

fn distinct_values<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut distinct = Distinct::by(call.run.context.now, call.collation(1)?);
    let mut items = Vec::new();
    call.each_atomic(0, |atomic| {
        let count = distinct.len();
        match distinct.number(&atomic) as usize == count {
            true => call.gather(&mut items, Value::from(atomic)),
            false => Ok(()),
        }
    })?;
    Ok(Value::from_items(items))
}

fn counted<'a>(call: &Call<'_, 'a>, least: usize, most: usize, code: &'static str) -> Result<Value<'a>, Error> {
    let value = call.value(0)?;
    if (least..=most).contains(&value.len()) {
        return Ok(value);
    }
    Err(Error::value(
        code,
        format!("there are {} items, which is too {}", value.len(), if value.len() < least { "few" } else { "many" }),
    ))
}

/// Ends the evaluation with the caller's own words.
fn error<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    const ERRORS: &str = "http://www.w3.org/2005/xqt-errors";
    let code = if call.count() > 0 { call.atomic(0)? } else { None };
    let (namespace, local) = match code {
        Some(Atomic::QName(name)) => (name.namespace, name.local),
        Some(other) => (ERRORS.to_owned(), other.text(call.run.version).into_owned()),
        None => (ERRORS.to_owned(), "FOER0000".to_owned()),
    };
    let message = if call.count() > 1 { call.any_text(1)?.into_owned() } else { String::new() };
    let message = if message.is_empty() { format!("error() was called, with the code {local}") } else { message };
    let carries_value = call.count() > 2;
    if carries_value {
        call.run.context.host.raises(call.value(2)?);
    }
    Err(Error::Raised { namespace, local, message, carries_value })
}
