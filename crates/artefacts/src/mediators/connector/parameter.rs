//! Values of parameters: texts with Synapse expressions in them, or expressions in braces.

use crate::loader::Loader;
use crate::values::ConfiguredValue;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_expression::{Expression, ResultType};

/// The expression that a whole value is, `{…}` around it; `None` for a text, which JSON is as well.
///
/// WSO2's tools write `{${payload.id}}` as well as `{json-eval($.id)}`.
pub(super) fn in_braces(value: &str) -> Option<&str> {
    let inside = value.trim().strip_prefix('{')?.strip_suffix('}')?;
    let is_json = matches!(inside.trim_start().chars().next(), None | Some('"' | '}' | '\''));
    Some(inside).filter(|_| !is_json)
}

/// What a parameter is to each message.
///
/// Errors: a [`Problem`] at the expression that is wrong.
pub(super) fn setting(text: Text<'_>, loader: &mut Loader) -> Result<ConfiguredValue, Problem> {
    match in_braces(text.value) {
        Some(inside) => {
            Expression::compile(text.standing_for(inside), ResultType::Text, loader).map(ConfiguredValue::Computed)
        }
        None if Expression::is_in(text.value) => Expression::compile_text(text, loader).map(ConfiguredValue::Computed),
        None => Ok(ConfiguredValue::Fixed(text.value.to_owned())),
    }
}

/// An element that has the value of a parameter as its `value`, or as its `expression`.
pub(super) fn valued(made: Element, value: &str) -> Element {
    match in_braces(value) {
        Some(inside) => made.with_attribute("expression", inside),
        None => made.with_attribute("value", value),
    }
}

/// The text of a parameter that cannot be worked out for each message.
///
/// Errors: a [`Problem`] where it is an expression.
pub(super) fn fixed(element: &Element) -> Result<&str, Problem> {
    let value = element.text().value;
    if in_braces(value).is_some() || Expression::is_in(value) {
        return Err(element.problem(format!("{} cannot be worked out: it is settled while loading", element.tag())));
    }
    Ok(value)
}
