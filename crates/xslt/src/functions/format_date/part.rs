//! One component of a date as its marker wants it (Functions and Operators §9.8.4.2 to §9.8.4.6).

use myelin_xpath::Moment;

use super::Calendar;
use super::picture::Marker;
use crate::numbering::{Case, DigitPattern, Language, Style, zero_digit};

impl Marker {
    /// Writes the component of a moment that has it.
    pub(super) fn write(&self, moment: &Moment, language: Language, out: &mut String) {
        let (hour, minute, nanos) = moment.clock();
        let number = match self.component {
            'Y' => moment.year.unsigned_abs(),
            'M' => u64::from(moment.month),
            'D' => u64::from(moment.day),
            'd' => moment.day_in_year(),
            'F' => u64::from(moment.weekday()),
            'W' => moment.week_in_year(),
            'w' => moment.week_in_month(),
            'H' => hour.unsigned_abs(),
            'h' => ((hour + 11) % 12 + 1).unsigned_abs(),
            'm' => minute.unsigned_abs(),
            's' => (nanos / 1_000_000_000) as u64,
            'P' => return self.word(language.halves_and_eras().0[usize::from(hour >= 12)], out),
            'E' => return self.word(language.halves_and_eras().1[usize::from(moment.year > 0)], out),
            'C' => return self.word("Gregorian", out),
            'f' => return self.fraction((nanos % 1_000_000_000) as u64, out),
            _ => return self.zone(moment.zone, out),
        };
        match (self.component, self.case()) {
            ('M', Some(_)) => self.word(language.names().0[usize::from(moment.month - 1)], out),
            ('F', Some(_)) => self.word(language.names().1[usize::from(moment.weekday() - 1)], out),
            _ => self.number(number, language, out),
        }
    }

    /// How a name is written, where one is asked for.
    fn case(&self) -> Option<Case> {
        match self.presentation.as_str() {
            "n" => Some(Case::Lower),
            "N" => Some(Case::Upper),
            "Nn" => Some(Case::Title),
            _ => None,
        }
    }

    /// A name; where it is too long its first three letters, or as many as must be there.
    fn word(&self, name: &str, out: &mut String) {
        let (least, most) = self.width;
        let length = match most {
            Some(most) if name.chars().count() > most => least.unwrap_or(0).max(3).min(most),
            _ => name.chars().count(),
        };
        let short: String = name.chars().take(length).collect();
        match self.case() {
            Some(Case::Upper) => out.push_str(&short.to_uppercase()),
            Some(Case::Title) => out.push_str(&short),
            // There are no numbers for what is a name only.
            Some(Case::Lower) | None => out.push_str(&short.to_lowercase()),
        }
        out.extend(std::iter::repeat_n(' ', least.unwrap_or(0).saturating_sub(length)));
    }

    fn number(&self, number: u64, language: Language, out: &mut String) {
        let style = Style::parse(&self.presentation, None).ok().flatten().unwrap_or_else(Style::plain);
        let ordinal = (self.modifier == Some('o')).then_some("");
        let Style::Digits(pattern) = style else { return out.push_str(&style.write_in(language, number, ordinal)) };
        let (mut least, mut most) = self.width;
        let mut number = number;
        // More than one digit is a width, unless there is one already.
        if least.is_none() && most.is_none() && pattern.places() > 1 {
            (least, most) = (Some(pattern.least()), Some(pattern.places()));
        }
        // Only years are cut: all other numbers are as long as they are.
        if self.component == 'Y'
            && let Some(power) = most.filter(|most| *most > 1).and_then(|most| 10_u64.checked_pow(most as u32))
        {
            number %= power;
        }
        let least = least.unwrap_or(pattern.least());
        out.push_str(&Style::Digits(pattern.at_least(least)).write_in(language, number, ordinal));
    }

    /// Digits behind the point of the seconds; what is too long is cut. The pattern is that of whole numbers, seen
    /// from the point to the right.
    fn fraction(&self, nanos: u64, out: &mut String) {
        let mirrored: String = self.presentation.chars().rev().collect();
        let pattern = DigitPattern::parse(&mirrored).ok().flatten().unwrap_or(DigitPattern::new('0', 1));
        let (least, most) = match self.width {
            // A single digit stands for as many as there are.
            (None, None) if pattern.places() == 1 => (1, usize::MAX),
            (None, None) => (pattern.least(), pattern.places()),
            (least, most) => {
                (least.unwrap_or(0).max(pattern.least()), most.map_or(usize::MAX, |most| most.max(pattern.places())))
            }
        };
        let all = format!("{nanos:09}");
        let cut = all[..most.min(all.len())].trim_end_matches('0');
        let digits = format!("{cut:0<least$}");
        let reversed: String = digits.chars().rev().collect();
        out.extend(pattern.write(&reversed).chars().rev());
    }

    /// An offset from Greenwich.
    fn zone(&self, zone: Option<i16>, out: &mut String) {
        let lettered = self.component == 'Z' && self.presentation == "Z";
        let Some(minutes) = zone else { return out.extend(lettered.then_some('J')) };
        if self.component == 'z' {
            out.push_str("GMT");
        }
        if let Some(letter) = military(minutes).filter(|_| lettered) {
            return out.push(letter);
        }
        if self.modifier == Some('t') && minutes == 0 {
            return out.push('Z');
        }
        let zero = self.presentation.chars().find_map(zero_digit);
        // Names of zones, and what is no pattern of digits, become the usual form.
        let presentation = if zero.is_some() { self.presentation.as_str() } else { "01:01" };
        let zero = zero.unwrap_or('0');
        let digits = |text: &str| text.chars().filter(|letter| zero_digit(*letter).is_some()).count();
        let separator = presentation.find(|letter| zero_digit(letter).is_none());
        let (hours, rest) = presentation.split_at(separator.unwrap_or(presentation.len()));
        let write = |number: u16, least: usize| DigitPattern::new(zero, least).write(&number.to_string());
        let (hour, minute) = (minutes.unsigned_abs() / 60, minutes.unsigned_abs() % 60);
        out.push(if minutes < 0 { '-' } else { '+' });
        match (rest.chars().next(), digits(hours)) {
            (Some(separator), places) => {
                out.push_str(&write(hour, places));
                out.push(separator);
                out.push_str(&write(minute, 2));
            }
            (None, places @ 3..) => {
                out.push_str(&write(hour, places - 2));
                out.push_str(&write(minute, 2));
            }
            (None, places) => {
                out.push_str(&write(hour, places));
                if minute > 0 {
                    out.push(':');
                    out.push_str(&write(minute, 2));
                }
            }
        }
    }
}

/// The letter of a whole hour: `A` to `M` to the east, `N` to `Y` to the west, `Z` for Greenwich; `J` is for times
/// without a zone.
fn military(minutes: i16) -> Option<char> {
    let letter = match (minutes / 60, minutes % 60) {
        (0, 0) => b'Z',
        (hours @ 1..=9, 0) => b'A' + hours.unsigned_abs() as u8 - 1,
        (hours @ 10..=12, 0) => b'A' + hours.unsigned_abs() as u8,
        (hours @ -12..=-1, 0) => b'N' + hours.unsigned_abs() as u8 - 1,
        _ => return None,
    };
    Some(char::from(letter))
}
