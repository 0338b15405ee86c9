//! Which service a request is for, by its path.

use std::collections::BTreeMap;
use std::sync::Arc;

use myelin_message::Head;

use crate::bus::Bus;
use myelin_artefacts::apis::{Api, Caller, Extent};
use myelin_artefacts::inbound::{Inbound, InboundSource};
use myelin_artefacts::left_out::LeftOut;
use myelin_artefacts::proxies::{MetadataQuery, Proxy};
use myelin_flow::position::ServiceIdentity;
use myelin_flow::replies;
use myelin_message::Arrival;

/// The path under which Synapse offers proxies.
const SERVICES: &str = "/services/";

/// Where a request goes.
pub(crate) enum Route<'a> {
    /// To a proxy; the second is where the rest of the target starts.
    Proxy(&'a Arc<Proxy>, usize),
    /// To an API.
    Api(&'a Arc<Api>, Extent),
    /// To `main`; the second is where the rest of the target starts.
    Main(usize),
    /// To the sequence of an inbound endpoint; the second is where the rest of the target starts.
    InboundSource(&'a Arc<InboundSource>, usize),
    /// It asks a proxy about itself; the second is where the question starts.
    Description(&'a Proxy, usize),
    /// To who waits for an answer that does not come back on its connection.
    Reply,
    /// To what is faulty.
    LeftOut(&'a LeftOut),
    /// To what an operator has switched off.
    SwitchedOff,
    /// Nobody offers that.
    Nowhere,
}

impl<'a> Route<'a> {
    /// What serves the request, where it is a service that runs a flow.
    pub(crate) fn identity(&self, bus: &'a Bus) -> Option<&'a ServiceIdentity> {
        match self {
            Route::Proxy(proxy, _) => Some(&proxy.identity),
            Route::Api(api, _) => Some(&api.identity),
            Route::Main(_) => Some(&bus.main_identity),
            Route::InboundSource(source, _) => Some(&source.identity),
            Route::Description(..) | Route::Reply | Route::LeftOut(_) | Route::SwitchedOff | Route::Nowhere => None,
        }
    }
}

/// What a request asks for.
pub(crate) struct Asked<'a> {
    head: &'a Head,
    target: &'a str,
    secure: bool,
    path_start: usize,
    path_end: usize,
}

impl<'a> Asked<'a> {
    fn new(head: &'a Head, secure: bool) -> Asked<'a> {
        let target = head.target();
        let path_start = path_start(target);
        let path_end =
            target.bytes().position(|letter| matches!(letter, b'?' | b'#')).unwrap_or(target.len()).max(path_start);
        Asked { head, target, secure, path_start, path_end }
    }

    /// Its path with the query.
    fn uri(&self) -> &'a str {
        &self.target[self.path_start..]
    }

    /// Where the rest of a path starts that names no service: behind its first slash.
    fn rest(&self) -> usize {
        (self.path_start + 1).min(self.target.len())
    }
}

/// Finds the service for a request.
pub(crate) fn dispatch<'a>(bus: &'a Bus, head: &Head, arrival: &Arrival<'_>) -> Route<'a> {
    let asked = Asked::new(head, arrival.is_secure());
    match arrival.inbound.map(|name| bus.inbounds.get(name)) {
        None => service(bus, &asked),
        // A connection outlives the port, which is closed then.
        Some(Some(inbound)) if inbound.source.state.is_off() => Route::SwitchedOff,
        Some(Some(inbound)) => from_inbound(inbound, bus, &asked),
        // A connection that outlives its inbound endpoint leads nowhere.
        Some(None) => Route::Nowhere,
    }
}

/// Where a request goes that came to its port.
///
/// As in WSO2, an API that is bound to it comes first; with a filter what is for no service goes to `main`, and
/// without one to the sequence.
fn from_inbound<'a>(inbound: &'a Arc<Inbound>, bus: &'a Bus, asked: &Asked<'_>) -> Route<'a> {
    if let Some(route) = api(bus, asked, Caller::Inbound(&inbound.source.identity.name)) {
        return route;
    }
    match &inbound.filter {
        Some(filter) if filter.matches(asked.uri()) => service(bus, asked),
        Some(_) => main(bus, asked),
        None => Route::InboundSource(&inbound.source, asked.rest()),
    }
}

/// The service of the bus that a path names, or else `main`.
pub(crate) fn service<'a>(bus: &'a Bus, asked: &Asked<'_>) -> Route<'a> {
    let &Asked { head, target, secure, path_start, path_end } = asked;
    let path = &target[path_start..path_end];
    if let Some(rest) = path.strip_prefix(SERVICES) {
        let name = &rest[..rest.bytes().position(|letter| letter == b'/').unwrap_or(rest.len())];
        if let Some(proxy) = find(&bus.proxies, name).filter(|proxy| if secure { proxy.https } else { proxy.http }) {
            if proxy.state.is_off() {
                return Route::SwitchedOff;
            }
            if (head.has_method("GET") || head.has_method("HEAD")) && MetadataQuery::of(&target[path_end..]).is_some() {
                return Route::Description(proxy, path_end);
            }
            return Route::Proxy(proxy, path_start + SERVICES.len() + name.len());
        }
        if name == replies::SERVICE && head.has_method("POST") {
            return Route::Reply;
        }
        // What was meant for a faulty proxy must not slip into `main`, which may do anything with it.
        if let Some(left_out) = find(&bus.faulty, name) {
            return Route::LeftOut(left_out);
        }
    }
    api(bus, asked, Caller::Server).unwrap_or_else(|| main(bus, asked))
}

/// The API that a path names, among those that are offered to who calls.
pub(crate) fn api<'a>(bus: &'a Bus, asked: &Asked<'_>, caller: Caller<'_>) -> Option<Route<'a>> {
    let offer = bus.apis.offers.find(asked.uri(), asked.head, asked.secure, caller)?;
    let address_end = asked.path_start + offer.address.prefix.len();
    Some(match &offer.api {
        Ok(api) => Route::Api(api, Extent { path_start: asked.path_start, address_end }),
        Err(left_out) => Route::LeftOut(left_out),
    })
}

/// The main sequence, if there is one.
pub(crate) fn main<'a>(bus: &'a Bus, asked: &Asked<'_>) -> Route<'a> {
    match &bus.faulty_main {
        _ if bus.main.is_some() => Route::Main(asked.rest()),
        Some(left_out) => Route::LeftOut(left_out),
        None => Route::Nowhere,
    }
}

/// A proxy by its name, or by its name with a port behind a dot (`Echo.EchoHttpSoap11Endpoint`).
fn find<'a, T>(proxies: &'a BTreeMap<String, T>, name: &str) -> Option<&'a T> {
    proxies.get(name).or_else(|| proxies.get(name.rsplit_once('.')?.0))
}

/// Where the path starts in a target that may be absolute.
fn path_start(target: &str) -> usize {
    if target.starts_with('/') {
        return 0;
    }
    let Some(authority) = target.find("://").map(|at| at + 3) else { return 0 };
    target[authority..].find(['/', '?']).map_or(target.len(), |at| authority + at)
}
