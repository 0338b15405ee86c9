//! Operations of connectors: elements with a dot in their names, such as `<http.get>`.
//!
//! The http connector is built in, others come in archives; see docs/connectors.md.

mod connection;
mod headers;
mod library;
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
    if let Some(known) = OPERATIONS.iter().find(|known| known.element == element.name) {
        return Some((known.element, operation::build(known, element, loader)));
    }
    let template = loader.operation(element, &element.name).transpose()?;
    Some((library::ELEMENT, template.and_then(|template| library::build(&template, element, loader))))
}

/// Whether an element is an operation, which may send the message of its flow.
pub(crate) fn sends(element: &Element) -> bool {
    element.is_synapse() && element.name.contains('.')
}

#[cfg(test)]
mod tests;
