//! `<http.init>` in a local entry: a connection, which is an endpoint that each operation gives its address.
//!
//! Source: WSO2 `HTTPConnectionUtils`, which makes the same endpoint of it.

use crate::endpoints::{self, Endpoint, absolute};
use crate::loader::Loader;
use crate::mediators::connector::parameter::{fixed, in_braces};
use myelin_config::element::Element;
use myelin_config::library::BUILT_IN;
use myelin_config::problem::Problem;
use myelin_expression::Expression;
use myelin_spelling::nearest;

/// The element that holds a connection.
pub(super) const INIT: &str = "http.init";

/// What WSO2 puts behind the name of a connection to name its endpoint, which configurations may refer to.
const ENDPOINT: &str = "_INTERNAL_ENDPOINT_REFERENCE";

/// The parts of an endpoint that parameters are: the parameter, the element around, the element.
const PARTS: [(&str, &str, &str); 9] = [
    ("timeoutDuration", "timeout", "duration"),
    ("timeoutAction", "timeout", "responseAction"),
    ("suspendErrorCodes", "suspendOnFailure", "errorCodes"),
    ("suspendInitialDuration", "suspendOnFailure", "initialDuration"),
    ("suspendProgressionFactor", "suspendOnFailure", "progressionFactor"),
    ("suspendMaximumDuration", "suspendOnFailure", "maximumDuration"),
    ("retryErrorCodes", "markForSuspension", "errorCodes"),
    ("retryCount", "markForSuspension", "retriesBeforeSuspension"),
    ("retryDelay", "markForSuspension", "retryDelay"),
];

/// The parts of a grant that parameters are.
const GRANT: [(&str, &str); 10] = [
    ("username", "username"),
    ("password", "password"),
    ("clientId", "clientId"),
    ("clientSecret", "clientSecret"),
    ("tokenUrl", "tokenUrl"),
    ("refreshToken", "refreshToken"),
    ("oauthAuthorizationMode", "authMode"),
    ("oauthConnectionTimeout", "connectionTimeout"),
    ("oauthConnectionRequestTimeout", "connectionRequestTimeout"),
    ("oauthSocketTimeout", "socketTimeout"),
];

/// The grants by what WSO2's tools call them, and what each needs besides the client.
const GRANTS: [(&str, &str, &[&str]); 3] = [
    ("Authorization Code", "authorizationCode", &["refreshToken"]),
    ("Client Credentials", "clientCredentials", &[]),
    ("Password", "passwordCredentials", &["username", "password"]),
];

/// Parameters that are read elsewhere, or say nothing that matters while serving.
const OTHERS: [&str; 19] = [
    "name",
    "baseUrl",
    "connectionType",
    "certificateType",
    "certificateInputType",
    "trace",
    "statistics",
    "description",
    "miscellaneousDescription",
    "miscellaneousProperties",
    "authType",
    "oauthGrantType",
    "additionalProperties",
    "qualityServiceAddressOption",
    "qualityServiceAddressVersion",
    "qualityServiceAddressSeparateListener",
    "qualityServiceSecurityOption",
    "qualityServiceSecurityPolicyKey",
    "comment",
];

/// The name of the connection whose endpoint is called so.
pub fn connection_of(endpoint: &str) -> Option<&str> {
    endpoint.strip_suffix(ENDPOINT)
}

/// Warns of a connection, in a local entry, of a connector that the configuration does not have.
pub fn warn_of_unknown(init: &Element, loader: &mut Loader) {
    let Some(connector) = init.name.strip_suffix(".init").filter(|_| init.is_synapse()) else { return };
    if !loader.has_library(connector) {
        let known = loader.libraries.keys().map(String::as_str).chain([BUILT_IN]);
        let meant = nearest(connector, known);
        let hint = match meant {
            Some(_) => "",
            None => "; its archive belongs into the folder connectors or synapse-libs of the configuration",
        };
        let message = format!("this connection has no effect: there is no connector {connector:?}{hint}");
        let problem = init.problem(message).suggesting(meant);
        loader.warning(problem);
    }
}

/// The name of the endpoint that a connection is, in the local entry of that key; `None` for what is no connection.
pub fn endpoint_name(init: &Element, key: &str) -> Option<String> {
    if !init.is(INIT) {
        return None;
    }
    Some(format!("{}{ENDPOINT}", parameter(init, "name").unwrap_or(key)))
}

/// Reads a connection as the endpoint that it is.
///
/// Errors: a [`Problem`] where a parameter is missing or wrong; those of the endpoint's parts are the loader's.
pub fn endpoint(init: &Element, key: &str, loader: &mut Loader) -> Result<Endpoint, Problem> {
    check_base(init)?;
    let mut http = init.made("http").with_attribute("uri-template", "{+uri.var.base}{+uri.var.path}");
    for around in ["timeout", "suspendOnFailure", "markForSuspension"] {
        let parts = PARTS.iter().filter(|part| part.1 == around).filter_map(|&(name, _, part)| {
            let child = init.child(name)?;
            let value = child.text().value;
            // What WSO2's tools write for no action.
            let is_none = value.is_empty() || (name == "timeoutAction" && value.eq_ignore_ascii_case("Never"));
            (!is_none).then(|| child.made(part).with_text(value))
        });
        let part = parts.fold(init.made(around), Element::with_child);
        if !part.children.is_empty() {
            http = http.with_child(part);
        }
    }
    if let Some(authentication) = authentication(init, loader)? {
        http = http.with_child(init.made("authentication").with_child(authentication));
    }
    if let Some(addressing) = addressing(init) {
        http = http.with_child(addressing);
    }
    if is_on(init, "qualityServiceSecurityOption") {
        let policy = parameter(init, "qualityServiceSecurityPolicyKey").unwrap_or_default();
        http = http.with_child(init.made("enableSec").with_attribute("policy", policy));
    }
    for child in &init.children {
        warn(child, loader);
    }
    let name = endpoint_name(init, key).unwrap_or_default();
    let made = init.made("endpoint").with_attribute("name", &name).with_child(http);
    endpoints::endpoint(&properties(init)?.into_iter().fold(made, Element::with_child), loader)
}

/// The text of a parameter that is given.
pub(super) fn parameter<'a>(init: &'a Element, name: &str) -> Option<&'a str> {
    init.child(name).map(|child| child.text().value).filter(|value| !value.is_empty())
}

fn is_on(init: &Element, name: &str) -> bool {
    parameter(init, name).is_some_and(|value| value.eq_ignore_ascii_case("enable"))
}

/// A base that is the same for every message is looked at while loading.
fn check_base(init: &Element) -> Result<(), Problem> {
    let Some(base) = init.child("baseUrl").filter(|base| !base.text().value.is_empty()) else {
        return Err(init.problem("<http.init> needs <baseUrl>"));
    };
    let value = base.text().value;
    if in_braces(value).is_some() || Expression::is_in(value) {
        return Ok(());
    }
    absolute(value).map(drop).map_err(|message| base.problem(message))
}

fn authentication(init: &Element, loader: &mut Loader) -> Result<Option<Element>, Problem> {
    let Some(kind) = init.child("authType") else { return Ok(None) };
    let grants = || GRANTS.map(|(name, ..)| name).join(", ");
    match fixed(kind)?.to_ascii_lowercase().as_str() {
        "" | "none" => Ok(None),
        "basic auth" => Ok(Some(with(init.made("basicAuth"), init, &["username", "password"]))),
        "oauth" => {
            let Some(grant) = init.child("oauthGrantType") else {
                return Err(kind.problem(format!("OAuth needs an <oauthGrantType>: {}", grants())));
            };
            let named = fixed(grant)?;
            let known = GRANTS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(named));
            let Some((_, element, own)) = known else {
                return Err(grant.problem(format!("{named:?} is no grant that is offered: {}", grants())));
            };
            let names: Vec<&str> = GRANT
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| own.contains(name) || !GRANTS.iter().any(|(.., others)| others.contains(name)))
                .collect();
            let mut made = with(init.made(element), init, &names);
            if let Some(more) = init.child("additionalProperties").filter(|more| !more.text().value.is_empty()) {
                made = made.with_child(request_parameters(more)?);
            }
            Ok(Some(init.made("oauth").with_child(made)))
        }
        _ => {
            let message = "has no effect: None, Basic Auth and OAuth are known".to_owned();
            loader.warning(kind.problem(format!("authType {:?} {message}", kind.text().value)));
            Ok(None)
        }
    }
}

/// Takes parameters into an element, under the names that they have there.
fn with(made: Element, init: &Element, names: &[&str]) -> Element {
    let given = GRANT.iter().filter(|(name, _)| names.contains(name));
    let parts = given.filter_map(|&(name, part)| {
        let child = init.child(name).filter(|child| !child.text().value.is_empty())?;
        Some(child.made(part).with_text(child.text().value))
    });
    parts.fold(made, Element::with_child)
}

/// `name:value,name:value` as parameters of a request for a token.
fn request_parameters(element: &Element) -> Result<Element, Problem> {
    let mut made = element.made("requestParameters");
    for pair in element.text().value.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let Some((name, value)) = pair.split_once(':') else {
            return Err(element.problem(format!("{pair:?} is no name:value")));
        };
        made = made.with_child(element.made("parameter").with_attribute("name", name.trim()).with_text(value.trim()));
    }
    Ok(made)
}

/// `name:scope:value,…` as properties of the endpoint.
fn properties(init: &Element) -> Result<Vec<Element>, Problem> {
    let Some(element) = init.child("miscellaneousProperties") else { return Ok(Vec::new()) };
    let triples = element.text().value.split(',').map(str::trim).filter(|triple| !triple.is_empty());
    let property = |triple: &str| {
        let mut parts = triple.splitn(3, ':').map(str::trim);
        let (Some(name), Some(scope), Some(value)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(element.problem(format!("{triple:?} is no name:scope:value")));
        };
        let made = element.made("property").with_attribute("name", name).with_attribute("scope", scope);
        Ok(made.with_attribute("value", value))
    };
    triples.map(property).collect()
}

fn addressing(init: &Element) -> Option<Element> {
    if !is_on(init, "qualityServiceAddressOption") {
        return None;
    }
    let mut made = init.made("enableAddressing");
    if is_on(init, "qualityServiceAddressSeparateListener") {
        made = made.with_attribute("separateListener", "true");
    }
    if let Some(version) = parameter(init, "qualityServiceAddressVersion") {
        made = made.with_attribute("version", version);
    }
    Some(made)
}

/// Warns of a parameter that changes nothing.
fn warn(child: &Element, loader: &mut Loader) {
    let name = child.name.as_str();
    let is_known = OTHERS.contains(&name)
        || PARTS.iter().any(|(known, ..)| *known == name)
        || GRANT.iter().any(|(known, _)| *known == name);
    if is_known || child.text().value.is_empty() {
        return;
    }
    let message = match name {
        "trustStoreCertificatePath" | "certificateConfigurable" => {
            format!("{} has no effect: whom the bus trusts is said by --ca", child.tag())
        }
        _ => format!("{} has no effect in <{INIT}>", child.tag()),
    };
    let known = OTHERS.iter().copied().chain(PARTS.iter().map(|(known, ..)| *known));
    let known: Vec<&str> = known.chain(GRANT.iter().map(|(known, _)| *known)).collect();
    loader.warning(child.misnamed(message, &known));
}
