//! Points in time: in milliseconds since 1970, in UTC, by Java's patterns and by ISO 8601.

mod reader;

use std::fmt::Write;

use myelin_xpath::calendar::{MONTHS, civil, days_from_civil};

use self::reader::Reader;

/// A point in time, in milliseconds since 1970 in UTC, and which parts of it count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The milliseconds.
    pub millis: i64,
    /// Which parts count.
    pub part: Part,
}

/// Which parts of a point in time count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The day.
    Date,
    /// The time of the day.
    Time,
    /// Both.
    Both,
}

/// Which digits stand behind the point of the seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digits {
    None,
    /// Those that are not zero.
    Some,
    All,
}

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const DAY: i64 = 86_400_000;

/// Years outside of these are no dates that anybody writes.
const YEARS: std::ops::RangeInclusive<i64> = -9999..=9999;

/// A point in time in its parts.
struct Fields {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    milli: i64,
    weekday: usize,
    day_of_year: i64,
}

impl Fields {
    fn of(millis: i64) -> Fields {
        let (days, rest) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
        let (year, month, day) = civil(days);
        Fields {
            year,
            month: month.into(),
            day: day.into(),
            hour: rest / 3_600_000,
            minute: rest / 60_000 % 60,
            second: rest / 1000 % 60,
            milli: rest % 1000,
            weekday: (days + 4).rem_euclid(7) as usize,
            day_of_year: days - days_from_civil(year, 1, 1) + 1,
        }
    }
}

impl Moment {
    /// Writes it by a pattern of Java's `SimpleDateFormat`, by `iso` or `xs` with their endings, or by the names
    /// `short`, `medium` and `long`; without any, as `medium`.
    ///
    /// Errors: a sentence that names the letter that is not offered.
    pub(crate) fn write(self, pattern: &str) -> Result<String, String> {
        match pattern {
            "" | "medium" | "medium_medium" => return self.by("MMM d, yyyy", ", ", "h:mm:ss a"),
            "short" | "short_short" => return self.by("M/d/yy", ", ", "h:mm a"),
            "long" | "long_long" => return self.by("MMMM d, yyyy", " at ", "h:mm:ss a z"),
            _ => {}
        }
        let mut words = pattern.split([' ', '_']);
        if matches!(words.next(), Some("iso" | "xs")) {
            let (mut zone, mut digits) = (true, Digits::Some);
            for word in words {
                match word {
                    "nz" => zone = false,
                    "ms" => digits = Digits::All,
                    "s" => digits = Digits::None,
                    "u" | "fz" | "" => {}
                    other => return Err(format!("{other:?} in the date format {pattern:?} is not offered")),
                }
            }
            return Ok(self.iso(zone, digits));
        }
        let mut out = String::new();
        self.put(pattern, &mut out)?;
        Ok(out)
    }

    fn by(self, date: &str, between: &str, time: &str) -> Result<String, String> {
        let mut out = String::new();
        if self.part != Part::Time {
            self.put(date, &mut out)?;
        }
        if self.part == Part::Both {
            out.push_str(between);
        }
        if self.part != Part::Date {
            self.put(time, &mut out)?;
        }
        Ok(out)
    }

    /// As ISO 8601 has it, in UTC.
    pub(crate) fn iso(self, zone: bool, digits: Digits) -> String {
        let fields = Fields::of(self.millis);
        let mut out = String::new();
        if self.part != Part::Time {
            let _ = write!(out, "{:04}-{:02}-{:02}", fields.year, fields.month, fields.day);
        }
        if self.part == Part::Both {
            out.push('T');
        }
        if self.part != Part::Date {
            let _ = write!(out, "{:02}:{:02}:{:02}", fields.hour, fields.minute, fields.second);
            let millis = format!(".{:03}", fields.milli);
            match digits {
                Digits::None => {}
                Digits::Some => out.push_str(millis.trim_end_matches('0').trim_end_matches('.')),
                Digits::All => out.push_str(&millis),
            }
            if zone {
                out.push('Z');
            }
        }
        out
    }

    fn put(self, pattern: &str, out: &mut String) -> Result<(), String> {
        let fields = Fields::of(self.millis);
        for piece in pieces(pattern)? {
            let (letter, width) = match piece {
                Piece::Literal(text) => {
                    out.push_str(&text);
                    continue;
                }
                Piece::Field(letter, width) => (letter, width),
            };
            let number = match letter {
                'y' | 'u' if width == 2 => fields.year.rem_euclid(100),
                'y' | 'u' => fields.year,
                'M' | 'L' if width >= 4 => {
                    out.push_str(MONTHS[fields.month as usize - 1]);
                    continue;
                }
                'M' | 'L' if width == 3 => {
                    out.push_str(&MONTHS[fields.month as usize - 1][..3]);
                    continue;
                }
                'M' | 'L' => fields.month,
                'd' => fields.day,
                'D' => fields.day_of_year,
                'H' => fields.hour,
                'k' => (fields.hour + 23) % 24 + 1,
                'K' => fields.hour % 12,
                'h' => (fields.hour + 11) % 12 + 1,
                'm' => fields.minute,
                's' => fields.second,
                'S' => fields.milli,
                'E' => {
                    let name = WEEKDAYS[fields.weekday];
                    out.push_str(if width >= 4 { name } else { &name[..3] });
                    continue;
                }
                'a' => {
                    out.push_str(if fields.hour < 12 { "AM" } else { "PM" });
                    continue;
                }
                'z' => {
                    out.push_str("UTC");
                    continue;
                }
                'Z' => {
                    out.push_str("+0000");
                    continue;
                }
                'X' => {
                    out.push('Z');
                    continue;
                }
                other => return Err(format!("the letter {other:?} of the date pattern {pattern:?} is not offered")),
            };
            let _ = write!(out, "{number:0width$}");
        }
        Ok(())
    }

    /// Reads a text by a pattern, or as ISO 8601 where there is none.
    ///
    /// Errors: a sentence.
    pub(crate) fn read(text: &str, pattern: Option<&str>, part: Part) -> Result<Moment, String> {
        let is_iso = |pattern: &str| pattern.starts_with("iso") || pattern.starts_with("xs");
        let millis = match pattern.filter(|pattern| !is_iso(pattern)) {
            Some(pattern) => Reader { rest: text }.by_pattern(pattern)?,
            None => Reader { rest: text }.iso(),
        };
        let millis = millis.ok_or_else(|| match pattern {
            Some(pattern) => format!("{text:?} is no date of the pattern {pattern:?}"),
            None => format!("{text:?} is no date as ISO 8601 has it; say its pattern"),
        })?;
        Ok(Moment { millis, part })
    }
}

/// A part of a pattern.
enum Piece {
    Literal(String),
    /// A letter, and how often it stands there.
    Field(char, usize),
}

fn pieces(pattern: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_ascii_alphabetic() {
            let mut width = 1;
            while letters.next_if_eq(&letter).is_some() {
                width += 1;
            }
            if width > 9 {
                return Err(format!("{pattern:?} is no date pattern"));
            }
            pieces.push(Piece::Field(letter, width));
            continue;
        }
        let mut text = String::new();
        if letter != '\'' {
            text.push(letter);
        } else if letters.next_if_eq(&'\'').is_some() {
            text.push('\'');
        } else {
            loop {
                match letters.next() {
                    Some('\'') if letters.next_if_eq(&'\'').is_some() => text.push('\''),
                    Some('\'') => break,
                    Some(inside) => text.push(inside),
                    None => return Err(format!("a quote of the date pattern {pattern:?} is not closed")),
                }
            }
        }
        pieces.push(Piece::Literal(text));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Moment = Moment { millis: 1_709_208_309_070, part: Part::Both };

    #[test]
    fn patterns_are_javas() {
        let check = |pattern: &str, expected: &str| assert_eq!(NOON.write(pattern).unwrap(), expected, "{pattern}");
        check("yyyy-MM-dd'T'HH:mm:ss.SSSX", "2024-02-29T12:05:09.070Z");
        check("EEEE, d MMM yy 'o''clock' h a", "Thursday, 29 Feb 24 o'clock 12 PM");
        check("", "Feb 29, 2024, 12:05:09 PM");
        check("short", "2/29/24, 12:05 PM");
        check("iso", "2024-02-29T12:05:09.07Z");
        check("D k K", "60 12 0");
        assert!(NOON.write("w").is_err() && NOON.write("'x").is_err());
    }

    #[test]
    fn what_is_written_is_read_again() {
        let check = |text: &str, pattern: Option<&str>, millis: i64| {
            assert_eq!(Moment::read(text, pattern, Part::Both).map(|moment| moment.millis), Ok(millis), "{text}");
        };
        check("2024-02-29T12:05:09.070Z", None, NOON.millis);
        check("2024-02-29T13:05:09.07+01:00", None, NOON.millis);
        check("1969-12-31", None, -DAY);
        check("00:00:01", None, 1000);
        check("29.2.2024 12:05", Some("dd.MM.yyyy HH:mm"), NOON.millis / 60_000 * 60_000);
        check("20240229", Some("yyyyMMdd"), NOON.millis / DAY * DAY);
        check("Feb 29, 24 12:05:09 PM", Some("MMM d, yy h:mm:ss a"), NOON.millis / 1000 * 1000);
        for text in ["", "2024", "2024-13", "x", "2024-02-29T", "24:00:00x"] {
            assert!(Moment::read(text, None, Part::Both).is_err(), "{text}");
        }
        assert!(Moment::read("2024", Some("yyyy-MM"), Part::Date).is_err());
    }
}
