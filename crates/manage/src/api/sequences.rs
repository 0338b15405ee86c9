//! `/sequences`

use myelin_engine::Artefact;
use myelin_message::StatusCode;
use serde_json::{Map, Value};

use super::answer::{ApiAnswer, Failure, bad_request, failure};
use super::call::Call;
use super::definition::{attribute, container, element, list_or_item, members, switch};
use super::request::Caller;
use super::route::{Field, Route, SEARCH, Shape, field, optional};
use super::switching::{self, Switch};

const SUMMARY: &[Field] = &[
    field("name", "string", "The name"),
    field("container", "string", "The archive that it came in"),
    field("tracing", "string", "`enabled` or `disabled`"),
    field("stats", "string", "Always `disabled`: what is counted is the services'"),
];

const WHOLE: &[Field] = &[
    field("name", "string", "The name"),
    field("container", "string", "The archive that it came in"),
    field("tracing", "string", "`enabled` or `disabled`"),
    field("stats", "string", "Always `disabled`: what is counted is the services'"),
    field("mediators", "array", "The kinds of its steps"),
    field("onErrorSequence", "string", "The sequence of its faults; may be empty"),
    field("configuration", "string", "Its definition, without secrets"),
];

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/sequences",
        summary: "Lists the sequences, or tells of one.",
        parameters: &[optional("sequenceName", "The name of one"), optional("inboundEndpointName", "The same"), SEARCH],
        answer: Shape::ListOrItem(SUMMARY, WHOLE),
        handler: read,
        ..Route::READ
    },
    Route {
        path: "/sequences",
        summary: "Switches the message tracing of a sequence.",
        body: switching::TRACE,
        answer: Shape::Told("message"),
        handler: change,
        ..Route::CHANGE
    },
];

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    list_or_item(
        call,
        "sequence",
        &["sequenceName", "inboundEndpointName"],
        |artefact| {
            let bus = call.api.process.bus();
            let traced = bus.service_state("sequence", &artefact.name).is_some_and(|state| state.is_traced());
            members([
                ("name", artefact.name.as_str().into()),
                ("container", container(artefact).into()),
                ("tracing", switch(traced)),
                ("stats", switch(false)),
            ])
        },
        whole,
    )
}

fn whole(artefact: &Artefact) -> Map<String, Value> {
    let Some(sequence) = element(artefact) else { return Map::new() };
    let steps = sequence.children.iter().filter(|child| child.name != "description");
    members([
        ("mediators", steps.map(|step| kind_of(&step.name)).collect()),
        ("onErrorSequence", attribute(&sequence, "onError").into()),
    ])
}

/// A mediator as Micro Integrator calls it: `log` is a `LogMediator`.
fn kind_of(element: &str) -> Value {
    let mut letters = element.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}Mediator", letters.as_str()).into()
}

fn change(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let (name, wanted) = switching::read(call)?;
    let bus = call.api.process.bus();
    let missing = || failure(StatusCode::NOT_FOUND, format!("Specified sequence ('{name}') not found"));
    let state = bus.service_state("sequence", &name).ok_or_else(missing)?;
    match wanted {
        Switch::Trace(on) => switching::trace(call, ("sequence", &name), state, on),
        Switch::Status(_) => Err(bad_request("trace is missing in the body: a sequence is not switched off")),
    }
}
