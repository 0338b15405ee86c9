//! Proxy services from their elements.

use std::sync::Arc;

use crate::endpoints::{self, EndpointRef};
use crate::guards;
use crate::inbound::{Unread, by_transport, source};
use crate::loader::{Loader, is_traced};
use crate::proxies::Proxy;
use crate::proxies::publishing;
use crate::words::unknown_word;
use myelin_channel::{Receive, Source, Spec};
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::cost::ServiceCost;
use myelin_flow::position::ServiceIdentity;

/// What a proxy holds.
const PARTS: [&str; 7] = ["target", "parameter", "publishWSDL", "policy", "enableSec", "enableAddressing", "enableRM"];

/// What the target of a proxy holds.
const TARGET_PARTS: [&str; 4] = ["inSequence", "outSequence", "faultSequence", "endpoint"];

/// Reads a proxy.
pub fn proxy(element: &Element, loader: &mut Loader) -> Result<Proxy, Problem> {
    let name: Arc<str> = element.required("name")?.value.trim().into();
    let Transports { http, https, sources, unread } = transports(element, loader)?;
    for attribute in ["pinnedServers", "serviceGroup"] {
        if let Some(text) = element.attribute(attribute) {
            loader.warning(text.problem(format!("{attribute} has no effect: the proxy is offered by every server")));
        }
    }
    let mut target = None;
    for child in &element.children {
        match child.name.as_str() {
            "target" if child.is_synapse() && target.is_none() => target = Some(child),
            "description" => {}
            "parameter" => {
                let unread = unread.iter().find(|unread| std::ptr::eq(unread.element, child));
                publishing::parameter(child, unread, loader);
            }
            "publishWSDL" | "policy" | "enableSec" => {}
            "enableAddressing" | "enableRM" => {
                loader.problem(child.problem(format!("{} is not offered yet", child.tag())));
            }
            _ => loader.no_effect(child, "a proxy", &PARTS),
        }
    }
    let Some(target) = target else { return Err(element.problem("<proxy>: <target> is missing")) };
    for child in &target.children {
        if !TARGET_PARTS.iter().any(|known| child.is(known)) {
            loader.no_effect(child, "a target", &TARGET_PARTS);
        }
    }
    let endpoint = match (target.attribute("endpoint"), target.child("endpoint")) {
        (Some(key), _) => loader.endpoint_id(key).map(|id| Some(EndpointRef::Named(id))),
        (None, Some(child)) => endpoints::endpoint_reference(child, loader).map(Some),
        (None, None) => Ok(None),
    };
    let endpoint = endpoint.unwrap_or_else(|problem| {
        loader.problem(problem);
        None
    });
    let description = publishing::describe(element, &name, (http, https), loader);
    let identity = ServiceIdentity::new("proxy", name, Some(element.place.clone())).traced(is_traced(element));
    let is_off = element.attribute("startOnLoad").filter(|text| text.value.trim().eq_ignore_ascii_case("false"));
    if let Some(text) = is_off {
        loader.warning(text.problem("the proxy is off until an operator switches it on: startOnLoad is false"));
    }
    let proxy = Proxy {
        counters: loader.service_counters(&identity, ""),
        state: loader.service_state_from(identity.kind, &identity.name, is_off.is_some()),
        identity,
        http,
        https,
        in_sequence: loader.sequence_of(target, "inSequence"),
        out_sequence: loader.sequence_of(target, "outSequence"),
        fault_sequence: loader.sequence_of(target, "faultSequence"),
        endpoint,
        security: guards::build::proxy(element, loader),
        description,
        sources,
        cost: ServiceCost::default(),
    };
    Ok(proxy)
}

/// How a proxy is reached.
struct Transports<'e> {
    /// Over plain HTTP, and over HTTPS.
    http: bool,
    https: bool,
    /// By what brings messages to it.
    sources: Vec<Arc<dyn Source>>,
    /// The parameters that none of these channels knows.
    unread: Vec<Unread<'e>>,
}

/// Transports of Synapse's that no channel offers yet; any other word is a mistake.
const NOT_YET: &[&str] = &[
    "amqp",
    "fix",
    "hl7",
    "jms",
    "kafka",
    "mailto",
    "mail",
    "mqtt",
    "msmq",
    "rabbitmq",
    "sap",
    "bapi",
    "idoc",
    "tcp",
    "udp",
    "vfs",
    "websocket",
    "ws",
    "wss",
    "xmpp",
    "grpc",
    "msgrpc",
    "smpp",
];

/// Says which transport would heed a parameter, where one would.
fn needed(parameter: &Element, loader: &Loader) -> Option<String> {
    let name = parameter.attribute("name")?.value.trim();
    let (transport, _) = name.strip_prefix("transport.")?.split_once('.')?;
    let channel = by_transport(loader.settings.channels, transport)?;
    let Receive::BySource(_) = channel.receive else { return None };
    Some(format!("it would have one if the transports of the proxy named {transport}"))
}

/// Reads the `transports` attribute, and the parameters of the channels that it names.
fn transports<'e>(element: &'e Element, loader: &mut Loader) -> Result<Transports<'e>, Problem> {
    let parameters: Vec<&Element> = element.children.iter().filter(|child| child.is("parameter")).collect();
    let unread =
        parameters.iter().map(|element| Unread { element, meant: None, hint: needed(element, loader) }).collect();
    let mut found = Transports { http: false, https: false, sources: Vec::new(), unread };
    let Some(text) = element.attribute("transports") else {
        return Ok(Transports { http: true, https: true, ..found });
    };
    let mut not_yet = Vec::new();
    let mut is_local = false;
    for name in text.value.split([' ', ',', '\t', '\n', '\r']).filter(|name| !name.is_empty()) {
        match (name, by_transport(loader.settings.channels, name)) {
            ("http", _) => found.http = true,
            ("https", _) => found.https = true,
            ("all", _) => (found.http, found.https) = (true, true),
            ("local", _) => is_local = true,
            (_, Some(Spec { receive: Receive::BySource(read), .. })) => {
                let (source, unknown) = source(*read, &parameters, element, loader);
                found.unread.retain_mut(|unread| {
                    let same = unknown.iter().find(|unknown| std::ptr::eq(unknown.element, unread.element));
                    // The transport is named: what was missing is not.
                    unread.hint = same.and_then(|same| same.hint.clone());
                    unread.meant = same.and_then(|same| same.meant.clone());
                    same.is_some()
                });
                found.sources.extend(source.map(Arc::from));
            }
            (other, _) if NOT_YET.contains(&other) => not_yet.push(other),
            (other, _) => {
                let offered = loader.settings.channels.iter().flat_map(|channel| channel.transports).copied();
                return Err(text.problem(unknown_word("transport", other, &offered.collect::<Vec<_>>())));
            }
        }
    }
    let is_reached = found.http || found.https || !found.sources.is_empty();
    if !not_yet.is_empty() {
        let names = not_yet.join(" ");
        if !is_reached {
            return Err(text.problem(format!("transport {names:?} is not offered yet")));
        }
        let message = format!("transport {names:?} is not offered yet: the proxy is reached by the others only");
        loader.warning(text.problem(message));
    }
    if !is_reached && is_local {
        // What is for this bus alone would be open to everybody.
        return Err(text.problem("transport \"local\" is not offered yet"));
    }
    if text.value.trim().is_empty() {
        // This is what a tool writes for "all of them".
        (found.http, found.https) = (true, true);
    }
    Ok(found)
}
