//! Which service a request is for, by its path.

use std::sync::Arc;

use myelin_message::Head;

use crate::api::{Api, Extent};
use crate::bus::{Bus, Proxy};
use crate::description::Question;
use crate::engine::Arrival;
use crate::replies;

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
    /// It asks a proxy about itself; the second is where the question starts.
    Description(&'a Proxy, usize),
    /// To who waits for an answer that does not come back on its connection.
    Reply,
    /// Nobody offers that.
    Nowhere,
}

/// Finds the service for a request target.
pub(crate) fn dispatch<'a>(bus: &'a Bus, head: &Head, arrival: &Arrival<'_>) -> Route<'a> {
    let target = head.target();
    let path_start = path_start(target);
    let path_end = memchr::memchr2(b'?', b'#', target.as_bytes()).unwrap_or(target.len()).max(path_start);
    let path = &target[path_start..path_end];
    if let Some(rest) = path.strip_prefix(SERVICES) {
        let name = rest.split('/').next().unwrap_or_default();
        if let Some(proxy) = find(bus, name).filter(|proxy| if arrival.secure { proxy.https } else { proxy.http }) {
            if matches!(head.method(), "GET" | "HEAD") && Question::of(&target[path_end..]).is_some() {
                return Route::Description(proxy, path_end);
            }
            return Route::Proxy(proxy, path_start + SERVICES.len() + name.len());
        }
        if name == replies::SERVICE && head.method() == "POST" {
            return Route::Reply;
        }
        // What was meant for a faulty proxy must not slip into `main`, which may do anything with it.
        if bus.faulty.contains(name) {
            return Route::Nowhere;
        }
    }
    if let Some(offer) = bus.apis.offers.find(&target[path_start..], head, arrival.secure) {
        let address_end = path_start + offer.address.prefix.len();
        return match &offer.api {
            Some(api) => Route::Api(api, Extent { path_start, address_end }),
            None => Route::Nowhere,
        };
    }
    match bus.main {
        // The rest of a path that names no service starts behind its first slash.
        Some(_) => Route::Main((path_start + 1).min(target.len())),
        None => Route::Nowhere,
    }
}

/// A proxy by its name, or by its name with a port behind a dot (`Echo.EchoHttpSoap11Endpoint`).
fn find<'a>(bus: &'a Bus, name: &str) -> Option<&'a Arc<Proxy>> {
    bus.proxies.get(name).or_else(|| bus.proxies.get(name.rsplit_once('.')?.0))
}

/// Where the path starts in a target that may be absolute.
fn path_start(target: &str) -> usize {
    if target.starts_with('/') {
        return 0;
    }
    let Some(authority) = target.find("://").map(|at| at + 3) else { return 0 };
    target[authority..].find(['/', '?']).map_or(target.len(), |at| authority + at)
}
