//! Functions of trigonometry and powers (Functions and Operators §4.8).

use crate::error::Error;
use crate::function::{Call, Function, Library, Returns, ToValue};
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    math("pi", 0, |_| Ok(Value::from(std::f64::consts::PI))),
    math("exp", 1, |call| of(call, f64::exp)),
    math("exp10", 1, |call| of(call, |number| 10_f64.powf(number))),
    math("log", 1, |call| of(call, f64::ln)),
    math("log10", 1, |call| of(call, f64::log10)),
    math("sqrt", 1, |call| of(call, f64::sqrt)),
    math("sin", 1, |call| of(call, f64::sin)),
    math("cos", 1, |call| of(call, f64::cos)),
    math("tan", 1, |call| of(call, f64::tan)),
    math("asin", 1, |call| of(call, f64::asin)),
    math("acos", 1, |call| of(call, f64::acos)),
    math("atan", 1, |call| of(call, f64::atan)),
    math("atan2", 2, |call| Ok(Value::from(call.required_double(0)?.atan2(call.required_double(1)?)))),
    math("pow", 2, |call| match call.double(0)? {
        Some(base) => Ok(Value::from(base.powf(call.required_double(1)?))),
        None => Ok(Value::EMPTY),
    }),
];

const fn math(name: &'static str, arguments: u8, run: ToValue) -> Function {
    Function { library: Library::Math, ..Function::new(name, arguments, arguments, Returns::Number, run) }
}

fn of<'a>(call: &Call<'_, 'a>, function: fn(f64) -> f64) -> Result<Value<'a>, Error> {
    Ok(call.double(0)?.map_or(Value::EMPTY, |number| Value::from(function(number))))
}
