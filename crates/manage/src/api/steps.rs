//! `/myelin/steps`: what comes to each step of a service, counted while somebody asks.

use myelin_message::StatusCode;
use serde_json::{Value, json};

use super::answer::{ApiAnswer, Failure, failure, item};
use super::call::Call;
use super::request::Caller;
use super::route::{Route, Shape, field, required};

pub(super) const ROUTES: &[Route] = &[Route {
    path: "/myelin/steps",
    summary: "Gives counts for each step of a service, since somebody began to ask; counting ends 10 s after the last request.",
    parameters: &[required("service", "The service with its kind, such as `proxy Orders`")],
    answer: Shape::Object(&[
        field("seconds", "number", "For how long steps are counted"),
        field("milliseconds", "integer", "A clock that never jumps"),
        field(
            "steps",
            "array",
            "`element`, `place`, `column`, `messages`, `faults` and `chosen`, of each that a message came to",
        ),
    ]),
    handler: steps,
    ..Route::READ
}];

fn steps(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let service = call.required("service")?;
    let known =
        service.split_once(' ').and_then(|(kind, name)| call.api.process.bus().service_state(kind, name).map(drop));
    known.ok_or_else(|| failure(StatusCode::NOT_FOUND, "No service of that kind and name runs"))?;
    let missing = || failure(StatusCode::SERVICE_UNAVAILABLE, "This process counts no steps");
    let tracing = call.api.process.message_tracing().ok_or_else(missing)?;
    let counts = tracing.step_counts(service).map_err(|sentence| failure(StatusCode::CONFLICT, sentence))?;
    let secrets = tracing.secrets();
    let steps = counts.steps.iter().map(|(step, counts)| {
        let chosen = counts.chosen.iter().map(|(chosen, count)| (secrets.text(chosen).into_owned(), json!(count)));
        json!({
            "element": step.element, "place": step.place.to_string(), "column": step.place.column,
            "messages": counts.messages, "faults": counts.faults,
            "chosen": Value::Object(chosen.collect()),
        })
    });
    let milliseconds = u64::try_from(call.api.process.monotonic().as_millis()).unwrap_or(u64::MAX);
    item(&json!({
        "seconds": counts.lasted.as_secs_f64(),
        "milliseconds": milliseconds,
        "steps": steps.collect::<Vec<_>>(),
    }))
}
