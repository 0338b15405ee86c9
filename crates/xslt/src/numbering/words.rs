//! Numbers as English words.

/// Which letters of the words are capitals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    Upper,
    /// The first letter of each word but `and`.
    Title,
}

const ONES: [(&str, &str); 20] = [
    ("zero", "zeroth"),
    ("one", "first"),
    ("two", "second"),
    ("three", "third"),
    ("four", "fourth"),
    ("five", "fifth"),
    ("six", "sixth"),
    ("seven", "seventh"),
    ("eight", "eighth"),
    ("nine", "ninth"),
    ("ten", "tenth"),
    ("eleven", "eleventh"),
    ("twelve", "twelfth"),
    ("thirteen", "thirteenth"),
    ("fourteen", "fourteenth"),
    ("fifteen", "fifteenth"),
    ("sixteen", "sixteenth"),
    ("seventeen", "seventeenth"),
    ("eighteen", "eighteenth"),
    ("nineteen", "nineteenth"),
];

const TENS: [(&str, &str); 10] = [
    ("", ""),
    ("ten", "tenth"),
    ("twenty", "twentieth"),
    ("thirty", "thirtieth"),
    ("forty", "fortieth"),
    ("fifty", "fiftieth"),
    ("sixty", "sixtieth"),
    ("seventy", "seventieth"),
    ("eighty", "eightieth"),
    ("ninety", "ninetieth"),
];

const THOUSANDS: [(u64, &str); 6] = [
    (1_000_000_000_000_000_000, "quintillion"),
    (1_000_000_000_000_000, "quadrillion"),
    (1_000_000_000_000, "trillion"),
    (1_000_000_000, "billion"),
    (1_000_000, "million"),
    (1_000, "thousand"),
];

/// The number in words, `one hundred and twenty-three`; as an ordinal `one hundred and twenty-third`.
pub(super) fn write(number: u64, case: Case, ordinal: bool) -> String {
    let mut text = String::new();
    let mut rest = number;
    for (value, name) in THOUSANDS {
        if rest >= value {
            below_thousand(rest / value, false, &mut text);
            rest %= value;
            word(" ", name, &mut text);
            if rest == 0 && ordinal {
                text.push_str("th");
            }
        }
    }
    if !text.is_empty() && (1..100).contains(&rest) {
        text.push_str(" and");
    }
    if rest > 0 || number == 0 {
        below_thousand(rest, ordinal, &mut text);
    }
    match case {
        Case::Lower => text,
        Case::Upper => text.to_uppercase(),
        Case::Title => title(&text),
    }
}

fn word(separator: &str, word: &str, text: &mut String) {
    if !text.is_empty() {
        text.push_str(separator);
    }
    text.push_str(word);
}

fn below_thousand(number: u64, ordinal: bool, text: &mut String) {
    let choose =
        |(cardinal, nth): (&'static str, &'static str), last: bool| if last && ordinal { nth } else { cardinal };
    let (hundreds, rest) = (number / 100, number % 100);
    if hundreds > 0 {
        word(" ", ONES[hundreds as usize].0, text);
        word(" ", if ordinal && rest == 0 { "hundredth" } else { "hundred" }, text);
        if rest == 0 {
            return;
        }
        word(" ", "and", text);
    }
    if rest < 20 {
        return word(" ", choose(ONES[rest as usize], true), text);
    }
    word(" ", choose(TENS[(rest / 10) as usize], rest % 10 == 0), text);
    if rest % 10 != 0 {
        word("-", choose(ONES[(rest % 10) as usize], true), text);
    }
}

fn title(text: &str) -> String {
    let mut inside = false;
    let mut titled = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        let small = inside || text[at..].starts_with("and ");
        titled.push(if small { letter } else { letter.to_ascii_uppercase() });
        inside = letter.is_ascii_alphabetic();
    }
    titled
}

/// `st`, `nd`, `rd` or `th`, as it stands behind the digits of an ordinal.
pub(super) fn suffix(number: u64) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_in_english() {
        let check = |number: u64, cardinal: &str, ordinal: &str| {
            assert_eq!(write(number, Case::Lower, false), cardinal);
            assert_eq!(write(number, Case::Title, true), ordinal);
        };
        check(0, "zero", "Zeroth");
        check(12, "twelve", "Twelfth");
        check(20, "twenty", "Twentieth");
        check(123, "one hundred and twenty-three", "One Hundred and Twenty-Third");
        check(1990, "one thousand nine hundred and ninety", "One Thousand Nine Hundred and Ninetieth");
        check(2000, "two thousand", "Two Thousandth");
        check(2001, "two thousand and one", "Two Thousand and First");
        check(2_000_700, "two million seven hundred", "Two Million Seven Hundredth");
        assert_eq!(
            write(u64::MAX, Case::Upper, false).split(' ').take(2).collect::<Vec<_>>(),
            ["EIGHTEEN", "QUINTILLION"]
        );
    }

    #[test]
    fn ordinals_in_digits_have_their_endings() {
        let check = |number: u64, expected: &str| assert_eq!(suffix(number), expected, "{number}");
        check(1, "st");
        check(2, "nd");
        check(3, "rd");
        check(4, "th");
        check(11, "th");
        check(112, "th");
        check(121, "st");
    }
}
