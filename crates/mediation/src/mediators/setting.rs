//! What several mediators share: a value that stands in the configuration, or an expression.

use std::borrow::Cow;

use crate::config::{Element, Loader, Problem, Text};
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::Outcome;

/// A `value` or an `expression`.
pub(super) enum Setting {
    Fixed(String),
    Computed(Expression),
}

/// The expression in a key that is worked out, `{…}` or a text with Synapse expressions; `None` for a fixed one.
///
/// Errors: as [`Expression::compile`].
pub(crate) fn worked_out(key: Text<'_>, loader: &mut Loader) -> Result<Option<Expression>, Problem> {
    if Expression::is_in(key.value) {
        return Expression::compile_text(key, loader).map(Some);
    }
    let start = key.value.len() - key.value.trim_start().len() + 1;
    match key.value.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(inside) => Expression::compile(key.part(start..start + inside.len()), Wanted::Text, loader).map(Some),
        None => Ok(None),
    }
}

impl Setting {
    /// Reads a value that may be an expression in braces, Synapse's `Value`, or have Synapse expressions in it.
    ///
    /// Errors: as [`Expression::compile`].
    pub(super) fn of_value(text: Text<'_>, loader: &mut Loader) -> Result<Setting, Problem> {
        Ok(worked_out(text, loader)?.map_or_else(|| Setting::Fixed(text.value.to_owned()), Setting::Computed))
    }

    /// Reads the attribute `value`, in which Synapse expressions may stand, or `expression`; `None` where there is neither.
    pub(super) fn read(element: &Element, loader: &mut Loader) -> Result<Option<Setting>, Problem> {
        Setting::read_as(element, Wanted::Text, loader)
    }

    /// The same, for whoever asks something else of the expression than its text.
    pub(super) fn read_as(element: &Element, wanted: Wanted, loader: &mut Loader) -> Result<Option<Setting>, Problem> {
        match (element.attribute("value"), element.attribute("expression")) {
            (Some(_), Some(expression)) => Err(expression.problem("value and expression exclude each other")),
            (Some(value), None) if Expression::is_in(value.value) => {
                Expression::compile_text(value, loader).map(|expression| Some(Setting::Computed(expression)))
            }
            (Some(value), None) => Ok(Some(Setting::Fixed(value.value.to_owned()))),
            (None, Some(expression)) => Ok(Some(Setting::Computed(Expression::compile(expression, wanted, loader)?))),
            (None, None) => Ok(None),
        }
    }

    /// The expression, if it is one.
    pub(super) fn expression(&self) -> Option<&Expression> {
        match self {
            Setting::Fixed(_) => None,
            Setting::Computed(expression) => Some(expression),
        }
    }

    /// The text, or `None` where the expression finds nothing that is set.
    ///
    /// Errors: as [`Expression::text`].
    pub(super) fn text<'a>(&'a self, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Outcome<Option<Cow<'a, str>>> {
        match self {
            Setting::Fixed(text) => Ok(Some(Cow::Borrowed(text))),
            Setting::Computed(expression) => expression.text(exchange, scene),
        }
    }
}
