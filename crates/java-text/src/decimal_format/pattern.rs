//! Patterns such as `#,##0.00;(#)`, as `DecimalFormat.applyPattern` reads them.

use super::{SubPattern, Symbols};
use crate::digits::DigitPattern;

/// Reads a pattern; gives its positive and its negative side.
///
/// Errors: a sentence about what contradicts itself in the pattern.
pub(super) fn parse(pattern: &str, symbols: &Symbols) -> Result<(SubPattern, SubPattern), String> {
    let (positive, rest) = side(pattern, symbols)?;
    let mut negative = positive.clone();
    negative.prefix.insert(0, symbols.minus_sign);
    if let Some(rest) = rest {
        let (other, rest) = side(rest, symbols)?;
        if rest.is_some() {
            return Err(format!("it has more than one {:?}", symbols.pattern_separator));
        }
        // All else is taken from the positive side; where both look the same, the sign must tell them apart.
        if (&other.prefix, &other.suffix) != (&positive.prefix, &positive.suffix) {
            (negative.prefix, negative.suffix) = (other.prefix, other.suffix);
        }
    }
    Ok((positive, negative))
}

/// What of a side has been read.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Prefix,
    Number,
    Suffix,
}

/// How many signs of the number there were, in the order in which they must come.
#[derive(Default)]
struct Count {
    /// `#` in front of the first zero.
    left: usize,
    zeros: usize,
    /// `#` behind the last zero.
    right: usize,
    /// How many of these stand before the point.
    point: Option<usize>,
    /// How many stand behind the last grouping separator before the point.
    group: Option<usize>,
}

/// Reads one side, and what stands behind the separator of the two.
fn side<'p>(pattern: &'p str, symbols: &Symbols) -> Result<(SubPattern, Option<&'p str>), String> {
    let mut count = Count::default();
    let mut phase = Phase::Prefix;
    let (mut prefix, mut suffix, mut shift) = (String::new(), String::new(), 0);
    let mut quoted = false;
    let mut rest = None;
    let mut letters = pattern.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\'' {
            // Two are one that is written.
            match letters.next_if(|(_, next)| *next == '\'') {
                Some(_) if phase == Phase::Prefix => prefix.push(letter),
                Some(_) => {
                    phase = Phase::Suffix;
                    suffix.push(letter);
                }
                None => quoted = !quoted,
            }
            continue;
        }
        if !quoted && letter == symbols.pattern_separator {
            rest = Some(&pattern[at + letter.len_utf8()..]);
            break;
        }
        let sign = !quoted
            && [symbols.digit, symbols.zero_digit, symbols.grouping_separator, symbols.decimal_separator]
                .contains(&letter);
        if sign {
            if phase == Phase::Suffix {
                return Err(format!("{letter:?} stands behind the number"));
            }
            phase = Phase::Number;
            count.add(letter, symbols)?;
            continue;
        }
        if !quoted && (letter == symbols.percent || letter == symbols.per_mille) {
            if shift > 0 {
                return Err("it has more than one percent or per mille sign".to_owned());
            }
            shift = if letter == symbols.percent { 2 } else { 3 };
        }
        if phase == Phase::Number {
            phase = Phase::Suffix;
        }
        if phase == Phase::Prefix { &mut prefix } else { &mut suffix }.push(letter);
    }
    let side = count.finish(symbols);
    Ok((SubPattern { prefix, suffix, shift, ..side }, rest))
}

impl Count {
    fn add(&mut self, letter: char, symbols: &Symbols) -> Result<(), String> {
        if letter == symbols.decimal_separator {
            if self.point.is_some() {
                return Err("it has more than one decimal separator".to_owned());
            }
            self.point = Some(self.total());
            return Ok(());
        }
        if letter == symbols.grouping_separator {
            if self.point.is_some() {
                return Err("a grouping separator stands behind the decimal separator".to_owned());
            }
            self.group = Some(0);
            return Ok(());
        }
        if self.point.is_none() {
            self.group = self.group.map(|group| group + 1);
        }
        if letter == symbols.digit {
            if self.zeros == 0 { self.left += 1 } else { self.right += 1 }
        } else if self.right > 0 {
            return Err(format!("{:?} stands between two {:?}", symbols.digit, symbols.zero_digit));
        } else {
            self.zeros += 1;
        }
        Ok(())
    }

    fn total(&self) -> usize {
        self.left + self.zeros + self.right
    }

    /// `#.##` has one digit before its point at least, and `.##` one behind it.
    fn finish(mut self, symbols: &Symbols) -> SubPattern {
        if let (0, true, Some(point)) = (self.zeros, self.left > 0, self.point) {
            let before = point.max(1);
            (self.right, self.left, self.zeros) = (self.left - before, before - 1, 1);
        }
        let total = self.total();
        let point = self.point.unwrap_or(total);
        // Where an optional digit stands right of the point and a zero left of none, there is no whole part to fill.
        let mut whole = DigitPattern::new(symbols.zero_digit, point.saturating_sub(self.left));
        whole.group_by(&symbols.grouping_separator.to_string(), self.group.unwrap_or(0));
        SubPattern {
            prefix: String::new(),
            suffix: String::new(),
            shift: 0,
            whole,
            least_fraction: (self.left + self.zeros).saturating_sub(point),
            most_fraction: total - point,
            fraction_groups: Vec::new(),
            exponent: None,
            bare_point: self.point.is_some_and(|point| point == 0 || point == total),
            to_even: false,
        }
    }
}
