//! Patterns of digits: `001`, `#,##0` (Functions and Operators §4.6.1), and the digits of all scripts.

/// The zeros of the scripts that have decimal digits; the nine characters behind each are its other digits.
///
/// Source: the characters of category Nd in Unicode 15.
const ZEROS: [u32; 68] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620,
    0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0,
    0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x11f50,
    0x16a60, 0x16ac0, 0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e950,
    0x1fbf0,
];

/// The zero of the script that a digit belongs to; `None`: it is no decimal digit.
pub fn zero_digit(letter: char) -> Option<char> {
    let number = u32::from(letter);
    let index = ZEROS.partition_point(|zero| *zero <= number).checked_sub(1)?;
    if number - ZEROS[index] < 10 { char::from_u32(ZEROS[index]) } else { None }
}

/// The value of a decimal digit of any script.
pub fn digit_value(letter: char) -> Option<u32> {
    zero_digit(letter).map(|zero| u32::from(letter) - u32::from(zero))
}

/// How whole numbers are written with digits.
#[derive(Clone, Debug, PartialEq)]
pub struct DigitPattern {
    /// The zero of the script.
    zero: char,
    /// At least so many digits.
    least: usize,
    /// How many places there are, optional ones included.
    places: usize,
    grouping: Grouping,
}

/// What stands between the digits.
#[derive(Clone, Debug, PartialEq)]
enum Grouping {
    /// Each text behind so many digits, counted from the right, and nowhere else.
    At(Vec<(usize, String)>),
    /// The text behind each so many digits.
    Every(usize, String),
}

impl DigitPattern {
    /// Digits of the script with that zero, at least so many.
    pub fn new(zero: char, least: usize) -> DigitPattern {
        DigitPattern { zero, least, places: least, grouping: Grouping::At(Vec::new()) }
    }

    /// Puts texts between the digits: each behind so many of them, counted from the right, the largest first, in a
    /// pattern that has room for so many digits.
    pub fn with_groups(self, at: Vec<(usize, String)>, places: usize) -> DigitPattern {
        DigitPattern { places, grouping: regular(at, places), ..self }
    }

    /// Reads `#,##0`; `None`: there is no digit in it, so that it is something else.
    ///
    /// Errors: digits of two scripts, `#` behind a digit, or a separator that does not stand between two places.
    pub fn parse(text: &str) -> Result<Option<DigitPattern>, String> {
        let Some(zero) = text.chars().find_map(zero_digit) else { return Ok(None) };
        let refused = |what: &str| Err(format!("the pattern {text:?} has {what}"));
        let (mut least, mut places) = (0, 0);
        let mut separators = Vec::new();
        let mut separated = true;
        for letter in text.chars() {
            match (letter, zero_digit(letter)) {
                (_, Some(other)) if other != zero => return refused("digits of two scripts"),
                (_, Some(_)) => {
                    (least, places) = (least + 1, places + 1);
                    separated = false;
                }
                ('#', None) if least > 0 => return refused("a `#` behind a digit"),
                ('#', None) => {
                    places += 1;
                    separated = false;
                }
                (letter, None) if letter.is_alphanumeric() => return refused("a letter beside its digits"),
                (letter, None) => {
                    if separated {
                        return refused("a separator that does not stand between two digits");
                    }
                    separators.push((places, letter.to_string()));
                    separated = true;
                }
            }
        }
        if separated {
            return refused("a separator at its end");
        }
        let at: Vec<(usize, String)> = separators.into_iter().map(|(before, sign)| (places - before, sign)).collect();
        Ok(Some(DigitPattern::new(zero, least).with_groups(at, places)))
    }

    /// Puts a text behind each so many digits; nothing where the size is 0.
    pub fn group_by(&mut self, separator: &str, size: usize) {
        if size > 0 {
            self.grouping = Grouping::Every(size, separator.to_owned());
        }
    }

    /// At least so many digits are written.
    pub fn least(&self) -> usize {
        self.least
    }

    /// How many digits the pattern has room for, optional ones included.
    pub fn places(&self) -> usize {
        self.places
    }

    /// The same with at least so many digits.
    pub fn at_least(self, least: usize) -> DigitPattern {
        DigitPattern { least, ..self }
    }

    /// A number, given in Western digits, in this pattern.
    pub fn write(&self, digits: &str) -> String {
        let length = digits.len().max(self.least);
        let padding = std::iter::repeat_n(b'0', length - digits.len());
        let mut text = String::with_capacity(length);
        for (index, digit) in padding.chain(digits.bytes()).enumerate() {
            if index > 0 {
                text.push_str(self.separator(length - index));
            }
            text.push(in_script(self.zero, digit));
        }
        text
    }

    /// What stands in front of the last so many digits.
    fn separator(&self, digits: usize) -> &str {
        match &self.grouping {
            Grouping::Every(size, sign) if digits.is_multiple_of(*size) => sign,
            Grouping::Every(..) => "",
            // The largest place comes first.
            Grouping::At(places) => match places.binary_search_by(|(place, _)| digits.cmp(place)) {
                Ok(index) => &places[index].1,
                Err(_) => "",
            },
        }
    }
}

/// The digit of a script for a Western one.
pub fn in_script(zero: char, digit: u8) -> char {
    char::from_u32(u32::from(zero) + u32::from(digit - b'0')).unwrap_or(char::from(digit))
}

/// Separators at regular distances, all the same, go on to the left of the pattern (§4.6.1).
fn regular(at: Vec<(usize, String)>, places: usize) -> Grouping {
    let Some((size, sign)) = at.last().cloned() else { return Grouping::At(at) };
    let even =
        at.iter().rev().enumerate().all(|(index, (place, other))| *place == size * (index + 1) && *other == sign);
    // One more would fit into the pattern itself, and is not there.
    let complete = places - at.first().map_or(0, |(place, _)| *place) <= size;
    if even && complete { Grouping::Every(size, sign) } else { Grouping::At(at) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, digits: &str, expected: &str) {
        let parsed = DigitPattern::parse(pattern).expect(pattern).expect(pattern);
        assert_eq!(parsed.write(digits), expected, "{pattern}");
    }

    #[test]
    fn patterns_of_digits_say_width_and_groups() {
        check("1", "12", "12");
        check("001", "12", "012");
        check("#,##0", "1234567", "1,234,567");
        check("#,##0", "12", "12");
        check("0,000", "12", "0,012");
        check("###,##0,00", "987654321", "9876,543,21");
        check("#,#00", "1500000", "1,500,000");
        check("##-##-00", "123456", "12-34-56");
        check("#(000)0-000", "1234567890", "123(456)7-890");
    }

    #[test]
    fn digits_of_other_scripts_are_kept() {
        check("\u{660}\u{660}\u{661}", "12", "\u{660}\u{661}\u{662}");
        assert_eq!(digit_value('\u{ff17}'), Some(7));
        assert_eq!(zero_digit('x'), None);
        assert_eq!(zero_digit('\u{1d7ff}'), Some('\u{1d7f6}'));
        assert!(ZEROS.is_sorted());
    }

    #[test]
    fn patterns_that_contradict_themselves_are_refused() {
        for pattern in ["0#", ",000", "000,", "0,,0", "0\u{660}", "0#,000", "1a"] {
            assert!(DigitPattern::parse(pattern).is_err(), "{pattern}");
        }
        for pattern in ["a", "Ww", ""] {
            assert_eq!(DigitPattern::parse(pattern), Ok(None), "{pattern}");
        }
    }
}
