//! Arithmetic and comparisons, with Java's types of numbers as Synapse uses them.
//!
//! Whole numbers stay whole and grow from 32 to 64 bits; with a number that has a decimal point all is counted exactly,
//! and a quotient has as many digits behind the point as its dividend.
//! Compare Synapse `BinaryOperationNode`.

use std::cmp::Ordering;

use crate::synapse::decimal::{Decimal, Rounding};
use crate::synapse::failure::{Failure, Result};
use crate::synapse::value::{Kind, Number, Value};
use crate::text::LIMIT_BYTES;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
    Divided,
    Modulo,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What an operator makes of two values.
pub(super) fn apply<'a>(left: &Value<'a>, operator: Operator, right: &Value<'a>) -> Result<Value<'a>> {
    match operator {
        Operator::Equal => return Ok(Value::Boolean(left.compared() == right.compared())),
        Operator::Unequal => return Ok(Value::Boolean(left.compared() != right.compared())),
        _ => {}
    }
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => numbers(left.kind, operator, right.kind),
        (Value::Text(left), Value::Text(right)) if operator == Operator::Plus => {
            if left.len() + right.len() > LIMIT_BYTES {
                return Err(Failure::too_long(LIMIT_BYTES));
            }
            Ok(Value::Text(format!("{left}{right}").into()))
        }
        _ => Err(Failure::Nothing(format!("{operator:?} is for numbers"))),
    }
}

fn numbers(left: Kind, operator: Operator, right: Kind) -> Result<Value<'static>> {
    let is_ordered = |accept: fn(Ordering) -> bool| {
        let order = match (left.integer(), right.integer()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => {
                left.decimal().zip(right.decimal()).map(|(left, right)| left.compare(right)).ok_or_else(uncountable)?
            }
        };
        Ok(Value::Boolean(accept(order)))
    };
    match operator {
        Operator::Less => return is_ordered(Ordering::is_lt),
        Operator::LessOrEqual => return is_ordered(Ordering::is_le),
        Operator::Greater => return is_ordered(Ordering::is_gt),
        Operator::GreaterOrEqual => return is_ordered(Ordering::is_ge),
        _ => {}
    }
    match (left.integer(), right.integer()) {
        (Some(one), Some(other)) => {
            let is_small = matches!((left, right), (Kind::Int(_), Kind::Int(_)));
            whole(one, operator, other, is_small)
        }
        _ => {
            let (Some(left), Some(right)) = (left.decimal(), right.decimal()) else { return Err(uncountable()) };
            decimals(left, operator, right)
        }
    }
}

fn whole(left: i64, operator: Operator, right: i64, is_small: bool) -> Result<Value<'static>> {
    let long = |number: i64| Value::Number(Number::of(if is_small { Kind::whole(number) } else { Kind::Long(number) }));
    match operator {
        Operator::Divided | Operator::Modulo if right == 0 => Err(Failure::Nothing("a division by zero".to_owned())),
        Operator::Plus => Ok(long(left.wrapping_add(right))),
        Operator::Minus => Ok(long(left.wrapping_sub(right))),
        Operator::Times => Ok(long(left.wrapping_mul(right))),
        Operator::Modulo => Ok(long(left.wrapping_rem(right))),
        // Of 64 bits a quotient is always a double.
        _ if is_small && left % right == 0 => Ok(long(left / right)),
        _ => Ok(Value::double(left as f64 / right as f64)),
    }
}

fn decimals(left: Decimal, operator: Operator, right: Decimal) -> Result<Value<'static>> {
    let double = |number: Option<Decimal>| match number {
        Some(number) => Ok(Value::double(number.double())),
        None => Err(uncountable()),
    };
    match operator {
        Operator::Divided | Operator::Modulo if right.is_zero() => {
            Err(Failure::Nothing("a division by zero".to_owned()))
        }
        Operator::Plus => counted(left.plus(right)),
        Operator::Times => counted(left.times(right)),
        Operator::Minus => double(left.minus(right)),
        Operator::Modulo => double(left.modulo(right)),
        _ => double(left.divided(right, left.scale(), Rounding::HalfUp)),
    }
}

/// What was counted exactly.
pub(super) fn counted(number: Option<Decimal>) -> Result<Value<'static>> {
    number.map(Value::decimal).ok_or_else(uncountable)
}

fn uncountable() -> Failure {
    Failure::Nothing("a number that is none, or has too many digits".to_owned())
}
