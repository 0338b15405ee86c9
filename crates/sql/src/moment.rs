//! Days and times as Java's `java.sql` types write them.

use myelin_java_text::calendar::civil;

/// Days between 1970-01-01, where the count of the calendar begins, and 2000-01-01, where PostgreSQL's does.
const DAYS_TO_2000: i64 = 10_957;

const MICROS_A_DAY: i64 = 86_400_000_000;

/// The day that many days after 2000-01-01: `2026-11-21`.
pub(crate) fn date(days: i32) -> String {
    let (year, month, day) = civil(i64::from(days) + DAYS_TO_2000);
    show_date(year, month, day)
}

/// The moment that many microseconds after the start of 2000.
pub(crate) fn timestamp(micros: i64) -> String {
    let (year, month, day) = civil(micros.div_euclid(MICROS_A_DAY) + DAYS_TO_2000);
    let of_day = micros.rem_euclid(MICROS_A_DAY);
    let seconds = (of_day / 1_000_000) as u32;
    let time = [seconds / 3600, seconds / 60 % 60, seconds % 60];
    show_timestamp(&show_date(year, month, day), time, (of_day % 1_000_000) as u32)
}

/// The time of day that many microseconds after midnight, without parts of a second: `19:30:00`.
pub(crate) fn time(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `2026-11-21`.
pub(crate) fn show_date(year: i64, month: u8, day: u8) -> String {
    format!("{year:04}-{month:02}-{day:02}")
}

/// `2026-11-21 19:30:00.5`: at least one digit of a second, and none at the end that says nothing.
pub(crate) fn show_timestamp(date: &str, [hour, minute, second]: [u32; 3], micros: u32) -> String {
    let fraction = format!("{micros:06}");
    let fraction = fraction.trim_end_matches('0');
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    format!("{date} {hour:02}:{minute:02}:{second:02}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (days, expected) in [
            (0, "2000-01-01"),
            (59, "2000-02-29"),
            (60, "2000-03-01"),
            (-1, "1999-12-31"),
            (9_821, "2026-11-21"),
            (-36_524, "1900-01-01"),
        ] {
            assert_eq!(date(days), expected);
        }
    }

    #[test]
    fn moments_have_a_digit_of_a_second_at_least() {
        assert_eq!(timestamp(0), "2000-01-01 00:00:00.0");
        assert_eq!(timestamp(1_500_000), "2000-01-01 00:00:01.5");
        assert_eq!(timestamp(-1), "1999-12-31 23:59:59.999999");
        assert_eq!(time(19 * 3_600_000_000 + 30 * 60_000_000 + 999_999), "19:30:00");
    }
}
