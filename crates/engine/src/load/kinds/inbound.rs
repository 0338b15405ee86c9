//! `<inboundEndpoint>`

use std::sync::Arc;

use crate::load::kind::{Address, Kind, Product};
use myelin_artefacts::inbound::{InboundEndpoint, inbound};

pub(super) const KIND: Kind = Kind {
    element: "inboundEndpoint",
    declare: |item, loader, _| {
        loader.inbounds.insert(item.name.clone());
    },
    build: |_, element, loader| {
        Ok(inbound(element, loader)?.map(|inbound| match inbound {
            InboundEndpoint::Source(receiving) => Product::new(|parts| parts.receivings.push(Arc::new(receiving))),
            InboundEndpoint::Listener(listener) => {
                let port = listener.port;
                let address = Address { key: port.to_string(), shown: format!("port {port}"), effect: "" };
                let product = Product::new(|parts| {
                    parts.inbounds.insert(Arc::clone(&listener.source.identity.name), Arc::new(listener));
                });
                Product { address: Some(address), ..product }
            }
        }))
    },
    ..Kind::PLAIN
};
