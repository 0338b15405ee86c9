//! Dates written and read by the patterns of Java's `SimpleDateFormat`.

use myelin_java_text::date::{DateTime, Fields, Pattern, Time, Zone};
use myelin_xpath::Moment;
use myelin_xpath::types::AtomicType as T;

use super::{DAY, MONTH, TIME, YEAR, function, read, show};
use crate::functions::Function;

pub(in crate::functions) const FUNCTIONS: &[Function] = &[
    function("format-date", 2, 2, |call| {
        let formatted = read(&call.any_text(0)).map(|moment| write(&moment, &call.any_text(1)));
        call.built(formatted.unwrap_or_default())
    }),
    function("parse-date", 2, 2, |call| {
        call.built(parse(&call.any_text(0), &call.any_text(1)).map(|moment| show(&moment)).unwrap_or_default())
    }),
];

/// Writes what the moment has of the fields, and nothing for the others.
fn write(moment: &Moment, pattern: &str) -> String {
    let has = |kinds: &[T]| kinds.contains(&moment.kind);
    let (hour, minute, nanos) = moment.clock();
    let time = Time {
        hour: hour as u8,
        minute: minute as u8,
        second: (nanos / 1_000_000_000) as u8,
        nano: (nanos % 1_000_000_000) as u32,
    };
    let stamp = DateTime {
        year: has(YEAR).then_some(moment.year),
        month: has(MONTH).then_some(moment.month),
        day: has(DAY).then_some(moment.day),
        time: has(TIME).then_some(time),
        zone: moment.zone.map(Zone::Offset),
    };
    Pattern::lenient(pattern).write(&stamp).unwrap_or_default()
}

/// Reads a date; what was read says of which type it is.
fn parse(text: &str, pattern: &str) -> Option<Moment> {
    moment(&Pattern::lenient(pattern).read(text)?)
}

fn moment(fields: &Fields) -> Option<Moment> {
    let hour = fields.hour_of_day();
    let time = hour.is_some() || fields.minute.is_some() || fields.second.is_some();
    let kind = match (fields.year, fields.month, fields.day, time) {
        (Some(_), _, _, true) => T::DateTime,
        (Some(_), _, Some(_), false) => T::Date,
        (Some(_), Some(_), None, false) => T::GYearMonth,
        (Some(_), None, None, false) => T::GYear,
        (None, None, None, true) => T::Time,
        (None, Some(_), Some(_), false) => T::GMonthDay,
        (None, Some(_), None, false) => T::GMonth,
        (None, None, Some(_), false) => T::GDay,
        _ => return None,
    };
    let year = fields.proleptic_year().unwrap_or(1972);
    // Written and read again, so that what is no date is refused in one place.
    let text = format!(
        "{}{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}",
        if year < 0 { "-" } else { "" },
        year.unsigned_abs(),
        fields.month.unwrap_or(1),
        fields.day.unwrap_or(1),
        hour.unwrap_or(0),
        fields.minute.unwrap_or(0),
        fields.second.unwrap_or(0),
        fields.nano.unwrap_or(0),
    );
    let whole = Moment::parse(&text, T::DateTime)?;
    let zone = match fields.zone {
        Some(minutes) => Some(i16::try_from(minutes).ok().filter(|minutes| minutes.abs() <= 14 * 60)?),
        None => None,
    };
    Some(Moment { zone, ..whole.to_kind(kind) })
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::check;

    #[test]
    fn dates_are_written_by_patterns() {
        let date = "2003-07-09T15:04:05.123+02:00";
        let check =
            |pattern: &str, expected: &str| check(&format!("date:format-date('{date}', \"{pattern}\")"), expected);
        check("yyyy.MM.dd G 'at' HH:mm:ss", "2003.07.09 AD at 15:04:05");
        check("EEE, MMM d, ''yy", "Wed, Jul 9, '03");
        check("h:mm a, z", "3:04 PM, GMT+02:00");
        check("EEEE d MMMM, K k S Z", "Wednesday 9 July, 3 15 123 +0200");
        check("D F w W", "190 2 28 2");
    }

    #[test]
    fn what_a_date_does_not_have_is_left_out() {
        check("date:format-date('2003-07', 'yyyy/MM/dd HH')", "2003/07/ ");
        check("date:format-date('rain', 'yyyy')", "");
    }

    #[test]
    fn dates_are_read_by_patterns() {
        let check = |text: &str, pattern: &str, expected: &str| {
            check(&format!("date:parse-date('{text}', '{pattern}')"), expected);
        };
        check("09.07.2003", "dd.MM.yyyy", "2003-07-09");
        check("Jul 9, 2003 3:04 PM", "MMM d, yyyy h:mm a", "2003-07-09T15:04:00");
        check("20030709150405", "yyyyMMddHHmmss", "2003-07-09T15:04:05");
        check("15:04 GMT+02:00", "HH:mm z", "15:04:00+02:00");
        check("July 2003", "MMMM yyyy", "2003-07");
        check("7/9", "M/d", "--07-09");
        check("31.02.2003", "dd.MM.yyyy", "");
        check("2003-07-09", "dd.MM.yyyy", "");
    }
}
