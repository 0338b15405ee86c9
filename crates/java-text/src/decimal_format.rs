//! Numbers by patterns, as Java's `DecimalFormat` writes them.
//!
//! The pictures of XPath's later versions have another syntax and more groups; they are read elsewhere, and written here.

mod number;
mod pattern;

use crate::digits::{DigitPattern, in_script};
pub use number::Digits;

/// The characters that numbers and patterns are made of.
///
/// Source: `java.text.DecimalFormatSymbols`, and `xsl:decimal-format` of XSLT.
#[derive(Clone, Debug)]
pub struct Symbols {
    /// Between the whole part and the fraction.
    pub decimal_separator: char,
    /// Between groups of digits.
    pub grouping_separator: char,
    /// Between the number and its exponent, in pictures of XPath.
    pub exponent_separator: char,
    /// The text of an infinite number.
    pub infinity: String,
    /// In front of a number below zero.
    pub minus_sign: char,
    /// The text of what is no number.
    pub nan: String,
    /// Behind hundredths.
    pub percent: char,
    /// Behind thousandths.
    pub per_mille: char,
    /// The zero of the script that digits are written in.
    pub zero_digit: char,
    /// In a pattern: a digit that is written where there is one.
    pub digit: char,
    /// In a pattern: between the side for numbers from zero on and the side for those below.
    pub pattern_separator: char,
}

/// Those of English.
impl Default for Symbols {
    fn default() -> Symbols {
        Symbols {
            decimal_separator: '.',
            grouping_separator: ',',
            exponent_separator: 'e',
            infinity: "Infinity".to_owned(),
            minus_sign: '-',
            nan: "NaN".to_owned(),
            percent: '%',
            per_mille: '\u{2030}',
            zero_digit: '0',
            digit: '#',
            pattern_separator: ';',
        }
    }
}

/// How numbers are written.
#[derive(Clone, Debug, PartialEq)]
pub struct DecimalFormat {
    /// Those from zero on.
    pub positive: SubPattern,
    /// Those below zero, and minus zero.
    pub negative: SubPattern,
}

/// One side of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct SubPattern {
    /// The text in front.
    pub prefix: String,
    /// The text behind.
    pub suffix: String,
    /// How many places the point is moved: 2 for percent, 3 for per mille.
    pub shift: usize,
    /// How the whole part is written.
    pub whole: DigitPattern,
    /// The fewest digits of the fraction.
    pub least_fraction: usize,
    /// The most digits of the fraction.
    pub most_fraction: usize,
    /// Separators stand behind so many digits of the fraction.
    pub fraction_groups: Vec<usize>,
    /// The fewest digits of an exponent, where there is one, and how many digits the number has before its point then.
    pub exponent: Option<(usize, usize)>,
    /// Whether the point is written where no fraction follows it.
    pub bare_point: bool,
    /// Whether halves are rounded to the even neighbour.
    pub to_even: bool,
}

impl DecimalFormat {
    /// Reads a pattern of Java's.
    ///
    /// Errors: a sentence about what contradicts itself in the pattern.
    pub fn parse(pattern: &str, symbols: &Symbols) -> Result<DecimalFormat, String> {
        let (positive, negative) = pattern::parse(pattern, symbols)?;
        Ok(DecimalFormat { positive, negative })
    }

    /// Writes a number.
    pub fn write(&self, digits: Digits, symbols: &Symbols) -> String {
        if digits.negative { &self.negative } else { &self.positive }.write(digits, symbols)
    }
}

impl SubPattern {
    fn write(&self, mut digits: Digits, symbols: &Symbols) -> String {
        let mut text = self.prefix.clone();
        if digits.infinite {
            text.push_str(&symbols.infinity);
        } else {
            digits.shift(self.shift as i32);
            let exponent = self.exponent.map(|(least, whole)| (least, digits.normalize(whole)));
            digits.round(self.most_fraction, self.to_even);
            self.write_digits(&digits, symbols, &mut text);
            if let Some((least, exponent)) = exponent {
                text.push(symbols.exponent_separator);
                if exponent < 0 {
                    text.push(symbols.minus_sign);
                }
                let size = exponent.unsigned_abs().to_string();
                let padding = std::iter::repeat_n(b'0', least.saturating_sub(size.len()));
                text.extend(padding.chain(size.bytes()).map(|digit| in_script(symbols.zero_digit, digit)));
            }
        }
        text.push_str(&self.suffix);
        text
    }

    fn write_digits(&self, digits: &Digits, symbols: &Symbols, text: &mut String) {
        let whole = digits.whole.trim_start_matches('0');
        let fraction = digits.fraction.trim_end_matches('0');
        let length = fraction.len().max(self.least_fraction);
        if whole.is_empty() && length == 0 && self.whole.least() == 0 {
            // Something has to stand there.
            text.push(symbols.zero_digit);
        } else {
            text.push_str(&self.whole.write(whole));
        }
        if length > 0 || self.bare_point {
            text.push(symbols.decimal_separator);
        }
        let padding = std::iter::repeat_n(b'0', length - fraction.len());
        let mut groups = self.fraction_groups.iter().peekable();
        for (index, digit) in fraction.bytes().chain(padding).enumerate() {
            if groups.next_if(|group| **group == index).is_some() {
                text.push(symbols.grouping_separator);
            }
            text.push(in_script(symbols.zero_digit, digit));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_java_writes_them() {
        let check = |pattern: &str, number: &str, expected: &str| {
            let symbols = Symbols::default();
            let format = DecimalFormat::parse(pattern, &symbols).unwrap();
            assert_eq!(format.write(Digits::of_text(number), &symbols), expected, "{number} by {pattern}");
        };
        check("#,##0.###", "1234567.8915", "1,234,567.892");
        check("#,##0.00;(#,##0.00)", "-1234.5", "(1,234.50)");
        check("#.##", "0.5", "0.5");
        check("#.00", "0.5", ".50");
        check("000", "-7", "-007");
        check("0'%'", "5", "5%");
        check("''0''", "5", "'5'");
        check("'#''a'0", "5", "#'a5");
        check("0%", "0.256", "26%");
    }

    #[test]
    fn a_pattern_that_contradicts_itself_is_refused() {
        for wrong in ["0;0;0", "0.0.0", "0.0,0", "0#0", "0x0", "0%\u{2030}"] {
            assert!(DecimalFormat::parse(wrong, &Symbols::default()).is_err(), "{wrong}");
        }
    }
}
