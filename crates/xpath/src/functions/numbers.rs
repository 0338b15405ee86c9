//! Functions on numbers (XPath 1.0 §4.4, Functions and Operators §4).

use super::call::missing;
use crate::environment::Version;
use crate::error::Error;
use crate::function::{Call, Function, Returns};
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
        Atomic::Integer(..) | Atomic::Large(..) => Ok(Atomic::whole(changed, T::Integer)),
        _ => Ok(Atomic::from(changed)),
    }
}

/// Rounds to so many digits behind the point; without the argument, to whole numbers.
fn rounded<'a>(call: &Call<'_, 'a>, to_even: bool) -> Result<Value<'a>, Error> {
    let Some(number) = call.numeric(0)? else { return Ok(Value::EMPTY) };
    let digits = if call.count() == 2 { call.integer(1)?.clamp(-400, 400) as i32 } else { 0 };
    Ok(Value::from(match number {
        Atomic::Double(number) => Atomic::Double(rounded_double(number, digits, to_even)),
        Atomic::Float(number) => Atomic::Float(rounded_double(f64::from(number), digits, to_even) as f32),
        other => exact(&other, |number| number.round(digits, to_even))?,
    }))
}

/// A double rounded by its exact value, which for most fractions is a little more or less than what is written.
fn rounded_double(number: f64, digits: i32, to_even: bool) -> f64 {
    if digits == 0 && !to_even {
        return round_up(number);
    }
    if !number.is_finite() || (number.fract() == 0.0 && digits >= 0) {
        return number;
    }
    // Where decimals do not reach, powers of ten that are not exact have to do.
    if number.abs() >= 1e20 || digits >= Decimal::DIGITS as i32 {
        let power = 10_f64.powi(digits.abs());
        let rounded = if digits < 0 { (number / power).round() * power } else { (number * power).round() / power };
        return if rounded.is_finite() { rounded } else { number };
    }
    let Some(decimal) = nearly(number.abs()) else { return number };
    let decimal = if number < 0.0 { decimal.negated() } else { decimal };
    let rounded = decimal.round(digits, to_even).to_double();
    if rounded == 0.0 && number < 0.0 { -0.0 } else { rounded }
}

/// A decimal that rounds as a number not below zero does: its digits as far as they go, and one in the last place
/// where there are more, so that it is not taken for one just between two others.
fn nearly(number: f64) -> Option<Decimal> {
    let text = format!("{number:.60}");
    let end = text.find('.')? + 1 + Decimal::DIGITS as usize;
    let (kept, cut) = (text.get(..end)?, text.get(end..)?);
    let decimal = Decimal::parse(kept)?;
    let between = cut.bytes().any(|digit| digit != b'0') && kept.ends_with(['0', '5']);
    if between { decimal.plus(Decimal::new(1, Decimal::DIGITS)) } else { Some(decimal) }
}
