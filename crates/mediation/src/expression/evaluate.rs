//! Runs an expression over an exchange.

use super::{Expr, Operator, Source, Value};
use crate::date;
use crate::exchange::{Exchange, Scene};

/// The value of a tree; borrows from the exchange wherever nothing has to be made.
pub(super) fn evaluate<'a>(expr: &'a Expr, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Value<'a> {
    let run = |expr: &'a Expr| evaluate(expr, exchange, scene);
    match expr {
        Expr::Text(text) => Value::Text(text.as_str().into()),
        Expr::Number(number) => Value::Number(*number),
        Expr::Source(source) => source.read(exchange, scene),
        Expr::Property(base, name) => Source::read_named(*base, &run(name).string(), exchange, scene),
        Expr::Date(pattern) => Value::Text(date::format(scene.transport.now(), &run(pattern).string()).into()),
        Expr::Call(function, arguments) => function.call(arguments.iter().map(run)),
        Expr::Negate(inside) => Value::Number(-run(inside).number()),
        Expr::Binary(operator, left, right) => binary(*operator, &run(left), || run(right)),
    }
}

fn binary<'a>(operator: Operator, left: &Value<'a>, right: impl FnOnce() -> Value<'a>) -> Value<'a> {
    let number = |combine: fn(f64, f64) -> f64, right: Value<'a>| Value::Number(combine(left.number(), right.number()));
    match operator {
        Operator::Or => Value::Boolean(left.boolean() || right().boolean()),
        Operator::And => Value::Boolean(left.boolean() && right().boolean()),
        Operator::Add => number(|a, b| a + b, right()),
        Operator::Subtract => number(|a, b| a - b, right()),
        Operator::Multiply => number(|a, b| a * b, right()),
        Operator::Divide => number(|a, b| a / b, right()),
        // The remainder has the sign of the left side (§3.5), as Rust's has.
        Operator::Modulo => number(|a, b| a % b, right()),
        comparison => Value::Boolean(left.compare(comparison, &right())),
    }
}
