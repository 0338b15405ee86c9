//! Languages that numbers and dates can be written in beside English: German, French and Italian.

use super::words::{self, Case};

/// The days in English, from Monday on, as ISO 8601 counts them.
pub(crate) const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// A language of numbers and dates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Language {
    #[default]
    English,
    German,
    French,
    Italian,
}

impl Language {
    /// The language of a tag such as `de-AT`; `None`: another one.
    pub(crate) fn find(tag: &str) -> Option<Language> {
        match tag.split(['-', '_']).next()?.to_ascii_lowercase().as_str() {
            "" | "en" => Some(Language::English),
            "de" => Some(Language::German),
            "fr" => Some(Language::French),
            "it" => Some(Language::Italian),
            _ => None,
        }
    }

    /// The months from January on, and the days from Monday on.
    pub(crate) fn names(self) -> ([&'static str; 12], [&'static str; 7]) {
        match self {
            Language::English => (myelin_java_text::calendar::MONTHS, DAYS),
            Language::German => (
                [
                    "Januar",
                    "Februar",
                    "März",
                    "April",
                    "Mai",
                    "Juni",
                    "Juli",
                    "August",
                    "September",
                    "Oktober",
                    "November",
                    "Dezember",
                ],
                ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
            ),
            Language::French => (
                [
                    "Janvier",
                    "Février",
                    "Mars",
                    "Avril",
                    "Mai",
                    "Juin",
                    "Juillet",
                    "Août",
                    "Septembre",
                    "Octobre",
                    "Novembre",
                    "Décembre",
                ],
                ["Lundi", "Mardi", "Mercredi", "Jeudi", "Vendredi", "Samedi", "Dimanche"],
            ),
            Language::Italian => (
                [
                    "Gennaio",
                    "Febbraio",
                    "Marzo",
                    "Aprile",
                    "Maggio",
                    "Giugno",
                    "Luglio",
                    "Agosto",
                    "Settembre",
                    "Ottobre",
                    "Novembre",
                    "Dicembre",
                ],
                ["Lunedì", "Martedì", "Mercoledì", "Giovedì", "Venerdì", "Sabato", "Domenica"],
            ),
        }
    }

    /// The halves of the day, and the eras before and after.
    pub(crate) fn halves_and_eras(self) -> ([&'static str; 2], [&'static str; 2]) {
        match self {
            Language::English => (["Am", "Pm"], ["Bc", "Ad"]),
            Language::German => (["Vorm.", "Nachm."], ["V. Chr.", "N. Chr."]),
            Language::French => (["Am", "Pm"], ["Av. J.-C.", "Ap. J.-C."]),
            Language::Italian => (["Am", "Pm"], ["A.C.", "D.C."]),
        }
    }

    /// A number in words; `ordinal` is the ending that is asked for, empty for the usual one.
    pub(crate) fn words(self, number: u64, case: Case, ordinal: Option<&str>) -> String {
        let ending = ordinal.map(|ending| ending.trim_start_matches('-')).filter(|ending| !ending.starts_with('%'));
        let text = match (self, ordinal) {
            (Language::English, _) => return words::write(number, case, ordinal.is_some()),
            (Language::German, None) => german(number),
            (Language::German, Some(_)) => german_ordinal(number, ending.unwrap_or_default()),
            (Language::French, None) => french(number),
            (Language::French, Some(_)) => french_ordinal(number, ending.unwrap_or_default()),
            (Language::Italian, None) => italian(number),
            (Language::Italian, Some(_)) => italian_ordinal(number, ending.unwrap_or_default()),
        };
        match case {
            Case::Lower => text,
            Case::Upper => text.to_uppercase(),
            Case::Title => {
                let mut letters = text.chars();
                letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
            }
        }
    }

    /// What stands behind the digits of an ordinal.
    pub(crate) fn suffix(self, number: u64, ending: &str) -> &'static str {
        match self {
            Language::English => words::suffix(number),
            Language::German => ".",
            Language::French if number == 1 => {
                if ending.ends_with('e') {
                    "re"
                } else {
                    "er"
                }
            }
            Language::French => "e",
            Language::Italian => {
                if ending.ends_with('a') {
                    "ª"
                } else {
                    "º"
                }
            }
        }
    }
}

/// Powers of a thousand from a million on: value, one of them, several of them.
type Powers = [(u64, &'static str, &'static str); 5];

const GERMAN: [&str; 20] = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
];
const GERMAN_TENS: [&str; 8] = ["zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"];
const GERMAN_POWERS: Powers = [
    (1_000_000_000_000_000_000, "eine Trillion", "Trillionen"),
    (1_000_000_000_000_000, "eine Billiarde", "Billiarden"),
    (1_000_000_000_000, "eine Billion", "Billionen"),
    (1_000_000_000, "eine Milliarde", "Milliarden"),
    (1_000_000, "eine Million", "Millionen"),
];

/// Splits off what is a million or more.
fn powers(number: u64, powers: &Powers, below: fn(u64) -> String) -> (Vec<String>, u64) {
    let (mut parts, mut rest) = (Vec::new(), number);
    for (value, one, several) in powers {
        match rest / value {
            0 => {}
            1 => parts.push((*one).to_owned()),
            count => parts.push(format!("{} {several}", below(count))),
        }
        rest %= value;
    }
    (parts, rest)
}

fn german(number: u64) -> String {
    let (mut parts, rest) = powers(number, &GERMAN_POWERS, german_below);
    if rest > 0 || number == 0 {
        parts.push(german_below(rest));
    }
    parts.join(" ")
}

/// Below a million, in one word.
fn german_below(number: u64) -> String {
    // Within a word one is `ein`.
    let inner = |number: u64| if number == 1 { "ein".to_owned() } else { german_below(number) };
    let rest = |number: u64| if number == 0 { String::new() } else { german_below(number) };
    match number {
        0..20 => GERMAN[number as usize].to_owned(),
        20..100 => match number % 10 {
            0 => GERMAN_TENS[(number / 10 - 2) as usize].to_owned(),
            ones => format!("{}und{}", inner(ones), GERMAN_TENS[(number / 10 - 2) as usize]),
        },
        100..1_000 => format!("{}hundert{}", inner(number / 100), rest(number % 100)),
        _ => format!("{}tausend{}", inner(number / 1_000), rest(number % 1_000)),
    }
}

/// `erste`, `zwanzigste`, with another ending where one is asked for.
fn german_ordinal(number: u64, ending: &str) -> String {
    let text = german(number);
    let last = number % 100;
    let irregular = [("eins", "erst"), ("drei", "dritt"), ("sieben", "siebt"), ("acht", "acht")];
    let stem = match irregular.iter().find(|(cardinal, _)| last < 20 && text.ends_with(cardinal)) {
        Some((cardinal, stem)) => format!("{}{stem}", &text[..text.len() - cardinal.len()]),
        None if (1..20).contains(&last) || number == 0 => format!("{text}t"),
        None => format!("{}st", text.trim_end_matches("en")),
    };
    format!("{stem}{}", if ending.is_empty() { "e" } else { ending })
}

const FRENCH: [&str; 17] = [
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze", "treize",
    "quatorze", "quinze", "seize",
];
const FRENCH_TENS: [&str; 8] = ["", "dix", "vingt", "trente", "quarante", "cinquante", "soixante", "soixante"];
const FRENCH_POWERS: Powers = [
    (1_000_000_000_000_000_000, "un trillion", "trillions"),
    (1_000_000_000_000_000, "un billiard", "billiards"),
    (1_000_000_000_000, "un billion", "billions"),
    (1_000_000_000, "un milliard", "milliards"),
    (1_000_000, "un million", "millions"),
];

fn french(number: u64) -> String {
    let (mut parts, rest) = powers(number, &FRENCH_POWERS, |number| french_below(number, true));
    if rest > 0 || number == 0 {
        parts.push(french_below(rest, true));
    }
    parts.join(" ")
}

/// Below a million; `last`: nothing stands behind it, so that `cents` and `vingts` have their s.
fn french_below(number: u64, last: bool) -> String {
    let s = if last { "s" } else { "" };
    let behind = |before: String, rest: u64| match rest {
        0 => before,
        _ => format!("{before} {}", french_below(rest, last)),
    };
    match number {
        0..17 => FRENCH[number as usize].to_owned(),
        17..20 => format!("dix-{}", FRENCH[(number - 10) as usize]),
        71 => "soixante et onze".to_owned(),
        80 => format!("quatre-vingt{s}"),
        81..100 => format!("quatre-vingt-{}", french_below(number - 80, last)),
        20..80 => {
            let tens = FRENCH_TENS[(number / 10) as usize];
            match (number / 10, number % 10) {
                (7, ones) => format!("{tens}-{}", french_below(10 + ones, last)),
                (_, 0) => tens.to_owned(),
                (_, 1) => format!("{tens} et un"),
                (_, ones) => format!("{tens}-{}", FRENCH[ones as usize]),
            }
        }
        100..200 => behind("cent".to_owned(), number - 100),
        200..1_000 if number.is_multiple_of(100) => format!("{} cent{s}", FRENCH[(number / 100) as usize]),
        200..1_000 => behind(format!("{} cent", FRENCH[(number / 100) as usize]), number % 100),
        1_000..2_000 => behind("mille".to_owned(), number - 1_000),
        _ => behind(format!("{} mille", french_below(number / 1_000, false)), number % 1_000),
    }
}

fn french_ordinal(number: u64, ending: &str) -> String {
    if number == 1 {
        return if ending.ends_with('e') { "première" } else { "premier" }.to_owned();
    }
    let text = french(number);
    let text = text.strip_suffix("cents").map(|stem| format!("{stem}cent")).unwrap_or(text);
    let text = text.strip_suffix("vingts").map(|stem| format!("{stem}vingt")).unwrap_or(text);
    let stem = match text.as_str() {
        it if it.ends_with("cinq") => format!("{it}u"),
        it if it.ends_with("neuf") => format!("{}v", &it[..it.len() - 1]),
        it => it.strip_suffix('e').unwrap_or(it).to_owned(),
    };
    format!("{stem}ième")
}

const ITALIAN: [&str; 20] = [
    "zero",
    "uno",
    "due",
    "tre",
    "quattro",
    "cinque",
    "sei",
    "sette",
    "otto",
    "nove",
    "dieci",
    "undici",
    "dodici",
    "tredici",
    "quattordici",
    "quindici",
    "sedici",
    "diciassette",
    "diciotto",
    "diciannove",
];
const ITALIAN_TENS: [&str; 8] =
    ["venti", "trenta", "quaranta", "cinquanta", "sessanta", "settanta", "ottanta", "novanta"];
const ITALIAN_POWERS: Powers = [
    (1_000_000_000_000_000_000, "un trilione", "trilioni"),
    (1_000_000_000_000_000, "un biliardo", "biliardi"),
    (1_000_000_000_000, "un bilione", "bilioni"),
    (1_000_000_000, "un miliardo", "miliardi"),
    (1_000_000, "un milione", "milioni"),
];

fn italian(number: u64) -> String {
    let (mut parts, rest) = powers(number, &ITALIAN_POWERS, italian_below);
    if rest > 0 || number == 0 {
        parts.push(italian_below(rest));
    }
    parts.join(" ")
}

/// Below a million, in one word.
fn italian_below(number: u64) -> String {
    let rest = |number: u64| match number {
        0 => String::new(),
        3 => "tré".to_owned(),
        _ => italian_below(number),
    };
    match number {
        0..20 => ITALIAN[number as usize].to_owned(),
        20..100 => {
            let (tens, ones) = (ITALIAN_TENS[(number / 10 - 2) as usize], number % 10);
            // Before a vowel the tens lose theirs.
            let tens = if matches!(ones, 1 | 8) { &tens[..tens.len() - 1] } else { tens };
            format!("{tens}{}", rest(ones))
        }
        100..200 => format!("cento{}", rest(number - 100)),
        200..1_000 => format!("{}cento{}", ITALIAN[(number / 100) as usize], rest(number % 100)),
        1_000..2_000 => format!("mille{}", rest(number - 1_000)),
        _ => format!("{}mila{}", italian_below(number / 1_000), rest(number % 1_000)),
    }
}

fn italian_ordinal(number: u64, ending: &str) -> String {
    const FIRST: [&str; 11] =
        ["zer", "prim", "second", "terz", "quart", "quint", "sest", "settim", "ottav", "non", "decim"];
    let ending = if ending.is_empty() { "o" } else { ending };
    let stem = match FIRST.get(number as usize) {
        Some(stem) => (*stem).to_owned(),
        None => {
            let text = italian(number).replace("tré", "tre");
            // Three and six keep their vowels.
            let keeps = text.ends_with("tre") || text.ends_with("sei") && number % 100 != 16 || text.ends_with("mila");
            let text = text.strip_suffix("mila").map(|before| format!("{before}mill")).unwrap_or(text);
            let cut = if keeps { text.len() } else { text.len() - 1 };
            format!("{}esim", text.get(..cut).unwrap_or(&text))
        }
    };
    format!("{stem}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: Language, number: u64, cardinal: &str, ordinal: &str) {
        assert_eq!(language.words(number, Case::Lower, None), cardinal);
        assert_eq!(language.words(number, Case::Lower, Some("")), ordinal);
    }

    #[test]
    fn numbers_read_as_in_german() {
        let check = |number, cardinal, ordinal| check(Language::German, number, cardinal, ordinal);
        check(1, "eins", "erste");
        check(3, "drei", "dritte");
        check(7, "sieben", "siebte");
        check(12, "zwölf", "zwölfte");
        check(20, "zwanzig", "zwanzigste");
        check(21, "einundzwanzig", "einundzwanzigste");
        check(101, "einhunderteins", "einhunderterste");
        check(1990, "eintausendneunhundertneunzig", "eintausendneunhundertneunzigste");
        check(2_000_000, "zwei Millionen", "zwei Millionste");
        assert_eq!(Language::German.words(1, Case::Title, Some("-er")), "Erster");
    }

    #[test]
    fn numbers_read_as_in_french() {
        let check = |number, cardinal, ordinal| check(Language::French, number, cardinal, ordinal);
        check(1, "un", "premier");
        check(2, "deux", "deuxième");
        check(5, "cinq", "cinquième");
        check(9, "neuf", "neuvième");
        check(21, "vingt et un", "vingt et unième");
        check(71, "soixante et onze", "soixante et onzième");
        check(80, "quatre-vingts", "quatre-vingtième");
        check(95, "quatre-vingt-quinze", "quatre-vingt-quinzième");
        check(200, "deux cents", "deux centième");
        check(1990, "mille neuf cent quatre-vingt-dix", "mille neuf cent quatre-vingt-dixième");
    }

    #[test]
    fn numbers_read_as_in_italian() {
        let check = |number, cardinal, ordinal| check(Language::Italian, number, cardinal, ordinal);
        check(5, "cinque", "quinto");
        check(21, "ventuno", "ventunesimo");
        check(23, "ventitré", "ventitreesimo");
        check(28, "ventotto", "ventottesimo");
        check(100, "cento", "centesimo");
        check(1990, "millenovecentonovanta", "millenovecentonovantesimo");
        check(2000, "duemila", "duemillesimo");
        assert_eq!(Language::Italian.words(5, Case::Title, Some("-a")), "Quinta");
    }

    #[test]
    fn no_number_is_too_large() {
        for language in [Language::German, Language::French, Language::Italian] {
            for number in (0..3_000).chain([1_000_000, 999_999_999_999, u64::MAX]) {
                for ordinal in [None, Some(""), Some("-x"), Some("-%é")] {
                    assert!(!language.words(number, Case::Title, ordinal).is_empty());
                }
            }
        }
    }
}
