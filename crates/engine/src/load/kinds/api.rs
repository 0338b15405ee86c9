//! `<api>`

use crate::load::kind::{Address, Kind, Product};
use myelin_artefacts::apis::{Offer, build};
use myelin_artefacts::left_out::LeftOut;

pub(super) const KIND: Kind = Kind {
    element: "api",
    name: build::name,
    build: |_, element, loader| {
        let offer = build::api(element, loader)?;
        let address = Address {
            key: format!("{} {}", offer.address.context, offer.address.version),
            shown: "the context".to_owned(),
            effect: ", which serves it",
        };
        Ok(Some(Product { address: Some(address), ..Product::new(|parts| parts.offers.push(offer)) }))
    },
    remain: |item, parts| {
        let address = item.element.as_ref().and_then(|element| build::address(element).ok());
        let left_out = LeftOut::new("api", &item.name);
        parts.offers.extend(address.map(|address| Offer { address, api: Err(left_out) }));
    },
    ..Kind::PLAIN
};
