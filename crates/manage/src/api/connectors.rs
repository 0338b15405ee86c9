//! `/connectors`

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::answer::{ApiAnswer, Failure, list};
use super::call::Call;
use super::definition::{attribute, element};
use super::request::Caller;
use super::route::{Field, Route, SEARCH, Shape, field};

const SUMMARY: &[Field] = &[
    field("name", "string", "The name"),
    field("package", "string", "The package of its operations"),
    field("description", "string", "What it says of itself; may be empty"),
    field("status", "string", "`enabled` or `disabled`"),
];

/// What names of templates of connectors begin with.
const PACKAGE: &str = "org.wso2.carbon.connector";

pub(super) const ROUTES: &[Route] = &[Route {
    path: "/connectors",
    summary: "Lists the connectors.",
    parameters: &[SEARCH],
    answer: Shape::List(SUMMARY),
    handler: read,
    ..Route::READ
}];

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let report = call.api.process.report();
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let mut found: BTreeMap<String, Value> = BTreeMap::new();
    for library in call.api.process.bus().connectors() {
        let told = json!({ "name": library, "package": PACKAGE, "description": "", "status": "enabled" });
        found.insert(library.to_owned(), told);
    }
    for import in report.artefacts.iter().filter(|artefact| artefact.kind == "import" && artefact.is_ok()) {
        let Some(import) = element(import) else { continue };
        let said = |name: &str| attribute(&import, name);
        let status = if said("status") == "disabled" { "disabled" } else { "enabled" };
        let (name, package) = (said("name"), said("package"));
        let package = if package.is_empty() { PACKAGE.to_owned() } else { package };
        let told = json!({ "name": name, "package": package, "description": "", "status": status });
        found.insert(name, told);
    }
    let chosen = found.into_iter().filter(|(name, _)| name.to_lowercase().contains(&search));
    Ok(list(chosen.map(|(_, told)| told).collect()))
}
