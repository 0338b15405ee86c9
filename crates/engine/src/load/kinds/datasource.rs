//! `<datasource>`

use crate::load::kind::Kind;
use myelin_artefacts::datasources;

pub(super) const KIND: Kind = Kind {
    element: "datasource",
    name: |element| element.child("name").map_or("", |name| name.text().value).to_owned(),
    is_built_first: true,
    build: |item, element, loader| {
        element.forgive();
        if item.problems.is_empty() {
            datasources::declare(element, loader)?;
        }
        Ok(None)
    },
    ..Kind::PLAIN
};
