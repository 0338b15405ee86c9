//! `<localEntry>`: a text or an element under a key; a sequence, an endpoint or a connection in it is one of its own.

use std::sync::Arc;

use crate::load::item::{Item, number};
use crate::load::kind::{Kind, Product, attribute};
use crate::load::kinds::{endpoint, sequence};
use myelin_artefacts::endpoints;
use myelin_artefacts::loader::{Entry, Loader, Reference};
use myelin_artefacts::mediators::connector;
use myelin_config::element::Element;
use myelin_config::included::{Content, Included};
use myelin_config::problem::Problem;
use myelin_config::resource::{ENTRY, Resource};
use myelin_flow::settings::Settings;

pub(super) const KIND: Kind = Kind {
    element: "localEntry",
    name: |element| attribute(element, "key"),
    declare: include,
    declare_held,
    build,
    ..Kind::PLAIN
};

/// Reads what it takes from another file.
fn include(item: &mut Item, loader: &mut Loader, settings: &Settings) {
    let src = item.element.as_ref().and_then(|element| element.attribute("src"));
    let Some(src) = src.filter(|_| !item.name.is_empty()) else { return };
    match Included::read(src.value, &item.place.file, settings.home.as_deref(), &loader.sources) {
        Ok(included) => item.included = Some(included),
        Err(message) => {
            let problem = src.problem(message);
            item.problems.push(problem);
        }
    }
}

/// Makes its content known; a sequence or endpoint serves under its key, unless one is named so.
fn declare_held(item: &mut Item, loader: &mut Loader) {
    if item.name.is_empty() || !item.problems.is_empty() {
        return;
    }
    if let Some(resource) = resource(item) {
        Arc::make_mut(&mut loader.entry_resources).insert(item.name.clone(), resource);
    }
    let Some(held) = held(item) else {
        let text = match item.included.as_ref().map(|included| &included.content) {
            Some(Content::Text(text)) => text.clone(),
            _ => item.element.as_ref().map_or_else(String::new, |element| element.text().value.to_owned()),
        };
        loader.entries.insert(item.name.clone(), Entry::Text(text));
        return;
    };
    let (is_sequence, is_endpoint) = (held.is("sequence"), held.is("endpoint"));
    let connection = connector::endpoint_name(held, &item.name).map(|name| (name, held.place.clone()));
    if is_sequence && !loader.sequences.contains_key(&item.name) {
        item.id = number(&mut loader.sequences, &item.name, Reference::Sequence);
    } else if is_endpoint && !loader.endpoints.contains_key(&item.name) {
        item.id = number(&mut loader.endpoints, &item.name, Reference::Endpoint);
    } else if !is_sequence && !is_endpoint {
        loader.entries.insert(item.name.clone(), Entry::Xml(held.fragment()));
    }
    match connection {
        Some((name, place)) if loader.endpoints.contains_key(&name) => {
            let message = format!("there is another endpoint of the name {name:?}");
            item.problems.push(Problem::new(place, message));
        }
        Some((name, _)) => item.id = number(&mut loader.endpoints, &name, Reference::Endpoint),
        None => {}
    }
}

fn build(item: &Item, element: &Element, loader: &mut Loader) -> Result<Option<Product>, Problem> {
    if let Some(Content::Text(text)) = item.included.as_ref().map(|included| &included.content) {
        return Ok(Some(entry(item, text)));
    }
    element.required("key")?;
    match (held(item), item.id) {
        (Some(held), Some(_)) if held.is("sequence") => {
            held.attribute("name");
            Ok(sequence::numbered(loader.sequence(&item.name, held), item.id))
        }
        (Some(held), Some(_)) => {
            let is_connection = connector::endpoint_name(held, &item.name).is_some();
            let endpoint = if is_connection {
                connector::endpoint(held, &item.name, loader)?
            } else {
                endpoints::endpoint(held, loader)?
            };
            Ok(endpoint::numbered(endpoint, item.id))
        }
        (Some(held), None) => {
            connector::warn_of_unknown(held, loader);
            Ok(None)
        }
        (None, _) => Ok(Some(entry(item, element.text().value))),
    }
}

/// A text under the key.
fn entry(item: &Item, text: &str) -> Product {
    let (key, text) = (item.name.clone(), text.to_owned());
    Product::new(|parts| drop(parts.entries.insert(key, text)))
}

/// The element that it holds, from its own file or another.
fn held(item: &Item) -> Option<&Element> {
    match &item.included {
        Some(included) => included.element(),
        None => item.element.as_ref()?.children.iter().find(|child| !child.is("description")),
    }
}

/// What stylesheets read where they name it.
fn resource(item: &Item) -> Option<Resource> {
    // Behind the file stands what tells it from the other entries of its file.
    let uri = format!("{}{ENTRY}{}", item.place.file, item.name);
    Some(match (&item.included, held(item)) {
        (Some(included), _) => Resource { uri: Arc::clone(&included.file), bytes: Arc::clone(&included.bytes) },
        (None, Some(held)) => Resource::new(&uri, held.standalone().into_bytes()),
        (None, None) => Resource::new(&uri, item.element.as_ref()?.standalone_text().into_bytes()),
    })
}
