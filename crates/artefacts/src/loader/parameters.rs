//! What a sequence template declares, which its callers want to know before it is built.

use std::sync::Arc;

use myelin_config::element::Element;
use myelin_flow::property::{Names, Value};
use myelin_flow::template::Parameter;

/// Whether a template is one of a sequence.
pub fn is_of_sequence(element: &Element) -> bool {
    element.children.iter().any(|child| child.is("sequence"))
}

/// The parameters that a template declares, which its callers want to know before it is built.
///
/// Shape: of two with one name the first; what is wrong with the others is told when the template is built.
pub fn parameters(element: &Element, names: &mut Names) -> Arc<[Parameter]> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for child in element.children.iter().filter(|child| child.is("parameter")) {
        let Some(name) = child.attribute("name").map(|name| name.value.trim()).filter(|name| !name.is_empty()) else {
            continue;
        };
        if parameters.iter().any(|known| known.name == name) {
            continue;
        }
        let default = child.attribute("defaultValue").map(|value| Value::Text(value.value.into()));
        let is_mandatory = child.attribute("isMandatory").is_some_and(|text| text.value.eq_ignore_ascii_case("true"));
        parameters.push(Parameter { name: name.to_owned(), slot: names.slot(name), is_mandatory, default });
    }
    parameters.into()
}
