//! Endpoints from their elements.

mod groups;

use std::sync::Arc;

use crate::endpoints::address::{other, unusable};
use crate::endpoints::endpoint_template;
use crate::endpoints::state::Rules;
use crate::endpoints::{
    Described, Endpoint, EndpointKind, EndpointPolicy, EndpointRef, Health, Resolving, Template, Timeout, absolute,
    rules,
};
use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Expression;
use myelin_flow::fault::Fault;
use myelin_flow::sequence::SequenceId;
use myelin_spelling::nearest;

/// Reads an `<endpoint>` that stands inside something: a reference by key, or an endpoint of its own.
pub fn endpoint_reference(element: &Element, loader: &mut Loader) -> Result<EndpointRef, Problem> {
    if let Some(key) = element.attribute("key") {
        element.attribute("name");
        return loader.endpoint_id(key).map(EndpointRef::Named);
    }
    endpoint(element, loader).map(|endpoint| EndpointRef::Inline(Arc::new(endpoint)))
}

/// Reads an `<endpoint>`; one that needs something that is not there takes no message.
pub fn endpoint(element: &Element, loader: &mut Loader) -> Result<Endpoint, Problem> {
    let failing = |problem: &Problem, _: &mut Loader| {
        element.forgive_all_but_misspelt();
        let name = element.attribute("name").map_or("", |name| name.value);
        // The backend's, so that a group tries its next member.
        Endpoint::failing(name, Fault::status(0, "The backend cannot be addressed"), problem)
    };
    loader.build_or_failing(element, |loader| read(element, loader), failing)
}

fn read(element: &Element, loader: &mut Loader) -> Result<Endpoint, Problem> {
    if let Some(template) = element.attribute("template") {
        return endpoint_template::fill(element, template, loader);
    }
    let name = element.attribute("name").map_or("", |name| name.value);
    let on_error = on_error(element, loader)?;
    let make = |kind, around: Around, loader: &mut Loader| Endpoint {
        name: name.into(),
        place: element.place.clone(),
        kind,
        health: health(element, &around.rules, loader),
        properties: None,
        timeout: around.timeout,
        discard: around.discard,
        on_error,
        policy: around.policy.shared(),
        counters: loader.endpoint_counters(name),
        is_traced: loader.traces(element),
    };
    let mut around = Around::new(loader);
    if let Some(key) = element.attribute("key") {
        return Ok(make(EndpointKind::Alias(loader.endpoint_id(key)?), around, loader));
    }
    let properties = element.children.iter().filter(|child| child.is("property"));
    let properties = Some(loader.nodes(properties)).filter(|properties| !properties.nodes().is_empty());
    // Synapse has the attribute at `<address>` and its like.
    let mut is_traced = false;
    let kind = match element.attribute("key-expression") {
        Some(expression) => EndpointKind::Resolving(Resolving::read(expression, loader)?),
        None => {
            let child = kind_element(element, loader)?;
            is_traced = loader.traces(child);
            let kind = kind(element, child, loader)?;
            if !matches!(kind, EndpointKind::Group(_) | EndpointKind::Recipients(_)) {
                quality_of_service(child, &mut around, loader);
            }
            if let EndpointKind::Described(described) = &kind {
                around.policy.described = Some(Arc::clone(described));
            }
            kind
        }
    };
    let endpoint = make(kind, around, loader);
    Ok(Endpoint { properties, is_traced: is_traced || endpoint.is_traced, ..endpoint })
}

/// The state of the backend that an element defines, which a reload leaves as it is.
pub(super) fn health(element: &Element, rules: &Rules, loader: &mut Loader) -> Arc<Health> {
    let fits = |known: &Health| known.rules == *rules;
    loader.inherit("health", element.source().to_owned(), fits, || Health::new(rules.clone()))
}

fn on_error(element: &Element, loader: &mut Loader) -> Result<Option<SequenceId>, Problem> {
    let key = element.attribute("onError").filter(|key| !key.value.trim().is_empty());
    key.map_or(Ok(None), |key| loader.handler_id(key))
}

/// The one element in an endpoint that says what it is.
fn kind_element<'a>(element: &'a Element, loader: &mut Loader) -> Result<&'a Element, Problem> {
    let mut kind: Option<&Element> = None;
    for child in &element.children {
        match child.name.as_str() {
            "description" | "property" if child.is_synapse() => {}
            "session" if child.is_synapse() && element.child("loadbalance").is_some() => {}
            name if element.child("loadbalance").is_some() && nearest(name, ["session"]).is_some() => {
                loader.problem(child.unknown_in("<endpoint>", "session"));
            }
            _ if kind.is_none() => kind = Some(child),
            _ => loader.problem(child.problem(format!("{}: an endpoint holds one kind only", child.tag()))),
        }
    }
    kind.ok_or_else(|| {
        let kinds = "an address, http, wsdl, default, loadbalance, failover or recipientlist";
        element.problem(format!("<endpoint> needs a key, or {kinds} in it"))
    })
}

fn kind(element: &Element, child: &Element, loader: &mut Loader) -> Result<EndpointKind, Problem> {
    match child.name.as_str() {
        "address" if child.is_synapse() => address(child, loader),
        "http" if child.is_synapse() => http(child, loader),
        "default" if child.is_synapse() => Ok(EndpointKind::Default),
        "wsdl" if child.is_synapse() => Described::read(child, loader).map(|it| EndpointKind::Described(Arc::new(it))),
        "loadbalance" if child.is_synapse() => {
            groups::balance(child, element.child("session"), loader).map(EndpointKind::Group)
        }
        "recipientlist" if child.is_synapse() => groups::recipients(child, loader).map(EndpointKind::Recipients),
        "failover" if child.is_synapse() => groups::failover(child, loader).map(EndpointKind::Group),
        "dynamicLoadbalance" | "serviceDynamicLoadbalance" if child.is_synapse() => {
            let message =
                format!("{} finds its members in a cluster of Axis2; name them in <loadbalance>", child.tag());
            Err(child.problem(message))
        }
        "class" => Err(child.problem("<class> names a JVM class, which cannot run in a native program")),
        name => Err(child.problem(format!("unknown endpoint {}", child.tag())).suggesting(nearest(name, KINDS))),
    }
}

fn address(element: &Element, loader: &mut Loader) -> Result<EndpointKind, Problem> {
    let text = element.required("uri")?;
    let value = loader.configured(text)?;
    if Expression::is_in(&value) {
        let message = "${…} is sent as it stands here; <http uri-template> works it out for each message";
        loader.warning(text.problem(message));
    }
    if let Some(address) = other(&value, loader.settings.channels) {
        return address.map(EndpointKind::Other).map_err(|message| unusable(text, &value, message));
    }
    let uri = absolute(&value).map_err(|message| unusable(text, &value, message))?;
    let text = value.trim();
    let text = text.split('#').next().unwrap_or_default().to_owned();
    Ok(EndpointKind::Address { uri, text })
}

fn http(element: &Element, loader: &mut Loader) -> Result<EndpointKind, Problem> {
    let template = Template::parse(element.required("uri-template")?, loader)?;
    let method = match element.attribute("method") {
        Some(text) if text.value.trim().is_empty() => None,
        Some(text) => {
            let method = text.value.trim().to_ascii_uppercase();
            if !myelin_message::is_token(method.as_bytes()) {
                return Err(text.problem(format!("{method:?} is no method")));
            }
            Some(method)
        }
        None => None,
    };
    Ok(EndpointKind::Http { template, method })
}

/// What surrounds the address.
struct Around {
    timeout: Timeout,
    discard: bool,
    rules: Rules,
    policy: EndpointPolicy,
}

impl Around {
    fn new(loader: &Loader) -> Around {
        let settings = &loader.settings.endpoints;
        Around {
            timeout: Timeout::Fixed(settings.timeout),
            discard: false,
            rules: rules::default(settings),
            policy: EndpointPolicy::default(),
        }
    }
}

/// The elements of an endpoint that say what it is.
const KINDS: [&str; 7] = ["address", "http", "wsdl", "default", "loadbalance", "failover", "recipientlist"];

/// What may surround the address, besides the rules.
const POLICIES: [&str; 4] = ["timeout", "enableAddressing", "enableSec", "authentication"];

/// Reads what surrounds the address: when it is tried, how long it is waited for, and what is done to its messages.
fn quality_of_service(kind: &Element, around: &mut Around, loader: &mut Loader) {
    around.policy = EndpointPolicy::read(kind, loader);
    around.rules = rules::read(kind, loader);
    for child in &kind.children {
        match child.name.as_str() {
            "timeout" => (around.timeout, around.discard) = Timeout::read(child, loader),
            "description" => {}
            // The description that stands in a `wsdl` endpoint.
            _ if !child.is_synapse() && kind.is("wsdl") => {}
            name if rules::ELEMENTS.contains(&name) => {}
            _ if around.policy.take(child, kind, loader) => {}
            name => {
                let meant = nearest(name, rules::ELEMENTS.into_iter().chain(POLICIES));
                let problem = child.problem(format!("{} is unknown in an endpoint", child.tag()));
                loader.problem(problem.suggesting(meant));
            }
        }
    }
}
