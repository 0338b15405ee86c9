//! Values that the environment of the bus gives: `$SYSTEM:NAME` and `$FILE:NAME` in the place of a value or text.
//!
//! Compare Synapse `ResolverFactory`. They are resolved once, before an artefact is built.

use std::cell::RefCell;

use super::element::Element;
use super::loader::Loader;
use super::problem::Problem;

/// The element with the values in their places; `None` where nothing is injected.
///
/// Errors: a [`Problem`] at the element for each name without a value.
pub(super) fn injected(element: &Element, loader: &Loader) -> Option<Result<Element, Vec<Problem>>> {
    if !element.source().contains("$SYSTEM:") && !element.source().contains("$FILE:") {
        return None;
    }
    let missing = RefCell::new(Vec::new());
    let fill = |text: &str| {
        let text = text.trim();
        let found = match (text.strip_prefix("$SYSTEM:"), text.strip_prefix("$FILE:")) {
            (Some(name), _) => {
                std::env::var(name.trim()).map_err(|_| format!("the environment has no variable {name:?}"))
            }
            (_, Some(name)) => {
                let value = loader.properties.get(name.trim()).cloned();
                value.ok_or_else(|| format!("file.properties has no {name:?}"))
            }
            _ => return None,
        };
        found.map_err(|message| missing.borrow_mut().push(element.problem(message))).ok()
    };
    let filled = element.filled(&fill);
    let missing = missing.into_inner();
    Some(if missing.is_empty() { Ok(filled) } else { Err(missing) })
}
