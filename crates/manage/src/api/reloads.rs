//! `/myelin/reloads`: when the configuration was loaded anew, and what that changed.

use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use super::answer::{ApiAnswer, Failure, list};
use super::call::Call;
use super::request::Caller;
use super::route::{Route, Shape, field};
use crate::process::ReloadRecord;

pub(super) const ROUTES: &[Route] = &[Route {
    path: "/myelin/reloads",
    summary: "Lists the last reloads, the newest first, with what became new, changed, gone and faulty.",
    answer: Shape::List(&[
        field("seconds", "integer", "When it was, since 1970"),
        field("reason", "string", "Why it was"),
        field("outcome", "string", "`served` or `refused`"),
        field("message", "string", "Why it was refused; may be empty"),
        field("milliseconds", "integer", "How long it took"),
        field("new", "array", "Artefacts that are new"),
        field("changed", "array", "Artefacts that changed"),
        field("gone", "array", "Artefacts that are gone"),
        field("faulty", "array", "Artefacts that do not run"),
    ]),
    handler: read,
    ..Route::READ
}];

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let reloads = call.api.process.reloads();
    Ok(list(reloads.iter().rev().map(one).collect()))
}

fn one(reload: &ReloadRecord) -> Value {
    let ReloadRecord { time, reason, served, message, took, new, changed, gone, faulty } = reload;
    json!({
        "seconds": time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        "reason": reason,
        "outcome": if *served { "served" } else { "refused" },
        "message": message,
        "milliseconds": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "new": new,
        "changed": changed,
        "gone": gone,
        "faulty": faulty,
    })
}
