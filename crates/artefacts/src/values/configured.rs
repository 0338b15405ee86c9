//! What several mediators share: a value that stands in the configuration, or an expression.

use std::borrow::Cow;

use crate::loader::Loader;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_expression::{Expression, ResultType};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;

/// A `value` or an `expression`.
pub(crate) enum ConfiguredValue {
    Fixed(String),
    Computed(Expression),
}

/// The expression in a key that is worked out, `{…}`, `{${…}}` or a text with Synapse expressions; `None` for a fixed
/// one.
///
/// Errors: as [`Expression::compile`].
pub(crate) fn embedded_expression(key: Text<'_>, loader: &mut Loader) -> Result<Option<Expression>, Problem> {
    let start = key.value.len() - key.value.trim_start().len() + 1;
    let inside = key.value.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    if Expression::is_in(key.value) {
        // The braces around one expression are those of Synapse's `Value`, and no text.
        if let Some(inside) = inside.filter(|inside| inside.trim_start().starts_with("${")) {
            let at = start + inside.len() - inside.trim_start().len();
            let (expression, end) = Expression::compile_at(key, at, loader)?;
            if key.value.get(end..start + inside.len()).is_some_and(|rest| rest.trim().is_empty()) {
                return Ok(Some(expression));
            }
        }
        return Expression::compile_text(key, loader).map(Some);
    }
    match inside {
        Some(inside) => Expression::compile(key.part(start..start + inside.len()), ResultType::Text, loader).map(Some),
        None => Ok(None),
    }
}

impl ConfiguredValue {
    /// Reads a value that may be an expression in braces, Synapse's `Value`, or have Synapse expressions in it.
    ///
    /// Errors: as [`Expression::compile`].
    pub(crate) fn of_value(text: Text<'_>, loader: &mut Loader) -> Result<ConfiguredValue, Problem> {
        Ok(embedded_expression(text, loader)?
            .map_or_else(|| ConfiguredValue::Fixed(text.value.to_owned()), ConfiguredValue::Computed))
    }

    /// Reads the attribute `value`, in which Synapse expressions may stand, or `expression`; `None` where there is neither.
    pub(crate) fn read(element: &Element, loader: &mut Loader) -> Result<Option<ConfiguredValue>, Problem> {
        ConfiguredValue::read_as(element, ResultType::Text, loader)
    }

    /// The same, for whoever asks something else of the expression than its text.
    pub(crate) fn read_as(
        element: &Element,
        wanted: ResultType,
        loader: &mut Loader,
    ) -> Result<Option<ConfiguredValue>, Problem> {
        match (element.attribute("value"), element.attribute("expression")) {
            (Some(_), Some(expression)) => Err(expression.problem("value and expression exclude each other")),
            (Some(value), None) if Expression::is_in(value.value) => {
                Expression::compile_text(value, loader).map(|expression| Some(ConfiguredValue::Computed(expression)))
            }
            (Some(value), None) => Ok(Some(ConfiguredValue::Fixed(value.value.to_owned()))),
            (None, Some(expression)) => {
                Ok(Some(ConfiguredValue::Computed(Expression::compile(expression, wanted, loader)?)))
            }
            (None, None) => Ok(None),
        }
    }

    /// The expression, if it is one.
    pub(crate) fn expression(&self) -> Option<&Expression> {
        match self {
            ConfiguredValue::Fixed(_) => None,
            ConfiguredValue::Computed(expression) => Some(expression),
        }
    }

    /// The text, or `None` where the expression finds nothing that is set.
    ///
    /// Errors: as [`Expression::text`].
    pub(crate) fn text<'a>(
        &'a self,
        exchange: &'a Exchange,
        context: &'a RequestContext<'a>,
    ) -> Outcome<Option<Cow<'a, str>>> {
        match self {
            ConfiguredValue::Fixed(text) => Ok(Some(Cow::Borrowed(text))),
            ConfiguredValue::Computed(expression) => expression.text(exchange, context),
        }
    }
}
