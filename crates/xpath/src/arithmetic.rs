//! Operators that calculate (XPath 1.0 §3.5, Functions and Operators §4.2, §8.4, §9.7).

use crate::ast::Arithmetic;
use crate::environment::Version;
use crate::error::Error;
use crate::types::AtomicType as T;
use crate::value::cast::cast;
use crate::value::{Atomic, Decimal, Duration, Moment};

/// The result of an operator; `None` where later versions give nothing because an operand is empty.
///
/// Errors: `FOAR0001` for a division by zero, `FOAR0002` for what is too large, `XPTY0004` for operands of other types.
pub(crate) fn calculate<'a>(
    operator: Arithmetic,
    left: Option<Atomic<'a>>,
    right: Option<Atomic<'a>>,
    version: Version,
) -> Result<Option<Atomic<'a>>, Error> {
    let timed = |operand: &Option<Atomic<'_>>| matches!(operand, Some(Atomic::Moment(_) | Atomic::Duration(_)));
    if version == Version::V1 && !timed(&left) && !timed(&right) {
        let number = |operand: &Option<Atomic<'_>>| operand.as_ref().map_or(f64::NAN, Atomic::number);
        return doubles(operator, number(&left), number(&right)).map(Some);
    }
    let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
    let (left, right) = (known(left, version)?, known(right, version)?);
    if left.is_numeric() && right.is_numeric() {
        return numbers(operator, &left, &right).map(Some);
    }
    let refused = || {
        let (left, right) = (left.atomic_type(), right.atomic_type());
        Error::value("XPTY0004", format!("{left} and {right} cannot be calculated with each other so"))
    };
    times(operator, &left, &right)?.map(Some).ok_or_else(refused)
}

/// Unary minus.
pub(crate) fn negate(operand: Option<Atomic<'_>>, version: Version) -> Result<Option<Atomic<'_>>, Error> {
    if version == Version::V1 {
        return Ok(Some(Atomic::Double(-operand.map_or(f64::NAN, |operand| operand.number()))));
    }
    let Some(operand) = operand else { return Ok(None) };
    Ok(Some(match known(operand, version)? {
        Atomic::Double(number) => Atomic::Double(-number),
        Atomic::Float(number) => Atomic::Float(-number),
        Atomic::Decimal(number) => number.negated().into(),
        Atomic::Integer(number, _) => match number.checked_neg() {
            Some(number) => number.into(),
            None => Atomic::whole(Decimal::from(number).negated(), T::Integer),
        },
        Atomic::Large(number, _) => Atomic::whole(number.negated(), T::Integer),
        other => return Err(no_number(&other)),
    }))
}

/// Unary plus.
pub(crate) fn plus(operand: Option<Atomic<'_>>, version: Version) -> Result<Option<Atomic<'_>>, Error> {
    if version == Version::V1 {
        return Ok(Some(Atomic::Double(operand.map_or(f64::NAN, |operand| operand.number()))));
    }
    let Some(operand) = operand else { return Ok(None) };
    match known(operand, version)? {
        operand if operand.is_numeric() => Ok(Some(operand)),
        other => Err(no_number(&other)),
    }
}

fn no_number(atomic: &Atomic<'_>) -> Error {
    Error::value("XPTY0004", format!("a number is wanted here, and there is {}", atomic.atomic_type()))
}

fn overflow() -> Error {
    Error::value("FOAR0002", "the result is too large")
}

fn division_by_zero() -> Error {
    Error::value("FOAR0001", "division by zero")
}

/// A value of a type unknown is read as a double.
fn known(atomic: Atomic<'_>, version: Version) -> Result<Atomic<'_>, Error> {
    if atomic.atomic_type() == T::Untyped { cast(atomic, T::Double, version) } else { Ok(atomic) }
}

/// The result of an operator on two doubles, as version 1 has it.
pub(crate) fn doubles(operator: Arithmetic, left: f64, right: f64) -> Result<Atomic<'static>, Error> {
    Ok(Atomic::Double(match operator {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide => left / right,
        // The remainder has the sign of the left side (§3.5), as Rust's has.
        Arithmetic::Modulo => left % right,
        Arithmetic::IntegerDivide => return whole_quotient(left, right),
    }))
}

fn whole_quotient(left: f64, right: f64) -> Result<Atomic<'static>, Error> {
    if right == 0.0 {
        return Err(division_by_zero());
    }
    let quotient = (left / right).trunc();
    if quotient.is_nan() || left.is_infinite() {
        return Err(overflow());
    }
    if quotient.abs() < i64::MAX as f64 {
        return Ok((quotient as i64).into());
    }
    Decimal::from_double(quotient).map(|quotient| Atomic::whole(quotient, T::Integer)).ok_or_else(overflow)
}

/// Numbers become the widest type of the two: double, float, decimal, integer.
fn numbers(operator: Arithmetic, left: &Atomic<'_>, right: &Atomic<'_>) -> Result<Atomic<'static>, Error> {
    if let (Atomic::Integer(left, _), Atomic::Integer(right, _)) = (left, right) {
        return integers(operator, *left, *right);
    }
    if left.is_integer()
        && right.is_integer()
        && let (Some(left), Some(right)) = (left.as_decimal(), right.as_decimal())
    {
        return large(operator, left, right);
    }
    if let (Some(left), Some(right)) = (left.as_decimal(), right.as_decimal()) {
        return decimals(operator, left, right);
    }
    let double = |atomic: &Atomic<'_>| atomic.as_double().unwrap_or(f64::NAN);
    let result = doubles(operator, double(left), double(right))?;
    let wide = matches!(left, Atomic::Double(_)) || matches!(right, Atomic::Double(_));
    Ok(match result {
        // Calculated in double and rounded once, which gives the same as calculating in float.
        Atomic::Double(number) if !wide => Atomic::Float(number as f32),
        other => other,
    })
}

fn integers(operator: Arithmetic, left: i64, right: i64) -> Result<Atomic<'static>, Error> {
    let result = match operator {
        Arithmetic::Add => left.checked_add(right),
        Arithmetic::Subtract => left.checked_sub(right),
        Arithmetic::Multiply => left.checked_mul(right),
        Arithmetic::Divide => return decimals(operator, left.into(), right.into()),
        _ if right == 0 => return Err(division_by_zero()),
        Arithmetic::IntegerDivide => left.checked_div(right),
        // The smallest number by minus one leaves nothing, though its quotient is too large.
        Arithmetic::Modulo => Some(left.checked_rem(right).unwrap_or(0)),
    };
    match result {
        Some(result) => Ok(result.into()),
        None => large(operator, left.into(), right.into()),
    }
}

/// Integers that do not fit into 64 bits, or whose result does not.
fn large(operator: Arithmetic, left: Decimal, right: Decimal) -> Result<Atomic<'static>, Error> {
    let result = decimals(operator, left, right)?;
    Ok(match (operator, result) {
        (Arithmetic::Divide, result) => result,
        (_, Atomic::Decimal(whole)) => Atomic::whole(*whole, T::Integer),
        (_, result) => result,
    })
}

fn decimals(operator: Arithmetic, left: Decimal, right: Decimal) -> Result<Atomic<'static>, Error> {
    let divides = matches!(operator, Arithmetic::Divide | Arithmetic::IntegerDivide | Arithmetic::Modulo);
    if divides && right.signum() == 0 {
        return Err(division_by_zero());
    }
    let result = match operator {
        Arithmetic::Add => left.plus(right),
        Arithmetic::Subtract => left.minus(right),
        Arithmetic::Multiply => left.multiply(right),
        Arithmetic::Divide => left.divide(right),
        Arithmetic::Modulo => left.remainder(right),
        Arithmetic::IntegerDivide => {
            let quotient = left.divide(right).map(Decimal::truncated);
            return quotient.map(|quotient| Atomic::whole(quotient, T::Integer)).ok_or_else(overflow);
        }
    };
    result.map(Atomic::from).ok_or_else(overflow)
}

/// Dates, times and durations; `None`: these types do not go together.
fn times(operator: Arithmetic, left: &Atomic<'_>, right: &Atomic<'_>) -> Result<Option<Atomic<'static>>, Error> {
    use Arithmetic::{Add, Divide, Multiply, Subtract};
    let result = match (operator, left, right) {
        (Add | Subtract, Atomic::Moment(moment), Atomic::Duration(duration)) => {
            let by = if operator == Add { **duration } else { scaled(duration, -1.0)? };
            return moved(moment, &by);
        }
        (Add, Atomic::Duration(duration), Atomic::Moment(moment)) => return moved(moment, duration),
        (Subtract, Atomic::Moment(left), Atomic::Moment(right)) if left.kind == right.kind => {
            if !matches!(left.kind, T::DateTime | T::Date | T::Time) {
                return Ok(None);
            }
            Duration { kind: T::DayTimeDuration, months: 0, nanos: left.timeline() - right.timeline() }
        }
        (Add | Subtract, Atomic::Duration(left), Atomic::Duration(right)) if left.kind == right.kind => {
            let sign = if operator == Add { 1 } else { -1 };
            Duration {
                kind: left.kind,
                months: left.months.checked_add(right.months * sign).ok_or_else(duration_overflow)?,
                nanos: left.nanos.checked_add(right.nanos * i128::from(sign)).ok_or_else(duration_overflow)?,
            }
        }
        (Divide, Atomic::Duration(left), Atomic::Duration(right)) if left.kind == right.kind => {
            let (left, right) = match left.kind {
                T::YearMonthDuration => (i128::from(left.months), i128::from(right.months)),
                T::DayTimeDuration => (left.nanos, right.nanos),
                _ => return Ok(None),
            };
            return decimals(Divide, Decimal::new(left, 0), Decimal::new(right, 0)).map(Some);
        }
        (Multiply, Atomic::Duration(duration), number) | (Multiply, number, Atomic::Duration(duration)) => {
            match number.as_double() {
                Some(number) => scaled(duration, number)?,
                None => return Ok(None),
            }
        }
        (Divide, Atomic::Duration(duration), number) => match number.as_double() {
            Some(number) if number.is_nan() => return Err(Error::value("FOCA0005", "a duration divided by NaN")),
            Some(0.0) => return Err(duration_overflow()),
            Some(number) => scaled(duration, 1.0 / number)?,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok((result.kind != T::Duration).then(|| result.into()))
}

fn duration_overflow() -> Error {
    Error::value("FODT0002", "the duration is too large")
}

fn moved(moment: &Moment, by: &Duration) -> Result<Option<Atomic<'static>>, Error> {
    let fits = matches!(
        (moment.kind, by.kind),
        (T::Time | T::DateTime | T::Date, T::DayTimeDuration) | (T::DateTime | T::Date, T::YearMonthDuration)
    );
    if !fits {
        return Ok(None);
    }
    match moment.plus(by) {
        Some(moment) => Ok(Some(moment.into())),
        None => Err(Error::value("FODT0001", "the date is too far away")),
    }
}

/// A duration so many times as long; months are rounded, halves up.
fn scaled(duration: &Duration, factor: f64) -> Result<Duration, Error> {
    if factor.is_nan() {
        return Err(Error::value("FOCA0005", "a duration times NaN"));
    }
    if duration.months == 0 && duration.nanos == 0 && factor.is_finite() {
        return Ok(*duration);
    }
    let months = (duration.months as f64 * factor + 0.5).floor();
    let exact = Decimal::new(duration.nanos, 0).multiply(Decimal::from_double(factor).ok_or_else(duration_overflow)?);
    let nanos = match exact.and_then(|nanos| nanos.round(0, false).scaled(0)) {
        Some(nanos) => nanos,
        None if (duration.nanos as f64 * factor).abs() < 1e30 => (duration.nanos as f64 * factor) as i128,
        None => return Err(duration_overflow()),
    };
    if months.abs() > i32::MAX as f64 {
        return Err(duration_overflow());
    }
    Ok(Duration { kind: duration.kind, months: months as i64, nanos })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_keep_the_types_of_their_operands() {
        let check = |operator: Arithmetic, left: (&'static str, T), right: (&'static str, T), expected: &str| {
            let value = |(text, atomic): (&'static str, T)| cast(Atomic::from(text), atomic, Version::V2).expect(text);
            let result = match calculate(operator, Some(value(left)), Some(value(right)), Version::V2) {
                Ok(Some(value)) => format!("{} {}", value.text(Version::V2), value.atomic_type().name()),
                Ok(None) => "nothing".to_owned(),
                Err(error) => error.code().unwrap_or("?").to_owned(),
            };
            assert_eq!(result, expected, "{left:?} {operator:?} {right:?}");
        };
        use Arithmetic::{Add, Divide, IntegerDivide, Modulo, Multiply, Subtract};
        check(Add, ("1", T::Integer), ("2", T::Integer), "3 integer");
        check(Divide, ("1", T::Integer), ("4", T::Integer), "0.25 decimal");
        check(Divide, ("1", T::Integer), ("0", T::Integer), "FOAR0001");
        check(Divide, ("1", T::Double), ("0", T::Integer), "INF double");
        check(IntegerDivide, ("-7", T::Integer), ("2", T::Integer), "-3 integer");
        check(Modulo, ("-7", T::Integer), ("2", T::Integer), "-1 integer");
        check(Multiply, ("9223372036854775807", T::Integer), ("2", T::Integer), "18446744073709551614 integer");
        check(Add, ("1.5", T::Decimal), ("1", T::Untyped), "2.5 double");
        check(Subtract, ("2000-03-01", T::Date), ("2000-02-01", T::Date), "P29D dayTimeDuration");
        check(Add, ("10:00:00", T::Time), ("PT1H", T::DayTimeDuration), "11:00:00 time");
        check(Multiply, ("P1Y", T::YearMonthDuration), ("2.5", T::Decimal), "P2Y6M yearMonthDuration");
        check(Divide, ("P1D", T::DayTimeDuration), ("PT12H", T::DayTimeDuration), "2 decimal");
        check(Add, ("a", T::String), ("1", T::Integer), "XPTY0004");
    }
}
