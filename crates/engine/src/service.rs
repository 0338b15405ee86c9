//! What serves an exchange: its sequences and its endpoint.

use std::sync::Arc;

use crate::bus::Bus;
use myelin_artefacts::apis::{Api, Entry, Resource};
use myelin_artefacts::endpoints::Endpoint;
use myelin_artefacts::guards::ProxySecurity;
use myelin_artefacts::inbound::InboundSource;
use myelin_artefacts::proxies::{Proxy, ProxyDescription};
use myelin_flow::cost::ServiceCost;
use myelin_flow::counters::ServiceCounters;
use myelin_flow::position::ServiceIdentity;
use myelin_flow::sequence::SequenceRef;
use myelin_flow::sequence::{Sequence, SequenceId};

/// What serves an exchange, borrowed from the bus.
#[derive(Clone, Copy)]
pub(crate) enum Service<'a> {
    /// The main sequence.
    Main,
    /// A proxy.
    Proxy(&'a Arc<Proxy>),
    /// A resource of an API, by its number.
    Api(&'a Arc<Api>, usize),
    /// A task or a port of its own.
    InboundSource(&'a Arc<InboundSource>),
    /// An API of which no resource is for the request, and the sequence that answers then.
    Stray(&'a Arc<Api>, SequenceId),
}

/// The same for flows that outlive the first one.
pub(crate) enum OwnedService {
    Main,
    Proxy(Arc<Proxy>),
    Api(Arc<Api>, usize),
    InboundSource(Arc<InboundSource>),
    Stray(Arc<Api>, SequenceId),
}

impl OwnedService {
    pub(crate) fn borrowed(&self) -> Service<'_> {
        match self {
            OwnedService::Main => Service::Main,
            OwnedService::Proxy(proxy) => Service::Proxy(proxy),
            OwnedService::Api(api, resource) => Service::Api(api, *resource),
            OwnedService::InboundSource(source) => Service::InboundSource(source),
            OwnedService::Stray(api, sequence) => Service::Stray(api, *sequence),
        }
    }
}

impl<'a> Service<'a> {
    /// To be kept.
    pub(crate) fn to_owned(self) -> OwnedService {
        match self {
            Service::Main => OwnedService::Main,
            Service::Proxy(proxy) => OwnedService::Proxy(Arc::clone(proxy)),
            Service::Api(api, resource) => OwnedService::Api(Arc::clone(api), resource),
            Service::InboundSource(source) => OwnedService::InboundSource(Arc::clone(source)),
            Service::Stray(api, sequence) => OwnedService::Stray(Arc::clone(api), sequence),
        }
    }

    /// As mediators, the log and faults name it.
    pub(crate) fn identity(self, bus: &'a Bus) -> &'a ServiceIdentity {
        match self {
            Service::Main => &bus.main_identity,
            Service::Proxy(proxy) => &proxy.identity,
            Service::Api(api, resource) => &resource_of(api, resource).identity,
            Service::InboundSource(source) => &source.identity,
            Service::Stray(api, _) => &api.identity,
        }
    }

    /// The part of an API that a request is for.
    pub(crate) fn of_api(api: &'a Arc<Api>, entry: Entry) -> Service<'a> {
        match entry {
            Entry::Resource(index) => Service::Api(api, index),
            Entry::Stray(sequence) => Service::Stray(api, sequence),
        }
    }

    /// What requests run through.
    pub(crate) fn incoming(self, bus: &'a Bus) -> Option<&'a Sequence> {
        match self {
            Service::Main => main(bus),
            Service::Proxy(proxy) => find(proxy.in_sequence.as_ref(), bus),
            Service::Api(api, resource) => find(resource_of(api, resource).in_sequence.as_ref(), bus),
            Service::InboundSource(source) => source.sequence.map_or_else(|| main(bus), |id| bus.sequence(id)),
            Service::Stray(_, sequence) => bus.sequence(sequence),
        }
    }

    /// What responses run through.
    pub(crate) fn outgoing(self, bus: &'a Bus) -> Option<&'a Sequence> {
        match self {
            // As in Synapse, what comes back belongs to no service, and that is `main`.
            Service::Main | Service::InboundSource(_) => main(bus),
            Service::Proxy(proxy) => find(proxy.out_sequence.as_ref(), bus),
            Service::Api(api, resource) => find(resource_of(api, resource).out_sequence.as_ref(), bus),
            Service::Stray(..) => None,
        }
    }

    /// What faults run through: its own sequence, or the one for all.
    pub(crate) fn fault(self, bus: &'a Bus) -> Option<&'a Sequence> {
        let own = match self {
            Service::Main | Service::Stray(..) => None,
            Service::InboundSource(source) => source.fault.and_then(|id| bus.sequence(id)),
            Service::Proxy(proxy) => find(proxy.fault_sequence.as_ref(), bus),
            Service::Api(api, resource) => find(resource_of(api, resource).fault_sequence.as_ref(), bus),
        };
        own.or_else(|| bus.sequence(bus.fault?))
    }

    /// What protects its messages.
    pub(crate) fn security(self) -> Option<&'a ProxySecurity> {
        match self {
            Service::Proxy(proxy) => proxy.security.as_ref(),
            _ => None,
        }
    }

    /// The description that tells its operations, where it has one of its own.
    pub(crate) fn description(self) -> Option<&'a ProxyDescription> {
        match self {
            Service::Main | Service::Api(..) | Service::InboundSource(_) | Service::Stray(..) => None,
            Service::Proxy(proxy) => Some(&proxy.description).filter(|description| description.has_operations()),
        }
    }

    /// How much processor time its exchanges take; `None` for those that are only told that there is nothing.
    pub(crate) fn cost(self, bus: &'a Bus) -> Option<&'a ServiceCost> {
        match self {
            Service::Main => Some(&bus.main_cost),
            Service::Proxy(proxy) => Some(&proxy.cost),
            Service::Api(api, resource) => Some(&resource_of(api, resource).cost),
            Service::InboundSource(source) => Some(&source.cost),
            Service::Stray(..) => None,
        }
    }

    /// What is counted of its exchanges.
    pub(crate) fn counters(self, bus: &'a Bus) -> &'a Arc<ServiceCounters> {
        match self {
            Service::Main => &bus.main_counters,
            Service::Proxy(proxy) => &proxy.counters,
            Service::Api(api, resource) => &resource_of(api, resource).counters,
            Service::InboundSource(source) => &source.counters,
            Service::Stray(..) => &bus.unserved,
        }
    }

    /// Where requests go that no sequence sent.
    pub(crate) fn endpoint(self, bus: &'a Bus) -> Option<&'a Arc<Endpoint>> {
        match self {
            Service::Proxy(proxy) => proxy.endpoint.as_ref()?.find_in(&bus.endpoints),
            _ => None,
        }
    }
}

fn resource_of(api: &Api, number: usize) -> &Resource {
    &api.resources[number]
}

fn main(bus: &Bus) -> Option<&Sequence> {
    bus.sequence(bus.main?)
}

fn find<'a>(sequence: Option<&'a SequenceRef>, bus: &'a Bus) -> Option<&'a Sequence> {
    sequence?.find(&bus.definitions)
}
