//! `/apis`

use myelin_config::element::Element;
use myelin_engine::Artefact;
use myelin_message::StatusCode;
use serde_json::{Map, Value, json};

use super::answer::{ApiAnswer, Failure, bad_request, failure};
use super::call::Call;
use super::definition::{attribute, element, list_or_item, members, switch};
use super::request::Caller;
use super::route::{Field, Route, SEARCH, Shape, field, optional};
use super::switching::{self, Switch};

const SUMMARY: &[Field] = &[
    field("name", "string", "The name"),
    field("url", "string", "Where it is reached"),
    field("tracing", "string", "`enabled` or `disabled`"),
];

const WHOLE: &[Field] = &[
    field("name", "string", "The name"),
    field("url", "string", "Where it is reached"),
    field("tracing", "string", "`enabled` or `disabled`"),
    field("stats", "string", "Always `enabled`: its exchanges are counted"),
    field("context", "string", "The path that it starts at"),
    field("host", "string", "The host that it is for; empty for all"),
    field("version", "string", "The version, or `N/A`"),
    field("resources", "object", "Methods and paths"),
    field("configuration", "string", "Its definition, without secrets"),
];

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/apis",
        summary: "Lists the APIs, or tells of one.",
        parameters: &[optional("apiName", "The name of one"), SEARCH],
        answer: Shape::ListOrItem(SUMMARY, WHOLE),
        handler: read,
        ..Route::READ
    },
    Route {
        path: "/apis",
        summary: "Switches the message tracing of an API.",
        body: switching::TRACE,
        answer: Shape::Told("message"),
        handler: change,
        ..Route::CHANGE
    },
];

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    list_or_item(
        call,
        "api",
        &["apiName"],
        |artefact| {
            let (element, base) = (element(artefact), call.api.server.base());
            let path = element.as_ref().map(path).unwrap_or_default();
            let traced =
                call.api.process.bus().service_state("api", &artefact.name).is_some_and(|state| state.is_traced());
            let url = format!("{base}{path}");
            members([("name", artefact.name.as_str().into()), ("url", url.into()), ("tracing", switch(traced))])
        },
        whole,
    )
}

/// The context with the version where that stands in the path.
fn path(api: &Element) -> String {
    let (context, version) = (attribute(api, "context"), attribute(api, "version"));
    if version.is_empty() {
        return context;
    }
    match attribute(api, "version-type").as_str() {
        "url" => format!("{}/{version}", context.trim_end_matches('/')),
        "context" => context.replace("{version}", &version),
        _ => context,
    }
}

fn whole(artefact: &Artefact) -> Map<String, Value> {
    let Some(api) = element(artefact) else { return Map::new() };
    let resources = api.children.iter().filter(|child| child.name == "resource").map(|resource| {
        let methods = attribute(resource, "methods");
        let methods: Vec<&str> = methods.split_whitespace().collect();
        let template = ["uri-template", "url-mapping"].map(|name| attribute(resource, name));
        let url = template.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| "N/A".to_owned());
        json!({ "methods": methods, "url": url })
    });
    let version = Some(attribute(&api, "version")).filter(|version| !version.is_empty());
    members([
        ("context", attribute(&api, "context").into()),
        ("host", attribute(&api, "hostname").into()),
        ("version", version.unwrap_or_else(|| "N/A".to_owned()).into()),
        ("stats", switch(true)),
        ("resources", resources.collect()),
    ])
}

fn change(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let (name, wanted) = switching::read(call)?;
    let bus = call.api.process.bus();
    let missing = || failure(StatusCode::NOT_FOUND, format!("Specified API ('{name}') not found"));
    let state = bus.service_state("api", &name).ok_or_else(missing)?;
    match wanted {
        Switch::Trace(on) => switching::trace(call, ("api", &name), state, on),
        Switch::Status(_) => Err(bad_request("trace is missing in the body: an API is not switched off")),
    }
}
