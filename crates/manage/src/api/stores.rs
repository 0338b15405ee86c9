//! `/message-stores` and `/message-processors`: this bus has none yet, so the lists are empty.

use myelin_message::StatusCode;

use super::answer::{ApiAnswer, Failure, failure, list, not_found};
use super::call::Call;
use super::request::{Caller, required_text};
use super::route::{Field, Route, SEARCH, Shape, field, optional};
use super::switching;

const STORE: &[Field] = &[
    field("name", "string", "The name"),
    field("type", "string", "Its kind"),
    field("size", "integer", "Messages in it"),
];

const PROCESSOR: &[Field] = &[
    field("name", "string", "The name"),
    field("type", "string", "Its kind"),
    field("status", "string", "`active` or `inactive`"),
];

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/message-stores",
        summary: "Lists the message stores, of which there are none yet.",
        parameters: &[optional("name", "The name of one"), optional("messageStoreName", "The same"), SEARCH],
        answer: Shape::ListOrItem(STORE, STORE),
        handler: |call, _| none_of(call, "message store", &["name", "messageStoreName"]),
        ..Route::READ
    },
    Route {
        path: "/message-processors",
        summary: "Lists the message processors, of which there are none yet.",
        parameters: &[optional("messageProcessorName", "The name of one"), optional("name", "The same"), SEARCH],
        answer: Shape::ListOrItem(PROCESSOR, PROCESSOR),
        handler: |call, _| none_of(call, "message processor", &["messageProcessorName", "name"]),
        ..Route::READ
    },
    Route {
        path: "/message-processors",
        summary: "Lets a message processor run or rest; there are none yet.",
        body: switching::STATUS_OR_TRACE,
        handler: change,
        ..Route::CHANGE
    },
];

/// A list of nothing, or the answer to who asks for one of it.
pub(super) fn none(call: &Call<'_>, keys: &[&str]) -> Result<ApiAnswer, Failure> {
    if keys.iter().any(|key| call.query(key).is_some()) { Err(not_found()) } else { Ok(list(Vec::new())) }
}

/// The same, in the words that Micro Integrator has for who asks for one.
fn none_of(call: &Call<'_>, what: &str, keys: &[&str]) -> Result<ApiAnswer, Failure> {
    match keys.iter().find_map(|key| call.query(key)) {
        Some(name) => Err(failure(StatusCode::NOT_FOUND, format!("Specified {what} ('{name}') not found"))),
        None => none(call, keys),
    }
}

fn change(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    required_text(&call.json()?, "name")?;
    Err(failure(StatusCode::NOT_FOUND, "Message processor does not exist"))
}
