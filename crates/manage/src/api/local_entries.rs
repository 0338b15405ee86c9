//! `/local-entries`

use myelin_engine::Artefact;
use myelin_message::StatusCode;
use myelin_secrets::{masked_configuration, masked_setting};

use super::answer::{ApiAnswer, Failure, failure};
use super::call::Call;
use super::definition::{attribute, element, list_or_item, members, of_kind};
use super::request::Caller;
use super::route::{Field, Route, SEARCH, Shape, field, optional};

const SUMMARY: &[Field] =
    &[field("name", "string", "The key"), field("type", "string", "`Inline Text`, `Inline XML` or `Source URL`")];

const WHOLE: &[Field] = &[
    field("name", "string", "The key"),
    field("type", "string", "`Inline Text`, `Inline XML` or `Source URL`"),
    field("value", "string", "What it holds, without secrets; of a source its address"),
    field("configuration", "string", "Its definition, without secrets"),
];

pub(super) const ROUTES: &[Route] = &[Route {
    path: "/local-entries",
    summary: "Lists the local entries, or tells of one.",
    parameters: &[optional("name", "The key of one"), optional("localEntryName", "The same"), SEARCH],
    answer: Shape::ListOrItem(SUMMARY, WHOLE),
    handler: read,
    ..Route::READ
}];

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    if let Some(name) = call.query("name").or_else(|| call.query("localEntryName")) {
        let report = call.api.process.report();
        if !of_kind(&report, "localEntry").iter().any(|entry| entry.name == name) {
            let sentence = format!("Reference for {name} could not be resolved");
            return Err(failure(StatusCode::NOT_FOUND, sentence));
        }
    }
    list_or_item(
        call,
        "localEntry",
        &["name", "localEntryName"],
        |artefact| members([("name", artefact.name.as_str().into()), ("type", parts(artefact).0.into())]),
        |artefact| members([("value", parts(artefact).1.into())]),
    )
}

/// What kind of entry it is, and what it holds.
fn parts(artefact: &Artefact) -> (&'static str, String) {
    let xml = |text: &str| ("Inline XML", masked_configuration(text).into_owned());
    let Some(entry) = element(artefact) else { return xml(&artefact.source) };
    let source = attribute(&entry, "src");
    if !source.is_empty() {
        return ("Source URL", masked_configuration(&source).into_owned());
    }
    match entry.children.iter().find(|child| child.name != "description") {
        Some(held) => xml(held.source()),
        // The key may be the name of a secret.
        None => ("Inline Text", masked_setting(&artefact.name, entry.text().value.trim()).into_owned()),
    }
}
