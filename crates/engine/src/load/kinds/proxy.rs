//! `<proxy>`

use std::sync::Arc;

use crate::load::item::number;
use crate::load::kind::{Kind, Product};
use myelin_artefacts::inbound::{Receiving, ReceivingService};
use myelin_artefacts::left_out::LeftOut;
use myelin_artefacts::loader::Reference;
use myelin_artefacts::proxies::{Proxy, proxy};
use myelin_flow::property::Properties;

pub(super) const KIND: Kind = Kind {
    element: "proxy",
    declare: |item, loader, _| item.id = number(&mut loader.proxies, &item.name, Reference::Proxy),
    build: |item, element, loader| {
        let name = item.name.clone();
        let proxy = proxy(element, loader)?;
        Ok(Some(Product::new(move |parts| {
            parts.receivings.extend(receivings(&proxy));
            parts.proxies.insert(name, Arc::new(proxy));
        })))
    },
    remain: |item, parts| {
        let left_out = LeftOut::new("proxy", &item.name);
        parts.faulty.insert(item.name, left_out);
    },
    ..Kind::PLAIN
};

/// What it receives by sources of its transports.
fn receivings(proxy: &Proxy) -> impl Iterator<Item = Arc<Receiving>> + '_ {
    proxy.sources.iter().map(|source| {
        let (source, receiver) = (Arc::clone(source), ReceivingService::Proxy(Arc::clone(&proxy.identity.name)));
        Arc::new(Receiving { source, receiver, properties: Properties::default(), state: Arc::clone(&proxy.state) })
    })
}
