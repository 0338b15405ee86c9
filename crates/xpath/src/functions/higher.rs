//! Functions that take functions (Functions and Operators §16).

use super::call::missing;
use crate::ast::Callee;
use crate::collation::Collation;
use crate::compare;
use crate::error::Error;
use crate::function::{Call, Function, Library, MOST_ARGUMENTS, Returns};
use crate::types::AtomicType as T;
use crate::value::function::Body;
use crate::value::{Atomic, FunctionItem, Item, QName, Value};

use Returns::Any;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("for-each", 2, 2, Any, for_each),
    Function::new("filter", 2, 2, Any, filter),
    Function::new("fold-left", 3, 3, Any, |call| fold(call, false)),
    Function::new("fold-right", 3, 3, Any, |call| fold(call, true)),
    Function::new("for-each-pair", 3, 3, Any, for_each_pair),
    Function::new("sort", 1, 3, Any, sort),
    Function::new("apply", 2, 2, Any, apply),
    Function::count("function-arity", 1, 1, |call| Ok(call.function(0)?.arity() as u64)),
    Function::new("function-name", 1, 1, Any, name),
    Function::new("function-lookup", 2, 2, Any, lookup),
];

fn for_each<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let function = call.function(1)?;
    let mut gathered = Vec::new();
    call.each(0, |item| call.gather(&mut gathered, call.run.call(&function, vec![Value::Item(item)])?))?;
    Ok(Value::from_items(gathered))
}

fn filter<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let function = call.function(1)?;
    let mut kept = Vec::new();
    call.each(0, |item| match truth(&call.run.call(&function, vec![Value::Item(item.clone())])?)? {
        true => call.gather(&mut kept, Value::Item(item)),
        false => Ok(()),
    })?;
    Ok(Value::from_items(kept))
}

/// What a function that decides has said.
pub(super) fn truth(value: &Value<'_>) -> Result<bool, Error> {
    match value {
        Value::Item(Item::Atomic(Atomic::Boolean(truth))) => Ok(*truth),
        _ => Err(Error::value("XPTY0004", "the function should give true or false, and gives something else")),
    }
}

fn fold<'a>(call: &Call<'_, 'a>, from_the_right: bool) -> Result<Value<'a>, Error> {
    let function = call.function(2)?;
    let mut result = call.value(1)?;
    if from_the_right {
        for item in call.value(0)?.items().rev() {
            result = call.run.call(&function, vec![Value::Item(item), result])?;
        }
        return Ok(result);
    }
    call.each(0, |item| {
        let before = std::mem::replace(&mut result, Value::EMPTY);
        result = call.run.call(&function, vec![before, Value::Item(item)])?;
        Ok(())
    })?;
    Ok(result)
}

fn for_each_pair<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let function = call.function(2)?;
    let mut gathered = Vec::new();
    for (left, right) in call.value(0)?.into_items().zip(call.value(1)?.into_items()) {
        let result = call.run.call(&function, vec![Value::Item(left), Value::Item(right)])?;
        call.gather(&mut gathered, result)?;
    }
    Ok(Value::from_items(gathered))
}

fn sort<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let items = call.value(0)?.into_items().map(Value::Item).collect();
    let sorted = sorted(call, items)?;
    Ok(Value::from_items(sorted.into_iter().flat_map(Value::into_items).collect()))
}

/// Values in the order of their keys; of the arguments the second is a collation and the third gives the keys.
pub(super) fn sorted<'a>(call: &Call<'_, 'a>, values: Vec<Value<'a>>) -> Result<Vec<Value<'a>>, Error> {
    let collation = match call.count() {
        count if count > 1 && !call.value(1)?.is_empty() => call.collation(1)?,
        _ => Collation::CODEPOINTS,
    };
    let key = if call.count() > 2 { Some(call.function(2)?) } else { None };
    call.run.build(values.len() * size_of::<(Vec<Atomic<'_>>, Value<'_>)>())?;
    let mut keyed: Vec<(Vec<Atomic<'a>>, Value<'a>)> = Vec::with_capacity(values.len());
    for value in values {
        let key = match &key {
            Some(function) => call.run.call(function, vec![value.clone()])?,
            None => value.clone(),
        };
        keyed.push((call.run.atomics(&key)?, value));
    }
    let mut failed = None;
    keyed.sort_by(|(left, _), (right, _)| {
        let compared = call.run.step(1).and_then(|()| compare_keys(call, left, right, &collation));
        compared.unwrap_or_else(|error| {
            failed.get_or_insert(error);
            std::cmp::Ordering::Equal
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(keyed.into_iter().map(|(_, value)| value).collect()),
    }
}

/// Key by key; what ends first comes first.
fn compare_keys(
    call: &Call<'_, '_>,
    left: &[Atomic<'_>],
    right: &[Atomic<'_>],
    collation: &Collation,
) -> Result<std::cmp::Ordering, Error> {
    for (left, right) in left.iter().zip(right) {
        let ordering = compare::sorting(left, right, call.run.context.now, collation)?;
        if ordering.is_ne() {
            return Ok(ordering);
        }
    }
    Ok(left.len().cmp(&right.len()))
}

fn apply<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let function = call.function(0)?;
    let arguments = call.array(1)?;
    if arguments.len() != function.arity() {
        let message = format!("a function of {} arguments is applied to {}", function.arity(), arguments.len());
        return Err(Error::value("FOAP0001", message));
    }
    call.run.call(&function, arguments.members().cloned().collect())
}

fn name<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let FunctionItem::Closure(closure) = call.function(0)? else { return Ok(Value::EMPTY) };
    let (prefix, namespace, local) = match &closure.body {
        Body::Named { callee: Callee::Library(function), .. } => {
            (function.library.prefix(), function.library.namespace(), function.name)
        }
        Body::Named { callee: Callee::Cast(atomic), .. } => ("xs", "http://www.w3.org/2001/XMLSchema", atomic.name()),
        Body::Named { callee: Callee::Host(slot), .. } => {
            let Some((namespace, local)) = call.run.context.host.function_name(*slot) else { return Ok(Value::EMPTY) };
            let prefix = if namespace == Library::Core.namespace() { "fn" } else { "" }.to_owned();
            return Ok(Value::from(Atomic::QName(Box::new(QName { prefix, namespace, local }))));
        }
        _ => return Ok(Value::EMPTY),
    };
    Ok(Value::from(Atomic::QName(Box::new(QName {
        prefix: prefix.to_owned(),
        namespace: namespace.to_owned(),
        local: local.to_owned(),
    }))))
}

/// A function of this library or of the host by name.
fn lookup<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(Atomic::QName(name)) = call.typed(0, T::QName)? else { return Err(missing()) };
    let arity = call.integer(1)?;
    let Some(arity) = usize::try_from(arity).ok().filter(|arity| *arity <= MOST_ARGUMENTS) else {
        return Ok(Value::EMPTY);
    };
    let callee = match Library::of_namespace(&name.namespace) {
        Some(library) => {
            let takes = |function: &&Function| {
                arity >= usize::from(function.least)
                    && (arity <= usize::from(function.most) || function.most == u8::MAX)
            };
            super::find(library, &name.local).filter(takes).map(Callee::Library)
        }
        None if name.namespace == "http://www.w3.org/2001/XMLSchema" && arity == 1 => {
            let list = super::list_constructor(&name.local).map(Callee::Library);
            let atomic = || T::find(&name.local).filter(|atomic| !matches!(atomic, T::AnyAtomic | T::Notation));
            list.or_else(|| atomic().map(Callee::Cast))
        }
        None => None,
    };
    let callee =
        callee.or_else(|| call.run.context.host.find_function(&name.namespace, &name.local, arity).map(Callee::Host));
    let Some(callee) = callee else { return Ok(Value::EMPTY) };
    call.run.named(callee, arity, call.focus).map(|function| Value::Item(Item::Function(function)))
}
