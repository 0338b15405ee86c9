//! Floating-point numbers as Java's `Double.toString` and `Float.toString` write them.

use std::fmt::{Debug, UpperExp};

/// A double: `4.0`, `1.0E9`, `1.0E-5`.
pub fn java(number: f64) -> String {
    written(number, &number)
}

/// A `float`, with the digits that tell it from other floats.
pub fn java_float(number: f32) -> String {
    written(f64::from(number), &number)
}

/// With one digit before the point, one behind it at least, and an exponent: `1.0E9`.
pub fn scientific(number: &impl UpperExp) -> String {
    let text = format!("{number:E}");
    match text.split_once('E') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0E{exponent}"),
        _ => text,
    }
}

/// `value` is the number as a double, which says how it is written.
fn written(value: f64, number: &(impl Debug + UpperExp)) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else if value == 0.0 || (1e-3..1e7).contains(&value.abs()) {
        // In this range Rust writes the shortest digits that read back the same, a point, and no exponent, as well.
        format!("{number:?}")
    } else {
        scientific(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_writes_doubles_with_a_point_and_large_ones_with_an_exponent() {
        let check = |number: f64, expected: &str| assert_eq!(java(number), expected);
        check(4.0, "4.0");
        check(0.0, "0.0");
        check(-0.0, "-0.0");
        check(1e9, "1.0E9");
        check(1e7, "1.0E7");
        check(9_999_999.0, "9999999.0");
        check(123.456, "123.456");
        check(0.001, "0.001");
        check(0.0001, "1.0E-4");
        check(0.012, "0.012");
        check(-1234.5, "-1234.5");
        check(1.25e-10, "1.25E-10");
        check(f64::INFINITY, "Infinity");
        assert_eq!(java_float(1.5), "1.5");
        assert_eq!(java_float(0.1), "0.1");
        assert_eq!(java_float(16_777_216.0), "1.6777216E7");
        check(1.234_567_890_123_456_7E19, "1.2345678901234567E19");
        check(f64::NAN, "NaN");
        check(f64::NEG_INFINITY, "-Infinity");
    }
}
