//! Values in the configuration: fixed or computed for each message, and the types that they may be given.

mod configured;
mod value_type;

use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;

pub(crate) use configured::{ConfiguredValue, embedded_expression};
pub(crate) use value_type::ValueType;

/// The value that an expression has, for a trace of the exchange.
pub(crate) fn told(expression: &Expression, exchange: &Exchange, context: &RequestContext<'_>) -> String {
    match expression.text(exchange, context) {
        Ok(Some(text)) => text.into_owned(),
        Ok(None) => "not set".to_owned(),
        Err(fault) => fault.message,
    }
}
