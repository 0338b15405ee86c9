//! Endpoint templates: an `<endpoint>` with holes, which other endpoints fill while the configuration is loaded.
//!
//! Source: Synapse's `Template` and `TemplateEndpoint`.

use std::collections::HashMap;

use crate::endpoints::Endpoint;
use crate::endpoints::build::{endpoint, health};
use crate::loader::Loader;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;

/// The endpoint of a template, and the names of its holes.
#[derive(Debug)]
struct EndpointTemplate {
    element: Element,
    parameters: Vec<String>,
}

/// What an endpoint gives a template by its attributes.
const OWN: [&str; 2] = ["name", "uri"];

/// The templates of endpoints, by their names.
#[derive(Default)]
struct EndpointTemplates(HashMap<String, EndpointTemplate>);

/// Makes the endpoint that a `<template>` holds known by a name; nothing where it is none of an endpoint.
pub fn declare_template(name: &str, template: &Element, loader: &mut Loader) {
    if let Some(declared) = EndpointTemplate::of(template) {
        loader.state::<EndpointTemplates>().0.insert(name.to_owned(), declared);
    }
}

impl EndpointTemplate {
    /// What a `<template>` holds; `None` where it is none of an endpoint.
    fn of(template: &Element) -> Option<EndpointTemplate> {
        let element = template.child("endpoint")?.filled(&|_| None);
        let names = template.children.iter().filter(|child| child.is("parameter"));
        let names = names.filter_map(|child| child.attribute("name")).map(|name| name.value.trim().to_owned());
        // Synapse knows these two whether the template names them or not.
        let own = OWN.into_iter().map(str::to_owned);
        Some(EndpointTemplate { element, parameters: names.chain(own).collect() })
    }
}

/// Reads an `<endpoint>` that fills a template.
///
/// Shape: a text or attribute that is `$` and the name of a parameter, and nothing else, is a hole.
/// Errors: a [`Problem`] where there is no such template, or what it comes to is no endpoint.
pub(super) fn fill(element: &Element, template: Text<'_>, loader: &mut Loader) -> Result<Endpoint, Problem> {
    let name = template.value.trim();
    // It is away while it is filled, so that one that leads to itself ends here.
    let Some(template) = loader.state::<EndpointTemplates>().0.remove(name) else {
        return Err(template.problem(format!("there is no template {name:?} of an endpoint, or it leads to itself")));
    };
    let made = values(element).and_then(|values| {
        let hole = |text: &str| {
            let name =
                text.trim().strip_prefix('$').filter(|name| template.parameters.iter().any(|known| known == name))?;
            values.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        endpoint(&template.element.filled(&hole), loader)
    });
    loader.state::<EndpointTemplates>().0.insert(name.to_owned(), template);
    let mut made = made?;
    if let Some(name) = element.attribute("name") {
        made.name = name.value.into();
        made.counters = loader.endpoint_counters(name.value);
    }
    // What is known of it belongs to this endpoint, not to all that fill the template.
    made.health = health(element, &made.health.rules, loader);
    Ok(made)
}

/// The parameters that an endpoint gives: its name, its `uri`, and all that it names.
fn values(element: &Element) -> Result<Vec<(String, String)>, Problem> {
    let own = OWN.into_iter().filter_map(|name| Some((name.to_owned(), element.attribute(name)?.value.to_owned())));
    let mut values: Vec<(String, String)> = own.collect();
    for child in element.children.iter().filter(|child| !child.is("description")) {
        if !child.is("parameter") {
            return Err(child.problem(format!("an endpoint of a template holds parameters, not {}", child.tag())));
        }
        let value = child.attribute("value").ok_or_else(|| child.lacks("<parameter> needs a value"))?;
        values.insert(0, (child.required("name")?.value.trim().to_owned(), value.value.to_owned()));
    }
    Ok(values)
}
