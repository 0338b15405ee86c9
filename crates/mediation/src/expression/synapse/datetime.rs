//! Dates and times by patterns, as Java's `DateTimeFormatter` writes and reads them in English; there is no time zone.
//!
//! Source: `java.time.format.DateTimeFormatterBuilder.appendPattern`; strict in reading, smart in resolving.

use std::fmt::Write;

use myelin_xpath::calendar::{MONTHS, civil, days_from_civil as days, days_in};

use crate::date::DAYS;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    /// A letter, and how often it stands there.
    Field(char, usize),
    /// From here to the end of the optional part, so many parts behind.
    Optional(usize),
}

/// A date, a time or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Year, month from 1, day from 1.
    date: Option<(i64, u8, u8)>,
    /// Hour, minute, second and nanosecond.
    time: Option<(u32, u32, u32, u32)>,
}

const DAY_SECONDS: i64 = 86_400;

/// The last year that there is in Java.
const YEARS: i64 = 999_999_999;

impl Stamp {
    /// The moment so many milliseconds after the beginning of 1970, in UTC.
    pub(super) fn of_millis(millis: i64) -> Stamp {
        let (seconds, nanos) = (millis.div_euclid(1000), millis.rem_euclid(1000) as u32 * 1_000_000);
        let second = seconds.rem_euclid(DAY_SECONDS) as u32;
        Stamp {
            date: Some(civil(seconds.div_euclid(DAY_SECONDS))),
            time: Some((second / 3600, second / 60 % 60, second % 60, nanos)),
        }
    }
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// Errors: a sentence; its author's.
    pub(super) fn compile(pattern: &str) -> Result<Pattern, String> {
        let (mut parts, mut open, mut rest) = (Vec::new(), Vec::new(), pattern);
        while let Some(letter) = rest.chars().next() {
            let length = letter.len_utf8();
            match letter {
                'A'..='Z' | 'a'..='z' => {
                    let count = rest.chars().take_while(|&next| next == letter).count();
                    check(letter, count)?;
                    parts.push(Part::Field(letter, count));
                    rest = &rest[count..];
                    continue;
                }
                '\'' => {
                    let (text, behind) = quoted(&rest[1..]).ok_or("an apostrophe is not closed")?;
                    parts.push(Part::Text(text));
                    rest = behind;
                    continue;
                }
                '[' => {
                    open.push(parts.len());
                    parts.push(Part::Optional(0));
                }
                ']' => {
                    let start = open.pop().ok_or("a `]` closes nothing")?;
                    parts[start] = Part::Optional(parts.len() - start - 1);
                }
                '{' | '}' | '#' => return Err(format!("`{letter}` is reserved")),
                other => parts.push(Part::Text(other.to_string())),
            }
            rest = &rest[length..];
        }
        // What is not closed ends with the pattern.
        for start in open {
            parts[start] = Part::Optional(parts.len() - start - 1);
        }
        Ok(Pattern { parts })
    }

    /// Writes a date or time; `None` where it lacks what the pattern asks for.
    pub(super) fn format(&self, stamp: Stamp) -> Option<String> {
        let mut out = String::new();
        let mut at = 0;
        while let Some(part) = self.parts.get(at) {
            at += 1;
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Field(letter, count) => out.push_str(&field(stamp, *letter, *count)?),
                // An optional part of which something is missing is left out.
                Part::Optional(length) => {
                    let inside = Pattern { parts: self.parts[at..at + length].to_vec() };
                    out.push_str(&inside.format(stamp).unwrap_or_default());
                    at += length;
                }
            }
        }
        Some(out)
    }

    /// Reads a text that is written by the pattern; `None` where it is not.
    pub(super) fn parse(&self, text: &str) -> Option<Stamp> {
        let mut found = Fields::default();
        let rest = read(&self.parts, text, &mut found)?;
        if rest.is_empty() { found.resolve() } else { None }
    }
}

/// Which letters there are, and how often each may stand.
fn check(letter: char, count: usize) -> Result<(), String> {
    let most = match letter {
        'G' | 'M' | 'L' | 'E' | 'Q' | 'q' | 'X' | 'x' | 'Z' => 5,
        'u' | 'y' | 'Y' | 'A' | 'n' | 'N' => 19,
        'S' => 9,
        'd' | 'h' | 'H' | 'k' | 'K' | 'm' | 's' | 'w' => 2,
        'D' => 3,
        'a' | 'W' | 'F' => 1,
        'c' if count == 2 => return Err("`cc` is no letter of a pattern".to_owned()),
        'e' | 'c' => 5,
        'z' | 'O' => 4,
        'V' => 2,
        _ => return Err(format!("`{letter}` is no letter of a pattern; text stands between apostrophes")),
    };
    if count <= most { Ok(()) } else { Err(format!("too many letters `{letter}`: at most {most}")) }
}

/// The text up to the closing apostrophe, and what follows it; two apostrophes are one.
fn quoted(text: &str) -> Option<(String, &str)> {
    if let Some(behind) = text.strip_prefix('\'') {
        return Some(("'".to_owned(), behind));
    }
    let (mut inside, mut rest) = (String::new(), text);
    loop {
        let (part, behind) = rest.split_once('\'')?;
        inside.push_str(part);
        match behind.strip_prefix('\'') {
            Some(further) => {
                inside.push('\'');
                rest = further;
            }
            None => return Some((inside, behind)),
        }
    }
}

/// What a letter stands for.
fn field(stamp: Stamp, letter: char, count: usize) -> Option<String> {
    let number = |value: i64| Some(format!("{value:0count$}"));
    if let 'h' | 'H' | 'k' | 'K' | 'm' | 's' | 'S' | 'a' | 'A' | 'n' | 'N' = letter {
        let (hour, minute, second, nano) = stamp.time?;
        let of_day = i64::from(hour * 3600 + minute * 60 + second);
        return match letter {
            'H' => number(hour.into()),
            'k' => number(if hour == 0 { 24 } else { hour }.into()),
            'K' => number((hour % 12).into()),
            'h' => number(if hour % 12 == 0 { 12 } else { hour % 12 }.into()),
            'm' => number(minute.into()),
            's' => number(second.into()),
            'S' => Some(format!("{nano:09}")[..count].to_owned()),
            'a' => Some(if hour < 12 { "AM" } else { "PM" }.to_owned()),
            'A' => number(of_day * 1000 + i64::from(nano / 1_000_000)),
            'n' => number(nano.into()),
            _ => number(of_day * 1_000_000_000 + i64::from(nano)),
        };
    }
    let (year, month, day) = stamp.date?;
    let weekday = weekday(days(year, month, day));
    let name = |name: &str, count: usize| match count {
        4 => name.to_owned(),
        5 => name[..1].to_owned(),
        _ => name[..3].to_owned(),
    };
    let quarter = (month - 1) / 3 + 1;
    match letter {
        'G' if year > 0 => Some(["AD", "AD", "AD", "Anno Domini", "A"][count - 1].to_owned()),
        'G' => Some(["BC", "BC", "BC", "Before Christ", "B"][count - 1].to_owned()),
        'u' => written_year(year, count),
        'y' => written_year(if year > 0 { year } else { 1 - year }, count),
        'Y' => written_year(week(year, month, day).0, count),
        'w' => number(week(year, month, day).1),
        'W' => {
            let first = self::weekday(days(year, month, 1));
            Some(((i64::from(day) - 1 + first) / 7 + 1).to_string())
        }
        'M' | 'L' if count >= 3 => Some(name(MONTHS[month as usize - 1], count)),
        'M' | 'L' => number(month.into()),
        'd' => number(day.into()),
        'D' => number(days(year, month, day) - days(year, 1, 1) + 1),
        'F' => Some(((day - 1) % 7 + 1).to_string()),
        'Q' | 'q' => Some(match count {
            3 => format!("Q{quarter}"),
            4 => format!("{} quarter", ["1st", "2nd", "3rd", "4th"][quarter as usize - 1]),
            5 => quarter.to_string(),
            _ => return number(quarter.into()),
        }),
        // The week begins with Sunday.
        'e' | 'c' if count <= 2 => number(weekday + 1),
        'E' | 'e' | 'c' => Some(name(DAYS[(weekday as usize + 3) % 7], count)),
        // There is no time zone.
        _ => None,
    }
}

fn written_year(year: i64, count: usize) -> Option<String> {
    match count {
        2 => Some(format!("{:02}", year.rem_euclid(100))),
        _ => {
            let mut text = String::new();
            if count >= 4 && year >= 10_i64.checked_pow(count as u32).unwrap_or(i64::MAX) {
                text.push('+');
            }
            write!(text, "{year:0count$}").ok()?;
            Some(text)
        }
    }
}

/// What was read of a text.
#[derive(Clone, Debug, Default)]
struct Fields {
    year: Option<i64>,
    month: Option<u8>,
    day: Option<u8>,
    day_of_year: Option<u32>,
    /// From 0 for Sunday.
    weekday: Option<i64>,
    hour: Option<u32>,
    half_hour: Option<u32>,
    is_afternoon: Option<bool>,
    minute: Option<u32>,
    second: Option<u32>,
    nano: Option<u32>,
}

impl Fields {
    /// The date and time that the fields make; a day behind the end of its month is its last one.
    fn resolve(self) -> Option<Stamp> {
        let mut date = match (self.year, self.month, self.day, self.day_of_year) {
            (Some(year), Some(month @ 1..=12), Some(day @ 1..=31), _) => {
                Some((year, month, day.min(days_in(year, month))))
            }
            (Some(year), None, None, Some(day)) => {
                let first = days(year, 1, 1);
                let date = civil(first + i64::from(day) - 1);
                (day >= 1 && date.0 == year).then_some(date)
            }
            (_, Some(month), ..) if !(1..=12).contains(&month) => return None,
            (_, _, Some(day), _) if !(1..=31).contains(&day) => return None,
            _ => None,
        };
        let hour = match (self.hour, self.half_hour, self.is_afternoon) {
            (Some(hour), ..) => Some(hour),
            (None, Some(hour), Some(is_afternoon)) => Some(hour % 12 + if is_afternoon { 12 } else { 0 }),
            _ => None,
        };
        let is_other_day = |(year, month, day): (i64, u8, u8)| {
            self.weekday.is_some_and(|day_of_week| day_of_week != weekday(days(year, month, day)))
        };
        if date.is_some_and(is_other_day) {
            return None;
        }
        let (minute, second) = (self.minute.unwrap_or(0), self.second.unwrap_or(0));
        // The end of a day is the beginning of the next.
        let is_end = hour == Some(24) && (minute, second, self.nano.unwrap_or(0)) == (0, 0, 0);
        if is_end {
            date = date.map(|(year, month, day)| civil(days(year, month, day) + 1));
        }
        let hour = if is_end { Some(0) } else { hour };
        if hour.is_some_and(|hour| hour > 23) || minute > 59 || second > 59 {
            return None;
        }
        let has_gap =
            (self.minute.is_none() && self.second.is_some()) || (self.second.is_none() && self.nano.is_some());
        let time = hour.filter(|_| !has_gap).map(|hour| (hour, minute, second, self.nano.unwrap_or(0)));
        (date.is_some() || time.is_some()).then_some(Stamp { date, time })
    }
}

/// Reads what parts of a pattern stand for; gives what follows.
fn read<'t>(parts: &[Part], text: &'t str, found: &mut Fields) -> Option<&'t str> {
    let mut rest = text;
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        at += 1;
        rest = match part {
            Part::Text(text) => rest.strip_prefix(text.as_str())?,
            Part::Field(letter, count) => read_field(*letter, *count, &parts[at..], rest, found)?,
            Part::Optional(length) => {
                let mut tried = found.clone();
                let behind = read(&parts[at..at + length], rest, &mut tried);
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

fn read_field<'t>(letter: char, count: usize, behind: &[Part], text: &'t str, found: &mut Fields) -> Option<&'t str> {
    match (letter, count) {
        ('M' | 'L', 3..) => {
            let month = MONTHS.iter().position(|name| text.starts_with(&name[..shown(name, count)]))?;
            found.month = Some(month as u8 + 1);
            return Some(&text[shown(MONTHS[month], count)..]);
        }
        ('E', _) | ('e' | 'c', 3..) => {
            let day = DAYS.iter().position(|name| text.starts_with(&name[..shown(name, count)]))?;
            // The names begin with a Thursday.
            found.weekday = Some((day as i64 + 4) % 7);
            return Some(&text[shown(DAYS[day], count)..]);
        }
        ('a', _) => {
            let (half, rest) = text.split_at_checked(2)?;
            found.is_afternoon = Some(half == "PM");
            return ["AM", "PM"].contains(&half).then_some(rest);
        }
        ('G', 1..=3) => return text.strip_prefix("AD"),
        ('X' | 'x' | 'Z' | 'z' | 'O' | 'V', _) => return zone(text),
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
    let small = u32::try_from(number).ok();
    match letter {
        'y' | 'u' if count == 2 => found.year = Some(2000 + number),
        'y' | 'u' => found.year = Some(number).filter(|year| *year <= YEARS),
        'M' | 'L' => found.month = Some(u8::try_from(number).ok()?),
        'd' => found.day = Some(u8::try_from(number).ok()?),
        'D' => found.day_of_year = small,
        'H' => found.hour = small,
        'k' => found.hour = small.filter(|hour| (1..=24).contains(hour)).map(|hour| hour % 24),
        'h' => found.half_hour = small.filter(|hour| (1..=12).contains(hour)),
        'K' => found.half_hour = small.filter(|hour| *hour <= 11),
        'm' => found.minute = small,
        's' => found.second = small,
        'S' => found.nano = Some(small? * 10_u32.pow(9 - count as u32)),
        'n' => found.nano = small,
        // The others say nothing that the date does not say.
        _ => {}
    }
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
fn zone(text: &str) -> Option<&str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | ':' | '/' | '_');
    let length = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '+' || first == '-');
    begins.then(|| &text[length..])
}

/// From 0 for Sunday.
fn weekday(day: i64) -> i64 {
    (day + 4).rem_euclid(7)
}

/// The year that a week counts to, and its number: weeks begin with Sunday, and the first has the first of January.
fn week(year: i64, month: u8, day: u8) -> (i64, i64) {
    let sunday = |day: i64| day - weekday(day);
    let this = sunday(days(year, month, day));
    if this == sunday(days(year + 1, 1, 1)) {
        return (year + 1, 1);
    }
    (year, (this - sunday(days(year, 1, 1))) / 7 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of what Java 17 writes in the locale `en_US`.
    #[test]
    fn dates_are_written_as_java_does() {
        let stamp = Stamp::of_millis(1_795_235_677_076);
        let check = |pattern: &str, expected: &str| {
            assert_eq!(Pattern::compile(pattern).unwrap().format(stamp).as_deref(), Some(expected), "{pattern}");
        };
        check("yyyy-MM-dd'T'HH:mm:ss.SSS", "2026-11-21T04:34:37.076");
        check("dd/MM/yy h:mm a", "21/11/26 4:34 AM");
        check("EEE, d MMM uuuu", "Sat, 21 Nov 2026");
        check("EEEE MMMM EEEEE MMMMM", "Saturday November S N");
        check("D DDD", "325 325");
        check("Q QQ QQQ QQQQ", "4 04 Q4 4th quarter");
        check("YYYY w ww W e F", "2026 47 47 3 7 7");
        check("ee c ccc eeee QQQQQ yyy YY", "07 7 Sat Saturday 4 2026 26");
        check("k K KK n SSSSSSSSS A", "4 4 04 76000000 076000000 16477076");
        check("''yyyyyy' o''clock'", "'002026 o'clock");
        check("yyyy[-MM[ VV]]", "2026-11");
        assert_eq!(Pattern::compile("HH z").unwrap().format(stamp), None);
        let end = Stamp::of_millis(1_798_675_200_000);
        assert_eq!(Pattern::compile("yyyy-MM-dd YYYY-ww").unwrap().format(end).unwrap(), "2026-12-31 2027-01");
    }

    #[test]
    fn dates_are_read_as_java_does() {
        let check = |text: &str, from: &str, to: &str, expected: Option<&str>| {
            let stamp = Pattern::compile(from).unwrap().parse(text);
            let written = stamp.and_then(|stamp| Pattern::compile(to).unwrap().format(stamp));
            assert_eq!(written.as_deref(), expected, "{text} by {from}");
        };
        check("29/09/1988", "dd/MM/yyyy", "yyyy-MM-dd", Some("1988-09-29"));
        check("29-09-1988", "dd-MM-yyyy", "yyyy MMM dd", Some("1988 Sep 29"));
        check("11-22-33", "HH-mm-ss", "HH mm ss", Some("11 22 33"));
        check("50-22-33", "HH-mm-ss", "HH mm ss", None);
        check("20240229", "yyyyMMdd", "d.M.yy", Some("29.2.24"));
        check("20240229103015123", "yyyyMMddHHmmssSSS", "HH:mm:ss.SSS dd", Some("10:30:15.123 29"));
        check("2023-02-30", "yyyy-MM-dd", "MM-dd", Some("02-28"));
        check("2023-13-01", "yyyy-MM-dd", "MM-dd", None);
        check("2023-060", "yyyy-DDD", "MM-dd", Some("03-01"));
        check("3:05 PM", "h:mm a", "HH:mm", Some("15:05"));
        check("5 March 2024", "d MMMM yyyy", "yyyy-MM-dd", Some("2024-03-05"));
        check("2024-01-02T03:04:05Z", "yyyy-MM-dd'T'HH:mm:ssX", "HH:mm", Some("03:04"));
        check("2024-01-02T03:04:05+05:30", "yyyy-MM-dd'T'HH:mm:ssXXX", "HH:mm", Some("03:04"));
        check("2024-01-02", "yyyy-MM-dd['T'HH:mm]", "dd", Some("02"));
        check("2024-01-02", "yyyy-MM-dd", "HH", None);
        check("2024-01-02x", "yyyy-MM-dd", "dd", None);
        check("24-1-2", "yy-M-d", "yyyy-MM-dd", Some("2024-01-02"));
        check("122024", "dMyyyy", "d M", None);
        check("10:30", "mm:ss", "mm", None);
        check("2024-01-02 10", "yyyy-MM-dd HH", "dd HH:mm", Some("02 10:00"));
        check("Mon, 1 Jan 2024 10:00 GMT", "EEE, d MMM yyyy HH:mm z", "dd HH", Some("01 10"));
        check("Tue, 1 Jan 2024", "EEE, d MMM yyyy", "dd", None);
        check("2024-12-31 24:00", "yyyy-MM-dd HH:mm", "yyyy-MM-dd HH", Some("2025-01-01 00"));
        check("24:01", "HH:mm", "HH", None);
        check("1 jan 2024", "d MMM yyyy", "dd", None);
        check("12024", "yyyy", "y", None);
        check("123456789-02-30", "y-MM-dd", "y MM-dd", Some("123456789 02-28"));
        check("999999999999999999-02-30", "y-MM-dd", "y MM-dd", None);
    }

    #[test]
    fn a_pattern_that_is_none_is_refused() {
        for wrong in ["yyyy-MM-ddTHH", "aa", "MMMMMM", "'open", "a]", "{", "SSSSSSSSSS", "cc"] {
            assert!(Pattern::compile(wrong).is_err(), "{wrong}");
        }
    }
}
