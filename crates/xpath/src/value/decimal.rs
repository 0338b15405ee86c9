//! `xs:decimal`: exact up to 18 digits behind the point.

use std::cmp::Ordering;
use std::fmt;

use super::number::is_space;

/// A decimal number: `mantissa` divided by ten to the power of `scale`, with no zeros at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    mantissa: i128,
    scale: u32,
}

impl From<i64> for Decimal {
    fn from(whole: i64) -> Decimal {
        Decimal { mantissa: i128::from(whole), scale: 0 }
    }
}

fn power(digits: u32) -> i128 {
    10_i128.pow(digits)
}

impl Decimal {
    /// The most digits behind the point; what has more is cut.
    pub const DIGITS: u32 = 18;

    /// Zero.
    pub const ZERO: Decimal = Decimal { mantissa: 0, scale: 0 };

    /// `mantissa` divided by ten to the power of `scale`.
    pub fn new(mut mantissa: i128, mut scale: u32) -> Decimal {
        while scale > Decimal::DIGITS || (scale > 0 && mantissa % 10 == 0) {
            mantissa /= 10;
            scale -= 1;
        }
        Decimal { mantissa, scale }
    }

    /// Reads `-1.50`; `None`: not a decimal, or one with too many digits.
    pub fn parse(text: &str) -> Option<Decimal> {
        let text = text.trim_matches(is_space);
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let mut mantissa = 0_i128;
        let mut scale = 0;
        for (index, digit) in whole.bytes().chain(fraction.bytes()).enumerate() {
            if !digit.is_ascii_digit() {
                return None;
            }
            if index >= whole.len() {
                if scale == Decimal::DIGITS {
                    continue;
                }
                scale += 1;
            }
            mantissa = mantissa.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        }
        Some(Decimal::new(if negative { -mantissa } else { mantissa }, scale))
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
        if self.scale == 0 {
            return self.mantissa as f64;
        }
        // Through the text, so that it is rounded once.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// The whole number, if it is one that fits.
    pub fn to_integer(self) -> Option<i64> {
        i64::try_from(self.truncated().mantissa).ok()
    }

    /// Below zero, zero or above.
    pub fn signum(self) -> i32 {
        self.mantissa.signum() as i32
    }

    /// The value times ten to the power of `digits`, cut to a whole number; `None`: too large.
    pub fn scaled(self, digits: u32) -> Option<i128> {
        if digits >= self.scale {
            self.mantissa.checked_mul(10_i128.checked_pow(digits - self.scale)?)
        } else {
            Some(self.mantissa / power(self.scale - digits))
        }
    }

    /// Both with the same scale.
    fn aligned(self, other: Decimal) -> Option<(i128, i128, u32)> {
        let scale = self.scale.max(other.scale);
        Some((self.scaled(scale)?, other.scaled(scale)?, scale))
    }

    /// The sum; `None`: too large.
    pub fn plus(self, other: Decimal) -> Option<Decimal> {
        let (one, other, scale) = self.aligned(other)?;
        Some(Decimal::new(one.checked_add(other)?, scale))
    }

    /// The difference; `None`: too large.
    pub fn minus(self, other: Decimal) -> Option<Decimal> {
        self.plus(other.negated())
    }

    /// The product; `None`: too large.
    pub fn multiply(self, other: Decimal) -> Option<Decimal> {
        Some(Decimal::new(self.mantissa.checked_mul(other.mantissa)?, self.scale + other.scale))
    }

    /// The quotient, cut behind the last digit there is room for; `None`: divided by zero, or too large.
    pub fn divide(self, other: Decimal) -> Option<Decimal> {
        if other.mantissa == 0 {
            return None;
        }
        let mut dividend = self.mantissa;
        let mut scale = self.scale;
        while scale < Decimal::DIGITS + other.scale {
            match dividend.checked_mul(10) {
                Some(more) => dividend = more,
                None => break,
            }
            scale += 1;
        }
        let quotient = dividend / other.mantissa;
        match scale.checked_sub(other.scale) {
            Some(scale) => Some(Decimal::new(quotient, scale)),
            None => Some(Decimal::new(quotient.checked_mul(power(other.scale - scale))?, 0)),
        }
    }

    /// What is left by the division cut to a whole number; `None`: divided by zero, or too large.
    pub fn remainder(self, other: Decimal) -> Option<Decimal> {
        let (one, other, scale) = self.aligned(other)?;
        Some(Decimal::new(one.checked_rem(other)?, scale))
    }

    /// With the other sign.
    pub fn negated(self) -> Decimal {
        Decimal { mantissa: -self.mantissa, scale: self.scale }
    }

    /// Without what is behind the point.
    pub fn truncated(self) -> Decimal {
        Decimal { mantissa: self.mantissa / power(self.scale), scale: 0 }
    }

    /// The largest whole number that is not larger.
    pub fn floor(self) -> Decimal {
        Decimal { mantissa: self.mantissa.div_euclid(power(self.scale)), scale: 0 }
    }

    /// Rounded to so many digits behind the point (before it, where negative); halves go up, or to the even digit.
    pub fn round(self, digits: i32, to_even: bool) -> Decimal {
        let cut = i64::from(self.scale) - i64::from(digits);
        if cut <= 0 {
            return self;
        }
        let Some(unit) = u32::try_from(cut).ok().and_then(|cut| 10_i128.checked_pow(cut)) else {
            return Decimal::ZERO;
        };
        let (mut quotient, rest) = (self.mantissa.div_euclid(unit), self.mantissa.rem_euclid(unit));
        let half = rest.cmp(&(unit - rest));
        if half == Ordering::Greater || (half == Ordering::Equal && (!to_even || quotient % 2 != 0)) {
            quotient += 1;
        }
        match u32::try_from(digits) {
            Ok(scale) => Decimal::new(quotient, scale),
            Err(_) => Decimal::new(quotient * power(digits.unsigned_abs()), 0),
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
        match self.aligned(*other) {
            Some((one, other, _)) => one.cmp(&other),
            // One of them is too large to be written with the other's digits: the whole parts decide.
            None => self.floor().mantissa.cmp(&other.floor().mantissa),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.mantissa.unsigned_abs();
        let unit = power(self.scale).unsigned_abs();
        if self.mantissa < 0 {
            f.write_str("-")?;
        }
        write!(f, "{}", size / unit)?;
        if self.scale > 0 {
            write!(f, ".{:0width$}", size % unit, width = self.scale as usize)?;
        }
        Ok(())
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
