//! Numbers as templates reckon with them: decimal, exact, of at most 38 digits.
//!
//! Source: FreeMarker's default arithmetic engine, which is Java's `BigDecimal` with twelve digits behind the point
//! where a division or a product would have more, rounded half up.

use std::cmp::Ordering;
use std::fmt;

use crate::error::Trouble;

mod pattern;

pub(crate) use pattern::Pattern;

/// How many digits a product or quotient keeps behind the point.
const SCALE: u32 = 12;

/// More digits behind the point than this are cut off when a number is read.
const SCALE_LIMIT: u32 = 30;

/// A decimal number: so many units of a power of ten.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    units: i128,
    /// How many digits of `units` stand behind the point.
    scale: u32,
}

/// How a number is cut to fewer digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    HalfUp,
    HalfEven,
    Floor,
    Ceiling,
}

impl From<i64> for Decimal {
    fn from(number: i64) -> Decimal {
        Decimal { units: number.into(), scale: 0 }
    }
}

impl From<usize> for Decimal {
    fn from(number: usize) -> Decimal {
        Decimal { units: number as i128, scale: 0 }
    }
}

impl Decimal {
    /// Reads a number as JSON writes it; a plus in front and a point at either end are fine as well.
    ///
    /// `None` where it is none, or has more than 38 digits.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (digits, exponent) = match rest.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut units = 0_i128;
        let mut scale = 0_i32;
        for (index, byte) in whole.bytes().chain(fraction.bytes()).enumerate() {
            if !byte.is_ascii_digit() {
                return None;
            }
            if index >= whole.len() {
                if scale == SCALE_LIMIT as i32 {
                    continue;
                }
                scale += 1;
            }
            units = units.checked_mul(10)?.checked_add((byte - b'0').into())?;
        }
        let units = if negative { -units } else { units };
        let scale = scale.checked_sub(exponent)?;
        if units == 0 {
            return Some(Decimal { units: 0, scale: 0 });
        }
        match u32::try_from(scale) {
            Ok(scale) => Some(Decimal { units, scale }.rescaled(scale.min(SCALE_LIMIT), Rounding::HalfUp)),
            Err(_) => Some(Decimal { units: units.checked_mul(power(scale.unsigned_abs())?)?, scale: 0 }),
        }
    }

    pub(crate) fn add(self, other: Decimal) -> Result<Decimal, Trouble> {
        let (left, right, scale) = aligned(self, other)?;
        Ok(Decimal { units: left.checked_add(right).ok_or_else(too_long)?, scale })
    }

    pub(crate) fn subtract(self, other: Decimal) -> Result<Decimal, Trouble> {
        self.add(other.negated())
    }

    pub(crate) fn multiply(self, other: Decimal) -> Result<Decimal, Trouble> {
        let (left, right) = (self.trimmed(), other.trimmed());
        let units = left.units.checked_mul(right.units).ok_or_else(too_long)?;
        let product = Decimal { units, scale: left.scale + right.scale };
        Ok(product.rescaled(product.scale.min(SCALE), Rounding::HalfUp))
    }

    pub(crate) fn divide(self, other: Decimal) -> Result<Decimal, Trouble> {
        let (left, right) = (self.trimmed(), other.trimmed());
        if right.units == 0 {
            return Err(Trouble::wrong("a division by zero"));
        }
        // One digit more than is kept says how to round.
        let shift = (SCALE + 1 + right.scale).saturating_sub(left.scale);
        let dividend = power(shift).and_then(|power| left.units.checked_mul(power)).ok_or_else(too_long)?;
        let scale = left.scale + shift - right.scale;
        Ok(Decimal { units: dividend / right.units, scale }.rescaled(scale.min(SCALE), Rounding::HalfUp).trimmed())
    }

    /// What is left of a division of the whole parts.
    pub(crate) fn remainder(self, other: Decimal) -> Result<Decimal, Trouble> {
        match (self.whole(), other.whole()) {
            (_, 0) => Err(Trouble::wrong("a division by zero")),
            (left, right) => Ok(Decimal { units: left.checked_rem(right).unwrap_or(0), scale: 0 }),
        }
    }

    pub(crate) fn negated(self) -> Decimal {
        Decimal { units: self.units.saturating_neg(), ..self }
    }

    pub(crate) fn absolute(self) -> Decimal {
        if self.units < 0 { self.negated() } else { self }
    }

    pub(crate) fn rounded(self, rounding: Rounding) -> Decimal {
        match rounding {
            // As in FreeMarker, a half goes up, not away from zero.
            Rounding::HalfUp => {
                let half = Decimal { units: 5, scale: 1 };
                self.add(half).map_or(self, |sum| sum.rescaled(0, Rounding::Floor))
            }
            rounding => self.rescaled(0, rounding),
        }
    }

    /// The whole part.
    fn whole(self) -> i128 {
        power(self.scale).map_or(0, |power| self.units / power)
    }

    /// The whole part, if it is no longer than a machine's number.
    pub(crate) fn as_integer(self) -> Option<i64> {
        i64::try_from(self.whole()).ok()
    }

    /// The same number with other digits behind the point.
    fn rescaled(self, scale: u32, rounding: Rounding) -> Decimal {
        let Some(dropped) = self.scale.checked_sub(scale).filter(|&dropped| dropped > 0) else { return self };
        // What is dropped altogether is less than half a unit.
        let Some(divisor) = power(dropped) else { return Decimal { units: 0, scale } };
        let (quotient, rest) = (self.units / divisor, self.units % divisor);
        let away = if self.units < 0 { -1 } else { 1 };
        let twice = rest.unsigned_abs().cmp(&(divisor.unsigned_abs() - rest.unsigned_abs()));
        let step = match rounding {
            Rounding::HalfUp if twice != Ordering::Less => away,
            Rounding::HalfEven if twice == Ordering::Greater => away,
            Rounding::HalfEven if twice == Ordering::Equal && quotient % 2 != 0 => away,
            Rounding::Floor if rest < 0 => -1,
            Rounding::Ceiling if rest > 0 => 1,
            _ => 0,
        };
        Decimal { units: quotient + step, scale }
    }

    /// The same number without zeros at the end behind the point.
    fn trimmed(self) -> Decimal {
        let Decimal { mut units, mut scale } = self;
        while scale > 0 && units % 10 == 0 {
            units /= 10;
            scale -= 1;
        }
        Decimal { units, scale }
    }
}

fn too_long() -> Trouble {
    Trouble::limit("a number of more than 38 digits")
}

fn power(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

/// Both as so many units of the same size.
fn aligned(left: Decimal, right: Decimal) -> Result<(i128, i128, u32), Trouble> {
    let (left, right) = (left.trimmed(), right.trimmed());
    let scale = left.scale.max(right.scale);
    let units = |number: Decimal| {
        power(scale - number.scale).and_then(|power| number.units.checked_mul(power)).ok_or_else(too_long)
    };
    Ok((units(left)?, units(right)?, scale))
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
        match aligned(*self, *other) {
            Ok((left, right, _)) => left.cmp(&right),
            // They differ in the whole part, or one of them has none.
            Err(_) => self.whole().cmp(&other.whole()).then(self.units.signum().cmp(&other.units.signum())),
        }
    }
}

/// As `?c` writes it: no grouping, at most sixteen digits behind the point.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Decimal { units, scale } = self.rescaled(self.scale.min(16), Rounding::HalfEven).trimmed();
        let digits = format!("{:0width$}", units.unsigned_abs(), width = scale as usize + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale as usize);
        let sign = if units < 0 { "-" } else { "" };
        let point = if fraction.is_empty() { "" } else { "." };
        write!(f, "{sign}{whole}{point}{fraction}")
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
        check("1.5", Rounding::HalfUp, "2");
        check("-1.5", Rounding::HalfUp, "-1");
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
