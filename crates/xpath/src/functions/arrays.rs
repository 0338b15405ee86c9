//! Functions on arrays (Functions and Operators §17.3).

use super::call::no_array;
use super::higher::{sorted, truth};
use crate::error::Error;
use crate::function::{Call, Function, Library, Returns, ToValue};
use crate::value::function::out_of_bounds;
use crate::value::{Array, FunctionItem, Item, Value};

use Returns::{Any, Number};

pub(super) const FUNCTIONS: &[Function] = &[
    array("size", 1, 1, Number, |call| Ok(call.whole(call.array(0)?.len() as u64).into())),
    array("get", 2, 2, Any, |call| {
        let array = call.array(0)?;
        Ok(member(&array, call.integer(1)?)?.clone())
    }),
    array("put", 3, 3, Any, |call| {
        let (array, position) = (call.array(0)?, call.integer(1)?);
        member(&array, position)?;
        call.run.grown(array.len())?;
        array.replaced(index(position), call.value(2)?).map(Value::from)
    }),
    array("append", 2, 2, Any, |call| {
        let array = call.array(0)?;
        call.run.grown(array.len())?;
        array.with(array.len(), call.value(1)?).map(Value::from)
    }),
    array("insert-before", 3, 3, Any, insert_before),
    array("remove", 2, 2, Any, remove),
    array("subarray", 2, 3, Any, subarray),
    array("head", 1, 1, Any, |call| Ok(member(&call.array(0)?, 1)?.clone())),
    array("tail", 1, 1, Any, |call| {
        let array = call.array(0)?;
        member(&array, 1)?;
        call.run.grown(array.len())?;
        Ok(Value::from(array.without(0)))
    }),
    array("reverse", 1, 1, Any, reverse),
    array("join", 1, 1, Any, join),
    array("for-each", 2, 2, Any, for_each),
    array("filter", 2, 2, Any, filter),
    array("fold-left", 3, 3, Any, |call| fold(call, false)),
    array("fold-right", 3, 3, Any, |call| fold(call, true)),
    array("for-each-pair", 3, 3, Any, for_each_pair),
    array("sort", 1, 3, Any, |call| Array::new(sorted(call, members(call)?)?).map(Value::from)),
    array("flatten", 1, 1, Any, flatten),
];

const fn array(name: &'static str, least: u8, most: u8, returns: Returns, run: ToValue) -> Function {
    Function { library: Library::Array, ..Function::new(name, least, most, returns, run) }
}

/// The index of a position that is counted from 1 and known to be there.
fn index(position: i64) -> usize {
    usize::try_from(position - 1).unwrap_or(usize::MAX)
}

fn member<'v, 'a>(array: &'v Array<'a>, position: i64) -> Result<&'v Value<'a>, Error> {
    array.get(index(position)).ok_or_else(|| out_of_bounds(position, array.len()))
}

/// The members of the first argument, paid for.
fn members<'a>(call: &Call<'_, 'a>) -> Result<Vec<Value<'a>>, Error> {
    let array = call.array(0)?;
    call.run.step(array.len() as u64)?;
    call.run.build(array.len() * size_of::<Value<'_>>())?;
    Ok(array.members().cloned().collect())
}

fn insert_before<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (array, position) = (call.array(0)?, call.integer(1)?);
    if position < 1 || index(position) > array.len() {
        return Err(out_of_bounds(position, array.len()));
    }
    call.run.grown(array.len())?;
    array.with(index(position), call.value(2)?).map(Value::from)
}

fn remove<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let array = call.array(0)?;
    let mut positions = Vec::new();
    call.each_atomic(1, |position| {
        let position = crate::value::whole(&position, call.run.version)?;
        member(&array, position)?;
        call.run.build(size_of::<i64>())?;
        positions.push(position);
        Ok(())
    })?;
    // From the last one on, so that each is still where it was.
    positions.sort_unstable();
    positions.dedup();
    let mut left = array.clone();
    for position in positions.into_iter().rev() {
        call.run.grown(left.len())?;
        left = left.without(index(position));
    }
    Ok(Value::from(left))
}

fn subarray<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (members, start) = (members(call)?, call.integer(1)?);
    let count = members.len() as i64;
    if start < 1 || start > count + 1 {
        return Err(out_of_bounds(start, members.len()));
    }
    let length = if call.count() == 3 { call.integer(2)? } else { count + 1 - start };
    if length < 0 {
        return Err(Error::value("FOAY0002", format!("{length} is no length of an array")));
    }
    if length > count + 1 - start {
        return Err(out_of_bounds(start.saturating_add(length), members.len()));
    }
    let wanted = members.into_iter().skip(index(start)).take(usize::try_from(length).unwrap_or(0));
    Array::new(wanted).map(Value::from)
}

fn reverse<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    Array::new(members(call)?.into_iter().rev()).map(Value::from)
}

fn join<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut all = Vec::new();
    call.each(0, |item| {
        let Item::Function(FunctionItem::Array(array)) = item else { return Err(no_array()) };
        call.run.step(array.len() as u64)?;
        call.run.build(array.len() * size_of::<Value<'_>>())?;
        all.extend(array.members().cloned());
        Ok(())
    })?;
    Array::new(all).map(Value::from)
}

fn for_each<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (members, function) = (members(call)?, call.function(1)?);
    let results: Result<Vec<_>, _> = members.into_iter().map(|member| call.run.call(&function, vec![member])).collect();
    Array::new(results?).map(Value::from)
}

fn filter<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (members, function) = (members(call)?, call.function(1)?);
    let mut kept = Vec::new();
    for member in members {
        if truth(&call.run.call(&function, vec![member.clone()])?)? {
            kept.push(member);
        }
    }
    Array::new(kept).map(Value::from)
}

fn fold<'a>(call: &Call<'_, 'a>, from_the_right: bool) -> Result<Value<'a>, Error> {
    let (mut members, function) = (members(call)?, call.function(2)?);
    let mut result = call.value(1)?;
    if from_the_right {
        members.reverse();
    }
    for member in members {
        let arguments = if from_the_right { vec![member, result] } else { vec![result, member] };
        result = call.run.call(&function, arguments)?;
    }
    Ok(result)
}

fn for_each_pair<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (left, right, function) = (members(call)?, call.array(1)?, call.function(2)?);
    let pairs = left.into_iter().zip(right.members().cloned());
    let results: Result<Vec<_>, _> = pairs.map(|(left, right)| call.run.call(&function, vec![left, right])).collect();
    Array::new(results?).map(Value::from)
}

fn flatten<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut items = Vec::new();
    call.each(0, |item| flatten_into(call, item, &mut items))?;
    Ok(Value::from_items(items))
}

/// The recursion is as deep as arrays stand within each other.
fn flatten_into<'a>(call: &Call<'_, 'a>, item: Item<'a>, items: &mut Vec<Item<'a>>) -> Result<(), Error> {
    call.run.step(1)?;
    match item {
        Item::Function(FunctionItem::Array(array)) => {
            array.members().flat_map(Value::items).try_for_each(|item| flatten_into(call, item, items))
        }
        other => {
            call.run.build(size_of::<Item<'_>>())?;
            items.push(other);
            Ok(())
        }
    }
}
