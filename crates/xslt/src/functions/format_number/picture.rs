//! Pictures of numbers (Functions and Operators §4.7.3 and §4.7.4).

use myelin_java_text::decimal_format::{DecimalFormat, SubPattern, Symbols};
use myelin_java_text::digits::DigitPattern;

/// Reads a picture.
///
/// Errors: a sentence about the rule of §4.7.3 that it breaks.
pub(super) fn parse(picture: &str, symbols: &Symbols) -> Result<DecimalFormat, String> {
    let mut sides = picture.split(symbols.pattern_separator);
    let (first, second, third) = (sides.next().unwrap_or(""), sides.next(), sides.next());
    if third.is_some() {
        return Err(format!("it has more than one {:?}", symbols.pattern_separator));
    }
    let positive = side(first, symbols)?;
    let negative = match second {
        Some(second) => side(second, symbols)?,
        None => SubPattern { prefix: format!("{}{}", symbols.minus_sign, positive.prefix), ..positive.clone() },
    };
    Ok(DecimalFormat { positive, negative })
}

fn side(picture: &str, symbols: &Symbols) -> Result<SubPattern, String> {
    let letters: Vec<char> = picture.chars().collect();
    let digit = |letter: char| letter == symbols.digit || is_zero(letter, symbols);
    let separator = |letter: char| letter == symbols.decimal_separator || letter == symbols.grouping_separator;
    let active = |letter: char| digit(letter) || separator(letter);
    let Some(first) = letters.iter().position(|letter| active(*letter)) else {
        return Err("it has no digit".to_owned());
    };
    let last = letters.iter().rposition(|letter| active(*letter)).unwrap_or(first);
    // The exponent separator means an exponent only where it stands between two active characters.
    let inside = &letters[first..=last];
    let exponent_at = inside.iter().position(|letter| *letter == symbols.exponent_separator && !active(*letter));
    let (mantissa, exponent) = match exponent_at {
        Some(at) => (&inside[..at], Some(&inside[at + 1..])),
        None => (inside, None),
    };
    if let Some(passive) = inside.iter().enumerate().find(|(at, letter)| !active(**letter) && Some(*at) != exponent_at)
    {
        return Err(format!("{:?} stands between the digits", passive.1));
    }
    let count = |sign: char| letters.iter().filter(|letter| **letter == sign).count();
    let shift = match (count(symbols.percent), count(symbols.per_mille)) {
        (0, 0) => 0,
        (1, 0) => 2,
        (0, 1) => 3,
        _ => return Err("it has more than one percent or per mille sign".to_owned()),
    };
    if shift > 0 && exponent.is_some() {
        return Err("it has both an exponent and a percent or per mille sign".to_owned());
    }
    let mut parts = mantissa.split(|letter| *letter == symbols.decimal_separator);
    let (whole, fraction) = (parts.next().unwrap_or(&[]), parts.next());
    if parts.next().is_some() {
        return Err("it has more than one decimal separator".to_owned());
    }
    if !mantissa.iter().any(|letter| digit(*letter)) {
        return Err("it has no digit".to_owned());
    }
    Ok(SubPattern {
        prefix: letters[..first].iter().collect(),
        suffix: letters[last + 1..].iter().collect(),
        shift,
        ..number(whole, fraction, exponent, symbols)?
    })
}

fn is_zero(letter: char, symbols: &Symbols) -> bool {
    (u32::from(symbols.zero_digit)..u32::from(symbols.zero_digit) + 10).contains(&u32::from(letter))
}

/// How many mandatory digits a part has, how many in all, and behind how many digits its separators stand.
fn places(part: &[char], symbols: &Symbols) -> Result<(usize, usize, Vec<usize>), String> {
    let (mut least, mut all, mut groups) = (0, 0, Vec::new());
    for letter in part {
        if *letter == symbols.grouping_separator {
            if groups.last() == Some(&all) {
                return Err("two grouping separators stand next to each other".to_owned());
            }
            groups.push(all);
        } else {
            all += 1;
            least += usize::from(is_zero(*letter, symbols));
        }
    }
    Ok((least, all, groups))
}

fn number(
    whole: &[char],
    fraction: Option<&[char]>,
    exponent: Option<&[char]>,
    symbols: &Symbols,
) -> Result<SubPattern, String> {
    let (mandatory, whole_places, groups) = places(whole, symbols)?;
    let (mut least_fraction, mut most_fraction, fraction_groups) = places(fraction.unwrap_or(&[]), symbols)?;
    if groups.last() == Some(&whole_places) || fraction_groups.first() == Some(&0) {
        return Err("a grouping separator stands next to the decimal separator or at an end".to_owned());
    }
    let optional = |letter: &char| *letter == symbols.digit;
    let zero = |letter: &char| is_zero(*letter, symbols);
    let behind_zero = |mut part: std::slice::Iter<'_, char>| part.any(zero) && part.any(optional);
    if behind_zero(whole.iter()) {
        return Err(format!("{:?} stands behind a mandatory digit", symbols.digit));
    }
    let mut digits = fraction.unwrap_or(&[]).iter();
    if digits.any(optional) && digits.any(zero) {
        return Err(format!("{:?} stands before a mandatory digit of the fraction", symbols.digit));
    }
    let exponent_digits = match exponent {
        Some(part) if part.is_empty() || !part.iter().all(zero) => {
            return Err("its exponent has something else than mandatory digits".to_owned());
        }
        other => other.map(<[char]>::len),
    };
    let mut least_whole = mandatory;
    if least_whole == 0 && most_fraction == 0 {
        if exponent_digits.is_some() {
            (least_fraction, most_fraction) = (1, 1);
        } else {
            least_whole = 1;
        }
    }
    if exponent_digits.is_some() && least_whole == 0 && whole.iter().any(optional) {
        least_whole = 1;
    }
    if least_whole == 0 && least_fraction == 0 {
        least_fraction = 1;
    }
    let groups = groups.into_iter().map(|before| (whole_places - before, symbols.grouping_separator.to_string()));
    Ok(SubPattern {
        prefix: String::new(),
        suffix: String::new(),
        shift: 0,
        whole: DigitPattern::new(symbols.zero_digit, least_whole).with_groups(groups.collect(), whole_places),
        least_fraction,
        most_fraction,
        fraction_groups,
        exponent: exponent_digits.map(|least| (least, mandatory)),
        bare_point: false,
        to_even: true,
    })
}
