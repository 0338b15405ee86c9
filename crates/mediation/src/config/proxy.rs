//! Proxy services from their elements.

use std::sync::Arc;

use super::element::Element;
use super::loader::Loader;
use super::problem::Problem;
use super::{publishing, security};
use crate::bus::Proxy;
use crate::endpoint::{self, EndpointRef};

/// Reads a proxy; `None` where it is sound but switched off.
pub(super) fn proxy(element: &Element, loader: &mut Loader) -> Result<Option<Proxy>, Problem> {
    let name: Arc<str> = element.required("name")?.value.trim().into();
    let (http, https) = transports(element, loader)?;
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
            "parameter" => publishing::parameter(child, loader),
            "publishWSDL" | "policy" | "enableSec" => {}
            "enableAddressing" | "enableRM" => {
                loader.problem(child.problem(format!("{} is not offered yet", child.tag())));
            }
            _ => {
                child.forgive();
                loader.warning(child.problem(format!("{} has no effect in a proxy", child.tag())));
            }
        }
    }
    let Some(target) = target else { return Err(element.problem("<proxy>: <target> is missing")) };
    for child in &target.children {
        if !["inSequence", "outSequence", "faultSequence", "endpoint"].iter().any(|known| child.is(known)) {
            child.forgive();
            loader.warning(child.problem(format!("{} has no effect in a target", child.tag())));
        }
    }
    let endpoint = match (target.attribute("endpoint"), target.child("endpoint")) {
        (Some(key), _) => loader.endpoint_id(key).map(|id| Some(EndpointRef::Named(id))),
        (None, Some(child)) => endpoint::endpoint_reference(child, loader).map(Some),
        (None, None) => Ok(None),
    };
    let endpoint = endpoint.unwrap_or_else(|problem| {
        loader.problem(problem);
        None
    });
    let description = publishing::describe(element, &name, (http, https), loader);
    let proxy = Proxy {
        name,
        place: element.place.clone(),
        http,
        https,
        in_sequence: loader.sequence_of(target, "inSequence"),
        out_sequence: loader.sequence_of(target, "outSequence"),
        fault_sequence: loader.sequence_of(target, "faultSequence"),
        endpoint,
        security: security::proxy(element, loader),
        description,
    };
    match element.attribute("startOnLoad") {
        Some(text) if text.value.trim().eq_ignore_ascii_case("false") => {
            loader.warning(text.problem("the proxy is not offered: startOnLoad is false"));
            Ok(None)
        }
        _ => Ok(Some(proxy)),
    }
}

/// Whether a proxy is reached over plain HTTP, and over HTTPS.
fn transports(element: &Element, loader: &mut Loader) -> Result<(bool, bool), Problem> {
    let Some(text) = element.attribute("transports") else { return Ok((true, true)) };
    let mut offered = (false, false);
    let mut others = Vec::new();
    for name in text.value.split([' ', ',', '\t', '\n', '\r']).filter(|name| !name.is_empty()) {
        match name {
            "http" => offered.0 = true,
            "https" => offered.1 = true,
            "all" => offered = (true, true),
            other => others.push(other),
        }
    }
    // What is offered is reached by `local://`, too; what is for this bus alone would be open to everybody.
    if offered != (false, false) {
        others.retain(|name| *name != "local");
    }
    match (offered, others.as_slice()) {
        // An empty list is what a tool writes for "all of them".
        ((false, false), []) => Ok((true, true)),
        ((false, false), _) => Err(text.problem(format!("transport {:?} is not offered yet", others.join(" ")))),
        (offered, []) => Ok(offered),
        (offered, _) => {
            let message =
                format!("transport {:?} is not offered yet: the proxy is reached over HTTP only", others.join(" "));
            loader.warning(text.problem(message));
            Ok(offered)
        }
    }
}
