//! What the requests that switch something have in common: `{"name", "status"}` and `{"name", "trace"}`.

use std::sync::Arc;

use myelin_engine::ServiceState;
use myelin_message::StatusCode;
use serde_json::{Map, Value};

use super::answer::{ApiAnswer, Failure, bad_request, failure};
use super::call::{Call, told};
use super::request::{required_text, text_of};
use super::route::{Body, Field, field};

/// What switches tracing alone.
pub(super) const TRACE: Body =
    Body::Json(&[field("name", "string", "What it is called"), field("trace", "string", "`enable` or `disable`")], 2);

const STATUS_FIELDS: &[Field] = &[
    field("name", "string", "What it is called"),
    field("status", "string", "`active` or `inactive`"),
    field("trace", "string", "`enable` or `disable`, in the place of `status`"),
];

/// What switches either.
pub(super) const STATUS_OR_TRACE: Body = Body::Json(STATUS_FIELDS, 1);

/// What is to be switched.
pub(super) enum Switch {
    Status(String),
    Trace(bool),
}

/// The name and the switch of a body.
pub(super) fn read(call: &Call<'_>) -> Result<(String, Switch), Failure> {
    let body = call.json()?;
    let name = required_text(&body, "name")?;
    Ok((name, of(&body)?))
}

fn of(body: &Map<String, Value>) -> Result<Switch, Failure> {
    match (text_of(body, "status")?, text_of(body, "trace")?) {
        (_, Some(trace)) => match trace.to_ascii_lowercase().as_str() {
            "enable" => Ok(Switch::Trace(true)),
            "disable" => Ok(Switch::Trace(false)),
            _ => Err(bad_request("trace has to be enable or disable")),
        },
        (Some(status), None) => Ok(Switch::Status(status.to_ascii_lowercase())),
        (None, None) => Err(bad_request("status or trace is missing in the body")),
    }
}

/// Whether a status is `active` or `inactive`.
pub(super) fn is_active(status: &str) -> Result<bool, Failure> {
    match status {
        "active" => Ok(true),
        "inactive" => Ok(false),
        _ => Err(bad_request("status has to be active or inactive")),
    }
}

/// Switches the tracing of what has that state.
pub(super) fn trace(
    call: &Call<'_>,
    (kind, name): (&str, &str),
    state: &Arc<ServiceState>,
    on: bool,
) -> Result<ApiAnswer, Failure> {
    if let Some(tracing) = call.api.process.message_tracing() {
        tracing.switch(kind, name, on).map_err(|sentence| failure(StatusCode::CONFLICT, sentence))?;
    }
    state.trace(on);
    let word = if on { "Enabled" } else { "Disabled" };
    told("message", format!("{word} tracing for ('{name}')"))
}
