//! EXSLT's dates and times: what is no date gives nothing or NaN, never an error.
//!
//! Dates are those of XML Schema 1.0, where no year 0 stands between -1 and 1.

mod patterns;
mod spans;

use myelin_java_text::calendar::MONTHS;
use myelin_xpath::types::AtomicType as T;
use myelin_xpath::{Error, Moment, Value};

use super::DATES;
use crate::functions::format_date::Calendar;
use crate::functions::function::Body;
use crate::functions::{Call, Function};
use crate::numbering::DAYS;

pub(in crate::functions) use patterns::FUNCTIONS as PATTERNS;
pub(in crate::functions) use spans::FUNCTIONS as SPANS;

const fn function(name: &'static str, least: u8, most: u8, run: Body) -> Function {
    Function { namespace: DATES, name, least, most, run }
}

/// Types that have a year, a month, a day, all of these, a time.
const YEAR: &[T] = &[T::DateTime, T::Date, T::GYearMonth, T::GYear];
const MONTH: &[T] = &[T::DateTime, T::Date, T::GYearMonth, T::GMonth, T::GMonthDay];
const DAY: &[T] = &[T::DateTime, T::Date, T::GMonthDay, T::GDay];
const DATE: &[T] = &[T::DateTime, T::Date];
const TIME: &[T] = &[T::DateTime, T::Time];

pub(in crate::functions) const FUNCTIONS: &[Function] = &[
    function("date-time", 0, 0, |call| call.built(show(&now(call)?))),
    function("date", 0, 1, |call| text(call, DATE, |moment| show(&moment.to_kind(T::Date)))),
    function("time", 0, 1, |call| text(call, TIME, |moment| show(&moment.to_kind(T::Time)))),
    function("year", 0, 1, |call| number(call, YEAR, |moment| written_year(moment.year) as f64)),
    function("leap-year", 0, 1, leap_year),
    function("month-in-year", 0, 1, |call| number(call, MONTH, |moment| moment.month.into())),
    function("month-name", 0, 1, |call| text(call, MONTH, |moment| month(moment).to_owned())),
    function("month-abbreviation", 0, 1, |call| text(call, MONTH, |moment| month(moment)[..3].to_owned())),
    function("week-in-year", 0, 1, |call| number(call, DATE, |moment| moment.week_in_year() as f64)),
    function("week-in-month", 0, 1, |call| number(call, DATE, week_in_month)),
    function("day-in-year", 0, 1, |call| number(call, DATE, |moment| moment.day_in_year() as f64)),
    function("day-in-month", 0, 1, |call| number(call, DAY, |moment| moment.day.into())),
    function("day-of-week-in-month", 0, 1, |call| number(call, DATE, |moment| ((moment.day - 1) / 7 + 1).into())),
    function("day-in-week", 0, 1, |call| number(call, DATE, |moment| (moment.weekday() % 7 + 1).into())),
    function("day-name", 0, 1, |call| text(call, DATE, |moment| day(moment).to_owned())),
    function("day-abbreviation", 0, 1, |call| text(call, DATE, |moment| day(moment)[..3].to_owned())),
    function("hour-in-day", 0, 1, |call| number(call, TIME, |moment| moment.clock().0 as f64)),
    function("minute-in-hour", 0, 1, |call| number(call, TIME, |moment| moment.clock().1 as f64)),
    function("second-in-minute", 0, 1, |call| number(call, TIME, |moment| moment.clock().2 as f64 / 1e9)),
];

fn now(call: &Call<'_, '_>) -> Result<Moment, Error> {
    call.machine.now().ok_or_else(|| Error::value("XPDY0001", "nobody said what time it is"))
}

/// The argument as a date or time of some type; without an argument now.
fn argument(call: &Call<'_, '_>) -> Result<Option<Moment>, Error> {
    if call.count() == 0 { now(call).map(Some) } else { Ok(read(&call.any_text(0))) }
}

/// Reads any of the types; `None`: it is none of them.
///
/// The year in front of 1 is written -1, and is 0 in a [`Moment`].
fn read(text: &str) -> Option<Moment> {
    const KINDS: [T; 8] = [T::DateTime, T::Date, T::GYearMonth, T::GYear, T::Time, T::GMonthDay, T::GMonth, T::GDay];
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let before = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let years = before.unwrap_or(text).bytes().take_while(u8::is_ascii_digit).count();
    let has_year = years >= 4;
    let shifted;
    let text = match before {
        Some(rest) if has_year && (years == 4 || !rest.starts_with('0')) => {
            let year = rest[..years].parse::<i64>().ok().filter(|year| *year > 0)?;
            let sign = if year > 1 { "-" } else { "" };
            shifted = format!("{sign}{:04}{}", year - 1, &rest[years..]);
            &shifted
        }
        _ if has_year && text.starts_with("0000") && years == 4 => return None,
        _ => text,
    };
    // The first edition of XML Schema wrote months as `--12--`.
    if let Some((month, zone)) = text.strip_prefix("--").and_then(|rest| rest.split_once("--")) {
        return Moment::parse(&format!("--{month}{zone}"), T::GMonth);
    }
    KINDS.into_iter().find_map(|kind| Moment::parse(text, kind))
}

/// The year as it is written: none is 0.
fn written_year(year: i64) -> i64 {
    if year > 0 { year } else { year - 1 }
}

/// A moment as it is written.
fn show(moment: &Moment) -> String {
    Moment { year: written_year(moment.year), ..*moment }.to_string()
}

fn number<'a>(call: &Call<'_, 'a>, kinds: &[T], part: fn(&Moment) -> f64) -> Result<Value<'a>, Error> {
    let moment = argument(call)?.filter(|moment| kinds.contains(&moment.kind));
    Ok(Value::from(moment.map_or(f64::NAN, |moment| part(&moment))))
}

fn text<'a>(call: &Call<'_, 'a>, kinds: &[T], part: fn(&Moment) -> String) -> Result<Value<'a>, Error> {
    let moment = argument(call)?.filter(|moment| kinds.contains(&moment.kind));
    call.built(moment.map_or_else(String::new, |moment| part(&moment)))
}

fn leap_year<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let moment = argument(call)?.filter(|moment| YEAR.contains(&moment.kind));
    Ok(match moment {
        Some(Moment { year, .. }) => Value::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)),
        None => Value::from(f64::NAN),
    })
}

fn month(moment: &Moment) -> &'static str {
    MONTHS[usize::from(moment.month - 1)]
}

fn day(moment: &Moment) -> &'static str {
    DAYS[usize::from(moment.weekday() - 1)]
}

/// Weeks begin on Monday, and the first one may have fewer than seven days.
fn week_in_month(moment: &Moment) -> f64 {
    let first = Moment { day: 1, ..*moment }.weekday();
    f64::from((moment.day + first - 2) / 7 + 1)
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::check;

    #[test]
    fn dates_are_taken_apart() {
        let date = "2001-02-28T10:31:07.25Z";
        let check = |function: &str, expected: &str| check(&format!("date:{function}('{date}')"), expected);
        check("year", "2001");
        check("leap-year", "false");
        check("month-in-year", "2");
        check("month-name", "February");
        check("month-abbreviation", "Feb");
        check("week-in-year", "9");
        check("week-in-month", "5");
        check("day-in-year", "59");
        check("day-in-month", "28");
        check("day-of-week-in-month", "4");
        check("day-in-week", "4");
        check("day-name", "Wednesday");
        check("day-abbreviation", "Wed");
        check("date", "2001-02-28Z");
        check("time", "10:31:07.25Z");
        check("hour-in-day", "10");
        check("minute-in-hour", "31");
        check("second-in-minute", "7.25");
    }

    #[test]
    fn what_a_type_does_not_have_is_nothing() {
        check("date:year('--02-28')", "NaN");
        check("date:month-name('--02')", "February");
        check("date:month-in-year('--02--Z')", "2");
        check("date:day-in-month('---28')", "28");
        check("date:time('2001-02-28')", "");
        check("date:hour-in-day('10:31:07')", "10");
        check("date:leap-year('rain')", "NaN");
        check("date:year('')", "NaN");
    }

    #[test]
    fn there_is_no_year_0() {
        check("date:year('-0001-12-31T23:59:59-05:00')", "-1");
        check("date:leap-year('-0001-12-31')", "true");
        check("date:day-in-week('-0005-02-29')", "5");
        check("date:date('-0005-02-29T00:00:00')", "-0005-02-29");
        check("date:year('0000')", "NaN");
        check("date:year('-10000-12-31')", "-10000");
    }

    #[test]
    fn without_an_argument_it_is_now() {
        check("date:date-time()", "2026-11-21T10:00:00Z");
        check("date:date()", "2026-11-21Z");
        check("date:year()", "2026");
        check("date:seconds()", "1795255200");
    }
}
