//! Numbers and times in certificates.

use std::time::{Duration, SystemTime};

use myelin_java_text::calendar::days_from_civil;

use super::super::der::{self, Damaged, Element};

/// Longer serial numbers are nobody's; the standard has twenty bytes.
const SERIAL_BYTES_MAX: usize = 64;

/// A whole number as it is encoded, in decimal.
pub(in crate::keys) fn decimal(encoded: &[u8]) -> Result<String, Damaged> {
    if encoded.is_empty() || encoded.len() > SERIAL_BYTES_MAX {
        return Err(Damaged("the serial number has no length that one has"));
    }
    let negative = encoded[0] & 0x80 != 0;
    let mut digits = encoded.to_vec();
    if negative {
        // Two's complement: all bits turned, and one more.
        let mut carry = true;
        for digit in digits.iter_mut().rev() {
            let (turned, over) = (!*digit).overflowing_add(u8::from(carry));
            *digit = turned;
            carry = over;
        }
    }
    let mut groups = Vec::new();
    loop {
        let mut remainder = 0u64;
        for digit in &mut digits {
            let value = remainder << 8 | u64::from(*digit);
            *digit = (value / 1_000_000_000) as u8;
            remainder = value % 1_000_000_000;
        }
        groups.push(remainder);
        if digits.iter().all(|&digit| digit == 0) {
            break;
        }
    }
    let mut text = String::from(if negative { "-" } else { "" });
    text += &groups.pop().unwrap_or_default().to_string();
    groups.iter().rev().for_each(|group| text += &format!("{group:09}"));
    Ok(text)
}

/// A time: `UTCTime` or `GeneralizedTime`, both to the second and in UTC.
///
/// Source: RFC 5280 §4.1.2.5.
pub(in crate::keys) fn time(element: Element<'_>) -> Result<SystemTime, Damaged> {
    const WRONG: Damaged = Damaged("a time is not one in UTC");
    let digits = element.content.strip_suffix(b"Z").ok_or(WRONG)?;
    let years = match (element.tag, digits.len()) {
        (der::UTC_TIME, 12) => 2,
        (der::GENERALIZED_TIME, 14) => 4,
        _ => return Err(WRONG),
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err(WRONG);
    }
    let number = |digits: &[u8]| digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
    let (year, rest) = digits.split_at(years);
    let year = match number(year) {
        year @ 0..50 if years == 2 => 2000 + year,
        year if years == 2 => 1900 + year,
        year => year,
    };
    let field = |at: usize| number(&rest[at * 2..][..2]);
    let (month, day, hour, minute, second) = (field(0), field(1), field(2), field(3), field(4));
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return Err(WRONG);
    }
    let seconds = ((days_from_civil(year, month as u8, day as u8) * 24 + hour) * 60 + minute) * 60 + second;
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let epoch = SystemTime::UNIX_EPOCH;
    if seconds < 0 { epoch.checked_sub(distance) } else { epoch.checked_add(distance) }.ok_or(WRONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_are_in_decimal() {
        let check = |encoded: &[u8], expected: &str| assert_eq!(decimal(encoded).as_deref(), Ok(expected));
        check(&[0], "0");
        check(&[0x7f], "127");
        check(&[0, 0x80], "128");
        check(&[0x80], "-128");
        check(&[0xff], "-1");
        check(&[0x3b, 0x9a, 0xca, 0x00], "1000000000");
        check(&[1, 0, 0, 0, 0, 0, 0, 0, 0], "18446744073709551616");
        assert!(decimal(&[]).is_err());
        assert!(decimal(&[1; 65]).is_err());
    }

    fn seconds(tag: u8, text: &str) -> Option<i64> {
        let time = time(Element { tag, content: text.as_bytes(), whole: &[] }).ok()?;
        Some(match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => after.as_secs() as i64,
            Err(before) => -(before.duration().as_secs() as i64),
        })
    }

    #[test]
    fn times_are_read() {
        assert_eq!(seconds(der::UTC_TIME, "700101000000Z"), Some(0));
        assert_eq!(seconds(der::UTC_TIME, "251121130203Z"), Some(1_763_730_123));
        assert_eq!(seconds(der::UTC_TIME, "500101000000Z"), Some(-631_152_000));
        assert_eq!(seconds(der::GENERALIZED_TIME, "20000229235959Z"), Some(951_868_799));
        assert_eq!(seconds(der::GENERALIZED_TIME, "99991231235959Z"), Some(253_402_300_799));
        for wrong in ["251121130203", "251321130203Z", "2511211302Z", "25112113020xZ", "251121130203+0100", ""] {
            assert_eq!(seconds(der::UTC_TIME, wrong), None, "{wrong}");
        }
    }
}
