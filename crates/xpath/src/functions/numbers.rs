//! Functions on numbers (XPath 1.0 §4.4, Functions and Operators §4).

use super::call::missing;
use super::{Call, Function, Returns};
use crate::environment::Version;
use crate::error::Error;
use crate::types::AtomicType as T;
use crate::value::cast::cast;
use crate::value::number::round as round_up;
use crate::value::{Atomic, Decimal, Value};

use Returns::Number;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("number", 0, 1, Number, number).or_context(),
    Function::new("floor", 1, 1, Number, |call| each_type(call, f64::floor, Decimal::floor)),
    Function::new("ceiling", 1, 1, Number, |call| {
        each_type(call, f64::ceil, |number| number.negated().floor().negated())
    }),
    Function::new("abs", 1, 1, Number, |call| {
        each_type(call, f64::abs, |number| if number.signum() < 0 { number.negated() } else { number })
    }),
    Function::new("round", 1, 2, Number, |call| rounded(call, false)),
    Function::new("round-half-to-even", 1, 2, Number, |call| rounded(call, true)),
];

/// NaN for whatever is no number, in every version.
fn number<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    if call.is_v1() {
        return Ok(Value::from(call.required_double(0)?));
    }
    let number = call.atomic(0)?.and_then(|atomic| match cast(atomic, T::Double, Version::V2) {
        Ok(Atomic::Double(number)) => Some(number),
        _ => None,
    });
    Ok(Value::from(number.unwrap_or(f64::NAN)))
}

fn each_type<'a>(
    call: &Call<'_, 'a>,
    double: fn(f64) -> f64,
    decimal: fn(Decimal) -> Decimal,
) -> Result<Value<'a>, Error> {
    let Some(number) = call.numeric(0)? else { return Ok(Value::EMPTY) };
    Ok(Value::from(match number {
        Atomic::Double(number) => Atomic::Double(double(number)),
        Atomic::Float(number) => Atomic::Float(double(f64::from(number)) as f32),
        other => exact(&other, decimal)?,
    }))
}

/// A decimal or integer changed exactly, of the type it was.
fn exact(number: &Atomic<'_>, change: impl Fn(Decimal) -> Decimal) -> Result<Atomic<'static>, Error> {
    let changed = change(number.as_decimal().ok_or_else(missing)?);
    match number {
        Atomic::Integer(..) => match changed.to_integer() {
            Some(integer) => Ok(Atomic::from(integer)),
            None => Err(Error::value("FOAR0002", "the result is too large")),
        },
        _ => Ok(Atomic::from(changed)),
    }
}

/// Rounds to so many digits behind the point; without the argument, to whole numbers.
fn rounded<'a>(call: &Call<'_, 'a>, to_even: bool) -> Result<Value<'a>, Error> {
    let Some(number) = call.numeric(0)? else { return Ok(Value::EMPTY) };
    let digits = if call.count() == 2 { call.integer(1)?.clamp(-400, 400) as i32 } else { 0 };
    let double = |number: f64| match (digits, to_even) {
        (0, false) => round_up(number),
        _ if number.fract() == 0.0 && digits >= 0 => number,
        _ if !number.is_finite() => number,
        // Through decimals: powers of ten are not exact as doubles. What has more digits has none to be rounded off.
        _ => match Decimal::from_double(number.abs()) {
            Some(decimal) if number < 0.0 => {
                let rounded = decimal.negated().round(digits, to_even).to_double();
                if rounded == 0.0 { -0.0 } else { rounded }
            }
            Some(decimal) => decimal.round(digits, to_even).to_double(),
            None => number,
        },
    };
    Ok(Value::from(match number {
        Atomic::Double(number) => Atomic::Double(double(number)),
        Atomic::Float(number) => Atomic::Float(match digits {
            0 if !to_even => round_up(f64::from(number)) as f32,
            // The float's own digits are rounded, not those of the double next to it.
            _ => double(number.to_string().parse().unwrap_or(f64::from(number))) as f32,
        }),
        other => exact(&other, |number| number.round(digits, to_even))?,
    }))
}
