//! Values in the configuration: fixed or computed for each message, and the types that they may be given.

mod configured;
mod value_type;

use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::recorder::{Comparison, Operand};
use myelin_java_text::pattern::Pattern;

pub(crate) use configured::{ConfiguredValue, embedded_expression};
pub(crate) use value_type::ValueType;

/// A pattern and what it was asked of, for a trace of the exchange; `written` is the expression as the configuration has it.
pub(crate) fn matched(
    written: &str,
    source: &Expression,
    pattern: &Pattern,
    exchange: &Exchange,
    context: &RequestContext<'_>,
) -> Comparison {
    let value = source.text(exchange, context).ok().flatten();
    Comparison {
        holds: Some(value.as_ref().is_some_and(|value| pattern.matches(value))),
        left: Operand::new(written, value),
        operator: "matches".to_owned(),
        right: Operand::fixed(pattern.label()),
    }
}

/// The value that an expression has, for a trace of the exchange.
pub(crate) fn told(expression: &Expression, exchange: &Exchange, context: &RequestContext<'_>) -> String {
    match expression.text(exchange, context) {
        Ok(Some(text)) => text.into_owned(),
        Ok(None) => "not set".to_owned(),
        Err(fault) => fault.message,
    }
}
