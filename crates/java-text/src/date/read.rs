//! Reading by patterns.

use super::fields::Fields;
use super::{Class, Part, Pattern};
use crate::calendar::{MONTHS, WEEKDAYS};

/// No number has more digits where nothing says how many it has.
const MOST_DIGITS: usize = 9;

/// Years of two digits from this one on belong to the last century, where `SimpleDateFormat` looks at the clock.
const CENTURY: i64 = 70;

impl Pattern {
    /// Reads a text that is written by the pattern; `None` where it is not.
    pub fn read(&self, text: &str) -> Option<Fields> {
        let mut found = Fields::default();
        let rest = match self.class {
            Class::Simple => simple(&self.parts, text, &mut found)?,
            Class::Formatter => formatter(&self.parts, text, &mut found)?,
        };
        rest.is_empty().then_some(found)
    }
}

/// Reads as `SimpleDateFormat` does; gives what follows.
fn simple<'t>(parts: &[Part], text: &'t str, found: &mut Fields) -> Option<&'t str> {
    let mut rest = text;
    for (index, part) in parts.iter().enumerate() {
        let (letter, count) = match part {
            Part::Text(text) => {
                rest = rest.strip_prefix(text.as_str())?;
                continue;
            }
            Part::Field(letter, count) => (*letter, *count),
            Part::Optional(_) => continue,
        };
        match letter {
            'M' | 'L' if count >= 3 => found.month = Some(named(&mut rest, &MONTHS)? as i64 + 1),
            'E' => found.weekday = Some(named(&mut rest, &WEEKDAYS)? as u8),
            'a' => found.is_afternoon = Some(named(&mut rest, &["AM", "PM"])? == 1),
            'G' => found.is_before = named(&mut rest, &["AD", "BC"])? == 1,
            'z' | 'Z' | 'X' => found.zone = Some(zone(&mut rest)?),
            // A year of weeks is none without a week.
            'Y' => return None,
            _ => {
                // Numbers that touch each other have as many digits as letters; others as many as there are.
                let touches = matches!(parts.get(index + 1), Some(Part::Field(..)));
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                let digits = digits.min(if touches { count } else { MOST_DIGITS });
                let number = rest[..digits].parse().ok()?;
                rest = &rest[digits..];
                let is_short = letter == 'y' && digits == 2 && count <= 2;
                let century = if number < CENTURY { 2000 } else { 1900 };
                found.put(Class::Simple, letter, if is_short { number + century } else { number })?;
            }
        }
    }
    Some(rest)
}

/// Which of some names a text begins with, whole or by its first three letters, in any case.
fn named(rest: &mut &str, names: &[&str]) -> Option<usize> {
    for (index, name) in names.iter().enumerate() {
        for form in [name, name.get(..3).unwrap_or(name)] {
            if rest.get(..form.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(form)) {
                *rest = &rest[form.len()..];
                return Some(index);
            }
        }
    }
    None
}

/// Reads `UTC`, `GMT`, `Z`, `GMT+02:00`, `+0200` or `+02` at the beginning; gives the minutes ahead of UTC.
pub fn zone(rest: &mut &str) -> Option<i64> {
    let name = ["UTC", "GMT", "Z"].into_iter().find(|name| rest.starts_with(name)).unwrap_or("");
    let behind = &rest[name.len()..];
    let sign = match behind.as_bytes().first() {
        Some(b'+') if name != "Z" => 1,
        Some(b'-') if name != "Z" => -1,
        _ if !name.is_empty() => {
            *rest = behind;
            return Some(0);
        }
        _ => return None,
    };
    let two = |rest: &mut &str| {
        let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let number: i64 = rest[..digits].parse().ok()?;
        *rest = &rest[digits..];
        Some(number)
    };
    let mut digits = &behind[1..];
    let hours = two(&mut digits)?;
    digits = digits.strip_prefix(':').unwrap_or(digits);
    let minutes = two(&mut digits).unwrap_or(0);
    *rest = digits;
    Some(sign * (hours * 60 + minutes))
}

/// Reads as `DateTimeFormatter` does, strict; gives what follows.
fn formatter<'t>(parts: &[Part], text: &'t str, found: &mut Fields) -> Option<&'t str> {
    let mut rest = text;
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        at += 1;
        rest = match part {
            Part::Text(text) => rest.strip_prefix(text.as_str())?,
            Part::Field(letter, count) => field(*letter, *count, &parts[at..], rest, found)?,
            Part::Optional(length) => {
                let mut tried = found.clone();
                let behind = formatter(&parts[at..at + length], rest, &mut tried);
                at += length;
                match behind {
                    Some(behind) => {
                        *found = tried;
                        behind
                    }
                    None => rest,
                }
            }
        };
    }
    Some(rest)
}

fn field<'t>(letter: char, count: usize, behind: &[Part], text: &'t str, found: &mut Fields) -> Option<&'t str> {
    match (letter, count) {
        ('M' | 'L', 3..) => {
            let month = MONTHS.iter().position(|name| text.starts_with(&name[..shown(name, count)]))?;
            found.month = Some(month as i64 + 1);
            return Some(&text[shown(MONTHS[month], count)..]);
        }
        ('E', _) | ('e' | 'c', 3..) => {
            let day = WEEKDAYS.iter().position(|name| text.starts_with(&name[..shown(name, count)]))?;
            found.weekday = Some(day as u8);
            return Some(&text[shown(WEEKDAYS[day], count)..]);
        }
        ('a', _) => {
            let (half, rest) = text.split_at_checked(2)?;
            found.is_afternoon = Some(half == "PM");
            return ["AM", "PM"].contains(&half).then_some(rest);
        }
        ('G', 1..=3) => return text.strip_prefix("AD"),
        ('X' | 'x' | 'Z' | 'z' | 'O' | 'V', _) => return any_zone(text),
        _ => {}
    }
    // A field of any width leaves those behind it that have one what they need.
    let width = match (letter, count) {
        ('y' | 'u', 4..) | (_, 2..) | ('S', _) => count,
        _ => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            digits.checked_sub(reserved(behind))?.min(18)
        }
    };
    let (digits, rest) = text.split_at_checked(width)?;
    let number: i64 = digits.parse().ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()))?;
    let number = match letter {
        'y' | 'u' if count == 2 => 2000 + number,
        'S' => number * 10_i64.pow(9 - count as u32),
        _ => number,
    };
    found.put(Class::Formatter, letter, number)?;
    Some(rest)
}

/// How many bytes of a name are written.
fn shown(name: &str, count: usize) -> usize {
    match count {
        4 => name.len(),
        5 => 1,
        _ => 3,
    }
}

/// How many digits the fields of fixed width take that follow at once.
fn reserved(behind: &[Part]) -> usize {
    let widths = behind.iter().map_while(|part| match part {
        Part::Field('M' | 'L', 3..) => None,
        Part::Field('d' | 'M' | 'L' | 'H' | 'h' | 'k' | 'K' | 'm' | 's' | 'S' | 'y' | 'u' | 'D', count @ 2..) => {
            Some(*count)
        }
        _ => None,
    });
    widths.sum()
}

/// Steps over a time zone, which a local time takes no notice of.
fn any_zone(text: &str) -> Option<&str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | ':' | '/' | '_');
    let length = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '+' || first == '-');
    begins.then(|| &text[length..])
}
