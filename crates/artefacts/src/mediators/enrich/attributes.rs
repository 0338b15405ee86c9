//! What `<source>` and `<target>` have alike.

use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::{Expression, ResultType};
use myelin_flow::property::{Scope, Slot};

/// The word of the attribute `type`.
pub(super) fn kind(element: &Element) -> &str {
    element.attribute("type").map(|kind| kind.value).filter(|kind| !kind.is_empty()).unwrap_or("custom")
}

/// The property or variable that a source or target names.
pub(super) fn named(element: &Element, loader: &mut Loader) -> Result<(Scope, Slot), Problem> {
    if kind(element) == "property" {
        return Ok((Scope::Default, loader.names().slot(element.required("property")?.value)));
    }
    let name = element.attribute("variable").or(element.attribute("property"));
    let name =
        name.ok_or_else(|| element.problem(format!("attribute \"variable\" is missing in {}", element.tag())))?;
    Ok((Scope::Variable, loader.names().slot(name.value)))
}

/// The expression of a source or target.
pub(super) fn expression(element: &Element, loader: &mut Loader) -> Result<Expression, Problem> {
    Expression::compile(element.required("xpath")?, ResultType::Nodes, loader)
}
