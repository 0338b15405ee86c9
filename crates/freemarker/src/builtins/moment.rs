//! Built-ins of dates.

use crate::builtin::{Builtin, Input, Outcome, plain, with};
use crate::error::Trouble;
use crate::machine::Run;
use crate::moment::{Digits, Moment, Part};
use crate::value::{Value, expected};

pub(super) const MOMENT: &[Builtin] = &[
    with("date", 0, 1, |run, input| parsed(run, input, Part::Date)),
    with("time", 0, 1, |run, input| parsed(run, input, Part::Time)),
    with("datetime", 0, 1, |run, input| parsed(run, input, Part::Both)),
    plain("date_if_unknown", |_, input| known(input)),
    plain("time_if_unknown", |_, input| known(input)),
    plain("datetime_if_unknown", |_, input| known(input)),
    plain("iso_utc", |_, input| iso(input, true, Digits::None)),
    plain("iso_utc_ms", |_, input| iso(input, true, Digits::Some)),
    plain("iso_utc_nz", |_, input| iso(input, false, Digits::None)),
    plain("iso_utc_ms_nz", |_, input| iso(input, false, Digits::Some)),
    plain("iso_local", |_, input| iso(input, true, Digits::None)),
    plain("iso_local_ms", |_, input| iso(input, true, Digits::Some)),
    plain("iso_local_nz", |_, input| iso(input, false, Digits::None)),
    plain("iso_local_ms_nz", |_, input| iso(input, false, Digits::Some)),
];

fn parsed<'m>(run: &mut Run<'_, 'm>, input: &Input<'_, 'm>, part: Part) -> Outcome<'m> {
    if let Value::Moment(moment) = input.subject {
        let day = 86_400_000;
        let millis = match part {
            Part::Date => moment.millis - moment.millis.rem_euclid(day),
            Part::Time => moment.millis.rem_euclid(day),
            Part::Both => moment.millis,
        };
        return Ok(Some(Value::Moment(Moment { millis, part })));
    }
    let text = input.text(run)?;
    let pattern = input.argument(0, run)?;
    let set = match part {
        Part::Date => &run.formats.date,
        Part::Time => &run.formats.time,
        Part::Both => &run.formats.both,
    };
    let pattern = pattern.as_deref().or_else(|| (!set.is_empty()).then_some(set.as_str()));
    Moment::read(&text, pattern, part).map(|moment| Some(Value::Moment(moment))).map_err(Trouble::wrong)
}

fn moment(input: &Input<'_, '_>) -> Result<Moment, Trouble> {
    match &input.subject {
        Value::Moment(moment) => Ok(*moment),
        other => Err(expected("a date", other)),
    }
}

fn known<'m>(input: &Input<'_, 'm>) -> Outcome<'m> {
    moment(input).map(|moment| Some(Value::Moment(moment)))
}

fn iso<'m>(input: &Input<'_, 'm>, zone: bool, digits: Digits) -> Outcome<'m> {
    let moment = moment(input)?;
    Ok(Some(moment.iso(zone, digits).into()))
}
