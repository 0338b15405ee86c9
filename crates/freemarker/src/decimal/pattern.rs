//! How numbers are written: Java's `DecimalFormat` in the US locale, save exponents and negative sub-patterns.

use super::{Decimal, Rounding};

/// A pattern such as `#,##0.00`, read once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    prefix: String,
    suffix: String,
    /// How many digits stand between commas; 0 without commas.
    group: usize,
    least_whole: usize,
    least_fraction: u32,
    most_fraction: u32,
    /// How many digits to the left the point goes: 2 for a percent sign, 3 for per mille.
    shift: u32,
}

/// A fraction of more digits is not kept anyway.
const MOST_DIGITS: u32 = 30;

impl Pattern {
    /// Reads a pattern, or one of the names `number`, `currency`, `percent` and `computer`.
    ///
    /// Errors: a sentence that says what is not offered.
    pub(crate) fn parse(text: &str) -> Result<Pattern, String> {
        let text = match text {
            "number" | "" => "#,##0.###",
            "currency" => "$#,##0.00",
            "percent" => "#,##0%",
            "computer" | "c" => "0.################",
            other => other,
        };
        let is_digit = |letter: char| matches!(letter, '#' | '0' | ',' | '.');
        let mut pattern = Pattern {
            prefix: String::new(),
            suffix: String::new(),
            group: 0,
            least_whole: 0,
            least_fraction: 0,
            most_fraction: 0,
            shift: 0,
        };
        let (mut quoted, mut digits, mut is_behind) = (false, String::new(), false);
        for letter in text.chars() {
            let has_suffix = !pattern.suffix.is_empty();
            let affix = if is_behind { &mut pattern.suffix } else { &mut pattern.prefix };
            match letter {
                '\'' => quoted = !quoted,
                _ if quoted => affix.push(letter),
                ';' | 'E' => return Err(format!("the number format {text:?} with {letter:?} is not offered")),
                _ if is_digit(letter) && !has_suffix => {
                    is_behind = true;
                    digits.push(letter);
                }
                '%' | '\u{2030}' => {
                    pattern.shift = if letter == '%' { 2 } else { 3 };
                    affix.push(letter);
                }
                '\u{a4}' => affix.push('$'),
                _ if is_digit(letter) => return Err(format!("{text:?} is no number format")),
                _ => affix.push(letter),
            }
        }
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        if digits.is_empty() || fraction.contains(['.', ',']) {
            return Err(format!("{text:?} is no number format"));
        }
        let count = |part: &str, wanted: char| part.chars().filter(|&letter| letter == wanted).count();
        pattern.group = whole.rfind(',').map_or(0, |at| whole.len() - at - 1);
        pattern.least_whole = count(whole, '0');
        pattern.least_fraction = (count(fraction, '0') as u32).min(MOST_DIGITS);
        pattern.most_fraction = (fraction.len() as u32).min(MOST_DIGITS);
        Ok(pattern)
    }

    /// Writes a number.
    pub(crate) fn write(&self, number: Decimal) -> String {
        let number = number.trimmed();
        let shifted = match number.scale.checked_sub(self.shift) {
            Some(scale) => Decimal { scale, ..number },
            None => {
                let power = super::power(self.shift - number.scale).unwrap_or(1);
                Decimal { units: number.units.saturating_mul(power), scale: 0 }
            }
        };
        let kept = shifted.rescaled(shifted.scale.min(self.most_fraction), Rounding::HalfEven).trimmed();
        let digits = format!("{:0width$}", kept.units.unsigned_abs(), width = kept.scale as usize + 1);
        let (whole, fraction) = digits.split_at(digits.len() - kept.scale as usize);
        let whole = if whole == "0" && self.least_whole == 0 && !fraction.is_empty() { "" } else { whole };
        let whole = format!("{whole:0>width$}", width = self.least_whole.min(64));
        let mut out = String::new();
        if kept.units < 0 {
            out.push('-');
        }
        out.push_str(&self.prefix);
        for (index, digit) in whole.chars().enumerate() {
            if self.group > 0 && index > 0 && (whole.len() - index).is_multiple_of(self.group) {
                out.push(',');
            }
            out.push(digit);
        }
        let fraction = format!("{fraction:0<width$}", width = self.least_fraction as usize);
        if !fraction.is_empty() {
            out.push('.');
            out.push_str(&fraction);
        }
        out.push_str(&self.suffix);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_java_writes_them() {
        let check = |pattern: &str, number: &str, expected: &str| {
            let pattern = Pattern::parse(pattern).unwrap();
            assert_eq!(pattern.write(Decimal::parse(number).unwrap()), expected, "{number}");
        };
        check("number", "1234567.8915", "1,234,567.892");
        check("number", "0.0005", "0");
        check("number", "-5", "-5");
        check("computer", "1234567.8915", "1234567.8915");
        check("percent", "0.256", "26%");
        check("currency", "1234.5", "$1,234.50");
        check("0.00", "2.345", "2.34");
        check("0.00", "2.355", "2.36");
        check("000", "7", "007");
        check("#.##", "0.5", ".5");
        check("#.##", "0", "0");
        check("0.0#'%'", "1.25", "1.25%");
    }
}
