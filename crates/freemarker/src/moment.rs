//! Points in time: in milliseconds since 1970, in UTC, by Java's patterns and by ISO 8601.

mod iso;

use myelin_java_text::date::{DateTime, Pattern, Zone};

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

const DAY: i64 = 86_400_000;

impl Moment {
    /// Writes it by a pattern of Java's `SimpleDateFormat`, by `iso` or `xs` with their endings, or by the names
    /// `short`, `medium` and `long`; without any, as `medium`.
    ///
    /// Errors: a sentence about what is wrong with the pattern.
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
        iso::write(self, zone, digits)
    }

    fn stamp(self) -> DateTime {
        DateTime { zone: Some(Zone::Utc), ..DateTime::of_millis(self.millis) }
    }

    fn put(self, pattern: &str, out: &mut String) -> Result<(), String> {
        out.push_str(&compiled(pattern)?.write(&self.stamp()).unwrap_or_default());
        Ok(())
    }

    /// Reads a text by a pattern, or as ISO 8601 where there is none.
    ///
    /// Errors: a sentence.
    pub(crate) fn read(text: &str, pattern: Option<&str>, part: Part) -> Result<Moment, String> {
        let is_iso = |pattern: &str| pattern.starts_with("iso") || pattern.starts_with("xs");
        let millis = match pattern.filter(|pattern| !is_iso(pattern)) {
            Some(pattern) => compiled(pattern)?.read(text).and_then(|fields| fields.lenient_millis()),
            None => iso::read(text),
        };
        let millis = millis.ok_or_else(|| match pattern {
            Some(pattern) => format!("{text:?} is no date of the pattern {pattern:?}"),
            None => format!("{text:?} is no date as ISO 8601 has it; say its pattern"),
        })?;
        Ok(Moment { millis, part })
    }
}

fn compiled(pattern: &str) -> Result<Pattern, String> {
    Pattern::simple(pattern).map_err(|what| format!("the date pattern {pattern:?}: {what}"))
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
        check("D k K w G", "60 12 0 9 AD");
        assert!(NOON.write("b").is_err() && NOON.write("'x").is_err());
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
        check("29 Feb 2024 13:05 GMT+01:00", Some("d MMM yyyy HH:mm z"), NOON.millis / 60_000 * 60_000);
        check("Feb 29, 24 12:05:09 PM", Some("MMM d, yy h:mm:ss a"), NOON.millis / 1000 * 1000);
        for text in ["", "2024", "2024-13", "x", "2024-02-29T", "24:00:00x"] {
            assert!(Moment::read(text, None, Part::Both).is_err(), "{text}");
        }
        assert!(Moment::read("2024", Some("yyyy-MM"), Part::Date).is_err());
    }
}
