//! `/data-services`, of which there are none yet, and `/data-sources`.

use myelin_secrets::masked_configuration;
use serde_json::json;

use super::answer::{ApiAnswer, Failure, item, list, not_found};
use super::call::Call;
use super::request::Caller;
use super::route::{Field, Route, SEARCH, Shape, field, optional};
use super::stores::none;

const SERVICE: &[Field] = &[
    field("name", "string", "The name"),
    field("wsdl1_1", "string", "Where its description in WSDL 1.1 is"),
    field("wsdl2_0", "string", "Where its description in WSDL 2.0 is"),
];

const SOURCE: &[Field] = &[field("name", "string", "The name"), field("type", "string", "Always `RDBMS`")];

const WHOLE_SOURCE: &[Field] = &[
    field("name", "string", "The name"),
    field("type", "string", "Always `RDBMS`"),
    field("url", "string", "The address of the database, without secrets"),
];

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/data-services",
        summary: "Lists the data services, of which there are none yet.",
        parameters: &[optional("dataServiceName", "The name of one"), SEARCH],
        answer: Shape::ListOrItem(SERVICE, SERVICE),
        handler: |call, _| none(call, &["dataServiceName"]),
        ..Route::READ
    },
    Route {
        path: "/data-sources",
        summary: "Lists the data sources that have names, or tells of one.",
        parameters: &[optional("name", "The name of one"), SEARCH],
        answer: Shape::ListOrItem(SOURCE, WHOLE_SOURCE),
        handler: sources,
        ..Route::READ
    },
];

fn sources(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let bus = call.api.process.bus();
    let sources = bus.data_sources();
    if let Some(name) = call.query("name") {
        let (name, url) = sources.iter().find(|(known, _)| *known == name).ok_or_else(not_found)?;
        return item(&json!({ "name": name, "type": "RDBMS", "url": masked_configuration(url) }));
    }
    let search = call.query("searchKey").unwrap_or_default().to_lowercase();
    let chosen = sources.iter().filter(|(name, _)| name.to_lowercase().contains(&search));
    Ok(list(chosen.map(|(name, _)| json!({ "name": name, "type": "RDBMS" })).collect()))
}
