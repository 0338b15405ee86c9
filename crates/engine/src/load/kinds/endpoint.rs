//! `<endpoint>`

use std::sync::Arc;

use crate::load::item::number;
use crate::load::kind::{Kind, Product};
use crate::load::kinds::sequence::named;
use myelin_artefacts::endpoints::{self, Endpoint};
use myelin_artefacts::loader::Reference;

pub(super) const KIND: Kind = Kind {
    element: "endpoint",
    declare: |item, loader, _| item.id = number(&mut loader.endpoints, &item.name, Reference::Endpoint),
    build: |item, element, loader| {
        named(element, &item.name)?;
        endpoints::endpoint(element, loader).map(|endpoint| numbered(endpoint, item.id))
    },
    ..Kind::PLAIN
};

/// The endpoint in its place.
pub(super) fn numbered(endpoint: Endpoint, id: Option<Reference>) -> Option<Product> {
    let Some(Reference::Endpoint(id)) = id else { return None };
    Some(Product::new(move |parts| parts.endpoints[id] = Some(Arc::new(endpoint))))
}
