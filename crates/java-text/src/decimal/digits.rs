//! Numbers as texts of any length, compared without loss.

use std::cmp::Ordering;

/// A number taken apart: `digits` × 10^`exponent`, without zeros at either end.
#[derive(Debug, PartialEq, Eq)]
struct Number {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Number {
    /// `None` if `text` is no number; takes what Java's `BigDecimal` takes, of which JSON's numbers are a part.
    fn parse(text: &str) -> Option<Number> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
            None => (text, 0),
        };
        let negative = mantissa.starts_with('-');
        let (whole, fraction) = mantissa
            .strip_prefix(['-', '+'])
            .unwrap_or(mantissa)
            .split_once('.')
            .unwrap_or((mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa), ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let mut exponent = exponent.saturating_sub(fraction.len() as i64);
        while digits.last() == Some(&b'0') {
            digits.pop();
            exponent = exponent.saturating_add(1);
        }
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..zeros);
        Some(if digits.is_empty() {
            Number { negative: false, digits, exponent: 0 }
        } else {
            Number { negative, digits, exponent }
        })
    }

    fn compare(&self, other: &Number) -> Ordering {
        let sign = |decimal: &Number| match (decimal.digits.is_empty(), decimal.negative) {
            (true, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        };
        // Where the first digit stands decides; then the digits, of which the shorter ends in zeros.
        let place = |decimal: &Number| decimal.exponent.saturating_add(decimal.digits.len() as i64);
        let size = place(self).cmp(&place(other)).then_with(|| self.digits.cmp(&other.digits));
        sign(self).cmp(&sign(other)).then(if self.negative { size.reverse() } else { size })
    }
}

fn exponent_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Beyond every real exponent two numbers count as equally large.
    let bound = i64::MAX / 4;
    let size = digits.parse::<i64>().unwrap_or(bound).min(bound);
    Some(if text.starts_with('-') { -size } else { size })
}

/// Which of two numbers is larger, however many digits they have; `None` if one is none.
///
/// Shape: texts as `BigDecimal` reads them, of which JSON's numbers are a part.
pub fn compare(left: &str, right: &str) -> Option<Ordering> {
    Some(Number::parse(left)?.compare(&Number::parse(right)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_without_loss() {
        let check = |left: &str, right: &str, expected| {
            assert_eq!(compare(left, right), expected, "{left} {right}");
            assert_eq!(compare(right, left), expected.map(Ordering::reverse), "{right} {left}");
        };
        check("1", "1.0", Some(Ordering::Equal));
        check("1e3", "1000", Some(Ordering::Equal));
        check("0", "-0.0e9", Some(Ordering::Equal));
        check("0.1", "1E-1", Some(Ordering::Equal));
        check("12345678901234567890", "12345678901234567891", Some(Ordering::Less));
        check("9", "10", Some(Ordering::Less));
        check("-9", "-10", Some(Ordering::Greater));
        check("-1", "0", Some(Ordering::Less));
        check("0.009", "0.01", Some(Ordering::Less));
        check("1e400", "1e399", Some(Ordering::Greater));
        check("1e99999999999999999999", "1", Some(Ordering::Greater));
        check("1e-99999999999999999999", "0", Some(Ordering::Greater));
        check("1", "x", None);
        check("1", "", None);
        check("1", "-", None);
        check("1", "1e", None);
    }
}
