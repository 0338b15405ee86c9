//! `parse-ietf-date()`: dates of mails and of HTTP (Functions and Operators §9.9.1).

use myelin_java_text::calendar::MONTHS;
use myelin_xpath::types::AtomicType as T;
use myelin_xpath::{Error, Moment, Value};

use super::{Call, Function};
use crate::numbering::DAYS;

pub(super) const FUNCTIONS: &[Function] = &[Function::own("parse-ietf-date", 1, 1, parse_ietf_date)];

fn parse_ietf_date<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(text) = call.optional_text(0)? else { return Ok(Value::EMPTY) };
    match Cursor(&text).date() {
        Some(moment) => Ok(Value::from(moment)),
        None => Err(Error::value("FORG0010", format!("{text:?} is no date such as Wed, 06 Jun 1994 07:29:35 GMT"))),
    }
}

/// Zones with names, in hours.
const ZONES: [(&str, i16); 11] = [
    ("UTC", 0),
    ("UT", 0),
    ("GMT", 0),
    ("EST", -5),
    ("EDT", -4),
    ("CST", -6),
    ("CDT", -5),
    ("MST", -7),
    ("MDT", -6),
    ("PST", -8),
    ("PDT", -7),
];

/// What has not been read yet.
struct Cursor<'t>(&'t str);

impl Cursor<'_> {
    fn date(mut self) -> Option<Moment> {
        self.space();
        if self.day_name().is_some() {
            self.sign(",");
            self.space().then_some(())?;
        }
        let (year, month, day, (clock, zone));
        if let Some(first) = self.month_name() {
            month = first;
            self.between()?;
            day = self.digits(1, 2)?.0;
            self.space().then_some(())?;
            (clock, zone) = self.time()?;
            self.space().then_some(())?;
            year = self.year()?;
        } else {
            day = self.digits(1, 2)?.0;
            self.between()?;
            month = self.month_name()?;
            self.between()?;
            year = self.year()?;
            self.space().then_some(())?;
            (clock, zone) = self.time()?;
        }
        self.space();
        let date = format!("{year:04}-{month:02}-{day:02}T{clock}");
        let moment = Moment::parse(&date, T::DateTime)?;
        self.0.is_empty().then_some(Moment { zone: Some(zone), ..moment })
    }

    fn space(&mut self) -> bool {
        let rest = self.0.trim_start_matches([' ', '\t', '\r', '\n']);
        let found = rest.len() < self.0.len();
        self.0 = rest;
        found
    }

    fn sign(&mut self, sign: &str) -> bool {
        let rest = self.0.strip_prefix(sign);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// White space, or a hyphen with or without it.
    fn between(&mut self) -> Option<()> {
        let space = self.space();
        let hyphen = self.sign("-");
        self.space();
        (space || hyphen).then_some(())
    }

    /// The word at the beginning if it is one of these, whole or by its first three letters.
    fn word(&mut self, words: &[&str], whole: bool) -> Option<usize> {
        let length = self.0.bytes().take_while(u8::is_ascii_alphabetic).count();
        let found = &self.0[..length];
        let is = |word: &&str| word.eq_ignore_ascii_case(found);
        let index = words.iter().position(|word| is(word) || (!whole && is(&&word[..3])))?;
        self.0 = &self.0[length..];
        Some(index)
    }

    fn day_name(&mut self) -> Option<usize> {
        self.word(&DAYS, false)
    }

    fn month_name(&mut self) -> Option<usize> {
        let index = self.word(&MONTHS.map(|month| &month[..3]), true)?;
        Some(index + 1)
    }

    /// A number of so many digits, and how many there were.
    fn digits(&mut self, least: usize, most: usize) -> Option<(i64, usize)> {
        let count = self.0.bytes().take_while(u8::is_ascii_digit).count();
        if count < least || count > most {
            return None;
        }
        let number = self.0[..count].parse().ok()?;
        self.0 = &self.0[count..];
        Some((number, count))
    }

    /// Two digits are a year of the 20th century.
    fn year(&mut self) -> Option<i64> {
        match self.digits(2, 4)? {
            (year, 2) => Some(1900 + year),
            (year, 4) => Some(year),
            _ => None,
        }
    }

    /// The clock as XML Schema writes it, and the zone in minutes; Greenwich where there is none.
    fn time(&mut self) -> Option<(String, i16)> {
        let hour = self.digits(1, 2)?.0;
        self.sign(":").then_some(())?;
        let minute = self.digits(2, 2)?.0;
        let second = if self.sign(":") { self.digits(2, 2)?.0 } else { 0 };
        let mut clock = format!("{hour:02}:{minute:02}:{second:02}");
        if self.sign(".") {
            let count = self.0.bytes().take_while(u8::is_ascii_digit).count();
            clock.push('.');
            clock.push_str(&self.0[..count]);
            self.0 = &self.0[count..];
        }
        let before = self.0;
        self.space();
        if let Some(zone) = self.zone()? {
            return Some((clock, zone));
        }
        self.0 = before;
        Some((clock, 0))
    }

    /// `GMT`, `-0500`, `+5:30 (IST)`; the inner `None`: no zone stands here.
    fn zone(&mut self) -> Option<Option<i16>> {
        let names = ZONES.map(|(name, _)| name);
        if let Some(index) = self.word(&names, true) {
            return Some(Some(ZONES[index].1 * 60));
        }
        let negative = self.sign("-");
        if !negative && !self.sign("+") {
            return Some(None);
        }
        let (number, count) = self.digits(1, 4)?;
        let (hours, minutes) = match count {
            1 | 2 if self.sign(":") => (number, self.digits(2, 2).map_or(0, |(minutes, _)| minutes)),
            1 | 2 => (number, 0),
            _ => (number / 100, number % 100),
        };
        let offset = i16::try_from(hours * 60 + minutes).ok().filter(|offset| *offset <= 14 * 60 && minutes < 60)?;
        let behind = self.0;
        self.space();
        if self.sign("(") {
            self.space();
            self.word(&names, true)?;
            self.space();
            self.sign(")").then_some(())?;
        } else {
            self.0 = behind;
        }
        Some(Some(if negative { -offset } else { offset }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, fails};

    #[test]
    fn dates_of_mails_are_read() {
        let check = |text: &str, expected: &str| check(&format!("parse-ietf-date('{text}')"), expected);
        check("Wed, 06 Jun 1994 07:29:35 GMT", "1994-06-06T07:29:35Z");
        check("wed 6-Jun-94 7:29", "1994-06-06T07:29:00Z");
        check(" Sunday, 20 Aug 2014 19:36:01.25 -0500 (EST) ", "2014-08-20T19:36:01.25-05:00");
        check("Aug 20 19:36:01 2014", "2014-08-20T19:36:01Z");
        check("20 Aug 2014 19:36EDT", "2014-08-20T19:36:00-04:00");
        check("20 Aug 2014 19:36 +5:30", "2014-08-20T19:36:00+05:30");
    }

    #[test]
    fn what_is_no_such_date_is_refused() {
        for text in [
            "",
            "2014-08-20",
            "Wed,20 Aug 2014 19:36",
            "32 Aug 2014 19:36",
            "20 Aug 214 19:36",
            "20 Aug 2014",
            "20 Aug 2014 19:36 XYZ",
        ] {
            fails(&format!("parse-ietf-date('{text}')"), "FORG0010");
        }
    }
}
