//! Which stylesheet is meant.

use std::sync::Arc;

use crate::loader::Loader;
use crate::stylesheets::Named;
use crate::stylesheets::Sheet;
use crate::values::embedded_expression;
use myelin_config::choice::Choice;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// The key of a stylesheet.
pub(crate) enum StylesheetKey {
    Fixed(Arc<Sheet>),
    /// One that is worked out for each message, among what was loaded.
    Computed(Expression, Box<Choice<Sheet>>),
}

impl StylesheetKey {
    /// Reads the attribute `key`; `named` is what `resource` elements name.
    pub(crate) fn read(element: &Element, named: &[Named<'_>], loader: &mut Loader) -> Result<StylesheetKey, Problem> {
        let key = element.required("key")?;
        match embedded_expression(key, loader)? {
            Some(expression) => Ok(StylesheetKey::Computed(expression, loader.stylesheets(named)?.into())),
            None => Ok(StylesheetKey::Fixed(loader.stylesheet(key, named)?)),
        }
    }

    /// The stylesheet of a fixed key.
    pub(crate) fn fixed(&self) -> Option<&Arc<Sheet>> {
        match self {
            StylesheetKey::Fixed(sheet) => Some(sheet),
            StylesheetKey::Computed(..) => None,
        }
    }

    /// The expression that works it out.
    pub(crate) fn expression(&self) -> Option<&Expression> {
        match self {
            StylesheetKey::Fixed(_) => None,
            StylesheetKey::Computed(expression, _) => Some(expression),
        }
    }

    /// The stylesheet that it means for this message.
    ///
    /// Errors: the bus's, where none of that key was loaded.
    pub(crate) fn sheet(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<&Arc<Sheet>> {
        match self {
            StylesheetKey::Fixed(sheet) => Ok(sheet),
            StylesheetKey::Computed(expression, choice) => {
                let key = expression.text(exchange, context)?.unwrap_or_default();
                choice.find(key.trim()).ok_or_else(|| {
                    Fault::bus("A stylesheet that the configuration calls for does not exist")
                        .with_detail(format!("there is no sound stylesheet {key:?}"))
                })
            }
        }
    }
}
