//! Operations of connectors: elements with a dot in their names, such as `<http.get>`.
//!
//! The http connector is built in; see docs/connectors.md.

mod connection;
mod headers;
mod operation;
mod parameter;
mod result;

pub(crate) use connection::{endpoint, endpoint_name};

use operation::OPERATIONS;

use crate::config::{Element, Loader};
use crate::mediator::Built;

/// Builds the operation that an element means, with its name; `None` where it is none that is offered.
pub(crate) fn operation(element: &Element, loader: &mut Loader) -> Option<(&'static str, Built)> {
    if element.name == connection::INIT {
        let problem = element.problem("<http.init> stands in a local entry, which operations name as their configKey");
        return Some((connection::INIT, Err(problem)));
    }
    let known = OPERATIONS.iter().find(|known| known.element == element.name)?;
    Some((known.element, operation::build(known, element, loader)))
}

/// Whether an element is an operation that sends the message of its flow.
pub(crate) fn sends(element: &Element) -> bool {
    element.is_synapse() && OPERATIONS.iter().any(|known| known.element == element.name)
}

#[cfg(test)]
mod tests;
