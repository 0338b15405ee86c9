//! `/endpoints`

use myelin_config::element::Element;
use myelin_engine::{Artefact, EndpointState, EndpointStatus};
use myelin_message::StatusCode;
use myelin_secrets::masked_configuration;
use serde_json::{Map, Value, json};

use super::answer::{ApiAnswer, Failure, failure};
use super::call::{Call, told};
use super::definition::{attribute, child, element, list_or_item, members, switch};
use super::request::Caller;
use super::route::{Field, Route, SEARCH, Shape, field, optional};
use super::switching::{self, Switch};

const SUMMARY: &[Field] = &[
    field("name", "string", "The name"),
    field("type", "string", "`http`, `address`, `failover` …"),
    field("isActive", "boolean", "Whether it gets messages: false where it is switched off"),
];

const WHOLE: &[Field] = &[
    field("name", "string", "The name"),
    field("type", "string", "`http`, `address`, `failover` …"),
    field("isActive", "boolean", "Whether it gets messages: false where it is switched off"),
    field("state", "string", "`active`, `timeout`, `suspended`, `off` or `down`"),
    field("tracing", "string", "`enabled` or `disabled`"),
    field("stats", "string", "Always `enabled`: its requests are counted"),
    field("configuration", "string", "Its definition, without secrets"),
];

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/endpoints",
        summary: "Lists the named endpoints, or tells of one.",
        parameters: &[optional("endpointName", "The name of one"), SEARCH],
        answer: Shape::ListOrItem(SUMMARY, WHOLE),
        handler: read,
        ..Route::READ
    },
    Route {
        path: "/endpoints",
        summary: "Switches a named endpoint on or off, or its message tracing.",
        body: switching::STATUS_OR_TRACE,
        handler: change,
        ..Route::CHANGE
    },
];

/// The word for how an endpoint stands.
pub(super) fn state_of(status: &EndpointStatus) -> &'static str {
    match (&status.down, status.state) {
        (_, EndpointState::Off) => "off",
        (Some(_), _) => "down",
        (None, EndpointState::Active) => "active",
        (None, EndpointState::Timeout) => "timeout",
        (None, EndpointState::Suspended) => "suspended",
    }
}

/// What says what kind of endpoint it is.
fn way(endpoint: &Element) -> Option<&Element> {
    const ASIDE: [&str; 4] = ["description", "property", "session", "parameter"];
    let children = || endpoint.children.iter().filter(|child| !ASIDE.contains(&&*child.name));
    // The members of a group stand in it.
    children().next()
}

fn kind(artefact: &Artefact) -> String {
    let Some(endpoint) = element(artefact) else { return "default".to_owned() };
    if !attribute(&endpoint, "template").is_empty() {
        return "template".to_owned();
    }
    way(&endpoint).map_or_else(|| "default".to_owned(), |way| way.name.to_ascii_lowercase())
}

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let (bus, report) = (call.api.process.bus(), call.api.process.report());
    let states = bus.endpoints();
    let status = |name: &str| states.iter().find(|status| status.name == name);
    drop(report);
    list_or_item(
        call,
        "endpoint",
        &["endpointName"],
        |artefact| {
            let is_active = status(&artefact.name).is_none_or(|status| status.state != EndpointState::Off);
            members([
                ("name", artefact.name.as_str().into()),
                ("type", kind(artefact).into()),
                ("isActive", is_active.into()),
            ])
        },
        |artefact| {
            let traced = bus.service_state("endpoint", &artefact.name).is_some_and(|state| state.is_traced());
            let state = status(&artefact.name).map_or("active", state_of);
            let mut told = members([("state", state.into()), ("tracing", switch(traced)), ("stats", switch(true))]);
            if let Some(endpoint) = element(artefact) {
                told.extend(details(&endpoint));
            }
            told
        },
    )
}

/// What Micro Integrator tells of each kind.
fn details(endpoint: &Element) -> Map<String, Value> {
    let Some(way) = way(endpoint) else { return Map::new() };
    let address = |name: &str| Value::from(masked_configuration(&attribute(way, name)));
    let mut told = match way.name.as_str() {
        "http" => members([
            ("method", attribute(way, "method").to_ascii_uppercase().into()),
            ("uriTemplate", address("uri-template")),
            ("url", address("uri-template")),
        ]),
        "address" => members([("address", address("uri")), ("url", address("uri"))]),
        "wsdl" => members([
            ("wsdlUri", address("uri")),
            ("serviceName", attribute(way, "service").into()),
            ("portName", attribute(way, "port").into()),
        ]),
        _ => {
            let children = way.children.iter().filter(|child| matches!(&*child.name, "endpoint" | "member"));
            let named = children.map(|child| {
                let name = ["name", "key", "hostName"].map(|name| attribute(child, name));
                Value::from(name.into_iter().find(|name| !name.is_empty()).unwrap_or_default())
            });
            members([("children", named.collect())])
        }
    };
    let text = |part: &str, name: &str| {
        child(way, part).and_then(|part| child(part, name)).map(|it| it.text().value.trim().to_owned())
    };
    told.insert(
        "advanced".to_owned(),
        json!({
            "suspendState": {
                "errorCodes": text("suspendOnFailure", "errorCodes").unwrap_or_default(),
                "initialDuration": text("suspendOnFailure", "initialDuration").unwrap_or_default(),
                "maxDuration": text("suspendOnFailure", "maximumDuration").unwrap_or_default(),
            },
            "timeoutState": {
                "errorCodes": text("markForSuspension", "errorCodes").unwrap_or_default(),
                "reties": text("markForSuspension", "retriesBeforeSuspension").unwrap_or_default(),
            },
        }),
    );
    told
}

fn change(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let (name, wanted) = switching::read(call)?;
    let bus = call.api.process.bus();
    let missing = || failure(StatusCode::NOT_FOUND, "Endpoint does not exist");
    match wanted {
        Switch::Trace(on) => {
            let state = bus.service_state("endpoint", &name).ok_or_else(missing)?;
            switching::trace(call, ("endpoint", &name), state, on)
        }
        Switch::Status(status) => {
            let on = switching::is_active(&status)?;
            if !bus.switch_endpoint(&name, on) {
                return Err(missing());
            }
            told("Message", format!("{name} is switched {}", if on { "On" } else { "Off" }))
        }
    }
}
