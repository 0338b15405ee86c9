//! `<template>`: a sequence with parameters.

use crate::loader::{Loader, parameters};
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::template::SequenceTemplate;

/// Reads a sequence template.
pub fn template(name: &str, element: &Element, loader: &mut Loader) -> Result<SequenceTemplate, Problem> {
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
                let message = format!("<template> holds parameters and one sequence, not {}", child.tag());
                return Err(child.misnamed(message, &["parameter", "sequence"]));
            }
        }
    }
    let sequence = sequence.ok_or_else(|| element.problem("<template> needs a <sequence>"))?;
    if let Some(key) = sequence.attribute("key") {
        return Err(key.problem("the <sequence> of a template holds its mediators; <sequence key=…> can stand in it"));
    }
    let parameters = parameters(element, loader.names());
    Ok(SequenceTemplate { parameters, sequence: loader.sequence(name, sequence) })
}
