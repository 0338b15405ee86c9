//! `<template>`: a sequence with parameters.

use std::sync::Arc;

use super::element::Element;
use super::loader::Loader;
use super::problem::Problem;
use crate::function::{Function, Parameter};
use crate::property::{Names, Value};

/// Whether a template is one of a sequence.
pub(super) fn is_of_sequence(element: &Element) -> bool {
    element.children.iter().any(|child| child.is("sequence"))
}

/// The parameters that a template declares, which its callers want to know before it is built.
///
/// Shape: of two with one name the first; what is wrong with the others is told when the template is built.
pub(super) fn parameters(element: &Element, names: &mut Names) -> Arc<[Parameter]> {
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

/// Reads a sequence template.
pub(super) fn template(name: &str, element: &Element, loader: &mut Loader) -> Result<Function, Problem> {
    element.required("name")?;
    let mut sequence = None;
    let mut names: Vec<&str> = Vec::new();
    for child in &element.children {
        match child.name.as_str() {
            "parameter" if child.is_synapse() => {
                let parameter = child.required("name")?;
                child.attribute("description");
                if names.contains(&parameter.value.trim()) {
                    child.forgive();
                    let message = format!("there is another parameter {:?}, which counts", parameter.value);
                    loader.warning(parameter.problem(message));
                }
                names.push(parameter.value.trim());
            }
            "sequence" if child.is_synapse() && sequence.is_none() => sequence = Some(child),
            "description" => {}
            _ => {
                return Err(child.problem(format!("<template> holds parameters and one sequence, not {}", child.tag())));
            }
        }
    }
    let sequence = sequence.ok_or_else(|| element.problem("<template> needs a <sequence>"))?;
    if let Some(key) = sequence.attribute("key") {
        return Err(key.problem("the <sequence> of a template holds its mediators; <sequence key=…> can stand in it"));
    }
    let parameters = parameters(element, loader.names());
    Ok(Function { parameters, sequence: loader.sequence(name, sequence) })
}
