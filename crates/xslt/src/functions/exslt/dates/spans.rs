//! Dates and durations calculated with each other.

use myelin_xpath::types::AtomicType as T;
use myelin_xpath::{Duration, Error, Moment, Value};

use super::{DATE, YEAR, function, now, read, show};
use crate::functions::{Call, Function};

pub(in crate::functions) const FUNCTIONS: &[Function] = &[
    function("seconds", 0, 1, seconds),
    function("add", 2, 2, |call| optional(call, add(&call.any_text(0), &call.any_text(1)))),
    function("add-duration", 2, 2, |call| optional(call, add_durations([call.any_text(0), call.any_text(1)]))),
    function("sum", 1, 1, sum),
    function("difference", 2, 2, |call| optional(call, difference(&call.any_text(0), &call.any_text(1)))),
    function("duration", 0, 1, |call| {
        let seconds = if call.count() == 0 { now(call)?.timeline() as f64 / 1e9 } else { call.any_number(0) };
        optional(call, duration(seconds))
    }),
];

/// The empty text for what cannot be calculated.
fn optional<'a>(call: &Call<'_, 'a>, text: Option<String>) -> Result<Value<'a>, Error> {
    call.built(text.unwrap_or_default())
}

/// A duration; a point without digits on one side is taken too, as libxslt does.
fn read_duration(text: &str) -> Option<Duration> {
    if let Some((before, behind)) = text.split_once('.') {
        let zero = |missing: bool| if missing { "0" } else { "" };
        let front = zero(!before.ends_with(|letter: char| letter.is_ascii_digit()));
        let back = zero(!behind.starts_with(|letter: char| letter.is_ascii_digit()));
        return Duration::parse(&format!("{before}{front}.{back}{behind}"), T::Duration);
    }
    Duration::parse(text, T::Duration)
}

fn show_duration(duration: Duration) -> String {
    match duration {
        Duration { months: 0, nanos: 0, .. } => "P0D".to_owned(),
        other => other.to_string(),
    }
}

/// Of a date the seconds since 1970 began, of a duration its seconds, where it has no months.
fn seconds<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = if call.count() == 0 { show(&now(call)?).into() } else { call.any_text(0) };
    let nanos = match (read(&text), read_duration(&text)) {
        (Some(moment), _) if YEAR.contains(&moment.kind) => Some(moment.timeline()),
        (None, Some(Duration { months: 0, nanos, .. })) => Some(nanos),
        _ => None,
    };
    Ok(Value::from(nanos.map_or(f64::NAN, |nanos| nanos as f64 / 1e9)))
}

/// The sum has at least what the date had, and more where the duration was finer; a time without a zone is given as
/// one in Greenwich, as libxslt does.
fn add(date: &str, duration: &str) -> Option<String> {
    let date = read(date).filter(|date| YEAR.contains(&date.kind))?;
    let sum = Moment { kind: T::DateTime, ..date }.plus(&read_duration(duration)?)?;
    let finest = if sum.nanos != 0 {
        T::DateTime
    } else if sum.day != 1 {
        T::Date
    } else if sum.month != 1 {
        T::GYearMonth
    } else {
        T::GYear
    };
    let rank = |kind: T| YEAR.iter().position(|known| *known == kind).unwrap_or(0);
    let kind = YEAR[rank(finest).min(rank(date.kind))];
    let zone = if kind == T::DateTime { sum.zone.or(Some(0)) } else { sum.zone };
    Some(show(&Moment { zone, ..sum.to_kind(kind) }))
}

/// The sum of durations; there is none where months and days would have different signs on the way.
fn add_durations<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Option<String> {
    let mut sum: Option<Duration> = None;
    for text in texts {
        let next = read_duration(text.as_ref())?;
        let (months, nanos) = match sum {
            Some(sum) => (sum.months.checked_add(next.months)?, sum.nanos.checked_add(next.nanos)?),
            None => (next.months, next.nanos),
        };
        if (months > 0 && nanos < 0) || (months < 0 && nanos > 0) {
            return None;
        }
        sum = Some(Duration { kind: T::Duration, months, nanos });
    }
    sum.map(show_duration)
}

fn sum<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let nodes = call.nodes(0)?;
    call.machine.step(nodes.len() as u64)?;
    optional(call, add_durations(nodes.into_iter().map(|node| node.string_value())))
}

/// From the first to the second, in days and seconds, or in months where one of them has no days.
fn difference(from: &str, to: &str) -> Option<String> {
    let read = |text| read(text).filter(|moment| YEAR.contains(&moment.kind));
    let (from, to) = (read(from)?, read(to)?);
    let both = |kinds: &[T]| kinds.contains(&from.kind) && kinds.contains(&to.kind);
    let (months, nanos) = if both(&[T::DateTime]) {
        (0, to.timeline() - from.timeline())
    } else if both(DATE) {
        (0, to.to_kind(T::Date).timeline() - from.to_kind(T::Date).timeline())
    } else {
        let in_months = both(&[T::DateTime, T::Date, T::GYearMonth]);
        let months = |moment: Moment| moment.year * 12 + if in_months { i64::from(moment.month) } else { 0 };
        (months(to) - months(from), 0)
    };
    Some(show_duration(Duration { kind: T::Duration, months, nanos }))
}

/// So many seconds, to the nearest nanosecond, as a duration of days and seconds.
fn duration(seconds: f64) -> Option<String> {
    // Days beyond this are more than libxslt counts, and far beyond what anybody means.
    const MOST: f64 = i32::MAX as f64 * 86_400.0;
    if !seconds.is_finite() || seconds.abs() > MOST {
        return None;
    }
    // The whole seconds apart, as a double does not have enough digits for nanoseconds of many.
    let nanos = seconds.trunc() as i128 * 1_000_000_000 + (seconds.fract() * 1e9).round() as i128;
    Some(show_duration(Duration { kind: T::Duration, months: 0, nanos }))
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{check, check_in};

    #[test]
    fn durations_are_added_to_dates() {
        let add = |date: &str, by: &str, expected: &str| check(&format!("date:add('{date}', '{by}')"), expected);
        add("2000-01-01T01:01:00Z", "PT59S", "2000-01-01T01:01:59Z");
        add("2000-02-29", "PT86400S", "2000-03-01");
        add("-0001-12-31T23:59:59", "PT1S", "0001-01-01T00:00:00Z");
        add("-0001", "-PT59S", "-0002-12-31T23:59:01Z");
        add("-0001", "P1Y", "0001");
        add("2000-01", "-P1D", "1999-12-31");
        add("1970-01-01T00:00:00-00:30", "-PT30S", "1969-12-31T23:59:30-00:30");
        add("2000-01-01", "rain", "");
        add("10:31:07", "PT60S", "");
    }

    #[test]
    fn durations_are_added() {
        let add = |one: &str, other: &str, sum: &str| check(&format!("date:add-duration('{one}', '{other}')"), sum);
        add("P1Y", "-P12M", "P0D");
        add("P1000Y11M30D", "-PT9S", "P1000Y11M29DT23H59M51S");
        add("PT23H59M0S", "PT61S", "P1DT1S");
        add("P11M", "-P12D", "");
        check_in("<d><t>PT1H10M</t><t>-PT30M</t><t>-PT30S</t></d>", "date:sum(//t)", "PT39M30S");
        check_in("<d><t>P1M</t><t>-P1D</t><t>P1D</t></d>", "date:sum(//t)", "");
        check_in("<d/>", "date:sum(//t)", "");
    }

    #[test]
    fn differences_are_as_fine_as_both_dates() {
        let check = |from: &str, to: &str, expected: &str| {
            check(&format!("date:difference('{from}', '{to}')"), expected);
        };
        check("2000", "1999", "-P1Y");
        check("1999", "2000-01", "P1Y");
        check("0002-05-05", "0001-01", "-P1Y4M");
        check("-0002-01-05", "0001-01-04", "P730D");
        check("0002", "-0001", "-P2Y");
        check("2000-01-01T05:00:03", "1980-01-01T04:03:02", "-P7305DT57M1S");
        check("2000-01-05T01:00:00+11:00", "2000-01-01T23:00:00-11:00", "-P2DT4H");
        check("2000", "", "");
    }

    #[test]
    fn seconds_become_durations_and_back() {
        check("date:duration(90061)", "P1DT1H1M1S");
        check("date:duration(3599.99999999999)", "PT1H");
        check("date:duration(9999999999999)", "P115740740DT17H46M39S");
        check("date:duration(-2999999999)", "-P34722DT5H19M59S");
        check("date:duration(1e25)", "");
        check("date:seconds('PT10H10M.5S')", "36600.5");
        check("date:seconds('PT10H10M5.S')", "36605");
        check("date:seconds('1970-01-01-11:00')", "39600");
        check("date:seconds('2001')", "978307200");
        check("date:seconds('-0001-01-01T00:00:00')", "-62167219200");
        check("date:seconds('P1Y')", "NaN");
        check("date:seconds('10:31:07')", "NaN");
    }
}
