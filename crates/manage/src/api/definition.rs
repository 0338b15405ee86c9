//! The definitions of the configuration that serves: artefacts by kind and name, and what stands in their text.

use std::sync::Arc;

use myelin_config::archive::INSIDE;
use myelin_config::element::Element;
use myelin_engine::{Artefact, Report};
use myelin_secrets::masked_configuration;
use serde_json::{Map, Value};

use super::answer::{ApiAnswer, Failure, item, list, not_found};
use super::call::Call;

/// The artefacts of a kind that run and have names, in alphabetical order.
pub(super) fn of_kind<'a>(report: &'a Report, kind: &str) -> Vec<&'a Artefact> {
    let is_one = |artefact: &&Artefact| artefact.kind == kind && artefact.is_ok() && !artefact.name.is_empty();
    let mut found: Vec<&Artefact> = report.artefacts.iter().filter(is_one).collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// The text of an artefact as a tree; `None` where it cannot stand alone.
pub(super) fn element(artefact: &Artefact) -> Option<Element> {
    let file: Arc<str> = artefact.file.as_str().into();
    Element::parse(&file, artefact.source.clone()).ok()
}

/// What an attribute says; empty where there is none.
pub(super) fn attribute(element: &Element, name: &str) -> String {
    element.attribute(name).map_or_else(String::new, |text| text.value.trim().to_owned())
}

/// The first child of that local name.
pub(super) fn child<'a>(element: &'a Element, name: &str) -> Option<&'a Element> {
    element.children.iter().find(|child| child.name == name)
}

/// The text of an artefact without its secrets.
pub(super) fn configuration(artefact: &Artefact) -> Value {
    masked_configuration(&artefact.source).into()
}

/// The archive that an artefact came in, as Micro Integrator tells it; empty where it came in none.
pub(super) fn container(artefact: &Artefact) -> String {
    match archive(artefact) {
        Some(archive) => format!("[ Deployed From Artifact Container: {archive} ] "),
        None => String::new(),
    }
}

/// The file name of the archive that an artefact came in, without `.car`.
pub(super) fn archive(artefact: &Artefact) -> Option<&str> {
    let is_archive = artefact.file.contains(INSIDE) || artefact.kind == "archive";
    let name = artefact.outer_file().rsplit('/').next().unwrap_or_default();
    is_archive.then(|| name.strip_suffix(".car").unwrap_or(name))
}

/// A list of a kind of artefacts, or with a name in the query one of them.
///
/// `keys` are the parameters that may hold the name; `summary` and `whole` say what is told of each.
pub(super) fn list_or_item(
    call: &Call<'_>,
    kind: &str,
    keys: &[&str],
    summary: impl Fn(&Artefact) -> Map<String, Value>,
    whole: impl Fn(&Artefact) -> Map<String, Value>,
) -> Result<ApiAnswer, Failure> {
    let report = call.api.process.report();
    let artefacts = of_kind(&report, kind);
    if let Some(name) = keys.iter().find_map(|key| call.query(key)) {
        let artefact = artefacts.into_iter().find(|artefact| artefact.name == name).ok_or_else(not_found)?;
        let mut told = summary(artefact);
        told.extend(whole(artefact));
        told.insert("configuration".to_owned(), configuration(artefact));
        return item(&Value::Object(told));
    }
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let chosen = artefacts.into_iter().filter(|artefact| artefact.name.to_lowercase().contains(&search));
    Ok(list(chosen.map(|artefact| Value::Object(summary(artefact))).collect()))
}

/// Members of an object.
pub(super) fn members<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The word that Micro Integrator has for a switch.
pub(super) fn switch(is_on: bool) -> Value {
    if is_on { "enabled".into() } else { "disabled".into() }
}
