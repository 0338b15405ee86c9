//! Endpoints from their elements.

mod groups;

use std::sync::Arc;

use crate::endpoints::address::other;
use crate::endpoints::endpoint_template;
use crate::endpoints::state::Rules;
use crate::endpoints::{
    Described, Endpoint, EndpointPolicy, EndpointRef, Health, Resolving, Target, Template, Timeout, absolute, rules,
};
use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::sequence::SequenceId;

/// Reads an `<endpoint>` that stands inside something: a reference by key, or an endpoint of its own.
pub fn endpoint_reference(element: &Element, loader: &mut Loader) -> Result<EndpointRef, Problem> {
    if let Some(key) = element.attribute("key") {
        element.attribute("name");
        return loader.endpoint_id(key).map(EndpointRef::Named);
    }
    endpoint(element, loader).map(|endpoint| EndpointRef::Inline(Arc::new(endpoint)))
}

/// Reads an `<endpoint>`.
pub fn endpoint(element: &Element, loader: &mut Loader) -> Result<Endpoint, Problem> {
    if let Some(template) = element.attribute("template") {
        return endpoint_template::fill(element, template, loader);
    }
    let name = element.attribute("name").map_or("", |name| name.value);
    let on_error = on_error(element, loader)?;
    let make = |target, around: Around, loader: &mut Loader| Endpoint {
        name: name.into(),
        place: element.place.clone(),
        target,
        health: health(element, &around.rules, loader),
        properties: None,
        timeout: around.timeout,
        discard: around.discard,
        on_error,
        surroundings: around.surroundings.shared(),
    };
    let mut around = Around::new(loader);
    if let Some(key) = element.attribute("key") {
        return Ok(make(Target::Alias(loader.endpoint_id(key)?), around, loader));
    }
    let properties = element.children.iter().filter(|child| child.is("property"));
    let properties = Some(loader.nodes(properties)).filter(|properties| !properties.nodes().is_empty());
    let target = match element.attribute("key-expression") {
        Some(expression) => Target::Resolving(Resolving::read(expression, loader)?),
        None => {
            let kind = kind(element, loader)?;
            let target = target(element, kind, loader)?;
            if !matches!(target, Target::Group(_) | Target::Recipients(_)) {
                quality_of_service(kind, &mut around, loader);
            }
            if let Target::Described(described) = &target {
                around.surroundings.described = Some(Arc::clone(described));
            }
            target
        }
    };
    Ok(Endpoint { properties, ..make(target, around, loader) })
}

/// The state of the backend that an element defines, which a reload leaves as it is.
pub(super) fn health(element: &Element, rules: &Rules, loader: &mut Loader) -> Arc<Health> {
    let fits = |known: &Health| known.rules == *rules;
    loader.inherit("health", element.source().to_owned(), fits, || Health::new(rules.clone()))
}

fn on_error(element: &Element, loader: &mut Loader) -> Result<Option<SequenceId>, Problem> {
    let key = element.attribute("onError").filter(|key| !key.value.trim().is_empty());
    key.map(|key| loader.sequence_id(key)).transpose()
}

/// The one element in an endpoint that says what it is.
fn kind<'a>(element: &'a Element, loader: &mut Loader) -> Result<&'a Element, Problem> {
    let mut kind: Option<&Element> = None;
    for child in &element.children {
        match child.name.as_str() {
            "description" | "property" if child.is_synapse() => {}
            "session" if child.is_synapse() && element.child("loadbalance").is_some() => {}
            _ if kind.is_none() => kind = Some(child),
            _ => loader.problem(child.problem(format!("{}: an endpoint holds one kind only", child.tag()))),
        }
    }
    kind.ok_or_else(|| {
        let kinds = "an address, http, wsdl, default, loadbalance, failover or recipientlist";
        element.problem(format!("<endpoint> needs a key, or {kinds} in it"))
    })
}

fn target(element: &Element, kind: &Element, loader: &mut Loader) -> Result<Target, Problem> {
    match kind.name.as_str() {
        "address" if kind.is_synapse() => address(kind, loader),
        "http" if kind.is_synapse() => http(kind, loader),
        "default" if kind.is_synapse() => Ok(Target::Default),
        "wsdl" if kind.is_synapse() => Described::read(kind, loader).map(|it| Target::Described(Arc::new(it))),
        "loadbalance" if kind.is_synapse() => {
            groups::balance(kind, element.child("session"), loader).map(Target::Group)
        }
        "recipientlist" if kind.is_synapse() => groups::recipients(kind, loader).map(Target::Recipients),
        "failover" if kind.is_synapse() => groups::failover(kind, loader).map(Target::Group),
        "dynamicLoadbalance" | "serviceDynamicLoadbalance" if kind.is_synapse() => {
            let message = format!("{} finds its members in a cluster of Axis2; name them in <loadbalance>", kind.tag());
            Err(kind.problem(message))
        }
        "class" => Err(kind.problem("<class> names a JVM class, which cannot run in a native program")),
        _ => Err(kind.problem(format!("unknown endpoint {}", kind.tag()))),
    }
}

fn address(element: &Element, loader: &Loader) -> Result<Target, Problem> {
    let text = element.required("uri")?;
    let value = loader.configured(text)?;
    if let Some(address) = other(&value, loader.settings.channels) {
        return address.map(Target::Other).map_err(|message| text.problem(message));
    }
    let uri = absolute(&value).map_err(|message| text.problem(message))?;
    let text = value.trim();
    let text = text.split('#').next().unwrap_or_default().to_owned();
    Ok(Target::Address { uri, text })
}

fn http(element: &Element, loader: &mut Loader) -> Result<Target, Problem> {
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
    Ok(Target::Http { template, method })
}

/// What surrounds the address.
struct Around {
    timeout: Timeout,
    discard: bool,
    rules: Rules,
    surroundings: EndpointPolicy,
}

impl Around {
    fn new(loader: &Loader) -> Around {
        let settings = &loader.settings.endpoints;
        Around {
            timeout: Timeout::Fixed(settings.timeout),
            discard: false,
            rules: rules::default(settings),
            surroundings: EndpointPolicy::default(),
        }
    }
}

/// Reads what surrounds the address: when it is tried, how long it is waited for, and what is done to its messages.
fn quality_of_service(kind: &Element, around: &mut Around, loader: &mut Loader) {
    around.surroundings = EndpointPolicy::read(kind, loader);
    around.rules = rules::read(kind, loader);
    for child in &kind.children {
        match child.name.as_str() {
            "timeout" => (around.timeout, around.discard) = Timeout::read(child, loader),
            "description" => {}
            // The description that stands in a `wsdl` endpoint.
            _ if !child.is_synapse() && kind.is("wsdl") => {}
            name if rules::ELEMENTS.contains(&name) => {}
            _ if around.surroundings.take(child, loader) => {}
            _ => loader.problem(child.problem(format!("{} is unknown in an endpoint", child.tag()))),
        }
    }
}
