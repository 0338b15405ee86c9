//! The order of texts: by the numbers of their characters, or as people expect it in a language.
//!
//! The second is the idea of the Unicode Collation Algorithm for the letters of Europe: first letters without their
//! accents and case, where these agree accents, where these agree case. Letters of other scripts are ordered by their
//! numbers. The tables of the algorithm itself are larger than all the rest of this library.

use std::cmp::Ordering;

const CODEPOINT: &str = "http://www.w3.org/2005/xpath-functions/collation/codepoint";
const ASCII_CASELESS: &str = "http://www.w3.org/2005/xpath-functions/collation/html-ascii-case-insensitive";
const UNICODE: &str = "http://www.w3.org/2013/collation/UCA";

/// An order of texts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Collation {
    rules: Rules,
}

#[derive(Clone, Debug, PartialEq)]
enum Rules {
    Codepoint,
    /// Capitals of ASCII are like small letters.
    AsciiCaseless,
    Language {
        tailoring: &'static [(char, u32)],
        upper_first: bool,
        strength: Strength,
    },
}

/// How much of a difference counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Letters,
    Accents,
    Case,
}

impl Collation {
    /// By the numbers of the characters.
    pub(crate) const CODEPOINTS: Collation = Collation { rules: Rules::Codepoint };

    /// What `xsl:sort` says of texts: its collation if it names one, otherwise an order for its language or case.
    ///
    /// Errors: a sentence about a collation that there is not.
    pub(crate) fn new(lang: Option<&str>, case_order: Option<&str>, uri: Option<&str>) -> Result<Collation, String> {
        let upper_first = case_order.is_some_and(|order| order.trim() == "upper-first");
        match uri.map(str::trim) {
            None if lang.is_none() && case_order.is_none() => Ok(Collation::CODEPOINTS),
            None => Ok(Collation::language(lang.unwrap_or(""), upper_first, Strength::Case)),
            Some(CODEPOINT) => Ok(Collation::CODEPOINTS),
            Some(ASCII_CASELESS) => Ok(Collation { rules: Rules::AsciiCaseless }),
            Some(uri) => match uri.strip_prefix(UNICODE) {
                Some("") => Ok(Collation::language("", upper_first, Strength::Case)),
                Some(behind) if behind.starts_with('?') => Ok(Collation::with_parameters(&behind[1..])),
                _ => Err(format!("there is no collation {uri:?}: {CODEPOINT} and {UNICODE} are")),
            },
        }
    }

    /// `lang=de;strength=primary`; what is unknown says nothing (Functions and Operators §5.3.4).
    fn with_parameters(parameters: &str) -> Collation {
        let (mut lang, mut upper_first, mut strength) = ("", false, Strength::Case);
        for (name, value) in parameters.split([';', '&']).filter_map(|parameter| parameter.split_once('=')) {
            match name {
                "lang" => lang = value,
                "caseFirst" => upper_first = value == "upper",
                "strength" => {
                    strength = match value {
                        "primary" | "1" => Strength::Letters,
                        "secondary" | "2" => Strength::Accents,
                        _ => Strength::Case,
                    }
                }
                _ => {}
            }
        }
        Collation::language(lang, upper_first, strength)
    }

    fn language(lang: &str, upper_first: bool, strength: Strength) -> Collation {
        let language = lang.split(['-', '_']).next().unwrap_or("").to_lowercase();
        let tailoring = TAILORINGS.iter().find(|(languages, _)| languages.contains(&&*language));
        let tailoring = tailoring.map_or(&[] as &[(char, u32)], |(_, letters)| letters);
        Collation { rules: Rules::Language { tailoring, upper_first, strength } }
    }

    /// Which of two texts comes first.
    pub(crate) fn compare(&self, one: &str, other: &str) -> Ordering {
        match &self.rules {
            // The order of bytes in UTF-8 is that of the characters' numbers.
            Rules::Codepoint => one.cmp(other),
            Rules::AsciiCaseless => {
                let (one, other) = (one.bytes(), other.bytes());
                one.map(|byte| byte.to_ascii_lowercase()).cmp(other.map(|byte| byte.to_ascii_lowercase()))
            }
            Rules::Language { tailoring, upper_first, strength } => {
                let pair = (Weights::of(one, tailoring), Weights::of(other, tailoring));
                by_language(pair, *upper_first, *strength)
            }
        }
    }
}

fn by_language((one, other): (Weights<'_>, Weights<'_>), upper_first: bool, strength: Strength) -> Ordering {
    let letter = |weight: Weight| Some(weight.letter).filter(|letter| *letter > 0);
    let compared = one.clone().filter_map(letter).cmp(other.clone().filter_map(letter));
    if compared.is_ne() || strength == Strength::Letters {
        return compared;
    }
    let accent = |weight: Weight| weight.accent;
    let compared = one.clone().map(accent).cmp(other.clone().map(accent));
    if compared.is_ne() || strength == Strength::Accents {
        return compared;
    }
    let case = |weight: Weight| weight.upper != upper_first;
    one.map(case).cmp(other.map(case))
}

/// Letters that languages have behind others: the letter, and its weight as [`letter`] gives it.
type Tailoring = (&'static [&'static str], &'static [(char, u32)]);

const TAILORINGS: [Tailoring; 3] = [
    (
        &["sv", "fi"],
        &[
            ('å', letter('z') + 1),
            ('ä', letter('z') + 2),
            ('æ', letter('z') + 2),
            ('ö', letter('z') + 3),
            ('ø', letter('z') + 3),
        ],
    ),
    (
        &["da", "nb", "nn", "no"],
        &[
            ('æ', letter('z') + 1),
            ('ä', letter('z') + 1),
            ('ø', letter('z') + 2),
            ('ö', letter('z') + 2),
            ('å', letter('z') + 3),
        ],
    ),
    (&["es"], &[('ñ', letter('n') + 1)]),
];

/// What one letter weighs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weight {
    /// 0: it does not count as a letter.
    letter: u32,
    accent: u32,
    upper: bool,
}

/// The weights of the letters of a text.
#[derive(Clone)]
struct Weights<'t> {
    letters: std::str::Chars<'t>,
    /// The second of two letters that one letter stands for.
    second: Option<Weight>,
    tailoring: &'static [(char, u32)],
}

impl<'t> Weights<'t> {
    fn of(text: &'t str, tailoring: &'static [(char, u32)]) -> Weights<'t> {
        Weights { letters: text.chars(), second: None, tailoring }
    }
}

impl Iterator for Weights<'_> {
    type Item = Weight;

    fn next(&mut self) -> Option<Weight> {
        if let Some(second) = self.second.take() {
            return Some(second);
        }
        let written = self.letters.next()?;
        if written.is_ascii() {
            let lower = written.to_ascii_lowercase();
            return Some(Weight { letter: ordinary(lower), accent: 0, upper: lower != written });
        }
        let lower = written.to_lowercase().next().unwrap_or(written);
        let upper = lower != written;
        if let Some((_, weight)) = self.tailoring.iter().find(|(tailored, _)| *tailored == lower) {
            return Some(Weight { letter: *weight, accent: 0, upper });
        }
        if let Some((_, first, second)) = LIGATURES.iter().find(|(ligature, ..)| *ligature == lower) {
            self.second = Some(Weight { letter: letter(*second), accent: 1, upper });
            return Some(Weight { letter: letter(*first), accent: 1, upper });
        }
        Some(match base(lower) {
            Some((base, accent)) => Weight { letter: letter(base), accent, upper },
            // Accents that stand alone.
            None if ('\u{300}'..='\u{36f}').contains(&lower) => Weight { letter: 0, accent: u32::from(lower), upper },
            None => Weight { letter: ordinary(lower), accent: 0, upper },
        })
    }
}

/// White space comes before signs, signs before digits, digits before letters; control characters do not count.
fn ordinary(lower: char) -> u32 {
    if lower.is_alphabetic() {
        letter(lower)
    } else if let Some(value) = crate::numbering::digit_value(lower) {
        DIGITS + value
    } else if lower.is_control() && !lower.is_whitespace() {
        0
    } else if lower.is_whitespace() {
        1
    } else {
        u32::from(lower)
    }
}

/// Above all characters there are.
const DIGITS: u32 = 0x11_0000;

/// Letters have room behind each for those that languages put there.
const fn letter(lower: char) -> u32 {
    0x20_0000 + lower as u32 * 4
}

const LIGATURES: [(char, char, char); 4] = [('ß', 's', 's'), ('æ', 'a', 'e'), ('œ', 'o', 'e'), ('þ', 't', 'h')];

/// Letters with accents, by the letters they come from.
const ACCENTED: [(char, &str); 22] = [
    ('a', "áàăâåäãąāª"),
    ('c', "ćĉčċç"),
    ('d', "ďđð"),
    ('e', "éèĕêěëėęē"),
    ('g', "ğĝġģ"),
    ('h', "ĥħ"),
    ('i', "íìĭîïĩįīı"),
    ('j', "ĵ"),
    ('k', "ķĸ"),
    ('l', "ĺľļłŀ"),
    ('n', "ńňñņŋ"),
    ('o', "óòŏôöőõøōº"),
    ('r', "ŕřŗ"),
    ('s', "śŝšşș"),
    ('t', "ťţŧț"),
    ('u', "úùŭûůüűũųū"),
    ('w', "ŵ"),
    ('y', "ýŷÿ"),
    ('z', "źžż"),
    ('α', "ά"),
    ('е', "ё"),
    ('и', "й"),
];

/// The letter without its accent, and which of its accents it is.
fn base(lower: char) -> Option<(char, u32)> {
    ACCENTED.iter().find_map(|(base, accented)| {
        let accent = accented.chars().position(|letter| letter == lower)?;
        Some((*base, accent as u32 + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lang: Option<&str>, case_order: Option<&str>, uri: Option<&str>, expected: &str) {
        let collation = Collation::new(lang, case_order, uri).expect("a collation that there is");
        let mut words: Vec<&str> = expected.split(' ').collect();
        words.reverse();
        words.sort_by(|one, other| collation.compare(one, other));
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn texts_are_ordered_by_their_characters_unless_somebody_says_otherwise() {
        check(None, None, None, "B a b \u{e4} \u{ffff} \u{10000}");
        check(Some("en"), None, Some(CODEPOINT), "B a b");
    }

    #[test]
    fn letters_count_before_accents_and_accents_before_case() {
        check(Some("en"), None, None, "cote Cote coté côte role Roles rôles zoo");
        check(Some("en"), Some("upper-first"), None, "A a B b");
        check(Some("en"), Some("lower-first"), None, "a A b B");
        check(None, Some("upper-first"), None, "A a B b");
        check(Some("de"), None, None, "Strasse Straße Strauß");
        check(Some("en"), None, None, "-a 10 1a 9 a a-b ab");
    }

    #[test]
    fn languages_have_letters_behind_others() {
        check(Some("de"), None, None, "Ähre Auto Zeit");
        check(Some("sv-SE"), None, None, "Auto Zeit Ål Ähre Öl");
        check(Some("da"), None, None, "Auto Zeit Æble Øl Ål");
        check(Some("es"), None, None, "nube oso");
        check(Some("es"), None, None, "nz ña oso");
        check(Some("en"), None, None, "ña nz oso");
    }

    #[test]
    fn collations_are_named_by_uris() {
        let compare =
            |uri: &str, one: &str, other: &str| Collation::new(None, None, Some(uri)).expect(uri).compare(one, other);
        assert_eq!(compare(ASCII_CASELESS, "ABC", "abc"), Ordering::Equal);
        assert_eq!(compare(&format!("{UNICODE}?strength=primary"), "Étude", "etude"), Ordering::Equal);
        assert_eq!(compare(&format!("{UNICODE}?strength=secondary"), "ETUDE", "etude"), Ordering::Equal);
        assert_eq!(compare(&format!("{UNICODE}?lang=sv;caseFirst=upper"), "Öl", "zoo"), Ordering::Greater);
        assert!(Collation::new(None, None, Some("http://unknown.collation.uri/")).is_err());
    }
}
