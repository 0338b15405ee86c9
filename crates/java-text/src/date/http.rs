//! Dates as HTTP writes them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::calendar::{MONTHS, days_from_civil, days_in};

/// Reads a time as HTTP writes it, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7); the two obsolete forms are none.
pub fn parse_http(text: &str) -> Option<SystemTime> {
    let mut parts = text.trim().split_once(", ")?.1.split(' ');
    let mut next = || parts.next();
    let (day, month, year, time) = (next()?, next()?, next()?, next()?);
    if next() != Some("GMT") {
        return None;
    }
    let month = MONTHS.iter().position(|name| &name[..3] == month)? as u8 + 1;
    let (year, day) = (digits(year, 4)?, digits(day, 2)? as u8);
    let [hour, minute, second] = time.split(':').map(|part| digits(part, 2)).collect::<Option<Vec<_>>>()?[..] else {
        return None;
    };
    // RFC 9110 allows for a leap second; there is none in the count since 1970.
    if !(1..=days_in(year, month)).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

/// The number of so many digits.
fn digits(text: &str, count: usize) -> Option<i64> {
    if text.len() != count || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
