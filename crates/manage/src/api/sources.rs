//! `/myelin/source`: the text of the files that the configuration was read from, without secrets.

use std::collections::BTreeSet;

use myelin_message::StatusCode;
use myelin_secrets::masked_configuration;
use serde_json::json;

use super::answer::{ApiAnswer, Failure, failure, item, list};
use super::call::Call;
use super::request::Caller;
use super::route::{Route, SEARCH, Shape, field, optional};
use super::server::refused;

pub(super) const ROUTES: &[Route] = &[Route {
    path: "/myelin/source",
    summary: "Lists the files of the configuration that serves, or gives the text of one, without secrets.",
    parameters: &[optional("file", "The path of one, as problems and services have it"), SEARCH],
    answer: Shape::ListOrItem(
        &[field("file", "string", "The path")],
        &[field("file", "string", "The path"), field("text", "string", "What it holds, without secrets")],
    ),
    handler: read,
    ..Route::READ
}];

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let report = call.api.process.report();
    // What is an archive as a whole has no text.
    let files: BTreeSet<&str> =
        report.artefacts.iter().filter(|artefact| artefact.kind != "archive").map(|artefact| &*artefact.file).collect();
    if let Some(file) = call.query("file") {
        // A path is looked up, and never taken apart: nothing but what the bus has loaded is read.
        let none = || failure(StatusCode::NOT_FOUND, "The bus has loaded no file of that path");
        let file = files.get(file).ok_or_else(none)?;
        let text = call.api.process.source(file).map_err(refused)?;
        return item(&json!({ "file": file, "text": masked_configuration(&text) }));
    }
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let chosen = files.iter().filter(|file| file.to_lowercase().contains(&search));
    Ok(list(chosen.map(|file| json!({ "file": file })).collect()))
}
