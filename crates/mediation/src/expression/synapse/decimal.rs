//! Numbers with a decimal point, counted exactly as Java's `BigDecimal` does it.

use std::cmp::Ordering;

/// A whole number times a power of ten: 38 digits at most, which is more than a double can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    unscaled: i128,
    /// How many digits stand behind the point; less than zero where noughts stand before it.
    scale: i32,
}

/// Digits behind or before the point beyond which nothing is counted.
const LIMIT_SCALE: i32 = 400;

impl Decimal {
    /// Reads a number; `None` where it is none, or has too many digits.
    pub(super) fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = whole.strip_prefix(['+', '-']).unwrap_or(whole);
        let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
        if digits.len() + fraction.len() == 0 || !is_number(digits) || !is_number(fraction) {
            return None;
        }
        let unscaled = format!("{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        (scale.abs() <= LIMIT_SCALE).then_some(Decimal { unscaled, scale })
    }

    /// The whole number that it is, if nothing stands behind the point.
    pub(super) fn whole(self) -> Option<i64> {
        let power = u32::try_from(-self.scale).ok()?;
        self.unscaled.checked_mul(10_i128.checked_pow(power)?)?.try_into().ok()
    }

    /// The nearest double.
    pub(super) fn double(self) -> f64 {
        // The digits and the exponent are what a double is read from.
        format!("{}e{}", self.unscaled, -self.scale).parse().unwrap_or(f64::NAN)
    }

    /// The text that `BigDecimal.toString` gives.
    pub(super) fn text(self) -> String {
        let digits = self.unscaled.unsigned_abs().to_string();
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let exponent = digits.len() as i32 - 1 - self.scale;
        if self.scale < 0 || exponent < -6 {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            let plus = if exponent > 0 { "+" } else { "" };
            return format!("{sign}{first}{point}{rest}E{plus}{exponent}");
        }
        let scale = self.scale as usize;
        if scale == 0 {
            return format!("{sign}{digits}");
        }
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        format!("{sign}{whole}.{fraction}")
    }

    /// Both with the same scale.
    fn aligned(self, other: Decimal) -> Option<(i128, i128, i32)> {
        let scale = self.scale.max(other.scale);
        Some((self.at(scale)?, other.at(scale)?, scale))
    }

    /// The unscaled number for a scale that is not less than its own.
    fn at(self, scale: i32) -> Option<i128> {
        let power = u32::try_from(scale - self.scale).ok()?;
        self.unscaled.checked_mul(10_i128.checked_pow(power)?)
    }

    pub(super) fn plus(self, other: Decimal) -> Option<Decimal> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Decimal { unscaled: left.checked_add(right)?, scale })
    }

    pub(super) fn minus(self, other: Decimal) -> Option<Decimal> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Decimal { unscaled: left.checked_sub(right)?, scale })
    }

    pub(super) fn times(self, other: Decimal) -> Option<Decimal> {
        let unscaled = self.unscaled.checked_mul(other.unscaled)?;
        Some(Decimal { unscaled, scale: self.scale + other.scale })
    }

    /// The quotient with as many digits behind the point as this has, halves rounded away from nought.
    pub(super) fn divided(self, other: Decimal) -> Option<Decimal> {
        let (mut left, mut right) = (self.unscaled, other.unscaled);
        let shift = 10_i128.checked_pow(other.scale.unsigned_abs())?;
        if other.scale >= 0 {
            left = left.checked_mul(shift)?;
        } else {
            right = right.checked_mul(shift)?;
        }
        Some(Decimal { unscaled: rounded(left, right)?, scale: self.scale })
    }

    /// What is left over when it is divided into whole parts; of the sign that this has.
    pub(super) fn modulo(self, other: Decimal) -> Option<Decimal> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Decimal { unscaled: left.checked_rem(right)?, scale })
    }

    /// The same rounded to a number of digits behind the point, as `how` says.
    pub(super) fn rounded(self, digits: i32, how: Rounding) -> Option<Decimal> {
        if self.scale <= digits {
            return Some(Decimal { unscaled: self.at(digits)?, scale: digits });
        }
        let unit = 10_i128.checked_pow(u32::try_from(self.scale - digits).ok()?)?;
        let unscaled = match how {
            Rounding::HalfUp => rounded(self.unscaled, unit)?,
            Rounding::Floor => self.unscaled.div_euclid(unit),
            Rounding::Ceiling => -((-self.unscaled).div_euclid(unit)),
        };
        Some(Decimal { unscaled, scale: digits })
    }

    pub(super) fn is_zero(self) -> bool {
        self.unscaled == 0
    }

    pub(super) fn absolute(self) -> Option<Decimal> {
        Some(Decimal { unscaled: self.unscaled.checked_abs()?, ..self })
    }

    /// Which of two is larger.
    pub(super) fn compare(self, other: Decimal) -> Ordering {
        match self.aligned(other) {
            Some((left, right, _)) => left.cmp(&right),
            // Numbers so far apart differ as doubles, too.
            None => self.double().total_cmp(&other.double()),
        }
    }
}

/// Which way digits go that are left out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rounding {
    HalfUp,
    Floor,
    Ceiling,
}

/// A quotient, halves rounded away from nought.
fn rounded(left: i128, right: i128) -> Option<i128> {
    let quotient = left.checked_div(right)?;
    let rest = left.checked_rem(right)?;
    let is_half = rest.unsigned_abs() >= right.unsigned_abs() - rest.unsigned_abs();
    match (is_half, (left < 0) == (right < 0)) {
        (false, _) => Some(quotient),
        (true, true) => quotient.checked_add(1),
        (true, false) => quotient.checked_sub(1),
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
    fn arithmetic_keeps_the_digits_that_java_keeps() {
        type Operation = fn(Decimal, Decimal) -> Option<Decimal>;
        let check = |left: &str, operation: Operation, right: &str, expected: &str| {
            assert_eq!(operation(decimal(left), decimal(right)).unwrap().text(), expected, "{left} {right}");
        };
        check("8.95", Decimal::plus, "8.99", "17.94");
        check("5.5", Decimal::plus, "3.5", "9.0");
        check("8.9567", Decimal::minus, "8.9456", "0.0111");
        check("72.0", Decimal::times, "1.05", "75.600");
        check("34.45", Decimal::divided, "3.44", "10.01");
        check("5", Decimal::divided, "-2.5", "-2");
        check("10", Decimal::divided, "4.0", "3");
        check("-10", Decimal::divided, "4.0", "-3");
        check("1", Decimal::divided, "2e1", "0");
        check("34.56", Decimal::modulo, "3.45", "0.06");
        check("-5.5", Decimal::modulo, "3", "-2.5");
        assert_eq!(decimal("1").divided(decimal("0")), None);
        assert_eq!(decimal("-5.4").rounded(0, Rounding::Floor).unwrap().text(), "-6");
        assert_eq!(decimal("-5.4").rounded(0, Rounding::Ceiling).unwrap().text(), "-5");
        assert_eq!(decimal("5.9").rounded(0, Rounding::Ceiling).unwrap().text(), "6");
        assert_eq!(decimal("2.745").rounded(2, Rounding::HalfUp).unwrap().text(), "2.75");
        assert_eq!(decimal("2").rounded(2, Rounding::HalfUp).unwrap().text(), "2.00");
        assert_eq!(decimal("10.0").compare(decimal("10")), Ordering::Equal);
        assert_eq!(decimal("1e300").compare(decimal("-1e-300")), Ordering::Greater);
    }
}
