//! `/tasks`

use myelin_engine::Artefact;
use myelin_message::StatusCode;
use serde_json::{Map, Value};

use super::answer::{ApiAnswer, Failure, bad_request, failure};
use super::call::{Call, told};
use super::definition::{attribute, child, element, list_or_item, members, of_kind};
use super::request::Caller;
use super::route::{Body, Field, Route, SEARCH, Shape, field, optional};
use super::switching::{self, Switch};

const SUMMARY: &[Field] = &[field("name", "string", "The name"), field("status", "string", "`active` or `inactive`")];

const WHOLE: &[Field] = &[
    field("name", "string", "The name"),
    field("status", "string", "`active` or `inactive`"),
    field("taskGroup", "string", "The group"),
    field("implementation", "string", "The class that it names"),
    field("triggerType", "string", "`cron` or `simple`"),
    field("triggerCount", "string", "How many runs there are; -1 for no end"),
    field("triggerInterval", "string", "Seconds from one run to the next"),
    field("triggerCron", "string", "When it runs"),
    field("configuration", "string", "Its definition, without secrets"),
];

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/tasks",
        summary: "Lists the tasks, or tells of one.",
        parameters: &[optional("taskName", "The name of one"), SEARCH],
        answer: Shape::ListOrItem(SUMMARY, WHOLE),
        handler: read,
        ..Route::READ
    },
    Route {
        path: "/tasks",
        summary: "Lets a task run or rest, or runs it once at once.",
        body: Body::Json(
            &[
                field("name", "string", "The name"),
                field("status", "string", "`active`, `inactive`, or `trigger` for one run at once"),
            ],
            2,
        ),
        handler: change,
        ..Route::CHANGE
    },
];

fn missing(name: &str) -> Failure {
    failure(StatusCode::NOT_FOUND, format!("Specified task {name} not found"))
}

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    if let Some(name) = call.query("taskName") {
        let report = call.api.process.report();
        if !of_kind(&report, "task").iter().any(|task| task.name == name) {
            return Err(missing(name));
        }
    }
    list_or_item(
        call,
        "task",
        &["taskName"],
        |artefact| {
            let is_off =
                call.api.process.bus().service_state("task", &artefact.name).is_some_and(|state| state.is_off());
            let status = if is_off { "inactive" } else { "active" };
            members([("name", artefact.name.as_str().into()), ("status", status.into())])
        },
        whole,
    )
}

fn whole(artefact: &Artefact) -> Map<String, Value> {
    let Some(task) = element(artefact) else { return Map::new() };
    let trigger = child(&task, "trigger");
    let said = |name: &str| trigger.map(|trigger| attribute(trigger, name)).unwrap_or_default();
    let once = said("once") == "true";
    let count = match said("count") {
        _ if once => "1".to_owned(),
        count if count.is_empty() => "-1".to_owned(),
        count => count,
    };
    let cron = said("cron");
    members([
        ("taskGroup", attribute(&task, "group").into()),
        ("implementation", attribute(&task, "class").into()),
        ("triggerType", if cron.is_empty() { "simple" } else { "cron" }.into()),
        ("triggerCount", count.into()),
        ("triggerInterval", said("interval").into()),
        ("triggerCron", cron.into()),
    ])
}

fn change(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let (name, wanted) = switching::read(call)?;
    let bus = call.api.process.bus();
    let state = bus.service_state("task", &name).ok_or_else(|| missing(&name))?;
    match wanted {
        Switch::Trace(on) => switching::trace(call, ("task", &name), state, on),
        Switch::Status(status) if status == "trigger" => {
            if state.is_off() {
                return Err(failure(StatusCode::CONFLICT, format!("Task {name} is inactive; activate it first")));
            }
            if !state.trigger() {
                return Err(failure(
                    StatusCode::CONFLICT,
                    format!("Task {name} has no further run, and waits for none"),
                ));
            }
            told("Message", format!("{name} is triggered"))
        }
        Switch::Status(status) => {
            let on = switching::is_active(&status)
                .map_err(|_| bad_request("status has to be active, inactive or trigger"))?;
            state.switch(on);
            told("Message", format!("{name} is {}", if on { "activated" } else { "deactivated" }))
        }
    }
}
