//! Dates read from texts.

use myelin_xpath::calendar::{MONTHS, days_from_civil};

use super::{DAY, Piece, WEEKDAYS, YEARS, pieces};

/// Reads a date from front to back.
pub(super) struct Reader<'a> {
    pub(super) rest: &'a str,
}

impl Reader<'_> {
    /// `Ok(None)` where the text is not of the pattern.
    pub(super) fn by_pattern(mut self, pattern: &str) -> Result<Option<i64>, String> {
        let (mut year, mut month, mut day, mut of_day, mut milli, mut zone) = (1970, 1, 1, [0; 3], 0, 0);
        let (mut afternoon, mut half) = (false, false);
        let pieces = pieces(pattern)?;
        for (index, piece) in pieces.iter().enumerate() {
            let Piece::Field(letter, width) = piece else {
                let Piece::Literal(text) = piece else { continue };
                let Some(rest) = self.rest.strip_prefix(text.as_str()) else { return Ok(None) };
                self.rest = rest;
                continue;
            };
            // Fields that touch each other have just their digits; others as many as there are.
            let touches = matches!(pieces.get(index + 1), Some(Piece::Field(..)));
            let most = if touches { *width } else { 9 };
            let place = match letter {
                'M' | 'L' if *width >= 3 => {
                    let Some(found) = self.name(&MONTHS) else { return Ok(None) };
                    month = found + 1;
                    continue;
                }
                'E' => {
                    if self.name(&WEEKDAYS).is_none() {
                        return Ok(None);
                    }
                    continue;
                }
                'a' => {
                    let Some(found) = self.name(&["AM", "PM"]) else { return Ok(None) };
                    (half, afternoon) = (true, found == 1);
                    continue;
                }
                'z' | 'Z' | 'X' => {
                    let Some(found) = self.zone() else { return Ok(None) };
                    zone = found;
                    continue;
                }
                'y' | 'u' => &mut year,
                'M' | 'L' => &mut month,
                'd' => &mut day,
                'H' | 'k' | 'h' | 'K' => &mut of_day[0],
                'm' => &mut of_day[1],
                's' => &mut of_day[2],
                'S' => &mut milli,
                other => return Err(format!("the letter {other:?} of the date pattern {pattern:?} is not offered")),
            };
            let Some((number, digits)) = self.number(most) else { return Ok(None) };
            *place = match letter {
                // As in Java, two digits are a year around this one's century.
                'y' | 'u' if digits == 2 && *width <= 2 => number + if number < 70 { 2000 } else { 1900 },
                _ => number,
            };
        }
        let mut hour = of_day[0];
        if half {
            hour = hour % 12 + if afternoon { 12 } else { 0 };
        }
        Ok(self.done(year, month, day, [hour, of_day[1], of_day[2], milli, zone]))
    }

    /// A date, a time, or both with a `T` or a blank between.
    pub(super) fn iso(mut self) -> Option<i64> {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        if self.rest.as_bytes().get(2) != Some(&b':') {
            let negative = self.take('-');
            year = self.number(4)?.0 * if negative { -1 } else { 1 };
            let dashes = self.take('-');
            month = self.number(2)?.0;
            if dashes && !self.take('-') {
                return None;
            }
            day = self.number(2)?.0;
            if self.rest.is_empty() {
                return self.done(year, month, day, [0; 5]);
            }
            if !self.take('T') && !self.take(' ') {
                return None;
            }
        }
        let hour = self.number(2)?.0;
        let colons = self.take(':');
        let minute = self.number(2)?.0;
        let second = if !colons || self.take(':') { self.number(2).map_or(0, |(second, _)| second) } else { 0 };
        let mut milli = 0;
        if self.take('.') || self.take(',') {
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            milli = format!("{:0<3}", &self.rest[..digits])[..3].parse().ok()?;
            self.rest = &self.rest[digits..];
        }
        let zone = if self.rest.is_empty() { 0 } else { self.zone()? };
        self.done(year, month, day, [hour, minute, second, milli, zone])
    }

    fn done(&self, year: i64, month: i64, day: i64, [hour, minute, second, milli, zone]: [i64; 5]) -> Option<i64> {
        if !self.rest.is_empty() || !YEARS.contains(&year) {
            return None;
        }
        // As in Java, a month behind the twelfth belongs to the next year, and a day behind the last to the next month.
        let year = year + (month - 1).div_euclid(12);
        let days = days_from_civil(year, ((month - 1).rem_euclid(12) + 1) as u8, 1) + day - 1;
        Some(days * DAY + (hour * 3600 + minute * 60 + second) * 1000 + milli - zone * 60_000)
    }

    fn take(&mut self, letter: char) -> bool {
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// A number of at most so many digits, and how many it has.
    fn number(&mut self, most: usize) -> Option<(i64, usize)> {
        let digits = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let number = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        Some((number, digits))
    }

    /// One of these names, or its first three letters.
    fn name(&mut self, names: &[&str]) -> Option<i64> {
        let starts = |name: &str| {
            let head = self.rest.get(..name.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(name)).then_some(name.len())
        };
        let found = names.iter().enumerate().find_map(|(index, name)| {
            let short = name.get(..3).unwrap_or(name);
            starts(name).or_else(|| starts(short)).map(|length| (index, length))
        });
        let (index, length) = found?;
        self.rest = &self.rest[length..];
        Some(index as i64)
    }

    /// How many minutes the time is ahead of UTC.
    fn zone(&mut self) -> Option<i64> {
        for name in ["UTC", "GMT", "Z"] {
            if let Some(rest) = self.rest.strip_prefix(name) {
                self.rest = rest;
                return Some(0);
            }
        }
        let sign = if self.take('+') { 1 } else { -i64::from(self.take('-')) };
        let hours = self.number(2).filter(|_| sign != 0)?.0;
        self.take(':');
        let minutes = self.number(2).map_or(0, |(minutes, _)| minutes);
        Some(sign * (hours * 60 + minutes))
    }
}
