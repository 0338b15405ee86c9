//! The proleptic Gregorian calendar (ISO 8601), for whoever writes or reads dates.

/// The names of the months, in English.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The names of the days of the week, in English.
pub const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// How many days the month from 1 to 12 has; year 0 is the one before year 1.
pub fn days_in(year: i64, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from the first of January of 1970 to this one; the year stays within some 10^15.
///
/// Years are counted from March on, so that the leap day is the last of a year.
pub fn days_from_civil(year: i64, month: u8, day: u8) -> i64 {
    let month = i64::from(month);
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month from 1 and day from 1, so many days after the first of January of 1970.
pub fn civil(days: i64) -> (i64, u8, u8) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (years + era * 400 + i64::from(month <= 2), month as u8, day as u8)
}

/// The day of the week, from 0 for Sunday, so many days after the first of January of 1970.
pub fn weekday(days: i64) -> u8 {
    (days + 4).rem_euclid(7) as u8
}

/// The year that a week counts to, and its number, as in the United States: weeks begin with Sunday, and the first one
/// has the first of January.
pub fn week(year: i64, month: u8, day: u8) -> (i64, i64) {
    let sunday = |days: i64| days - i64::from(weekday(days));
    let this = sunday(days_from_civil(year, month, day));
    if this == sunday(days_from_civil(year + 1, 1, 1)) {
        return (year + 1, 1);
    }
    (year, (this - sunday(days_from_civil(year, 1, 1))) / 7 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_the_same_in_both_directions() {
        for days in (-1_000_000..3_000_000).step_by(373) {
            let (year, month, day) = civil(days);
            assert_eq!(days_from_civil(year, month, day), days);
            assert!((1..=days_in(year, month)).contains(&day));
        }
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!((weekday(0), weekday(-4)), (4, 0));
        assert_eq!((week(2026, 12, 31), week(2026, 11, 21)), ((2027, 1), (2026, 47)));
        assert_eq!((days_in(2024, 2), days_in(1900, 2)), (29, 28));
    }
}
