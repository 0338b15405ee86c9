//! The order of texts: by the numbers of their characters, or as people expect it in a language.
//!
//! The second is the Unicode Collation Algorithm with the tailorings of CLDR.
//! Source: Functions and Operators §5.3.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, MaxVariable, Strength};
use icu_collator::preferences::{CollationCaseFirst, CollationNumericOrdering};
use icu_collator::{CollatorBorrowed, CollatorPreferences};
use icu_locale_core::Locale;

/// By the numbers of the characters.
pub(crate) const CODEPOINT: &str = "http://www.w3.org/2005/xpath-functions/collation/codepoint";
const CASELESS: &str = "http://www.w3.org/2005/xpath-functions/collation/html-ascii-case-insensitive";
const UNICODE: &str = "http://www.w3.org/2013/collation/UCA";

/// The version of the algorithm and its tables; `version` asks for one that is at most this.
const UCA_VERSION: f64 = 17.0;

/// Collations that a thread remembers: to find the tables of a language takes longer than to compare.
const REMEMBERED: usize = 16;

/// An order of texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Collation {
    rules: Rules,
}

#[derive(Clone, Debug)]
enum Rules {
    Codepoint,
    /// Capitals of ASCII are like small letters.
    Caseless,
    Unicode(Arc<Unicode>),
}

/// The algorithm with its settings.
struct Unicode {
    collator: CollatorBorrowed<'static>,
    /// What the settings are, for whoever compares them.
    name: String,
    /// Whether digits beside each other are one number.
    numeric: bool,
}

impl std::fmt::Debug for Unicode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for Rules {
    fn eq(&self, other: &Rules) -> bool {
        match (self, other) {
            (Rules::Codepoint, Rules::Codepoint) | (Rules::Caseless, Rules::Caseless) => true,
            (Rules::Unicode(one), Rules::Unicode(other)) => one.name == other.name,
            _ => false,
        }
    }
}

thread_local! {
    static KNOWN: RefCell<Vec<Collation>> = const { RefCell::new(Vec::new()) };
}

impl Collation {
    /// By the numbers of the characters.
    pub const CODEPOINTS: Collation = Collation { rules: Rules::Codepoint };

    /// The collation with that URI.
    ///
    /// Errors: a sentence about one that there is not.
    pub fn named(uri: &str) -> Result<Collation, String> {
        let uri = uri.trim();
        // Those two may be relative to the namespace of functions.
        if uri == CODEPOINT || uri == "collation/codepoint" {
            return Ok(Collation::CODEPOINTS);
        }
        if uri == CASELESS || uri == "collation/html-ascii-case-insensitive" {
            return Ok(Collation { rules: Rules::Caseless });
        }
        match uri.strip_prefix(UNICODE) {
            Some(behind) if behind.is_empty() || behind.starts_with('?') => {
                Collation::remembered(uri, || Settings::parse(behind.get(1..).unwrap_or_default()))
            }
            _ => Err(format!("there is no collation {uri:?}: {CODEPOINT} and {UNICODE} are")),
        }
    }

    /// What `xsl:sort` says of texts: its collation if it names one, otherwise an order for its language or case.
    ///
    /// Errors: a sentence about a collation that there is not.
    pub fn of_sort(lang: Option<&str>, case_order: Option<&str>, uri: Option<&str>) -> Result<Collation, String> {
        if let Some(uri) = uri {
            return Collation::named(uri);
        }
        if lang.is_none() && case_order.is_none() {
            return Ok(Collation::CODEPOINTS);
        }
        let (lang, case_order) = (lang.unwrap_or_default().trim(), case_order.map(str::trim));
        Collation::remembered(&format!("{lang} {}", case_order.unwrap_or_default()), || {
            let mut settings = Settings::default();
            settings.set_language(lang);
            settings.preferences.case_first = match case_order {
                Some("upper-first") => Some(CollationCaseFirst::Upper),
                Some("lower-first") => Some(CollationCaseFirst::Lower),
                _ => settings.preferences.case_first,
            };
            Ok(settings)
        })
    }

    fn remembered(name: &str, settings: impl FnOnce() -> Result<Settings, String>) -> Result<Collation, String> {
        let is = |collation: &&Collation| matches!(&collation.rules, Rules::Unicode(known) if known.name == name);
        if let Some(known) = KNOWN.with_borrow(|known| known.iter().find(is).cloned()) {
            return Ok(known);
        }
        let Settings { preferences, options, .. } = settings()?;
        let collator = CollatorBorrowed::try_new(preferences, options)
            .map_err(|error| format!("the collation {name:?} cannot be had: {error}"))?;
        let numeric = preferences.numeric_ordering == Some(CollationNumericOrdering::True);
        let unicode = Unicode { collator, name: name.to_owned(), numeric };
        let collation = Collation { rules: Rules::Unicode(Arc::new(unicode)) };
        KNOWN.with_borrow_mut(|known| {
            if known.len() >= REMEMBERED {
                known.remove(0);
            }
            known.push(collation.clone());
        });
        Ok(collation)
    }

    /// Whether texts are compared by the numbers of their characters.
    pub fn is_codepoints(&self) -> bool {
        matches!(self.rules, Rules::Codepoint)
    }

    /// Which of two texts comes first.
    pub fn compare(&self, one: &str, other: &str) -> Ordering {
        match &self.rules {
            // The order of bytes in UTF-8 is that of the characters' numbers.
            Rules::Codepoint => one.as_bytes().cmp(other.as_bytes()),
            Rules::Caseless => {
                let (one, other) = (one.bytes(), other.bytes());
                one.map(|byte| byte.to_ascii_lowercase()).cmp(other.map(|byte| byte.to_ascii_lowercase()))
            }
            Rules::Unicode(unicode) => unicode.collator.compare(one, other),
        }
    }

    /// Bytes that compare as the texts they are made of; the same for texts that are equal.
    pub fn key<'t>(&self, text: &'t str) -> Cow<'t, [u8]> {
        match &self.rules {
            Rules::Codepoint => Cow::Borrowed(text.as_bytes()),
            Rules::Caseless => Cow::Owned(text.to_ascii_lowercase().into_bytes()),
            Rules::Unicode(unicode) => {
                let mut key = Vec::with_capacity(text.len() * 2 + 8);
                // A vector takes all there is.
                let Ok(()) = unicode.collator.write_sort_key_to(text, &mut key);
                Cow::Owned(key)
            }
        }
    }

    /// Where a part stands first in a text; `None`: nowhere.
    ///
    /// `step` is called for each place that is looked at. Errors: those of `step`.
    pub(crate) fn find<E>(
        &self,
        text: &str,
        part: &str,
        step: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Option<Range<usize>>, E> {
        match &self.rules {
            Rules::Codepoint => Ok(text.find(part).map(|at| at..at + part.len())),
            Rules::Caseless => {
                let found = text.to_ascii_lowercase().find(&part.to_ascii_lowercase());
                Ok(found.map(|at| at..at + part.len()))
            }
            Rules::Unicode(_) => {
                for start in boundaries(text).filter(|start| !self.splits(text, *start)) {
                    if let Some(length) = self.beginning(&text[start..], part, step)? {
                        return Ok(Some(start..start + length));
                    }
                }
                Ok(None)
            }
        }
    }

    /// Whether a text begins with a part.
    pub(crate) fn starts<E>(&self, text: &str, part: &str, step: &mut dyn FnMut() -> Result<(), E>) -> Result<bool, E> {
        Ok(match &self.rules {
            Rules::Codepoint => text.starts_with(part),
            Rules::Caseless => text.to_ascii_lowercase().starts_with(&part.to_ascii_lowercase()),
            Rules::Unicode(_) => self.beginning(text, part, step)?.is_some(),
        })
    }

    /// Whether a text ends with a part.
    pub(crate) fn ends<E>(&self, text: &str, part: &str, step: &mut dyn FnMut() -> Result<(), E>) -> Result<bool, E> {
        match &self.rules {
            Rules::Codepoint => Ok(text.ends_with(part)),
            Rules::Caseless => Ok(text.to_ascii_lowercase().ends_with(&part.to_ascii_lowercase())),
            Rules::Unicode(_) => {
                for start in boundaries(text).rev().filter(|start| !self.splits(text, *start)) {
                    step()?;
                    if self.compare(&text[start..], part).is_eq() {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Whether a place is within what the collation takes for one number.
    fn splits(&self, text: &str, at: usize) -> bool {
        let numeric = matches!(&self.rules, Rules::Unicode(unicode) if unicode.numeric);
        numeric && text[..at].ends_with(char::is_numeric) && text[at..].starts_with(char::is_numeric)
    }

    /// How much of the beginning of a text is equal to a part, the least that is.
    fn beginning<E>(
        &self,
        text: &str,
        part: &str,
        step: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<Option<usize>, E> {
        let mut behind = 0;
        for end in boundaries(text) {
            step()?;
            match self.compare(&text[..end], part) {
                Ordering::Equal if self.splits(text, end) => {}
                Ordering::Equal => return Ok(Some(end)),
                Ordering::Less => {}
                // What comes behind makes a text only greater, but for a letter and its accents together.
                Ordering::Greater => {
                    behind += 1;
                    if behind > 3 {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Where the characters of a text begin, and where it ends.
fn boundaries(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()])
}

/// What the parameters of a URI say.
#[derive(Default)]
struct Settings {
    preferences: CollatorPreferences,
    options: CollatorOptions,
    /// What nobody knows or offers, the first of it.
    strange: Option<String>,
}

impl Settings {
    /// `lang=de;strength=primary` (§5.3.4).
    ///
    /// Errors: where `fallback=no` forbids to leave out of account what is not known or not offered.
    fn parse(parameters: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        let mut strict = false;
        let mut blanked = false;
        let pairs: Vec<(&str, &str)> = parameters
            .split(';')
            .filter(|parameter| !parameter.trim().is_empty())
            .map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")))
            .map(|(name, value)| (name.trim(), value.trim()))
            .collect();
        // The language says what the others have as defaults.
        for (_, lang) in pairs.iter().filter(|(name, _)| *name == "lang") {
            settings.set_language(lang);
        }
        for (name, value) in pairs {
            let known = match (name, value) {
                ("lang", _) => true,
                ("fallback", "yes" | "no") => {
                    strict = value == "no";
                    true
                }
                ("version", _) => value.parse().is_ok_and(|version: f64| version <= UCA_VERSION),
                ("strength", _) => settings.set_strength(value),
                ("maxVariable", _) => settings.set_variable(value),
                ("alternate", "non-ignorable") => settings.set_alternate(AlternateHandling::NonIgnorable),
                ("alternate", "shifted") => settings.set_alternate(AlternateHandling::Shifted),
                ("alternate", "blanked") => {
                    blanked = true;
                    settings.set_alternate(AlternateHandling::Shifted)
                }
                // Only the languages themselves say so.
                ("backwards", "no") | ("normalization", "yes" | "no") => true,
                ("caseLevel", "yes" | "no") => {
                    settings.options.case_level = Some(if value == "yes" { CaseLevel::On } else { CaseLevel::Off });
                    true
                }
                ("caseFirst", "upper") => settings.set_case(CollationCaseFirst::Upper),
                ("caseFirst", "lower") => settings.set_case(CollationCaseFirst::Lower),
                ("numeric", "yes") => settings.set_numeric(CollationNumericOrdering::True),
                ("numeric", "no") => settings.set_numeric(CollationNumericOrdering::False),
                _ => false,
            };
            if !known {
                settings.strange.get_or_insert_with(|| format!("{name}={value}"));
            }
        }
        // What is blanked does not count on any level.
        if blanked && settings.options.strength.is_some_and(|strength| strength > Strength::Tertiary) {
            settings.options.strength = Some(Strength::Tertiary);
        }
        match &settings.strange {
            Some(strange) if strict => Err(format!("a collation with {strange} is not offered, and fallback=no")),
            _ => Ok(settings),
        }
    }

    fn set_language(&mut self, lang: &str) {
        match Locale::try_from_str(&lang.replace('_', "-")) {
            Ok(locale) => self.preferences = (&locale).into(),
            Err(_) if lang.is_empty() => {}
            Err(_) => self.strange = Some(format!("lang={lang}")),
        }
    }

    fn set_strength(&mut self, value: &str) -> bool {
        let strength = match value {
            "primary" | "1" => Strength::Primary,
            "secondary" | "2" => Strength::Secondary,
            "tertiary" | "3" => Strength::Tertiary,
            "quaternary" | "4" => Strength::Quaternary,
            "identical" | "5" => Strength::Identical,
            _ => return false,
        };
        self.options.strength = Some(strength);
        true
    }

    fn set_variable(&mut self, value: &str) -> bool {
        let variable = match value {
            "space" => MaxVariable::Space,
            "punct" => MaxVariable::Punctuation,
            "symbol" => MaxVariable::Symbol,
            "currency" => MaxVariable::Currency,
            _ => return false,
        };
        self.options.max_variable = Some(variable);
        true
    }

    fn set_alternate(&mut self, handling: AlternateHandling) -> bool {
        self.options.alternate_handling = Some(handling);
        true
    }

    fn set_case(&mut self, case: CollationCaseFirst) -> bool {
        self.preferences.case_first = Some(case);
        true
    }

    fn set_numeric(&mut self, numeric: CollationNumericOrdering) -> bool {
        self.preferences.numeric_ordering = Some(numeric);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lang: Option<&str>, case_order: Option<&str>, uri: Option<&str>, expected: &str) {
        let collation = Collation::of_sort(lang, case_order, uri).expect("a collation that there is");
        let mut words: Vec<&str> = expected.split(' ').collect();
        words.reverse();
        words.sort_by(|one, other| collation.compare(one, other));
        assert_eq!(words.join(" "), expected);
        let mut keyed: Vec<&str> = expected.split(' ').collect();
        keyed.sort_by_key(|word| collation.key(word).into_owned());
        assert_eq!(keyed.join(" "), expected, "by keys");
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
        check(Some("es"), None, None, "nz ña oso");
        check(Some("en"), None, None, "ña nz oso");
        check(Some("cs"), None, None, "cukr hora chata ill");
        check(Some("ru"), None, None, "дом ёж жук");
    }

    #[test]
    fn collations_are_named_by_uris() {
        let compare = |parameters: &str, one: &str, other: &str| {
            Collation::named(&format!("{UNICODE}{parameters}")).expect(parameters).compare(one, other)
        };
        assert_eq!(Collation::named(CASELESS).map(|it| it.compare("ABC", "abc")), Ok(Ordering::Equal));
        assert_eq!(compare("", "a", "B"), Ordering::Less);
        assert_eq!(compare("?strength=primary", "Étude", "etude"), Ordering::Equal);
        assert_eq!(compare("?strength=secondary", "ETUDE", "etude"), Ordering::Equal);
        assert_eq!(compare("?strength=identical", "e\u{301}", "é"), Ordering::Equal);
        assert_eq!(compare("?lang=sv;caseFirst=upper", "Öl", "zoo"), Ordering::Greater);
        assert_eq!(compare("?numeric=yes", "a9", "a10"), Ordering::Less);
        assert_eq!(compare("?alternate=blanked", "a-b", "ab"), Ordering::Equal);
        assert_eq!(compare("?alternate=shifted;strength=quaternary", "a-b", "ab"), Ordering::Less);
        assert_eq!(compare("?strength=primary;caseLevel=yes", "é", "e"), Ordering::Equal);
        assert_eq!(compare("?nothing=1", "a", "b"), Ordering::Less);
        for refused in ["?fallback=no;nothing=1", "?fallback=no;strength=9", "?fallback=no;reorder=digit", "x"] {
            assert!(Collation::named(&format!("{UNICODE}{refused}")).is_err(), "{refused}");
        }
        assert!(Collation::named("http://unknown.collation.uri/").is_err());
    }

    #[test]
    fn parts_are_found_as_the_collation_sees_them() {
        let collation =
            Collation::named(&format!("{UNICODE}?lang=en;alternate=blanked;strength=primary")).expect("one");
        let mut step = || Ok::<(), ()>(());
        assert_eq!(collation.find("data-Base", "abas", &mut step), Ok(Some(3..8)));
        assert_eq!(collation.find("database", "abs", &mut step), Ok(None));
        assert_eq!(collation.starts("É-tude", "etu", &mut step), Ok(true));
        assert_eq!(collation.ends("étU-dE-", "ude", &mut step), Ok(true));
        assert_eq!(collation.ends("étude", "étud", &mut step), Ok(false));
    }
}
