//! Functions on dates, times and durations (Functions and Operators §8 and §9).

use crate::compare::zoned;
use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::types::AtomicType as T;
use crate::value::calendar::{DAY, SECOND};
use crate::value::{Atomic, Decimal, Duration, Moment, Value};

use Returns::Any;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("current-dateTime", 0, 0, Any, |call| current(call, T::DateTime)),
    Function::new("current-date", 0, 0, Any, |call| current(call, T::Date)),
    Function::new("current-time", 0, 0, Any, |call| current(call, T::Time)),
    Function::new("implicit-timezone", 0, 0, Any, |call| Ok(zone_value(now(call)?.zone.unwrap_or(0)))),
    Function::new("year-from-dateTime", 1, 1, Any, |call| of_moment(call, T::DateTime, |it| it.year.into())),
    Function::new("month-from-dateTime", 1, 1, Any, |call| {
        of_moment(call, T::DateTime, |it| i64::from(it.month).into())
    }),
    Function::new("day-from-dateTime", 1, 1, Any, |call| of_moment(call, T::DateTime, |it| i64::from(it.day).into())),
    Function::new("hours-from-dateTime", 1, 1, Any, |call| of_moment(call, T::DateTime, |it| it.clock().0.into())),
    Function::new("minutes-from-dateTime", 1, 1, Any, |call| of_moment(call, T::DateTime, |it| it.clock().1.into())),
    Function::new("seconds-from-dateTime", 1, 1, Any, |call| of_moment(call, T::DateTime, |it| seconds(it.clock().2))),
    Function::new("timezone-from-dateTime", 1, 1, Any, |call| zone_of(call, T::DateTime)),
    Function::new("year-from-date", 1, 1, Any, |call| of_moment(call, T::Date, |it| it.year.into())),
    Function::new("month-from-date", 1, 1, Any, |call| of_moment(call, T::Date, |it| i64::from(it.month).into())),
    Function::new("day-from-date", 1, 1, Any, |call| of_moment(call, T::Date, |it| i64::from(it.day).into())),
    Function::new("timezone-from-date", 1, 1, Any, |call| zone_of(call, T::Date)),
    Function::new("hours-from-time", 1, 1, Any, |call| of_moment(call, T::Time, |it| it.clock().0.into())),
    Function::new("minutes-from-time", 1, 1, Any, |call| of_moment(call, T::Time, |it| it.clock().1.into())),
    Function::new("seconds-from-time", 1, 1, Any, |call| of_moment(call, T::Time, |it| seconds(it.clock().2))),
    Function::new("timezone-from-time", 1, 1, Any, |call| zone_of(call, T::Time)),
    Function::new("years-from-duration", 1, 1, Any, |call| of_duration(call, |it| (it.months / 12).into())),
    Function::new("months-from-duration", 1, 1, Any, |call| of_duration(call, |it| (it.months % 12).into())),
    Function::new("days-from-duration", 1, 1, Any, |call| of_duration(call, |it| ((it.nanos / DAY) as i64).into())),
    Function::new("hours-from-duration", 1, 1, Any, |call| {
        of_duration(call, |it| ((it.nanos / (3600 * SECOND) % 24) as i64).into())
    }),
    Function::new("minutes-from-duration", 1, 1, Any, |call| {
        of_duration(call, |it| ((it.nanos / (60 * SECOND) % 60) as i64).into())
    }),
    Function::new("seconds-from-duration", 1, 1, Any, |call| of_duration(call, |it| seconds(it.nanos % (60 * SECOND)))),
    Function::new("dateTime", 2, 2, Any, date_time),
    Function::new("adjust-dateTime-to-timezone", 1, 2, Any, |call| adjusted(call, T::DateTime)),
    Function::new("adjust-date-to-timezone", 1, 2, Any, |call| adjusted(call, T::Date)),
    Function::new("adjust-time-to-timezone", 1, 2, Any, |call| adjusted(call, T::Time)),
];

fn now(call: &Call<'_, '_>) -> Result<Moment, Error> {
    call.run.context.now.ok_or_else(|| Error::value("XPDY0001", "nobody said what time it is"))
}

fn current<'a>(call: &Call<'_, 'a>, kind: T) -> Result<Value<'a>, Error> {
    Ok(Value::from(now(call)?.to_kind(kind)))
}

fn seconds(nanos: i128) -> Atomic<'static> {
    Atomic::from(Decimal::new(nanos, 9))
}

fn zone_value(minutes: i16) -> Value<'static> {
    let nanos = i128::from(minutes) * 60 * SECOND;
    Value::from(Duration { kind: T::DayTimeDuration, months: 0, nanos })
}

fn moment(call: &Call<'_, '_>, index: usize, kind: T) -> Result<Option<Moment>, Error> {
    Ok(match call.typed(index, kind)? {
        Some(Atomic::Moment(moment)) => Some(*moment),
        _ => None,
    })
}

fn of_moment<'a>(call: &Call<'_, 'a>, kind: T, part: fn(&Moment) -> Atomic<'static>) -> Result<Value<'a>, Error> {
    Ok(moment(call, 0, kind)?.map_or(Value::EMPTY, |moment| Value::from(part(&moment))))
}

fn zone_of<'a>(call: &Call<'_, 'a>, kind: T) -> Result<Value<'a>, Error> {
    Ok(moment(call, 0, kind)?.and_then(|moment| moment.zone).map_or(Value::EMPTY, zone_value))
}

fn of_duration<'a>(call: &Call<'_, 'a>, part: fn(&Duration) -> Atomic<'static>) -> Result<Value<'a>, Error> {
    match call.typed(0, T::Duration)? {
        Some(Atomic::Duration(duration)) => Ok(Value::from(part(&duration))),
        _ => Ok(Value::EMPTY),
    }
}

fn date_time<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (Some(date), Some(time)) = (moment(call, 0, T::Date)?, moment(call, 1, T::Time)?) else {
        return Ok(Value::EMPTY);
    };
    if date.zone.is_some() && time.zone.is_some() && date.zone != time.zone {
        return Err(Error::value("FORG0008", "the date and the time have different time zones"));
    }
    let zone = date.zone.or(time.zone);
    Ok(Value::from(Moment { kind: T::DateTime, nanos: time.nanos, zone, ..date }))
}

/// The same moment in another zone; without one given, in the zone of the evaluation; with an empty one, without.
fn adjusted<'a>(call: &Call<'_, 'a>, kind: T) -> Result<Value<'a>, Error> {
    let Some(moment) = moment(call, 0, kind)? else { return Ok(Value::EMPTY) };
    let zone = if call.count() == 1 {
        Some(zoned(&Moment { zone: None, ..moment }, call.run.context.now).zone.unwrap_or(0))
    } else {
        match call.typed(1, T::DayTimeDuration)? {
            Some(Atomic::Duration(offset)) => {
                let minutes = offset.nanos / (60 * SECOND);
                if offset.nanos % (60 * SECOND) != 0 || minutes.abs() > 14 * 60 {
                    return Err(Error::value("FODT0003", "a time zone is at most 14 hours, in whole minutes"));
                }
                Some(minutes as i16)
            }
            _ => None,
        }
    };
    match moment.in_zone(zone) {
        Some(moment) => Ok(Value::from(moment)),
        None => Err(Error::value("FODT0001", "the date is too far away")),
    }
}
