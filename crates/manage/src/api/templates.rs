//! `/templates`

use myelin_engine::{Artefact, Report};
use myelin_message::StatusCode;
use serde_json::{Value, json};

use super::answer::{ApiAnswer, Failure, bad_request, failure, item, list, not_found, object};
use super::call::Call;
use super::definition::{attribute, child, configuration, container, element, of_kind, switch};
use super::request::{Caller, required_text, text_of};
use super::route::{Body, Route, SEARCH, Shape, field, optional};
use super::switching;

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/templates",
        summary: "Lists the templates of both kinds, those of one, or tells of one template.",
        parameters: &[
            optional("type", "`sequence` or `endpoint`"),
            optional("name", "The name of one, beside its type"),
            optional("templateName", "The same"),
            SEARCH,
        ],
        answer: Shape::Json,
        handler: read,
        ..Route::READ
    },
    Route {
        path: "/templates",
        summary: "Switches the message tracing of a sequence template.",
        body: Body::Json(
            &[
                field("name", "string", "The name"),
                field("type", "string", "`sequence`"),
                field("trace", "string", "`enable` or `disable`"),
            ],
            3,
        ),
        answer: Shape::Told("message"),
        handler: change,
        ..Route::CHANGE
    },
];

/// Whether a template is one of a sequence.
fn is_of_sequence(artefact: &Artefact) -> bool {
    element(artefact).is_some_and(|template| child(&template, "sequence").is_some())
}

fn names<'a>(report: &'a Report, of_sequence: bool, search: &str) -> Vec<&'a Artefact> {
    let mut found = of_kind(report, "template");
    found.retain(|artefact| is_of_sequence(artefact) == of_sequence && artefact.name.to_lowercase().contains(search));
    found
}

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let report = call.api.process.report();
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let summaries = |of_sequence| -> Vec<Value> {
        names(&report, of_sequence, &search).iter().map(|it| json!({ "name": it.name })).collect()
    };
    let of_sequence = match call.query("type").map(str::to_ascii_lowercase).as_deref() {
        None => {
            let (sequences, endpoints) = (summaries(true), summaries(false));
            return item(&object([
                ("sequenceTemplateList", sequences.into()),
                ("endpointTemplateList", endpoints.into()),
            ]));
        }
        Some("sequence") => true,
        Some("endpoint") => false,
        Some(_) => return Err(bad_request("type has to be sequence or endpoint")),
    };
    let Some(name) = call.query("name").or_else(|| call.query("templateName")) else {
        return Ok(list(summaries(of_sequence)));
    };
    let artefact = names(&report, of_sequence, "").into_iter().find(|it| it.name == name).ok_or_else(not_found)?;
    let Some(template) = element(artefact) else { return Err(not_found()) };
    let parameters = template.children.iter().filter(|child| child.name == "parameter").map(|parameter| {
        let name = attribute(parameter, "name");
        if of_sequence {
            let is_mandatory = attribute(parameter, "isMandatory") == "true";
            json!({ "name": name, "mandatory": is_mandatory, "defaultValue": attribute(parameter, "defaultValue") })
        } else {
            name.into()
        }
    });
    let traced = call.api.process.bus().service_state("template", name).is_some_and(|state| state.is_traced());
    item(&object([
        ("name", name.into()),
        ("container", container(artefact).into()),
        ("Parameters", parameters.collect()),
        ("tracing", switch(traced)),
        ("stats", switch(false)),
        ("configuration", configuration(artefact)),
    ]))
}

fn change(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let body = call.json()?;
    let (name, kind) = (required_text(&body, "name")?, required_text(&body, "type")?);
    if kind != "sequence" {
        return Err(bad_request("type has to be sequence: only sequence templates are traced"));
    }
    let on = match text_of(&body, "trace")?.as_deref() {
        Some("enable") => true,
        Some("disable") => false,
        _ => return Err(bad_request("trace has to be enable or disable")),
    };
    let bus = call.api.process.bus();
    let missing = || failure(StatusCode::NOT_FOUND, format!("Specified template ('{name}') not found"));
    let state = bus.service_state("template", &name).ok_or_else(missing)?;
    switching::trace(call, ("template", &name), state, on)
}
