//! `<template>`, of a sequence or of an endpoint.

use crate::load::kind::{Kind, Product};
use myelin_artefacts::endpoints;
use myelin_artefacts::loader::{Reference, is_of_sequence, parameters};
use myelin_artefacts::templates::template;

pub(super) const KIND: Kind = Kind {
    element: "template",
    declare: |item, loader, _| {
        let Some(element) = item.element.as_ref().filter(|_| !item.name.is_empty()) else { return };
        if !is_of_sequence(element) {
            endpoints::declare_template(&item.name, element, loader);
            return;
        }
        let id = loader.templates.len();
        let parameters = parameters(element, &mut loader.names);
        loader.templates.insert(item.name.clone(), (id, parameters));
        item.id = Some(Reference::Template(id));
    },
    build: |item, element, loader| match item.id {
        Some(Reference::Template(id)) => {
            let template = template(&item.name, element, loader)?;
            Ok(Some(Product::new(move |parts| parts.templates[id] = Some(template))))
        }
        _ if element.child("endpoint").is_some() => {
            element.required("name")?;
            // What it holds is read, and complained of, where it is filled.
            element.forgive();
            Ok(None)
        }
        _ => Err(element.problem("<template> needs a <sequence> or an <endpoint>")),
    },
    ..Kind::PLAIN
};
