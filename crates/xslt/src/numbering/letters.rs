//! Numbers written with letters: alphabets and Roman numerals.

/// Alphabets, in both cases where they have two.
const ALPHABETS: [&str; 9] = [
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ",
    "אבגדהוזחטיכלמנסעפצקרשת",
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
    "กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ",
];

/// Numbers that are characters of their own, by the one for 1; each goes on to 20.
const ENCLOSED: [char; 3] = ['①', '⑴', '⒈'];

/// The alphabet that goes on from a letter: from its first one, or from `i`, which stands for Roman numerals unless
/// `letter-value` says something else.
fn alphabet(first: char) -> Option<impl Iterator<Item = char> + Clone> {
    let all = ALPHABETS.into_iter().find(|letters| letters.starts_with(first));
    let from_i = ALPHABETS[..2].iter().copied().find(|letters| matches!(first, 'i' | 'I') && letters.contains(first));
    let letters = all.or(from_i)?;
    Some(letters.chars().skip_while(move |letter| *letter != first))
}

/// Whether an alphabet begins with this letter.
pub(super) fn begins_alphabet(letter: char) -> bool {
    alphabet(letter).is_some() || ENCLOSED.contains(&letter) || letter == '一'
}

/// 1 is the first letter, one above the last is the first letter twice; `None` for what has no letters, such as 0.
pub(super) fn write(number: u64, first: char) -> Option<String> {
    if ENCLOSED.contains(&first) {
        let behind = u32::try_from(number).ok().filter(|number| (1..=20).contains(number))? - 1;
        return char::from_u32(u32::from(first) + behind).map(String::from);
    }
    let letters: Vec<char> = alphabet(first)?.collect();
    let base = letters.len() as u64;
    let mut rest = number;
    let mut reversed = Vec::new();
    while rest > 0 {
        rest -= 1;
        reversed.push(letters[(rest % base) as usize]);
        rest /= base;
    }
    if reversed.is_empty() { None } else { Some(reversed.into_iter().rev().collect()) }
}

/// A number as it is written in Chinese characters, without a one before ten, a hundred and a thousand.
pub(super) fn chinese(number: u64) -> String {
    const DIGITS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];
    const UNITS: [(u64, char); 7] = [
        (1_0000_0000_0000_0000, '京'),
        (1_0000_0000_0000, '兆'),
        (1_0000_0000, '億'),
        (1_0000, '万'),
        (1_000, '千'),
        (100, '百'),
        (10, '十'),
    ];
    if number < 10 {
        return DIGITS[number as usize].to_string();
    }
    let (mut text, mut rest) = (String::new(), number);
    for (value, unit) in UNITS {
        let count = rest / value;
        if count > 0 {
            if count > 1 || value >= 1_0000 {
                text.push_str(&chinese(count));
            }
            text.push(unit);
        }
        rest %= value;
    }
    if rest > 0 {
        text.push(DIGITS[rest as usize]);
    }
    text
}

const NUMERALS: [(u64, &str); 13] = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
];

/// A Roman numeral; `None` for 0 and for numbers that would be rows of `M`.
pub(super) fn roman(number: u64) -> Option<String> {
    if number == 0 || number > 5000 {
        return None;
    }
    let mut rest = number;
    let mut text = String::new();
    for (value, numeral) in NUMERALS {
        while rest >= value {
            text.push_str(numeral);
            rest -= value;
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_with_two_behind_the_last() {
        let check = |number: u64, first: char, expected: &str| {
            assert_eq!(write(number, first).as_deref(), Some(expected));
        };
        check(1, 'a', "a");
        check(26, 'A', "Z");
        check(27, 'a', "aa");
        check(703, 'a', "aaa");
        check(25, 'α', "αα");
        check(2, 'i', "j");
        check(20, '①', "⑳");
        assert_eq!(write(21, '①'), None);
        assert_eq!(write(0, 'a'), None);
        assert_eq!(write(1, '?'), None);
    }

    #[test]
    fn roman_numerals_end_at_five_thousand() {
        let check = |number: u64, expected: Option<&str>| assert_eq!(roman(number).as_deref(), expected);
        check(1, Some("I"));
        check(1994, Some("MCMXCIV"));
        check(4444, Some("MMMMCDXLIV"));
        check(0, None);
        check(5001, None);
    }
}
