//! `xs:decimal`: exact up to 18 digits behind the point.

use std::cmp::Ordering;
use std::fmt;

use myelin_java_text::decimal::{Decimal as Number, Rounding};

use super::number::is_space;

/// A decimal number with no zeros at the end behind the point, so that equal numbers have equal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal(Number);

impl From<i64> for Decimal {
    fn from(whole: i64) -> Decimal {
        Decimal(Number::new(i128::from(whole), 0))
    }
}

impl Decimal {
    /// The most digits behind the point; what has more is cut.
    pub const DIGITS: u32 = 18;

    /// Zero.
    pub const ZERO: Decimal = Decimal(Number::ZERO);

    /// `mantissa` divided by ten to the power of `scale`.
    pub fn new(mut mantissa: i128, mut scale: u32) -> Decimal {
        while scale > Decimal::DIGITS || (scale > 0 && mantissa % 10 == 0) {
            mantissa /= 10;
            scale -= 1;
        }
        Decimal(Number::new(mantissa, scale as i32))
    }

    fn of(number: Number) -> Decimal {
        Decimal::new(number.unscaled(), number.scale().unsigned_abs())
    }

    /// Reads `-1.50`; `None`: not a decimal, or one with too many digits.
    pub fn parse(text: &str) -> Option<Decimal> {
        Number::plain(text.trim_matches(is_space), Decimal::DIGITS).map(Decimal::of)
    }

    /// The decimal nearest to a double; `None`: too large, or no number.
    pub fn from_double(number: f64) -> Option<Decimal> {
        if !number.is_finite() || number.abs() >= 1e37 {
            return None;
        }
        Decimal::parse(&number.to_string())
    }

    /// The nearest double.
    pub fn to_double(self) -> f64 {
        self.0.double()
    }

    /// The whole number, if it is one that fits.
    pub fn to_integer(self) -> Option<i64> {
        i64::try_from(self.truncated().0.unscaled()).ok()
    }

    /// Below zero, zero or above.
    pub fn signum(self) -> i32 {
        self.0.signum()
    }

    /// The value times ten to the power of `digits`, cut to a whole number; `None`: too large.
    pub fn scaled(self, digits: u32) -> Option<i128> {
        Some(self.0.rounded(i32::try_from(digits).ok()?, Rounding::Down)?.unscaled())
    }

    /// The sum; `None`: too large.
    pub fn plus(self, other: Decimal) -> Option<Decimal> {
        self.0.plus(other.0).map(Decimal::of)
    }

    /// The difference; `None`: too large.
    pub fn minus(self, other: Decimal) -> Option<Decimal> {
        self.0.minus(other.0).map(Decimal::of)
    }

    /// The product; `None`: too large.
    pub fn multiply(self, other: Decimal) -> Option<Decimal> {
        self.0.times(other.0).map(Decimal::of)
    }

    /// The quotient, cut behind the last digit there is room for; `None`: divided by zero, or too large.
    pub fn divide(self, other: Decimal) -> Option<Decimal> {
        let (mut dividend, divisor) = (self.0.unscaled(), other.0.unscaled());
        if divisor == 0 {
            return None;
        }
        let (mut scale, behind) = (self.0.scale().unsigned_abs(), other.0.scale().unsigned_abs());
        while scale < Decimal::DIGITS + behind {
            match dividend.checked_mul(10) {
                Some(more) => dividend = more,
                None => break,
            }
            scale += 1;
        }
        let quotient = dividend.checked_div(divisor)?;
        match scale.checked_sub(behind) {
            Some(scale) => Some(Decimal::new(quotient, scale)),
            None => Some(Decimal::new(quotient.checked_mul(10_i128.pow(behind - scale))?, 0)),
        }
    }

    /// What is left by the division cut to a whole number; `None`: divided by zero, or too large.
    pub fn remainder(self, other: Decimal) -> Option<Decimal> {
        self.0.modulo(other.0).map(Decimal::of)
    }

    /// With the other sign.
    pub fn negated(self) -> Decimal {
        Decimal(Number::new(self.0.unscaled().saturating_neg(), self.0.scale()))
    }

    /// Without what is behind the point.
    pub fn truncated(self) -> Decimal {
        self.cut(Rounding::Down)
    }

    /// The largest whole number that is not larger.
    pub fn floor(self) -> Decimal {
        self.cut(Rounding::Floor)
    }

    fn cut(self, how: Rounding) -> Decimal {
        // A number with fewer digits always fits.
        Decimal(self.0.rounded(0, how).unwrap_or(self.0))
    }

    /// Rounded to so many digits behind the point (before it, where negative); halves go up, or to the even digit.
    pub fn round(self, digits: i32, to_even: bool) -> Decimal {
        if self.0.scale() <= digits {
            return self;
        }
        let how = if to_even { Rounding::HalfEven } else { Rounding::HalfCeiling };
        match self.0.rounded(digits, how).and_then(|rounded| rounded.rounded(digits.max(0), how)) {
            Some(rounded) => Decimal::of(rounded),
            None => Decimal::ZERO,
        }
    }
}

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

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).expect(text)
    }

    #[test]
    fn decimals_calculate_exactly() {
        let check = |result: Option<Decimal>, expected: &str| {
            assert_eq!(result.map(|it| it.to_string()).as_deref(), Some(expected));
        };
        check(decimal("0.1").plus(decimal("0.2")), "0.3");
        check(decimal("1.50").multiply(decimal("-2")), "-3");
        check(decimal("1").divide(decimal("3")), "0.333333333333333333");
        check(decimal("1000").divide(decimal("0.25")), "4000");
        check(decimal("-7.5").remainder(decimal("2")), "-1.5");
        check(Some(decimal("-7.5").floor()), "-8");
        check(Decimal::from_double(1e-7), "0.0000001");
        assert_eq!(decimal("1").divide(Decimal::ZERO), None);
        assert!(decimal("-0.1") < Decimal::ZERO && decimal("10") > decimal("9.99"));
    }

    #[test]
    fn decimals_round_as_they_are_told() {
        let check = |text: &str, digits: i32, to_even: bool, expected: &str| {
            assert_eq!(decimal(text).round(digits, to_even).to_string(), expected, "{text}");
        };
        check("2.5", 0, false, "3");
        check("-2.5", 0, false, "-2");
        check("2.5", 0, true, "2");
        check("3567.812", 2, true, "3567.81");
        check("35612.25", -2, true, "35600");
        check("1", -40, true, "0");
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for text in ["", ".", "-", "1e3", "1..2", "a", "1 2"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse(&"9".repeat(60)), None);
    }
}
