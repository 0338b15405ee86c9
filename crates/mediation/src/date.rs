//! Dates as Java's `SimpleDateFormat` writes them, in UTC.

use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use myelin_xpath::Moment;
use myelin_xpath::calendar::MONTHS;
use myelin_xpath::types::AtomicType;

/// The pattern of Java's short date and time in the US locale, which `SYSTEM_DATE` has without an argument.
pub(crate) const SHORT: &str = "M/d/yy, h:mm a";

/// The names of the days, from the first of January of 1970 on.
pub(crate) const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// Writes a time by a pattern: letters are fields, text between apostrophes stands for itself.
///
/// A letter that is none of Java's is written as it is; a field is at most 32 digits wide.
pub(crate) fn format(time: SystemTime, pattern: &str) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let seconds = since.as_secs();
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let moment = Moment::at(i128::from(seconds) * 1_000_000_000, Some(0));
    let (year, month, day) = (moment.year.unsigned_abs(), u64::from(moment.month), u64::from(moment.day));
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        if letter == '\'' {
            rest = quoted(&rest[1..], &mut out);
            continue;
        }
        let width = rest.chars().take_while(|&next| next == letter).count();
        rest = &rest[width * letter.len_utf8()..];
        let width = width.min(32);
        let mut number = |value: u64| {
            // Writing into a string cannot fail.
            let _ = write!(out, "{value:0width$}");
        };
        match letter {
            'y' | 'Y' | 'u' if width == 2 => number(year % 100),
            'y' | 'Y' | 'u' => number(year),
            'M' | 'L' if width >= 4 => out.push_str(MONTHS[month as usize - 1]),
            'M' | 'L' if width == 3 => out.push_str(&MONTHS[month as usize - 1][..3]),
            'M' | 'L' => number(month),
            'd' => number(day),
            'H' => number(hour),
            'k' => number(if hour == 0 { 24 } else { hour }),
            'K' => number(hour % 12),
            'h' => number(if hour % 12 == 0 { 12 } else { hour % 12 }),
            'm' => number(minute),
            's' => number(second),
            'S' => number(u64::from(since.subsec_millis())),
            'a' => out.push_str(if hour < 12 { "AM" } else { "PM" }),
            'E' if width >= 4 => out.push_str(DAYS[(days % 7) as usize]),
            'E' => out.push_str(&DAYS[(days % 7) as usize][..3]),
            'z' => out.push_str("UTC"),
            'Z' => out.push_str("+0000"),
            'X' => out.push('Z'),
            other => out.extend(std::iter::repeat_n(other, width)),
        }
    }
    out
}

/// Reads a time as HTTP writes it, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7); the two obsolete forms are none.
pub(crate) fn parse_http(text: &str) -> Option<SystemTime> {
    let mut parts = text.trim().split_once(", ")?.1.split(' ');
    let mut next = || parts.next();
    let (day, month, year, time) = (next()?, next()?, next()?, next()?);
    if next() != Some("GMT") {
        return None;
    }
    let month = MONTHS.iter().position(|name| &name[..3] == month)? + 1;
    let moment = Moment::parse(&format!("{year}-{month:02}-{day}T{time}Z"), AtomicType::DateTime)?;
    let seconds = u64::try_from(moment.timeline() / 1_000_000_000).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Copies text up to the closing apostrophe; two in a row are one.
fn quoted<'a>(text: &'a str, out: &mut String) -> &'a str {
    let (inside, rest) = text.split_once('\'').unwrap_or((text, ""));
    out.push_str(if inside.is_empty() { "'" } else { inside });
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_java_s() {
        let time = UNIX_EPOCH + Duration::from_millis(1_795_235_677_176);
        let check = |pattern: &str, expected: &str| assert_eq!(format(time, pattern), expected);
        check(SHORT, "11/21/26, 4:34 AM");
        check("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "2026-11-21T04:34:37.176Z");
        check("EEE, d MMM yyyy", "Sat, 21 Nov 2026");
        check("EEEE MMMM", "Saturday November");
        check("''hh' o'", "'04 o");
        assert_eq!(format(UNIX_EPOCH + Duration::from_secs(951_782_400), "yyyy-MM-dd"), "2000-02-29");
    }

    #[test]
    fn times_of_http_are_read_in_their_one_form() {
        let seconds = |text: &str| Some(parse_http(text)?.duration_since(UNIX_EPOCH).unwrap().as_secs());
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        for wrong in
            ["", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT"]
        {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
