//! Endpoints from their elements.

use std::sync::Arc;
use std::time::Duration;

use super::{Endpoint, EndpointRef, Surroundings, Target, Template, absolute};
use crate::config::{Element, Loader, Problem};

/// Kinds of endpoints the language has and this bus does not offer yet.
const LATER: &[&str] = &[
    "wsdl",
    "loadbalance",
    "failover",
    "recipientlist",
    "dynamicLoadbalance",
    "serviceDynamicLoadbalance",
    "template",
];

/// Reads an `<endpoint>` that stands inside something: a reference by key, or an endpoint of its own.
pub(crate) fn endpoint_reference(element: &Element, loader: &mut Loader) -> Result<EndpointRef, Problem> {
    if let Some(key) = element.attribute("key") {
        element.attribute("name");
        return loader.endpoint_id(key).map(EndpointRef::Named);
    }
    endpoint(element, loader).map(|endpoint| EndpointRef::Inline(Arc::new(endpoint)))
}

/// Reads an `<endpoint>`.
pub(crate) fn endpoint(element: &Element, loader: &mut Loader) -> Result<Endpoint, Problem> {
    let name = element.attribute("name").map_or("", |name| name.value);
    for (attribute, what) in [("key-expression", "a key that is worked out"), ("template", "an endpoint template")] {
        if let Some(text) = element.attribute(attribute) {
            return Err(text.problem(format!("{what} is not offered yet")));
        }
    }
    let make = |target, around: Around| Endpoint {
        name: name.into(),
        place: element.place.clone(),
        target,
        timeout: around.timeout,
        discard: around.discard,
        surroundings: around.surroundings.shared(),
    };
    if let Some(key) = element.attribute("key") {
        return Ok(make(Target::Alias(loader.endpoint_id(key)?), Around::default()));
    }
    let mut kind = None;
    for child in &element.children {
        match child.name.as_str() {
            "description" if child.is_synapse() => {}
            "property" | "parameter" if child.is_synapse() => {
                loader.problem(child.problem("properties of an endpoint are not offered yet"));
            }
            // It stands beside the kind it belongs to, which is refused itself.
            "session" if child.is_synapse() => {}
            _ if kind.is_none() => kind = Some(child),
            _ => loader.problem(child.problem(format!("{}: an endpoint holds one kind only", child.tag()))),
        }
    }
    let Some(kind) = kind else {
        return Err(element.problem("<endpoint> needs a key, or an address, http or default in it"));
    };
    let target = match kind.name.as_str() {
        "address" if kind.is_synapse() => address(kind)?,
        "http" if kind.is_synapse() => http(kind, loader)?,
        "default" if kind.is_synapse() => Target::Default,
        "class" => return Err(kind.problem("<class> names a JVM class, which cannot run in a native program")),
        other if LATER.contains(&other) => {
            return Err(kind.problem(format!("endpoint {} is not offered yet", kind.tag())));
        }
        _ => return Err(kind.problem(format!("unknown endpoint {}", kind.tag()))),
    };
    let around = quality_of_service(kind, loader);
    Ok(make(target, around))
}

fn address(element: &Element) -> Result<Target, Problem> {
    let text = element.required("uri")?;
    let uri = absolute(text.value).map_err(|message| text.problem(message))?;
    let text = text.value.trim();
    let text = text.split('#').next().unwrap_or_default().to_owned();
    Ok(Target::Address { uri, text })
}

fn http(element: &Element, loader: &mut Loader) -> Result<Target, Problem> {
    let template = Template::parse(element.required("uri-template")?, loader.names())?;
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
#[derive(Default)]
struct Around {
    timeout: Option<Duration>,
    discard: bool,
    surroundings: Surroundings,
}

/// Reads what surrounds the address; what would only change when the endpoint is tried again is a warning.
fn quality_of_service(kind: &Element, loader: &mut Loader) -> Around {
    let mut around = Around { surroundings: Surroundings::read(kind, loader), ..Around::default() };
    for child in &kind.children {
        match child.name.as_str() {
            "timeout" => (around.timeout, around.discard) = read_timeout(child, loader),
            "suspendOnFailure" | "markForSuspension" | "retryConfig" | "suspendDurationOnFailure" => {
                if !never(child) {
                    let message = format!("{}: endpoints are not suspended yet, each request is tried", child.tag());
                    loader.warning(child.problem(message));
                }
            }
            "description" => {}
            _ if around.surroundings.take(child, loader) => {}
            _ => loader.problem(child.problem(format!("{} is unknown in an endpoint", child.tag()))),
        }
    }
    around
}

/// Whether a rule says that it applies to no error at all, which is how suspension is switched off.
fn never(rule: &Element) -> bool {
    rule.child("errorCodes").is_some_and(|codes| codes.text().value == "-1")
}

fn read_timeout(element: &Element, loader: &mut Loader) -> (Option<Duration>, bool) {
    let mut duration = None;
    let mut discard = false;
    for child in &element.children {
        let text = child.text();
        match child.name.as_str() {
            "duration" => match text.value.parse::<u64>() {
                Ok(milliseconds) if milliseconds > 0 => duration = Some(Duration::from_millis(milliseconds)),
                Ok(_) => {}
                Err(_) if text.value.starts_with('{') => {
                    loader.problem(child.problem("a duration that is worked out is not offered yet"));
                }
                Err(_) => loader.problem(child.problem(format!("{:?} is no duration in milliseconds", text.value))),
            },
            "responseAction" | "action" => match text.value {
                "discard" => discard = true,
                "fault" | "none" | "" => {}
                other => loader.problem(child.problem(format!("{other:?} is neither fault nor discard"))),
            },
            _ => loader.warning(child.problem(format!("{} has no effect in <timeout>", child.tag()))),
        }
    }
    (duration, discard)
}
