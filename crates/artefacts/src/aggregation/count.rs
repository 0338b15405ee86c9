//! How many messages an aggregation waits for.

use crate::loader::Loader;
use crate::values::embedded_expression;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// A number of messages: fixed, or computed for each message.
pub(crate) enum ConfiguredCount {
    Any,
    Fixed(usize),
    Computed(Expression),
}

impl ConfiguredCount {
    /// Reads an attribute; one that is not there stands for any number.
    ///
    /// Errors: a [`Problem`] where it is neither a number nor an expression.
    pub(crate) fn read(element: Option<&Element>, name: &str, loader: &mut Loader) -> Result<ConfiguredCount, Problem> {
        let Some(text) = element.and_then(|element| element.attribute(name)) else { return Ok(ConfiguredCount::Any) };
        if let Some(expression) = embedded_expression(text, loader)? {
            return Ok(ConfiguredCount::Computed(expression));
        }
        match ConfiguredCount::number(text.value) {
            Some(count) => Ok(count.map_or(ConfiguredCount::Any, ConfiguredCount::Fixed)),
            None => Err(text.problem(format!("{name} is neither a number nor an expression in braces"))),
        }
    }

    /// What a text says; as in Synapse nothing and less stand for any number.
    fn number(text: &str) -> Option<Option<usize>> {
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
        Some(Some(number as usize).filter(|&number| number > 0))
    }

    /// The number for a message; `None` for any.
    ///
    /// Errors: the bus's, where the expression gives no number.
    pub(crate) fn value(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<usize>> {
        match self {
            ConfiguredCount::Any => Ok(None),
            ConfiguredCount::Fixed(number) => Ok(Some(*number)),
            ConfiguredCount::Computed(expression) => {
                let text = expression.text(exchange, context)?.unwrap_or_default();
                ConfiguredCount::number(&text).ok_or_else(|| {
                    Fault::bus("The number of messages to be aggregated is none").with_detail(format!("it is {text:?}"))
                })
            }
        }
    }
}
