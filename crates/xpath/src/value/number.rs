//! Numbers and their texts: XPath 1.0 §4.2 and §4.4, XML Schema's for later versions.

use std::borrow::Cow;

use myelin_java_text::number::scientific;

use crate::environment::Version;

/// White space of XML, and no other.
pub(crate) fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n')
}

/// The number a text stands for by XPath 1.0: digits, perhaps a point, perhaps a minus; all else is NaN.
pub(crate) fn parse_v1(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    let digits = text.strip_prefix('-').unwrap_or(text);
    // Rust also reads exponents, plus signs and words, which are no numbers here.
    if digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        text.parse().unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}

/// The number a text stands for as `xs:double`; `None`: none.
pub(crate) fn parse_double(text: &str) -> Option<f64> {
    match text.trim_matches(is_space) {
        "INF" | "+INF" => Some(f64::INFINITY),
        "-INF" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        text if text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte)) => text.parse().ok(),
        _ => None,
    }
}

/// The same as `xs:float`; reading a double first would round twice.
pub(crate) fn parse_float(text: &str) -> Option<f32> {
    match text.trim_matches(is_space) {
        text if text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte)) => text.parse().ok(),
        text => parse_double(text).map(|double| double as f32),
    }
}

/// The text of a number: in version 1 without exponent, later as the canonical form of `xs:double`.
pub(crate) fn format_double(number: f64, version: Version) -> Cow<'static, str> {
    match version {
        Version::V1 => format_v1(number),
        _ => {
            canonical(number.abs(), number == 0.0 && number.is_sign_negative(), &number, number.is_nan(), number < 0.0)
        }
    }
}

/// The text of an `xs:float`.
pub(crate) fn format_float(number: f32, version: Version) -> Cow<'static, str> {
    match version {
        Version::V1 if number.is_finite() && number != 0.0 => number.to_string().into(),
        Version::V1 => format_v1(f64::from(number)),
        _ => {
            let zero = number == 0.0 && number.is_sign_negative();
            canonical(f64::from(number.abs()), zero, &number, number.is_nan(), number < 0.0)
        }
    }
}

fn format_v1(number: f64) -> Cow<'static, str> {
    if number.is_nan() {
        Cow::Borrowed("NaN")
    } else if number.is_infinite() {
        Cow::Borrowed(if number > 0.0 { "Infinity" } else { "-Infinity" })
    } else if number == 0.0 {
        // Minus zero, too, is written `0` (§4.2).
        Cow::Borrowed("0")
    } else if number.fract() == 0.0 && number.abs() < 1e15 {
        Cow::Owned((number as i64).to_string())
    } else {
        // Rust prints the shortest digits that read back as the same number, without exponent, as §4.2 wants it.
        Cow::Owned(number.to_string())
    }
}

fn canonical<N: std::fmt::Display + std::fmt::UpperExp>(
    size: f64,
    negative_zero: bool,
    number: &N,
    nan: bool,
    negative: bool,
) -> Cow<'static, str> {
    if nan {
        Cow::Borrowed("NaN")
    } else if size.is_infinite() {
        Cow::Borrowed(if negative { "-INF" } else { "INF" })
    } else if size == 0.0 {
        Cow::Borrowed(if negative_zero { "-0" } else { "0" })
    } else if (1e-6..1e6).contains(&size) {
        Cow::Owned(number.to_string())
    } else {
        Cow::Owned(scientific(number))
    }
}

/// Halves go up, also below zero; what rounds to zero from below is minus zero (XPath 1.0 §4.4).
#[inline]
pub(crate) fn round(number: f64) -> f64 {
    // Most are whole, which is seen without a call; too large ones are whole, too.
    if (number as i64) as f64 == number || number.fract() == 0.0 || !number.is_finite() {
        return number;
    }
    let floor = number.floor();
    let rounded = if number - floor < 0.5 { floor } else { floor + 1.0 };
    rounded.copysign(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_each_version_wants_them() {
        let check = |number: f64, first: &str, later: &str| {
            assert_eq!(format_double(number, Version::V1), first);
            assert_eq!(format_double(number, Version::V2), later);
        };
        check(1.0, "1", "1");
        check(-0.0, "0", "-0");
        check(1.5, "1.5", "1.5");
        check(1e6, "1000000", "1.0E6");
        check(1.25e21, "1250000000000000000000", "1.25E21");
        check(1e-7, "0.0000001", "1.0E-7");
        check(0.1 + 0.2, "0.30000000000000004", "0.30000000000000004");
        check(f64::NAN, "NaN", "NaN");
        check(f64::NEG_INFINITY, "-Infinity", "-INF");
        assert_eq!(format_float(0.1, Version::V2), "0.1");
        assert_eq!(format_float(1e10, Version::V2), "1.0E10");
    }

    #[test]
    fn texts_are_numbers_as_each_version_reads_them() {
        let check = |text: &str, first: f64, later: Option<f64>| {
            assert!(parse_v1(text) == first || (parse_v1(text).is_nan() && first.is_nan()), "{text}");
            assert_eq!(parse_double(text).map(f64::to_bits), later.map(f64::to_bits), "{text}");
        };
        check(" 12 ", 12.0, Some(12.0));
        check("-.5", -0.5, Some(-0.5));
        check("5.", 5.0, Some(5.0));
        check("+1", f64::NAN, Some(1.0));
        check("1e3", f64::NAN, Some(1000.0));
        check("", f64::NAN, None);
        check(".", f64::NAN, None);
        check("--1", f64::NAN, None);
        check("INF", f64::NAN, Some(f64::INFINITY));
        check("inf", f64::NAN, None);
        check("1\u{a0}", f64::NAN, None);
    }

    #[test]
    fn halves_round_up() {
        let check = |number: f64, expected: f64| assert_eq!(round(number).to_bits(), expected.to_bits(), "{number}");
        check(2.5, 3.0);
        check(-2.5, -2.0);
        check(-0.5, -0.0);
        check(-0.2, -0.0);
        check(0.49999999999999994, 0.0);
        check(4_503_599_627_370_497.0, 4_503_599_627_370_497.0);
        check(f64::INFINITY, f64::INFINITY);
    }
}
