//! REST APIs from their elements.

use std::sync::Arc;

use crate::apis::handler::build as api_handler;
use crate::apis::{Address, Api, Bound, Definition, Offer, Path, Resource, Template};
use crate::loader::{Loader, is_traced};
use crate::words::unknown_word;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_flow::cost::ServiceCost;
use myelin_flow::position::ServiceIdentity;
use myelin_java_text::pattern::Pattern;

/// The methods that a resource may name (Synapse's `RESTConstants.METHODS`).
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"];

/// What a resource holds.
const SEQUENCES: [&str; 3] = ["inSequence", "outSequence", "faultSequence"];

/// The listeners of the server itself, among what `binds-to` names.
const DEFAULT_BINDING: &str = "default";

/// What tells an API from the others: its name and, where it has one, its version.
pub fn name(element: &Element) -> String {
    let name = element.attribute("name").map_or("", |name| name.value.trim());
    match version(element) {
        Some(version) => format!("{name}:v{version}"),
        None => name.to_owned(),
    }
}

fn version(element: &Element) -> Option<&str> {
    element.attribute("version").map(|version| version.value.trim()).filter(|version| !version.is_empty())
}

/// Reads an API.
///
/// Source: `APIFactory` and `VersionStrategyFactory` of WSO2's Synapse.
pub fn api(element: &Element, loader: &mut Loader) -> Result<Offer, Problem> {
    element.required("name")?;
    let address = address(element)?;
    let name: Arc<str> = name(element).into();
    let (mut resources, mut elements) = (Vec::new(), Vec::new());
    let mut handlers: Vec<_> = api_handler::of_operator(loader).into_iter().collect();
    known_bindings(element, loader);
    refuse_validation(element, loader);
    for child in &element.children {
        match child.name.as_str() {
            "resource" if child.is_synapse() => match resource(child, &name, loader) {
                Ok(resource) => {
                    distinct(&resource, &resources).unwrap_or_else(|message| loader.problem(child.problem(message)));
                    resources.push(resource);
                    elements.push(child);
                }
                Err(problem) => {
                    child.forgive_all_but_misspelt();
                    loader.problem(problem);
                }
            },
            "handlers" if child.is_synapse() => handlers.extend(api_handler::handlers(child, loader)),
            "description" | "comment" => {}
            _ => loader.no_effect(child, "an API", &["resource", "handlers"]),
        }
    }
    if !element.children.iter().any(|child| child.is("resource")) {
        return Err(element.problem("<api>: <resource> is missing"));
    }
    warn_of_hidden(&resources, &elements, loader);
    let mut api = Api::new(identity(name, element), &address, resources);
    api.handlers = handlers;
    if let Some(key) = element.attribute("publishSwagger").filter(|key| !key.value.trim().is_empty()) {
        api.definition = definition(key, loader)?;
    }
    Ok(Offer { address, api: Ok(Arc::new(api)) })
}

/// Where an API is offered.
///
/// Errors: a [`Problem`] at the attribute that is wrong.
pub fn address(element: &Element) -> Result<Address, Problem> {
    let context = element.required("context")?;
    if !context.value.starts_with('/') {
        return Err(context.problem(format!("context {:?} does not start with a slash", context.value)));
    }
    if context.value.contains(['?', '#', ' ']) {
        return Err(context.problem(format!("context {:?} is no path", context.value)));
    }
    let trimmed = context.value.trim_end_matches('/');
    let kind = element.attribute("version-type").filter(|kind| !kind.value.trim().is_empty());
    let version = version(element);
    let (context, prefix) = match (version, kind.map(|kind| (kind.value.trim(), kind))) {
        (None, None) => (trimmed.to_owned(), trimmed.to_owned()),
        (Some(version), Some(("url", _))) => (trimmed.to_owned(), format!("{trimmed}/{version}")),
        (Some(version), Some(("context", _))) => {
            let context = trimmed.replace("{version}", version);
            (context.clone(), context)
        }
        (Some(_), None) => return Err(element.problem("<api>: a version needs a version-type, context or url")),
        (None, Some((_, kind))) => return Err(kind.problem("version-type without a version")),
        (_, Some((other, kind))) => {
            return Err(kind.problem(format!("version-type {other:?} is neither context nor url")));
        }
    };
    let port = match element.attribute("port").filter(|port| !port.value.trim().is_empty()) {
        Some(port) => {
            let number = port.value.trim().parse::<u16>();
            Some(number.map_err(|_| port.problem(format!("port {:?} is no port", port.value)))?)
        }
        None => None,
    };
    let host = element.attribute("hostname").map(|host| host.value.trim()).filter(|host| !host.is_empty());
    // Apache's name for it is in the singular.
    let protocols = element.attribute("transports").or_else(|| element.attribute("transport"));
    let (http, https) = protocols.map_or(Ok((true, true)), protocols_of)?;
    let version = version.unwrap_or_default().to_owned();
    Ok(Address { context, version, prefix, host: host.map(str::to_owned), port, http, https, bound: bound(element) })
}

/// Whether a list of protocols holds HTTP and HTTPS; an empty one means both.
fn protocols_of(text: Text<'_>) -> Result<(bool, bool), Problem> {
    let mut offered = (false, false);
    for name in text.value.split([' ', ',']).filter(|name| !name.is_empty()) {
        match name {
            "http" => offered.0 = true,
            "https" => offered.1 = true,
            other => return Err(text.problem(format!("protocol {other:?} is neither http nor https"))),
        }
    }
    Ok(if offered == (false, false) { (true, true) } else { offered })
}

/// Through which inbound endpoints an API is reached.
fn bound(element: &Element) -> Option<Bound> {
    let text = element.attribute("binds-to").filter(|text| !text.value.trim().is_empty())?;
    let names = text.value.split([' ', ',']).filter(|name| !name.is_empty());
    let (own, inbounds): (Vec<&str>, Vec<&str>) = names.partition(|&name| name == DEFAULT_BINDING);
    Some(Bound { server: !own.is_empty(), inbounds: inbounds.into_iter().map(str::to_owned).collect() })
}

/// Complains of inbound endpoints that are not there.
fn known_bindings(element: &Element, loader: &mut Loader) {
    let Some((text, bound)) = element.attribute("binds-to").zip(bound(element)) else { return };
    if let Some(name) = bound.inbounds.iter().find(|name| !loader.inbounds.contains(*name)) {
        loader.problem(text.problem(format!("there is no inboundEndpoint {name:?}")));
    }
}

fn refuse_validation(element: &Element, loader: &mut Loader) {
    let asked = element.attribute("validateSchema");
    if let Some(text) = asked.filter(|text| !text.value.trim().eq_ignore_ascii_case("false")) {
        loader.problem(text.problem("validation against an OpenAPI definition is not offered yet"));
    }
}

/// Reads the definition that a key names.
fn definition(key: Text<'_>, loader: &mut Loader) -> Result<Definition, Problem> {
    let resource = loader.resource(key)?;
    let definition = Definition::written(&resource.bytes).map_err(|message| key.problem(message))?;
    if definition.json.is_none() {
        let message = "the definition is in YAML: ?swagger.yaml gives it, ?swagger.json is answered with 404";
        loader.warning(key.problem(message));
    }
    Ok(definition)
}

fn resource(element: &Element, api: &Arc<str>, loader: &mut Loader) -> Result<Resource, Problem> {
    let given = |name: &str| element.attribute(name).filter(|text| !text.value.is_empty());
    let path = match (given("url-mapping"), given("uri-template")) {
        (Some(mapping), Some(template)) => {
            loader.warning(template.problem("uri-template has no effect beside url-mapping"));
            Path::mapping(mapping.value)
        }
        (Some(mapping), None) => Path::mapping(mapping.value),
        (None, Some(template)) => Path::Template(Template::parse(template, loader.names())?),
        (None, None) => Path::Any,
    };
    let methods = given("methods").map_or(Ok(Vec::new()), methods)?;
    let (http, https) = given("protocol").map_or(Ok((true, true)), protocols_of)?;
    let content_type = match given("content-type") {
        Some(text) if text.value.split('/').filter(|part| !part.is_empty()).count() != 2 => {
            return Err(text.problem(format!("content-type {:?} is no media type", text.value)));
        }
        content_type => content_type.map(|text| text.value.to_owned()),
    };
    let user_agent = match given("user-agent") {
        Some(text) => Some(Pattern::compile(text.value).map_err(|message| text.problem(message))?),
        None => None,
    };
    if let Some(text) = given("binds-to").filter(|text| text.value.trim() != DEFAULT_BINDING) {
        return Err(text.problem("binds-to of a resource is not offered: a resource is reached where its API is"));
    }
    for child in &element.children {
        if !SEQUENCES.iter().any(|known| child.is(known)) && !child.is("description") {
            loader.no_effect(child, "a resource", &SEQUENCES);
        }
    }
    let identity = identity(Arc::clone(api), element);
    Ok(Resource {
        counters: loader.service_counters(&identity, &path.to_string()),
        identity,
        path,
        methods,
        http,
        https,
        content_type,
        user_agent,
        in_sequence: loader.sequence_of(element, "inSequence"),
        out_sequence: loader.sequence_of(element, "outSequence"),
        fault_sequence: loader.sequence_of(element, "faultSequence"),
        cost: ServiceCost::default(),
    })
}

/// What the log and faults name: the API, at the place of itself or of a resource.
fn identity(name: Arc<str>, element: &Element) -> ServiceIdentity {
    ServiceIdentity::new("api", name, Some(element.place.clone())).traced(is_traced(element))
}

fn methods(text: Text<'_>) -> Result<Vec<String>, Problem> {
    let mut methods: Vec<String> = Vec::new();
    for method in text.value.split_ascii_whitespace() {
        if !METHODS.contains(&method) {
            let separator = if method.contains(',') { "; blanks separate methods" } else { "" };
            return Err(text.problem(unknown_word("method", method, &METHODS) + separator));
        }
        if !methods.iter().any(|known| known == method) {
            methods.push(method.to_owned());
        }
    }
    Ok(methods)
}

/// Warns of resources that no request gets to, as another one takes all of theirs.
fn warn_of_hidden(resources: &[Resource], elements: &[&Element], loader: &mut Loader) {
    for (index, (resource, element)) in resources.iter().zip(elements).enumerate() {
        let others = resources.iter().enumerate().filter(|(other, _)| *other != index);
        let hidden = others.into_iter().find(|(other, it)| it.hides(resource, *other < index));
        if let Some((_, other)) = hidden {
            let message = format!(
                "no request gets to this resource: {} ({}) takes its paths and methods",
                other.path,
                other.identity.place_text()
            );
            loader.warning(Problem::new(element.place.clone(), message));
        }
    }
}

/// Checks that no resource before has the same paths and methods.
fn distinct(resource: &Resource, before: &[Resource]) -> Result<(), String> {
    for other in before {
        let shares_method = resource.methods.iter().any(|method| other.lists(method));
        match (&resource.path, &other.path) {
            (Path::Any, Path::Any) => return Err("only one resource can be the one for all other paths".to_owned()),
            (Path::Any, _) | (_, Path::Any) => {}
            _ if resource.pattern() == other.pattern() && shares_method => {
                return Err(format!("the resource at {} has the same path and method", other.identity.place_text()));
            }
            _ => {}
        }
    }
    Ok(())
}
