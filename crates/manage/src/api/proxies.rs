//! `/proxy-services`

use myelin_engine::Artefact;
use myelin_message::StatusCode;
use serde_json::{Map, Value};

use super::answer::{ApiAnswer, Failure, failure};
use super::call::{Call, told};
use super::definition::{list_or_item, members, switch};
use super::request::Caller;
use super::route::{Field, Route, SEARCH, Shape, field, optional};
use super::switching::{self, Switch};

const SUMMARY: &[Field] = &[
    field("name", "string", "The name"),
    field("wsdl1_1", "string", "Where its description in WSDL 1.1 is"),
    field("wsdl2_0", "string", "Where its description in WSDL 2.0 is"),
    field("isRunning", "boolean", "Whether it takes requests"),
];

const WHOLE: &[Field] = &[
    field("name", "string", "The name"),
    field("wsdl1_1", "string", "Where its description in WSDL 1.1 is"),
    field("wsdl2_0", "string", "Where its description in WSDL 2.0 is"),
    field("isRunning", "boolean", "Whether it takes requests"),
    field("tracing", "string", "`enabled` or `disabled`"),
    field("stats", "string", "Always `enabled`: its exchanges are counted"),
    field("eprs", "array", "Where it is reached"),
    field("configuration", "string", "Its definition, without secrets"),
];

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/proxy-services",
        summary: "Lists the proxy services, or tells of one.",
        parameters: &[optional("proxyServiceName", "The name of one"), SEARCH],
        answer: Shape::ListOrItem(SUMMARY, WHOLE),
        handler: read,
        ..Route::READ
    },
    Route {
        path: "/proxy-services",
        summary: "Lets a proxy service take requests or not, or switches its message tracing.",
        body: switching::STATUS_OR_TRACE,
        handler: change,
        ..Route::CHANGE
    },
];

fn summary(call: &Call<'_>, artefact: &Artefact) -> Map<String, Value> {
    let base = call.api.server.base();
    let name = &artefact.name;
    let runs = !call.api.process.bus().service_state("proxy", name).is_some_and(|state| state.is_off());
    members([
        ("name", name.as_str().into()),
        ("wsdl1_1", format!("{base}/services/{name}?wsdl").into()),
        ("wsdl2_0", format!("{base}/services/{name}?wsdl2").into()),
        ("isRunning", runs.into()),
    ])
}

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    list_or_item(
        call,
        "proxy",
        &["proxyServiceName"],
        |artefact| summary(call, artefact),
        |artefact| {
            let traced =
                call.api.process.bus().service_state("proxy", &artefact.name).is_some_and(|state| state.is_traced());
            let epr = format!("{}/services/{}", call.api.server.base(), artefact.name);
            members([("tracing", switch(traced)), ("stats", switch(true)), ("eprs", vec![epr].into())])
        },
    )
}

fn change(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let (name, wanted) = switching::read(call)?;
    let bus = call.api.process.bus();
    let missing = || failure(StatusCode::NOT_FOUND, "Proxy service could not be found");
    let state = bus.service_state("proxy", &name).ok_or_else(missing)?;
    match wanted {
        Switch::Trace(on) => switching::trace(call, ("proxy", &name), state, on),
        Switch::Status(status) => {
            let on = switching::is_active(&status)?;
            state.switch(on);
            let word = if on { "started" } else { "stopped" };
            told("Message", format!("Proxy service {name} {word} successfully"))
        }
    }
}
