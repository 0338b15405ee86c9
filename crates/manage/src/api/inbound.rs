//! `/inbound-endpoints`

use myelin_engine::Artefact;
use myelin_message::StatusCode;
use myelin_secrets::masked_setting;
use serde_json::{Map, Value, json};

use super::answer::{ApiAnswer, Failure, failure};
use super::call::{Call, told};
use super::definition::{attribute, child, element, list_or_item, members, switch};
use super::request::Caller;
use super::route::{Field, Route, SEARCH, Shape, field, optional};
use super::switching::{self, Switch};

const KIND: &str = "inboundEndpoint";

const SUMMARY: &[Field] = &[
    field("name", "string", "The name"),
    field("protocol", "string", "`http`, `file` …, or the class that it names"),
    field("status", "string", "`active` or `inactive`"),
];

const WHOLE: &[Field] = &[
    field("name", "string", "The name"),
    field("protocol", "string", "`http`, `file` …, or the class that it names"),
    field("status", "string", "`active` or `inactive`"),
    field("sequence", "string", "The sequence of its messages"),
    field("error", "string", "The sequence of its faults"),
    field("stats", "string", "Always `enabled`: its messages are counted"),
    field("tracing", "string", "`enabled` or `disabled`"),
    field("parameters", "object", "Names and values, without secrets"),
    field("configuration", "string", "Its definition, without secrets"),
];

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/inbound-endpoints",
        summary: "Lists the inbound endpoints, or tells of one.",
        parameters: &[optional("inboundEndpointName", "The name of one"), SEARCH],
        answer: Shape::ListOrItem(SUMMARY, WHOLE),
        handler: read,
        ..Route::READ
    },
    Route {
        path: "/inbound-endpoints",
        summary: "Lets an inbound endpoint take messages or not, or switches its message tracing.",
        body: switching::STATUS_OR_TRACE,
        handler: change,
        ..Route::CHANGE
    },
];

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let bus = call.api.process.bus();
    list_or_item(
        call,
        KIND,
        &["inboundEndpointName"],
        |artefact| {
            let protocol = element(artefact).map(|inbound| {
                let named = ["protocol", "class"].map(|name| attribute(&inbound, name));
                named.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
            });
            let is_off = bus.service_state(KIND, &artefact.name).is_some_and(|state| state.is_off());
            members([
                ("name", artefact.name.as_str().into()),
                ("protocol", protocol.unwrap_or_default().into()),
                ("status", if is_off { "inactive" } else { "active" }.into()),
            ])
        },
        |artefact| {
            let traced = bus.service_state(KIND, &artefact.name).is_some_and(|state| state.is_traced());
            let mut told = members([("stats", switch(true)), ("tracing", switch(traced))]);
            told.extend(whole(artefact));
            told
        },
    )
}

fn whole(artefact: &Artefact) -> Map<String, Value> {
    let Some(inbound) = element(artefact) else { return Map::new() };
    let parameters = child(&inbound, "parameters").map_or(&[][..], |parameters| &parameters.children);
    let parameters = parameters.iter().map(|parameter| {
        let (name, value) = (attribute(parameter, "name"), parameter.text().value.trim());
        let value = masked_setting(&name, value);
        json!({ "name": name, "value": value })
    });
    members([
        ("sequence", attribute(&inbound, "sequence").into()),
        ("error", attribute(&inbound, "onError").into()),
        ("parameters", parameters.collect()),
    ])
}

fn change(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let (name, wanted) = switching::read(call)?;
    let bus = call.api.process.bus();
    let missing = || failure(StatusCode::NOT_FOUND, "Inbound endpoint could not be found");
    let state = bus.service_state(KIND, &name).ok_or_else(missing)?;
    match wanted {
        Switch::Trace(on) => switching::trace(call, (KIND, &name), state, on),
        Switch::Status(status) => {
            let on = switching::is_active(&status)?;
            state.switch(on);
            call.api.process.was_switched();
            told("Message", format!("{name} is {}", if on { "activated" } else { "deactivated" }))
        }
    }
}
