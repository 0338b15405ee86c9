//! `/myelin/problems`: what is wrong with the configuration that serves, each with its place and the lines around it.

use std::borrow::Cow;

use myelin_engine::{Artefact, Problem};
use myelin_secrets::masked_configuration;
use serde_json::{Value, json};

use super::answer::{ApiAnswer, Failure, list};
use super::call::Call;
use super::definition::archive;
use super::excerpt::around;
use super::request::Caller;
use super::route::{Route, SEARCH, Shape, field};

pub(super) const ROUTES: &[Route] = &[Route {
    path: "/myelin/problems",
    summary: "Lists what keeps artefacts from running, what will fail when it is reached, and warnings.",
    parameters: &[SEARCH],
    answer: Shape::List(&[
        field("severity", "string", "`problem`: it does not run; `latent`: a step fails when it is reached; `warning`"),
        field("kind", "string", "The element of the artefact"),
        field("name", "string", "The name of the artefact"),
        field("archive", "string", "The archive that it came in; may be empty"),
        field("file", "string", "The file"),
        field("line", "integer", "From 1"),
        field("column", "integer", "From 1"),
        field("message", "string", "What is wrong, and what would be right"),
        field("excerpt", "object", "The lines around it: line and text"),
    ]),
    handler: read,
    ..Route::READ
}];

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let report = call.api.process.report();
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let mut told = Vec::new();
    for artefact in report.artefacts.iter().filter(|artefact| artefact.name.to_lowercase().contains(&search)) {
        let kinds = [("problem", &artefact.problems), ("latent", &artefact.latent), ("warning", &artefact.warnings)];
        for (severity, problems) in kinds {
            // Masked once for all of them, as names and secrets may stand on different lines.
            let text = if problems.is_empty() { Cow::Borrowed("") } else { masked_configuration(&artefact.source) };
            told.extend(problems.iter().map(|problem| one(severity, artefact, problem, &text)));
        }
    }
    Ok(list(told))
}

fn one(severity: &str, artefact: &Artefact, problem: &Problem, text: &str) -> Value {
    let is_own = problem.file() == artefact.file;
    let excerpt = if is_own { around(text, artefact.line, problem.line()) } else { Vec::new() };
    json!({
        "severity": severity,
        "kind": artefact.kind,
        "name": artefact.name,
        "archive": archive(artefact).unwrap_or_default(),
        "file": problem.file(),
        "line": problem.line(),
        "column": problem.column(),
        "message": problem.message(),
        "excerpt": excerpt,
    })
}
