//! Functions that make one value of many (XPath 1.0 §4.4, Functions and Operators §14.4).

use super::call::wrong_type;
use crate::arithmetic::calculate;
use crate::ast::{Arithmetic, Comparison};
use crate::compare;
use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::types::AtomicType as T;
use crate::value::cast::cast;
use crate::value::{Atomic, Value};

use Returns::{Any, Number};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("sum", 1, 2, Number, sum),
    Function::new("avg", 1, 1, Any, average),
    Function::new("min", 1, 2, Any, |call| extreme(call, Comparison::Less)),
    Function::new("max", 1, 2, Any, |call| extreme(call, Comparison::Greater)),
];

fn sum<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    if call.is_v1() && call.count() == 1 {
        let mut sum = 0.0;
        call.each(0, |item| {
            sum += call.run.item_number(item)?;
            Ok(())
        })?;
        return Ok(Value::from(sum));
    }
    match total(call)?.0 {
        Some(sum) => Ok(Value::from(sum)),
        None if call.count() == 2 => call.value(1),
        None => Ok(Value::from(0)),
    }
}

/// The sum, and of how many values.
fn total<'a>(call: &Call<'_, 'a>) -> Result<(Option<Atomic<'a>>, u64), Error> {
    let mut sum: Option<Atomic<'a>> = None;
    let mut count = 0;
    call.each_atomic(0, |atomic| {
        let next = addend(call, atomic)?;
        count += 1;
        sum = match sum.take() {
            None => Some(next),
            Some(sum) => calculate(Arithmetic::Add, Some(sum), Some(next), call.run.version).map_err(|error| {
                if error.code() == Some("XPTY0004") { Error::value("FORG0006", error.to_string()) } else { error }
            })?,
        };
        Ok(())
    })?;
    Ok((sum, count))
}

fn addend<'a>(call: &Call<'_, 'a>, atomic: Atomic<'a>) -> Result<Atomic<'a>, Error> {
    match atomic.atomic_type() {
        T::Untyped => cast(atomic, T::Double, call.run.version),
        T::YearMonthDuration | T::DayTimeDuration => Ok(atomic),
        _ if atomic.is_numeric() => Ok(atomic),
        _ if call.is_v1() => Ok(Atomic::Double(atomic.number())),
        found => Err(Error::value("FORG0006", format!("values of type {found} cannot be added"))),
    }
}

fn average<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (Some(sum), count) = total(call)? else { return Ok(Value::EMPTY) };
    let count = Atomic::from(i64::try_from(count).unwrap_or(i64::MAX));
    let average = calculate(Arithmetic::Divide, Some(sum), Some(count), call.run.version)?;
    Ok(average.map_or(Value::EMPTY, Value::from))
}

/// The smallest or largest value; a NaN among them is the result.
fn extreme<'a>(call: &Call<'_, 'a>, wanted: Comparison) -> Result<Value<'a>, Error> {
    let collation = call.collation(1)?;
    let mut best: Option<Atomic<'a>> = None;
    let mut widest = T::Integer;
    // URIs beside texts are texts, and so is the result then.
    let mut texts = false;
    call.each_atomic(0, |atomic| {
        let atomic = match atomic.atomic_type() {
            // Version 1 has no types: what is in a document is a number here, as it is to `sum()`.
            T::Untyped if call.is_v1() => Atomic::Double(atomic.number()),
            T::Untyped => cast(atomic, T::Double, call.run.version)?,
            _ => atomic,
        };
        match atomic.atomic_type() {
            T::String => texts = true,
            T::Double => widest = T::Double,
            T::Float if widest != T::Double => widest = T::Float,
            T::Decimal if widest == T::Integer => widest = T::Decimal,
            T::Duration | T::QName | T::GYear | T::GYearMonth | T::GMonth | T::GMonthDay | T::GDay => {
                return Err(Error::value("FORG0006", wrong_type("a value that has an order", &atomic).to_string()));
            }
            _ => {}
        }
        let better = match &best {
            None => true,
            Some(best) => {
                let compared = compare::atomic_by(wanted, &atomic, best, call.run.context.now, &collation);
                let compared = compared.map_err(|error| Error::value("FORG0006", error.to_string()))?;
                !best.is_nan() && (compared || atomic.is_nan())
            }
        };
        if better {
            best = Some(atomic);
        }
        Ok(())
    })?;
    match best {
        None => Ok(Value::EMPTY),
        Some(best) if best.is_numeric() && matches!(widest, T::Double | T::Float) => {
            cast(best, widest, call.run.version).map(Value::from)
        }
        Some(Atomic::Text(text, T::AnyUri)) if texts => Ok(Value::from(text)),
        Some(best) => Ok(Value::from(best)),
    }
}
