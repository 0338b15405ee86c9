//! Which stylesheet is meant.

use std::sync::Arc;

use crate::config::{Choice, Element, Loader, Named, Problem};
use crate::exchange::{Exchange, Scene};
use crate::expression::Expression;
use crate::fault::{Fault, Outcome};
use crate::mediators::setting::worked_out;
use crate::stylesheet::Sheet;

/// The key of a stylesheet.
pub(in crate::mediators) enum Key {
    Fixed(Arc<Sheet>),
    /// One that is worked out for each message, among what was loaded.
    WorkedOut(Expression, Box<Choice<Sheet>>),
}

impl Key {
    /// Reads the attribute `key`; `named` is what `resource` elements name.
    pub(in crate::mediators) fn read(
        element: &Element,
        named: &[Named<'_>],
        loader: &mut Loader,
    ) -> Result<Key, Problem> {
        let key = element.required("key")?;
        match worked_out(key, loader)? {
            Some(expression) => Ok(Key::WorkedOut(expression, loader.stylesheets(named)?.into())),
            None => Ok(Key::Fixed(loader.stylesheet(key, named)?)),
        }
    }

    /// The stylesheet of a fixed key.
    pub(in crate::mediators) fn fixed(&self) -> Option<&Arc<Sheet>> {
        match self {
            Key::Fixed(sheet) => Some(sheet),
            Key::WorkedOut(..) => None,
        }
    }

    /// The expression that works it out.
    pub(in crate::mediators) fn expression(&self) -> Option<&Expression> {
        match self {
            Key::Fixed(_) => None,
            Key::WorkedOut(expression, _) => Some(expression),
        }
    }

    /// The stylesheet that it means for this message.
    ///
    /// Errors: the bus's, where none of that key was loaded.
    pub(in crate::mediators) fn sheet(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<&Arc<Sheet>> {
        match self {
            Key::Fixed(sheet) => Ok(sheet),
            Key::WorkedOut(expression, choice) => {
                let key = expression.text(exchange, scene)?.unwrap_or_default();
                choice.find(key.trim()).ok_or_else(|| {
                    Fault::bus("A stylesheet that the configuration calls for does not exist")
                        .with_detail(format!("there is no sound stylesheet {key:?}"))
                })
            }
        }
    }
}
