//! Numbers as text, in the two manners a configuration meets: XPath's and Java's.

/// A number as XPath's `string()` writes it (XPath 1.0 §4.2): no exponent, no trailing zeros.
pub(crate) fn xpath(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else if number == 0.0 {
        "0".to_owned()
    } else {
        // Rust writes the shortest digits that read back the same, and never an exponent.
        format!("{number}")
    }
}

/// A number as Java's `Double.toString` writes it: `4.0`, `1.0E9`, `1.0E-5`.
pub(crate) fn java(number: f64) -> String {
    java_digits(number, &format!("{number:e}"))
}

/// The same for a `float`.
pub(crate) fn java_float(number: f32) -> String {
    java_digits(f64::from(number), &format!("{number:e}"))
}

fn java_digits(number: f64, scientific: &str) -> String {
    if !number.is_finite() {
        return xpath(number);
    }
    if number == 0.0 {
        return if number.is_sign_negative() { "-0.0".to_owned() } else { "0.0".to_owned() };
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-3..7).contains(&exponent) {
        let point = if mantissa.contains('.') { "" } else { ".0" };
        return format!("{mantissa}{point}E{exponent}");
    }
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits = mantissa.replace('.', "");
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        format!("{sign}{digits}{}.0", "0".repeat(whole - digits.len()))
    } else {
        format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xpath_writes_numbers_without_exponent() {
        let check = |number: f64, expected: &str| assert_eq!(xpath(number), expected);
        check(4.0, "4");
        check(-0.0, "0");
        check(0.1, "0.1");
        check(-1.5, "-1.5");
        check(1e21, "1000000000000000000000");
        check(1e-7, "0.0000001");
        check(1.0 / 3.0, "0.3333333333333333");
        check(f64::NAN, "NaN");
        check(f64::NEG_INFINITY, "-Infinity");
    }

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
    }
}
