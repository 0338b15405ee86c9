//! `/configs`: whether requests get a correlation id.

use serde_json::{Value, json};

use super::answer::{ApiAnswer, Failure, bad_request, item};
use super::call::{Call, told};
use super::request::{Caller, required_text};
use super::route::{Body, Route, Shape, field, required};

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/configs",
        summary: "Tells whether requests without a correlation id get one.",
        parameters: &[required("configName", "`correlation`")],
        answer: Shape::Object(&[
            field("configName", "string", "`correlation`"),
            field("configs", "object", "`enabled`: whether it is on"),
        ]),
        handler: read,
        ..Route::READ
    },
    Route {
        method: "PUT",
        path: "/configs",
        summary: "Gives requests without a correlation id one from now on, or does not.",
        body: Body::Json(
            &[field("configName", "string", "`correlation`"), field("configs", "object", "`enabled`: true or false")],
            2,
        ),
        answer: Shape::Told("message"),
        handler: change,
        ..Route::CHANGE
    },
];

fn check(name: &str) -> Result<(), Failure> {
    if name == "correlation" { Ok(()) } else { Err(bad_request("configName has to be correlation")) }
}

fn read(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    check(call.required("configName")?)?;
    item(&json!({ "configName": "correlation", "configs": { "enabled": call.api.process.correlates() } }))
}

fn change(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let body = call.json()?;
    check(&required_text(&body, "configName")?)?;
    let enabled = match body.get("configs").and_then(|configs| configs.get("enabled")) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) if matches!(text.as_str(), "true" | "false") => text == "true",
        _ => return Err(bad_request("configs.enabled has to be true or false")),
    };
    call.api.process.correlate(enabled);
    told("message", "Successfully Updated Correlation Logs Status")
}
