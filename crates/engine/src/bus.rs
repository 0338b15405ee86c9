//! A loaded configuration, ready to serve. It never changes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use myelin_artefacts::apis::Apis;
use myelin_artefacts::endpoints::{EndpointStatus, Endpoints, Monitor};
use myelin_artefacts::inbound::{Inbound, InboundSource, Port, Receiving, ReceivingService};
use myelin_artefacts::left_out::LeftOut;
use myelin_artefacts::proxies::Proxy;
use myelin_flow::cost::ServiceCost;
use myelin_flow::counters::{EndpointTotals, ServiceCounters};
use myelin_flow::definitions::Definitions;
use myelin_flow::position::ServiceIdentity;
use myelin_flow::sequence::{Sequence, SequenceId};
use myelin_flow::service_state::ServiceState;

/// A loaded configuration: what is sound of it, with every fixed reference resolved.
pub struct Bus {
    pub(crate) definitions: Definitions,
    pub(crate) endpoints: Arc<Endpoints>,
    /// By their names. A map that compares names finds one sooner than a map that hashes each request's.
    pub(crate) proxies: BTreeMap<String, Arc<Proxy>>,
    pub(crate) apis: Apis,
    /// The proxies that are faulty, by their names: nobody else offers them, `main` included.
    pub(crate) faulty: BTreeMap<String, LeftOut>,
    /// The sequence `main`, where it is faulty.
    pub(crate) faulty_main: Option<LeftOut>,
    /// The inbound endpoints, by their names.
    pub(crate) inbounds: HashMap<Arc<str>, Arc<Inbound>>,
    /// What is received by sources: tasks, folders.
    pub(crate) receivings: Vec<Arc<Receiving>>,
    pub(crate) main: Option<SequenceId>,
    /// `main` as the log names it.
    pub(crate) main_identity: ServiceIdentity,
    /// How much processor time the exchanges of `main` take.
    pub(crate) main_cost: ServiceCost,
    /// What is counted of the exchanges of `main`.
    pub(crate) main_counters: Arc<ServiceCounters>,
    /// What is counted of requests that no service is for.
    pub(crate) unserved: Arc<ServiceCounters>,
    pub(crate) fault: Option<SequenceId>,
    /// The switches of artefacts, which an operator sets, by the kinds and names of the artefacts.
    pub(crate) states: BTreeMap<(String, String), Arc<ServiceState>>,
    /// The names of the connectors.
    pub(crate) connectors: Vec<String>,
}

/// What messages can be for, with what is counted of it.
#[derive(Clone, Debug)]
pub struct ServiceView<'a> {
    /// What it is.
    pub kind: ServiceKind,
    /// Its name; empty for [`ServiceKind::Nobody`].
    pub name: &'a str,
    /// The path of a resource of an API, as it is written.
    pub address: Option<String>,
    /// What is counted of its exchanges.
    pub counters: &'a ServiceCounters,
}

/// What serves an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceKind {
    /// A proxy.
    Proxy,
    /// A resource of an API.
    Api,
    /// An inbound endpoint.
    InboundEndpoint,
    /// A task.
    Task,
    /// The main sequence.
    Main,
    /// Requests that no service is for.
    Nobody,
}

impl ServiceKind {
    /// The element that defines it, as the log and traces name it; empty for [`ServiceKind::Nobody`].
    pub fn element(self) -> &'static str {
        match self {
            ServiceKind::Proxy => "proxy",
            ServiceKind::Api => "api",
            ServiceKind::InboundEndpoint => "inboundEndpoint",
            ServiceKind::Task => "task",
            ServiceKind::Main => "sequence",
            ServiceKind::Nobody => "",
        }
    }
}

impl Bus {
    /// What flows refer to.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// The sequence with that number.
    pub(crate) fn sequence(&self, id: SequenceId) -> Option<&Sequence> {
        self.definitions.sequence(id)
    }

    /// The names of the proxies it serves, in alphabetical order.
    pub fn proxies(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.proxies.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// The names of the proxies that no client reaches where there are listeners of these kinds only, in alphabetical
    /// order.
    pub fn unreachable_proxies(&self, http: bool, https: bool) -> Vec<&str> {
        let is_reached = |proxy: &Proxy| (proxy.http && http) || (proxy.https && https) || !proxy.sources.is_empty();
        let mut proxies = self.proxies();
        proxies.retain(|name| !self.proxies.get(*name).is_some_and(|proxy| is_reached(proxy)));
        proxies
    }

    /// The names of the APIs it serves, in the order in which they are asked, and the paths they start at.
    pub fn apis(&self) -> Vec<(&str, &str)> {
        self.apis.offers.iter().map(|(api, address)| (&*api.identity.name, address.prefix.as_str())).collect()
    }

    /// The ports of inbound endpoints that are not switched off, on which the bus is to be reached, too.
    pub fn ports(&self) -> BTreeMap<u16, Port<'_>> {
        let ports = self.inbounds.values().filter(|inbound| !inbound.source.state.is_off());
        ports
            .map(|inbound| (inbound.port, Port { name: &inbound.source.identity.name, tls: inbound.tls.as_ref() }))
            .collect()
    }

    /// Whether requests to no proxy are mediated by a `main` sequence.
    pub fn has_main(&self) -> bool {
        self.main.is_some()
    }

    /// What the bus receives by sources, which somebody has to let run: see [`crate::receive`].
    pub fn receivings(&self) -> &[Arc<Receiving>] {
        &self.receivings
    }

    /// The named endpoints, by name.
    pub fn endpoints(&self) -> Vec<EndpointStatus> {
        self.endpoints.status()
    }

    /// Takes a named endpoint out, or brings it back and forgets what it did wrong; says whether there is one.
    ///
    /// One that is off gets no message, alone or in a group, until it is switched on again. One that its monitor finds
    /// down stays so.
    pub fn switch_endpoint(&self, name: &str, on: bool) -> bool {
        self.endpoints.switch(name, on)
    }

    /// The switches of the artefact with that kind (`proxy`, `task` …) and name; `None` where no such artefact runs.
    ///
    /// A proxy that is off answers 503; an inbound endpoint or a task takes no message; what is off otherwise means
    /// nothing. Switching a port takes effect when the bus is swapped for itself.
    pub fn service_state(&self, kind: &str, name: &str) -> Option<&Arc<ServiceState>> {
        self.states.get(&(kind.to_owned(), name.to_owned()))
    }

    /// The names of the connectors that came as archives, in alphabetical order.
    pub fn connectors(&self) -> &[String] {
        &self.connectors
    }

    /// The data sources that have names, with their URLs, in alphabetical order.
    pub fn data_sources(&self) -> Vec<(&str, &str)> {
        let sources = &self.definitions.settings.databases.sources;
        let mut sources: Vec<_> = sources.iter().map(|(name, source)| (&**name, &*source.url)).collect();
        sources.sort_unstable();
        sources
    }

    /// What was counted of endpoints, by name, and with an empty name of those without one together.
    pub fn endpoint_totals(&self) -> impl Iterator<Item = (&str, EndpointTotals)> {
        self.endpoints.totals()
    }

    /// All that messages can be for, with what is counted of it; of an API, its resources one by one.
    pub fn services(&self) -> Vec<ServiceView<'_>> {
        let of_source = |source: &'_ InboundSource| match source.identity.kind {
            "task" => ServiceKind::Task,
            _ => ServiceKind::InboundEndpoint,
        };
        let mut services = Vec::new();
        let mut add = |kind, name, address, counters| services.push(ServiceView { kind, name, address, counters });
        for (name, proxy) in &self.proxies {
            add(ServiceKind::Proxy, name.as_str(), None, &*proxy.counters);
        }
        for (api, address) in self.apis.offers.iter() {
            for resource in api.resources.iter() {
                let path = format!("{}{}", address.prefix, resource.path);
                add(ServiceKind::Api, &*api.identity.name, Some(path), &*resource.counters);
            }
        }
        for Inbound { source, .. } in self.inbounds.values().map(|inbound| &**inbound) {
            add(of_source(source), &*source.identity.name, None, &*source.counters);
        }
        for receiving in &self.receivings {
            if let ReceivingService::Inbound(source) = &receiving.receiver {
                add(of_source(source), &*source.identity.name, None, &*source.counters);
            }
        }
        if self.has_main() {
            add(ServiceKind::Main, "main", None, &*self.main_counters);
        }
        add(ServiceKind::Nobody, "", None, &*self.unserved);
        services.sort_by(|left, right| {
            (left.kind, left.name, &left.address).cmp(&(right.kind, right.name, &right.address))
        });
        // Resources at one path count together.
        services.dedup_by(|left, right| std::ptr::eq(left.counters, right.counters));
        services
    }

    /// The monitors of this bus, each to be run once in a process; those of a bus that it follows are dropped after
    /// these were made, so that what they found goes on.
    ///
    /// An endpoint that is faulty is not monitored.
    /// Errors: whatever is wrong with the settings, in sentences.
    pub fn monitors(&self) -> Result<Vec<Monitor>, Vec<String>> {
        self.endpoints.monitors(&self.definitions.settings.monitors)
    }
}
