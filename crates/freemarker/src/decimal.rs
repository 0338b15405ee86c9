//! Numbers as templates reckon with them: decimal, exact, of at most 38 digits.
//!
//! Source: FreeMarker's default arithmetic engine, which is Java's `BigDecimal` with twelve digits behind the point
//! where a division or a product would have more, rounded half up.

use std::cmp::Ordering;
use std::fmt;

use myelin_java_text::decimal::Decimal as Number;
pub(crate) use myelin_java_text::decimal::Rounding;

use crate::error::Trouble;

mod pattern;

pub(crate) use pattern::Pattern;

/// How many digits a product or quotient keeps behind the point.
const SCALE: i32 = 12;

/// More digits behind the point than this are cut off when a number is read.
const SCALE_LIMIT: i32 = 30;

/// A decimal number.
#[derive(Clone, Copy, Debug)]
pub struct Decimal(Number);

impl From<i64> for Decimal {
    fn from(number: i64) -> Decimal {
        Decimal(Number::new(number.into(), 0))
    }
}

impl From<usize> for Decimal {
    fn from(number: usize) -> Decimal {
        Decimal(Number::new(number as i128, 0))
    }
}

impl Decimal {
    /// Reads a number as JSON writes it; a plus in front and a point at either end are fine as well.
    ///
    /// `None` where it is none, or has more than 38 digits.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let number = Number::plain(digits, SCALE_LIMIT as u32)?;
        if number.is_zero() {
            return Some(Decimal(Number::ZERO));
        }
        let number = Number::new(number.unscaled(), number.scale().checked_sub(exponent)?);
        number.rounded(number.scale().clamp(0, SCALE_LIMIT), Rounding::HalfUp).map(Decimal)
    }

    pub(crate) fn add(self, other: Decimal) -> Result<Decimal, Trouble> {
        self.0.trimmed().plus(other.0.trimmed()).map(Decimal).ok_or_else(too_long)
    }

    pub(crate) fn subtract(self, other: Decimal) -> Result<Decimal, Trouble> {
        self.0.trimmed().minus(other.0.trimmed()).map(Decimal).ok_or_else(too_long)
    }

    pub(crate) fn multiply(self, other: Decimal) -> Result<Decimal, Trouble> {
        let product = self.0.trimmed().times(other.0.trimmed()).ok_or_else(too_long)?;
        product.rounded(product.scale().min(SCALE), Rounding::HalfUp).map(Decimal).ok_or_else(too_long)
    }

    pub(crate) fn divide(self, other: Decimal) -> Result<Decimal, Trouble> {
        if other.0.is_zero() {
            return Err(Trouble::wrong("a division by zero"));
        }
        let quotient = self.0.trimmed().divided(other.0.trimmed(), SCALE, Rounding::HalfUp).ok_or_else(too_long)?;
        Ok(Decimal(quotient.trimmed()))
    }

    /// What is left of a division of the whole parts.
    pub(crate) fn remainder(self, other: Decimal) -> Result<Decimal, Trouble> {
        match (self.whole(), other.whole()) {
            (_, 0) => Err(Trouble::wrong("a division by zero")),
            (left, right) => Ok(Decimal(Number::new(left.checked_rem(right).unwrap_or(0), 0))),
        }
    }

    pub(crate) fn negated(self) -> Decimal {
        self.0.negated().map_or(self, Decimal)
    }

    pub(crate) fn absolute(self) -> Decimal {
        self.0.absolute().map_or(self, Decimal)
    }

    /// The whole number next to it.
    pub(crate) fn rounded(self, rounding: Rounding) -> Decimal {
        self.0.rounded(0, rounding).map_or(self, Decimal)
    }

    /// The whole part.
    fn whole(self) -> i128 {
        self.rounded(Rounding::Down).0.unscaled()
    }

    /// The whole part, if it is no longer than a machine's number.
    pub(crate) fn as_integer(self) -> Option<i64> {
        i64::try_from(self.whole()).ok()
    }

    /// The same number with no more than so many digits behind the point.
    fn at_most(self, digits: i32, rounding: Rounding) -> Number {
        let number = self.0;
        number.rounded(number.scale().min(digits), rounding).unwrap_or(number).trimmed()
    }
}

fn too_long() -> Trouble {
    Trouble::limit("a number of more than 38 digits")
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        self.0.compare(other.0)
    }
}

/// As `?c` writes it: no grouping, at most sixteen digits behind the point.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at_most(16, Rounding::HalfEven).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_read_and_written_digit_for_digit() {
        let check = |text: &str, expected: &str| assert_eq!(number(text).to_string(), expected, "{text}");
        check("0", "0");
        check("-0.0", "0");
        check("12345678901234567890", "12345678901234567890");
        check("1.50", "1.5");
        check("1e3", "1000");
        check("15e-1", "1.5");
        check("-0.05", "-0.05");
        check("1e-40", "0");
        for text in ["", "-", ".", "1.2.3", "x", "1e", "1e99", "1e999999999999"] {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn arithmetic_is_exact_to_twelve_digits_behind_the_point() {
        assert_eq!(number("0.1").add(number("0.2")).unwrap(), number("0.3"));
        assert_eq!(number("1").divide(number("3")).unwrap().to_string(), "0.333333333333");
        assert_eq!(number("2").divide(number("3")).unwrap().to_string(), "0.666666666667");
        assert_eq!(number("1.5").multiply(number("1.5")).unwrap().to_string(), "2.25");
        assert_eq!(number("-7").remainder(number("3")).unwrap().to_string(), "-1");
        assert!(number("1").divide(number("0")).is_err() && number("1").remainder(number("0.5")).is_err());
        assert!(number(&"9".repeat(38)).multiply(number("100")).is_err());
    }

    #[test]
    fn halves_go_up_and_whole_numbers_stay() {
        let check = |text: &str, rounding: Rounding, expected: &str| {
            assert_eq!(number(text).rounded(rounding).to_string(), expected, "{text} {rounding:?}");
        };
        check("1.5", Rounding::HalfCeiling, "2");
        check("-1.5", Rounding::HalfCeiling, "-1");
        check("-1.2", Rounding::Floor, "-2");
        check("1.2", Rounding::Ceiling, "2");
        check("7", Rounding::Ceiling, "7");
    }

    #[test]
    fn numbers_are_compared_whatever_their_length() {
        assert!(number("0.10") == number("0.1"));
        assert!(number(&"9".repeat(38)) > number("0.123456789"));
        assert!(number(&format!("-{}", "9".repeat(38))) < number("0.123456789"));
    }
}
