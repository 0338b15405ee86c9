//! Decimal numbers: exact, of at most 38 digits, counted as Java's `BigDecimal` counts them.
//!
//! XPath, FreeMarker and Synapse's expressions each keep another number of digits and round in another way.
//! These rules stand with them; the arithmetic stands here.

mod digits;

use std::cmp::Ordering;
use std::fmt;

pub use digits::compare;

/// A whole number divided by a power of ten.
///
/// As with `BigDecimal.equals`, two are equal where the digits behind the point are as many, too: 1.0 is not 1.00.
/// [`Decimal::compare`] says which is larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    unscaled: i128,
    scale: i32,
}

/// Which way a number goes that has more digits than are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, halves away from zero.
    HalfUp,
    /// To the nearest, halves to the even digit.
    HalfEven,
    /// To the nearest, halves to the higher one.
    HalfCeiling,
    /// To the lower one.
    Floor,
    /// To the higher one.
    Ceiling,
    /// To the one nearer to zero: what is too much is cut off.
    Down,
}

/// Digits behind or before the point beyond which no text is read.
const LIMIT_SCALE: i32 = 400;

/// As many digits as every number can have that fits.
const LIMIT_DIGITS: u32 = 38;

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal { unscaled: 0, scale: 0 };

    /// `unscaled` divided by ten to the power of `scale`; a scale below zero stands for zeros before the point.
    #[inline]
    pub const fn new(unscaled: i128, scale: i32) -> Decimal {
        Decimal { unscaled, scale }
    }

    /// Reads a number with or without an exponent; `None` where it is none, or has too many digits.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let Decimal { unscaled, scale } = Parts::of(mantissa)?.number(u32::MAX)?;
        let scale = scale.checked_sub(exponent)?;
        (scale.unsigned_abs() <= LIMIT_SCALE as u32).then_some(Decimal { unscaled, scale })
    }

    /// Reads a number without an exponent, such as `-1.50`, and without the zeros at its end behind the point; of the
    /// digits there at most `kept` are kept.
    ///
    /// `None` where it is none, or has too many digits.
    pub fn plain(text: &str, kept: u32) -> Option<Decimal> {
        let parts = Parts::of(text)?;
        Parts { fraction: parts.fraction.trim_end_matches('0'), ..parts }.number(kept)
    }

    /// All its digits as a whole number.
    #[inline]
    pub const fn unscaled(self) -> i128 {
        self.unscaled
    }

    /// How many digits stand behind the point; less than zero where zeros stand before it.
    #[inline]
    pub const fn scale(self) -> i32 {
        self.scale
    }

    /// The whole number that it is, if nothing stands behind the point.
    pub fn whole(self) -> Option<i64> {
        if self.scale > 0 { None } else { self.unscaled_at(0)?.try_into().ok() }
    }

    /// The nearest double.
    pub fn double(self) -> f64 {
        if self.scale == 0 {
            return self.unscaled as f64;
        }
        // Through the text, so that it is rounded once.
        format!("{}e{}", self.unscaled, -i64::from(self.scale)).parse().unwrap_or(f64::NAN)
    }

    /// The text that `BigDecimal.toString` gives; [`fmt::Display`] writes that of `BigDecimal.toPlainString`.
    pub fn text(self) -> String {
        let digits = self.unscaled.unsigned_abs().to_string();
        let exponent = digits.len() as i64 - 1 - i64::from(self.scale);
        if self.scale >= 0 && exponent >= -6 {
            return self.to_string();
        }
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let plus = if exponent > 0 { "+" } else { "" };
        format!("{sign}{first}{point}{rest}E{plus}{exponent}")
    }

    /// The unscaled number for a scale that is not less than its own; `None`: too many digits.
    #[inline]
    fn unscaled_at(self, scale: i32) -> Option<i128> {
        let digits = u32::try_from(scale.checked_sub(self.scale)?).ok()?;
        if digits == 0 { Some(self.unscaled) } else { self.unscaled.checked_mul(power(digits)?) }
    }

    /// Both with the same scale.
    #[inline]
    fn aligned(self, other: Decimal) -> Option<(i128, i128, i32)> {
        let scale = self.scale.max(other.scale);
        Some((self.unscaled_at(scale)?, other.unscaled_at(scale)?, scale))
    }

    /// The sum; `None`: too many digits.
    #[inline]
    pub fn plus(self, other: Decimal) -> Option<Decimal> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Decimal { unscaled: left.checked_add(right)?, scale })
    }

    /// The difference; `None`: too many digits.
    #[inline]
    pub fn minus(self, other: Decimal) -> Option<Decimal> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Decimal { unscaled: left.checked_sub(right)?, scale })
    }

    /// The product; `None`: too many digits.
    #[inline]
    pub fn times(self, other: Decimal) -> Option<Decimal> {
        let unscaled = self.unscaled.checked_mul(other.unscaled)?;
        Some(Decimal { unscaled, scale: self.scale.checked_add(other.scale)? })
    }

    /// The quotient with so many digits behind the point; `None`: a division by zero, or too many digits.
    pub fn divided(self, other: Decimal, scale: i32, how: Rounding) -> Option<Decimal> {
        let (mut dividend, mut divisor) = (self.unscaled, other.unscaled);
        let shift = scale.checked_add(other.scale)?.checked_sub(self.scale)?;
        let factor = power(shift.unsigned_abs())?;
        if shift >= 0 {
            dividend = dividend.checked_mul(factor)?;
        } else {
            divisor = divisor.checked_mul(factor)?;
        }
        Some(Decimal { unscaled: quotient(dividend, divisor, how)?, scale })
    }

    /// What is left over when it is divided into whole parts; of the sign that this has.
    ///
    /// `None`: a division by zero, or too many digits.
    #[inline]
    pub fn modulo(self, other: Decimal) -> Option<Decimal> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Decimal { unscaled: left.checked_rem(right)?, scale })
    }

    /// The same with so many digits behind the point, less than zero for zeros before it; `None`: too many digits.
    pub fn rounded(self, scale: i32, how: Rounding) -> Option<Decimal> {
        if self.scale <= scale {
            return Some(Decimal { unscaled: self.unscaled_at(scale)?, scale });
        }
        let unscaled = match power(self.scale.checked_sub(scale)?.unsigned_abs()) {
            Some(unit) => quotient(self.unscaled, unit, how)?,
            // Less than half of the last digit is left, if anything.
            None => i128::from(match how {
                Rounding::Floor if self.unscaled < 0 => -1,
                Rounding::Ceiling if self.unscaled > 0 => 1,
                _ => 0,
            }),
        };
        Some(Decimal { unscaled, scale })
    }

    /// The same without zeros at the end behind the point.
    #[inline]
    pub fn trimmed(mut self) -> Decimal {
        while self.scale > 0 && self.unscaled % 10 == 0 {
            self.unscaled /= 10;
            self.scale -= 1;
        }
        self
    }

    /// Whether it is zero.
    pub const fn is_zero(self) -> bool {
        self.unscaled == 0
    }

    /// Below zero, zero or above.
    pub const fn signum(self) -> i32 {
        self.unscaled.signum() as i32
    }

    /// With the other sign; `None`: too many digits.
    pub fn negated(self) -> Option<Decimal> {
        Some(Decimal { unscaled: self.unscaled.checked_neg()?, ..self })
    }

    /// The same without its sign; `None`: too many digits.
    pub fn absolute(self) -> Option<Decimal> {
        Some(Decimal { unscaled: self.unscaled.checked_abs()?, ..self })
    }

    /// Which of two is larger.
    ///
    /// Source: `BigDecimal.compareTo`.
    #[inline]
    pub fn compare(self, other: Decimal) -> Ordering {
        match self.aligned(other) {
            Some((left, right, _)) => left.cmp(&right),
            None => self.compare_apart(other),
        }
    }

    /// Compares numbers that do not fit with the same digits behind the point.
    #[cold]
    fn compare_apart(self, other: Decimal) -> Ordering {
        if self.signum() != other.signum() || self.is_zero() {
            return self.signum().cmp(&other.signum());
        }
        // Where the first digit stands decides. Where both first digits stand at the same place, the one with fewer
        // digits has more than 38 with the other's scale, of which the other has none.
        let place = |number: Decimal| i64::from(number.unscaled.unsigned_abs().ilog10()) - i64::from(number.scale);
        let size = place(self).cmp(&place(other)).then(other.scale.cmp(&self.scale));
        if self.unscaled < 0 { size.reverse() } else { size }
    }
}

/// A number as it is written without an exponent.
struct Parts<'t> {
    is_negative: bool,
    /// What stands before the point, and behind it; not both are empty.
    whole: &'t str,
    fraction: &'t str,
}

impl<'t> Parts<'t> {
    #[inline]
    fn of(text: &'t str) -> Option<Parts<'t>> {
        let (is_negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        (!whole.is_empty() || !fraction.is_empty()).then_some(Parts { is_negative, whole, fraction })
    }

    /// The number with at most so many digits behind the point; `None` where these are no digits, or too many.
    fn number(self, kept: u32) -> Option<Decimal> {
        let (mut unscaled, mut scale) = (0_i128, 0_u32);
        for (index, digit) in self.whole.bytes().chain(self.fraction.bytes()).enumerate() {
            if !digit.is_ascii_digit() {
                return None;
            }
            if index >= self.whole.len() {
                if scale == kept {
                    continue;
                }
                scale += 1;
            }
            unscaled = unscaled.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        }
        let unscaled = if self.is_negative { -unscaled } else { unscaled };
        Some(Decimal { unscaled, scale: i32::try_from(scale).ok()? })
    }
}

/// Ten to the power of `digits`, if it fits.
#[inline]
const fn power(digits: u32) -> Option<i128> {
    if digits > LIMIT_DIGITS { None } else { Some(10_i128.pow(digits)) }
}

/// A quotient as a whole number; `None`: a division by zero.
fn quotient(dividend: i128, divisor: i128, how: Rounding) -> Option<i128> {
    let (quotient, rest) = (dividend.checked_div(divisor)?, dividend.checked_rem(divisor)?);
    if rest == 0 {
        return Some(quotient);
    }
    let is_negative = (dividend < 0) != (divisor < 0);
    let half = rest.unsigned_abs().cmp(&(divisor.unsigned_abs() - rest.unsigned_abs()));
    let is_away = match how {
        Rounding::HalfUp => half.is_ge(),
        Rounding::HalfEven => half.is_gt() || (half.is_eq() && quotient % 2 != 0),
        Rounding::HalfCeiling => half.is_gt() || (half.is_eq() && !is_negative),
        Rounding::Floor => is_negative,
        Rounding::Ceiling => !is_negative,
        Rounding::Down => false,
    };
    match (is_away, is_negative) {
        (false, _) => Some(quotient),
        (true, false) => quotient.checked_add(1),
        (true, true) => quotient.checked_sub(1),
    }
}

/// Writes all digits and no exponent, as `BigDecimal.toPlainString`.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.unscaled.unsigned_abs();
        if self.unscaled < 0 {
            f.write_str("-")?;
        }
        match (u32::try_from(self.scale), power(self.scale.unsigned_abs())) {
            (Ok(0), _) => write!(f, "{size}"),
            (Ok(scale), Some(unit)) => {
                let unit = unit.unsigned_abs();
                write!(f, "{}.{:0width$}", size / unit, size % unit, width = scale as usize)
            }
            (Ok(scale), None) => write!(f, "0.{size:0width$}", width = scale as usize),
            (Err(_), _) if size == 0 => f.write_str("0"),
            (Err(_), _) => {
                write!(f, "{size}")?;
                (0..self.scale.unsigned_abs()).try_for_each(|_| f.write_str("0"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_read_and_written_as_java_does() {
        let check = |text: &str, expected: &str| assert_eq!(decimal(text).text(), expected);
        check("5.50", "5.50");
        check("-0.05", "-0.05");
        check("0.000001", "0.000001");
        check("0.0000001", "1E-7");
        check("0.00000012", "1.2E-7");
        check("1e3", "1E+3");
        check("1.5e3", "1.5E+3");
        check("+7", "7");
        check(".5", "0.5");
        for none in ["", "-", ".", "1e", "abc", "1.2.3", "1d", "NaN", "1e999", "- 1", "--1", &"9".repeat(40)] {
            assert_eq!(Decimal::parse(none), None, "{none}");
        }
        assert_eq!(decimal("1e3").whole(), Some(1000));
        assert_eq!(decimal("1.0e1").whole(), Some(10));
        assert_eq!(decimal("1.0").whole(), None);
        assert_eq!(decimal("12.5").double(), 12.5);
    }

    #[test]
    fn numbers_are_written_without_exponent_where_it_is_not_wanted() {
        let check = |text: &str, expected: &str| assert_eq!(decimal(text).to_string(), expected);
        check("5.50", "5.50");
        check("-0.05", "-0.05");
        check("0.0000001", "0.0000001");
        check("-1.5e3", "-1500");
        check("0e3", "0");
        check("12e-40", "0.0000000000000000000000000000000000000012");
    }

    #[test]
    fn digits_that_are_not_kept_are_cut() {
        let check = |text: &str, kept: u32, expected: Option<&str>| {
            assert_eq!(Decimal::plain(text, kept).map(|number| number.to_string()).as_deref(), expected, "{text}");
        };
        check("-1.999", 2, Some("-1.99"));
        check("1.0", 2, Some("1"));
        check(".00", 2, Some("0"));
        check("1.23", 0, Some("1"));
        check("1e3", 2, None);
        check("1.0x", 0, None);
        check(" 1", 2, None);
    }

    #[test]
    fn arithmetic_keeps_the_digits_that_java_keeps() {
        type Operation = fn(Decimal, Decimal) -> Option<Decimal>;
        let check = |left: &str, operation: Operation, right: &str, expected: &str| {
            assert_eq!(operation(decimal(left), decimal(right)).unwrap().text(), expected, "{left} {right}");
        };
        check("8.95", Decimal::plus, "8.99", "17.94");
        check("5.5", Decimal::plus, "3.5", "9.0");
        check("8.9567", Decimal::minus, "8.9456", "0.0111");
        check("72.0", Decimal::times, "1.05", "75.600");
        let divided: Operation = |left, right| left.divided(right, left.scale(), Rounding::HalfUp);
        check("34.45", divided, "3.44", "10.01");
        check("5", divided, "-2.5", "-2");
        check("10", divided, "4.0", "3");
        check("-10", divided, "4.0", "-3");
        check("1", divided, "2e1", "0");
        let rough: Operation = |left, right| left.divided(right, -1, Rounding::HalfUp);
        check("150", rough, "1.0", "1.5E+2");
        check("34.56", Decimal::modulo, "3.45", "0.06");
        check("-5.5", Decimal::modulo, "3", "-2.5");
        assert_eq!(decimal("1").divided(decimal("0"), 0, Rounding::HalfUp), None);
        assert_eq!(decimal("-5.4").rounded(0, Rounding::Floor).unwrap().text(), "-6");
        assert_eq!(decimal("-5.4").rounded(0, Rounding::Ceiling).unwrap().text(), "-5");
        assert_eq!(decimal("5.9").rounded(0, Rounding::Ceiling).unwrap().text(), "6");
        assert_eq!(decimal("2.745").rounded(2, Rounding::HalfUp).unwrap().text(), "2.75");
        assert_eq!(decimal("2").rounded(2, Rounding::HalfUp).unwrap().text(), "2.00");
        assert_eq!(decimal("10.0").compare(decimal("10")), Ordering::Equal);
        assert_eq!(decimal("10.0").trimmed().text(), "10");
    }

    #[test]
    fn each_way_to_round_has_its_own_half() {
        let check = |text: &str, scale: i32, how: Rounding, expected: &str| {
            let rounded = decimal(text).rounded(scale, how).unwrap();
            assert_eq!(rounded.to_string(), expected, "{text} {how:?}");
        };
        for (how, expected) in [
            (Rounding::HalfUp, ["3", "2", "-3", "-2"]),
            (Rounding::HalfEven, ["2", "2", "-2", "-2"]),
            (Rounding::HalfCeiling, ["3", "2", "-2", "-2"]),
            (Rounding::Floor, ["2", "2", "-3", "-3"]),
            (Rounding::Ceiling, ["3", "3", "-2", "-2"]),
            (Rounding::Down, ["2", "2", "-2", "-2"]),
        ] {
            for (text, expected) in ["2.5", "2.4", "-2.5", "-2.4"].into_iter().zip(expected) {
                check(text, 0, how, expected);
            }
        }
        check("35650", -2, Rounding::HalfEven, "35600");
        check("99", -40, Rounding::HalfUp, "0");
        check("1e-60", 0, Rounding::Ceiling, "1");
    }

    #[test]
    fn numbers_far_apart_are_compared_as_well() {
        let check = |left: &str, right: &str, expected: Ordering| {
            assert_eq!(decimal(left).compare(decimal(right)), expected, "{left} {right}");
            assert_eq!(decimal(right).compare(decimal(left)), expected.reverse(), "{right} {left}");
        };
        check("1e300", "-1e-300", Ordering::Greater);
        check("1e300", "1e-300", Ordering::Greater);
        check("-1e300", "-1e-300", Ordering::Less);
        check("0", "1e-300", Ordering::Less);
        check("0e40", "0", Ordering::Equal);
        let (nines, most) = ("9".repeat(38), i128::MAX.to_string());
        check(&nines, "0.123456789", Ordering::Greater);
        check("18e37", &most, Ordering::Greater);
        check("-18e37", &format!("-{most}"), Ordering::Less);
    }
}
