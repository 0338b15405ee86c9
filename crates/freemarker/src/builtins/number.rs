//! Built-ins of numbers and booleans, and `?string`, which writes both and dates.

use crate::builtin::{Builtin, Input, Outcome, plain, with};
use crate::decimal::{Decimal, Pattern, Rounding};
use crate::error::Trouble;
use crate::machine::Run;
use crate::moment::{Moment, Part};
use crate::value::{Value, expected};

pub(super) const NUMBER: &[Builtin] = &[
    plain("c", |_, input| match &input.subject {
        Value::Number(number) => Ok(Some(number.to_string().into())),
        Value::Boolean(boolean) => Ok(Some(Value::text(if *boolean { "true" } else { "false" }))),
        other => Err(expected("a number or a boolean", other)),
    }),
    with("string", 0, 2, string),
    // As in FreeMarker, a half goes up, not away from zero.
    plain("round", |_, input| rounded(input, Rounding::HalfCeiling)),
    plain("floor", |_, input| rounded(input, Rounding::Floor)),
    plain("ceiling", |_, input| rounded(input, Rounding::Ceiling)),
    plain("abs", |_, input| Ok(Some(Value::Number(number(input)?.absolute())))),
    plain("int", |_, input| whole(input)),
    plain("short", |_, input| whole(input)),
    plain("byte", |_, input| whole(input)),
    plain("long", |_, input| match &input.subject {
        Value::Moment(moment) => Ok(Some(Value::Number(moment.millis.into()))),
        _ => whole(input),
    }),
    plain("float", |_, input| Ok(Some(Value::Number(number(input)?)))),
    plain("double", |_, input| Ok(Some(Value::Number(number(input)?)))),
    plain("is_nan", |_, input| number(input).map(|_| Some(Value::Boolean(false)))),
    plain("is_infinite", |_, input| number(input).map(|_| Some(Value::Boolean(false)))),
    plain("lower_abc", |_, input| letters(input, b'a')),
    plain("upper_abc", |_, input| letters(input, b'A')),
    plain("number_to_date", |_, input| moment(input, Part::Date)),
    plain("number_to_time", |_, input| moment(input, Part::Time)),
    plain("number_to_datetime", |_, input| moment(input, Part::Both)),
];

fn number(input: &Input<'_, '_>) -> Result<Decimal, Trouble> {
    match &input.subject {
        Value::Number(number) => Ok(*number),
        other => Err(expected("a number", other)),
    }
}

fn rounded<'m>(input: &Input<'_, 'm>, rounding: Rounding) -> Outcome<'m> {
    Ok(Some(Value::Number(number(input)?.rounded(rounding))))
}

fn integer(input: &Input<'_, '_>) -> Result<i64, Trouble> {
    number(input)?.as_integer().ok_or_else(|| Trouble::wrong("the number is too large here"))
}

fn whole<'m>(input: &Input<'_, 'm>) -> Outcome<'m> {
    Ok(Some(Value::Number(integer(input)?.into())))
}

fn moment<'m>(input: &Input<'_, 'm>, part: Part) -> Outcome<'m> {
    Ok(Some(Value::Moment(Moment { millis: integer(input)?, part })))
}

/// 1 is `a`, 26 is `z`, 27 is `aa`.
fn letters<'m>(input: &Input<'_, 'm>, first: u8) -> Outcome<'m> {
    let mut left = integer(input)?;
    if left < 1 {
        return Err(Trouble::wrong("letters are counted from 1"));
    }
    let mut out = Vec::new();
    while left > 0 {
        left -= 1;
        out.push(char::from(first + (left % 26) as u8));
        left /= 26;
    }
    Ok(Some(out.into_iter().rev().collect::<String>().into()))
}

/// A value as text, by a format.
fn string<'m>(run: &mut Run<'_, 'm>, input: &Input<'_, 'm>) -> Outcome<'m> {
    let format = input.argument(0, run)?;
    Ok(Some(match (&input.subject, format) {
        (Value::Boolean(boolean), Some(yes)) => {
            let no = input.needed(1, run)?;
            Value::Text(if *boolean { yes } else { no })
        }
        (Value::Boolean(boolean), None) => match &run.formats.boolean {
            Some(_) => Value::Text(run.text(&input.subject)?),
            None => Value::text(if *boolean { "true" } else { "false" }),
        },
        (Value::Number(number), Some(format)) => Pattern::parse(&format).map_err(Trouble::wrong)?.write(*number).into(),
        (Value::Moment(moment), Some(format)) => moment.write(&format).map_err(Trouble::wrong)?.into(),
        (_, None) => Value::Text(input.text(run)?),
        (other, Some(_)) => return Err(expected("a number, a boolean or a date", other)),
    }))
}
