//! `<sequence>`

use crate::load::item::number;
use crate::load::kind::{Kind, Product};
use myelin_artefacts::left_out::LeftOut;
use myelin_artefacts::loader::Reference;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::sequence::Sequence;

pub(super) const KIND: Kind = Kind {
    element: "sequence",
    declare: |item, loader, _| item.id = number(&mut loader.sequences, &item.name, Reference::Sequence),
    build: |item, element, loader| {
        named(element, &item.name)?;
        Ok(numbered(loader.sequence(&item.name, element), item.id))
    },
    remain: |item, parts| {
        if item.name == "main" {
            parts.faulty_main = Some(LeftOut::new("sequence", &item.name));
        }
    },
    ..Kind::PLAIN
};

/// The sequence in its place.
pub(super) fn numbered(sequence: Sequence, id: Option<Reference>) -> Option<Product> {
    let Some(Reference::Sequence(id)) = id else { return None };
    Some(Product::new(move |parts| parts.sequences[id] = Some(sequence)))
}

/// Asks for a name, which nothing but what a key of the registry names can do without.
pub(super) fn named(element: &Element, name: &str) -> Result<(), Problem> {
    match element.attribute("name") {
        None if !name.is_empty() => Ok(()),
        _ => element.required("name").map(drop),
    }
}
