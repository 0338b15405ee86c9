//! EXSLT's mathematics.

use std::hash::{BuildHasher, RandomState};

use myelin_xpath::{Error, Item, Value};

use super::MATH;
use crate::functions::function::Body;
use crate::functions::{Call, Function};

const fn function(name: &'static str, count: u8, run: Body) -> Function {
    Function { namespace: MATH, name, least: count, most: count, run }
}

pub(in crate::functions) const FUNCTIONS: &[Function] = &[
    function("min", 1, |call| Ok(Value::from(extreme(call, f64::lt)?.0))),
    function("max", 1, |call| Ok(Value::from(extreme(call, f64::gt)?.0))),
    function("lowest", 1, |call| Ok(extreme(call, f64::lt)?.1)),
    function("highest", 1, |call| Ok(extreme(call, f64::gt)?.1)),
    function("abs", 1, |call| of_number(call, f64::abs)),
    function("sqrt", 1, |call| of_number(call, f64::sqrt)),
    function("power", 2, |call| Ok(Value::from(call.any_number(0).powf(call.any_number(1))))),
    function("log", 1, |call| of_number(call, f64::ln)),
    function("exp", 1, |call| of_number(call, f64::exp)),
    function("sin", 1, |call| of_number(call, f64::sin)),
    function("cos", 1, |call| of_number(call, f64::cos)),
    function("tan", 1, |call| of_number(call, f64::tan)),
    function("asin", 1, |call| of_number(call, f64::asin)),
    function("acos", 1, |call| of_number(call, f64::acos)),
    function("atan", 1, |call| of_number(call, f64::atan)),
    function("atan2", 2, |call| Ok(Value::from(call.any_number(0).atan2(call.any_number(1))))),
    function("constant", 2, constant),
    function("random", 0, |_| Ok(Value::from(random()))),
];

fn of_number<'a>(call: &Call<'_, 'a>, of: fn(f64) -> f64) -> Result<Value<'a>, Error> {
    Ok(Value::from(of(call.any_number(0))))
}

/// The number that comes before all others, and the nodes that have it; NaN and none where there is no node, or one
/// that is no number.
fn extreme<'a>(call: &Call<'_, 'a>, before: fn(&f64, &f64) -> bool) -> Result<(f64, Value<'a>), Error> {
    let mut best = f64::NAN;
    let mut found: Vec<Item<'a>> = Vec::new();
    call.machine.step(call.value(0).len() as u64)?;
    for item in call.value(0).items() {
        let number = item.number();
        if number.is_nan() {
            return Ok((f64::NAN, Value::EMPTY));
        }
        if best.is_nan() || before(&number, &best) {
            found.clear();
            best = number;
        }
        if number == best {
            found.push(item);
        }
    }
    Ok((best, Value::from_items(found)))
}

/// Constants, each with more digits than a double has.
const CONSTANTS: [(&str, &str); 7] = [
    ("PI", "3.1415926535897932384626433832795028841971693993751"),
    ("E", "2.71828182845904523536028747135266249775724709369996"),
    ("SQRRT2", "1.41421356237309504880168872420969807856967187537694"),
    ("LN2", "0.69314718055994530941723212145817656807550013436025"),
    ("LN10", "2.302585092994045684017991454684364207601101488628772"),
    ("LOG2E", "1.4426950408889634073599246810018921374266459541529859"),
    ("SQRT1_2", "0.70710678118654752440084436210484903928483593768847"),
];

/// A constant, cut to so many characters, the point included, as libxslt understands its precision.
fn constant<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (name, precision) = (call.any_text(0), call.any_number(1));
    let known = CONSTANTS.iter().find(|(known, _)| *known == name);
    let (Some((_, digits)), true) = (known, precision >= 1.0) else { return Ok(Value::from(f64::NAN)) };
    let cut = &digits[..digits.len().min(precision as usize)];
    Ok(Value::from(cut.parse().unwrap_or(f64::NAN)))
}

/// Some number from 0 up to 1: the standard library's hashers begin with keys that nobody can foresee.
fn random() -> f64 {
    (RandomState::new().hash_one(0) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{check, check_in};

    #[test]
    fn the_least_and_the_greatest_are_found() {
        let xml = "<v><n>3</n><n>-1</n><n>11</n><n>11</n></v>";
        check_in(xml, "math:max(//n)", "11");
        check_in(xml, "math:min(//n)", "-1");
        check_in(xml, "count(math:highest(//n))", "2");
        check_in(xml, "math:lowest(//n)", "-1");
        check_in(xml, "math:max(//none)", "NaN");
        check_in("<v><n>3</n><n>x</n></v>", "concat(math:min(//n), count(math:lowest(//n)))", "NaN0");
    }

    #[test]
    fn numbers_go_through_functions() {
        check("math:power(2, 8)", "256");
        check("math:sqrt(16) + math:abs(-1)", "5");
        check("math:constant('PI', 6)", "3.1415");
        check("math:constant('TAU', 6)", "NaN");
        check("math:exp(0) + math:log(1) + math:sin(0) + math:atan2(0, 1)", "1");
        check("math:random() >= 0 and math:random() < 1", "true");
    }
}
