//! How numbers are written: Java's `DecimalFormat` in the US locale, save exponents.

use myelin_java_text::decimal_format::{DecimalFormat, Digits, Symbols};

use super::Decimal;

/// A pattern such as `#,##0.00`, read once.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    format: DecimalFormat,
    symbols: Symbols,
}

impl Pattern {
    /// Reads a pattern, or one of the names `number`, `currency`, `percent` and `computer`.
    ///
    /// Errors: a sentence that says what is not offered.
    pub(crate) fn parse(text: &str) -> Result<Pattern, String> {
        let pattern = match text {
            "number" | "" => "#,##0.###",
            "currency" => "$#,##0.00",
            "percent" => "#,##0%",
            "computer" | "c" => "0.################",
            other => other,
        };
        // What stands between apostrophes is text.
        if pattern.split('\'').step_by(2).any(|part| part.contains('E')) {
            return Err(format!("the number format {text:?} with an exponent is not offered"));
        }
        let symbols = Symbols::default();
        let parsed = DecimalFormat::parse(&pattern.replace('\u{a4}', "$"), &symbols);
        let mut format = parsed.map_err(|what| format!("{text:?} is no number format: {what}"))?;
        (format.positive.to_even, format.negative.to_even) = (true, true);
        Ok(Pattern { format, symbols })
    }

    /// Writes a number.
    pub(crate) fn write(&self, number: Decimal) -> String {
        self.format.write(Digits::of_text(&number.0.to_string()), &self.symbols)
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
        check("#.##", "0.5", "0.5");
        check("#.00", "0.5", ".50");
        check("0.00;(0.00)", "-1.5", "(1.50)");
        check("0.0", "-0.04", "-0.0");
        check("#.##", "0", "0");
        check("0.0#'%'", "1.25", "1.25%");
    }
}
