//! Numbers as texts: the formats of `xsl:number`, `format-integer()` and the parts of dates (XSLT 1.0 §7.7.1,
//! Functions and Operators §4.6).

mod languages;
mod letters;
mod words;

pub(crate) use languages::{DAYS, Language};
pub(crate) use myelin_java_text::digits::{DigitPattern, zero_digit};
pub(crate) use words::Case;

/// How one number is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Style {
    /// `1`, `001`, `#,##0`
    Digits(DigitPattern),
    /// `a`, `A`, `α` …: by the letter an alphabet begins with.
    Letters(char),
    /// `i`, `I`; true: in capitals.
    Roman(bool),
    /// `w`, `W`, `Ww`
    Words(Case),
}

impl Style {
    /// The style that a token stands for; `None`: it stands for no particular one, and `1` is meant.
    ///
    /// Errors: a digit pattern that contradicts itself: the picture's author.
    pub(crate) fn parse(token: &str, traditional: Option<bool>) -> Result<Option<Style>, String> {
        Ok(match token {
            "w" => Some(Style::Words(Case::Lower)),
            "W" => Some(Style::Words(Case::Upper)),
            "Ww" => Some(Style::Words(Case::Title)),
            "i" | "I" if traditional != Some(false) => Some(Style::Roman(token == "I")),
            _ => {
                let mut letters = token.chars();
                match (letters.next(), letters.next()) {
                    (Some(first), None) if letters::begins_alphabet(first) => Some(Style::Letters(first)),
                    _ => DigitPattern::parse(token)?.map(Style::Digits),
                }
            }
        })
    }

    /// Plain digits.
    pub(crate) fn plain() -> Style {
        Style::Digits(DigitPattern::new('0', 1))
    }

    /// The number in this style; as an ordinal, in English, if that is asked for.
    pub(crate) fn write(&self, number: u64, ordinal: bool) -> String {
        self.write_in(Language::English, number, ordinal.then_some(""))
    }

    /// The same in a language; of an ordinal the ending that is asked for.
    pub(crate) fn write_in(&self, language: Language, number: u64, ordinal: Option<&str>) -> String {
        match self {
            Style::Words(case) => language.words(number, *case, ordinal),
            Style::Letters('一') => letters::chinese(number),
            Style::Letters(first) => match letters::write(number, *first) {
                Some(text) => text,
                None => Style::plain().write_in(language, number, ordinal),
            },
            Style::Roman(upper) => match letters::roman(number) {
                Some(text) if *upper => text,
                Some(text) => text.to_lowercase(),
                None => Style::plain().write_in(language, number, ordinal),
            },
            Style::Digits(pattern) => {
                let mut text = pattern.write(&number.to_string());
                if let Some(ending) = ordinal {
                    text.push_str(language.suffix(number, ending));
                }
                text
            }
        }
    }
}

/// What `xsl:number` says beside its format.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options<'o> {
    /// `letter-value`: true for `traditional`, false for `alphabetic`.
    pub(crate) traditional: Option<bool>,
    /// `ordinal`: anything but nothing and `no` asks for ordinals.
    pub(crate) ordinal: bool,
    /// `grouping-separator` and `grouping-size`; taken only where both are there and the size is above 0.
    pub(crate) grouping: Option<(&'o str, usize)>,
}

/// Numbers in the format of `xsl:number`: its tokens, with what stands around and between them.
///
/// Source: XSLT 1.0 §7.7.1, 2.0 §12.3.
pub(crate) fn format(numbers: &[u64], format: &str, options: &Options<'_>) -> String {
    let (prefix, tokens, suffix) = tokens(format);
    let plain = [("", "1")];
    let tokens = if tokens.is_empty() { &plain[..] } else { &tokens };
    let mut text = prefix.to_owned();
    for (index, number) in numbers.iter().enumerate() {
        let (separator, token) = tokens[index.min(tokens.len() - 1)];
        if index > 0 {
            // The first token has none of its own; where it is the only one, a point stands between numbers.
            text.push_str(if index < tokens.len() || tokens.len() > 1 { separator } else { "." });
        }
        // A token that contradicts itself cannot be: the only signs in one are letters and digits.
        let mut style = Style::parse(token, options.traditional).ok().flatten().unwrap_or_else(Style::plain);
        if let (Style::Digits(pattern), Some((separator, size))) = (&mut style, options.grouping) {
            pattern.group_by(separator, size);
        }
        text.push_str(&style.write(*number, options.ordinal));
    }
    text.push_str(suffix);
    text
}

/// What stands in front, the tokens with what separates each from the one before, and what stands behind.
fn tokens(format: &str) -> (&str, Vec<(&str, &str)>, &str) {
    let split = |text: &str, alphanumeric: bool| {
        text.find(|letter: char| letter.is_alphanumeric() != alphanumeric).unwrap_or(text.len())
    };
    let (prefix, mut rest) = format.split_at(split(format, false));
    let mut found = Vec::new();
    let mut separator = "";
    while !rest.is_empty() {
        let (token, behind) = rest.split_at(split(rest, true));
        found.push((separator, token));
        (separator, rest) = behind.split_at(split(behind, false));
    }
    (prefix, found, separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(numbers: &[u64], pattern: &str, expected: &str) {
        assert_eq!(format(numbers, pattern, &Options::default()), expected, "{pattern}");
    }

    #[test]
    fn tokens_say_how_each_number_is_written() {
        check(&[5], "1", "5");
        check(&[5], "001", "005");
        check(&[5], "A. ", "E. ");
        check(&[28], "a", "ab");
        check(&[1999], "i", "mcmxcix");
        check(&[4], "(I)", "(IV)");
        check(&[2], "W", "TWO");
        check(&[5], "\u{661}", "\u{665}");
        check(&[3], "\u{3b1}", "\u{3b3}");
        check(&[7], "5", "7");
    }

    #[test]
    fn several_numbers_take_the_tokens_in_turn_and_the_last_one_again() {
        check(&[1, 2, 3], "1.1", "1.2.3");
        check(&[1, 2, 3], "1", "1.2.3");
        check(&[1, 2, 3, 4], "1-A:i.", "1-B:iii:iv.");
        check(&[1, 2], "A.", "A.B.");
        check(&[1], "1.1.", "1.");
        check(&[1, 2], "", "1.2");
        check(&[1], "#", "#1");
        check(&[], "(1)", "()");
    }

    #[test]
    fn zero_has_no_letters() {
        check(&[0], "a", "0");
        check(&[0], "I", "0");
        check(&[0], "w", "zero");
    }

    #[test]
    fn digits_are_grouped_and_made_ordinals() {
        let grouped = Options { grouping: Some((",", 3)), ..Options::default() };
        assert_eq!(format(&[1_234_567_890], "1", &grouped), "1,234,567,890");
        assert_eq!(format(&[12], "0001", &grouped), "0,012");
        let ordinal = Options { ordinal: true, ..Options::default() };
        assert_eq!(format(&[1, 12, 22], "1", &ordinal), "1st.12th.22nd");
        assert_eq!(format(&[21], "Ww", &ordinal), "Twenty-First");
        let alphabetic = Options { traditional: Some(false), ..Options::default() };
        assert_eq!(format(&[10], "i", &alphabetic), "r");
    }
}
