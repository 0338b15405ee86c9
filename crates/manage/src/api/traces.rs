//! `/myelin/traces`: message traces, and which exchanges are traced.

use std::sync::Arc;
use std::time::Duration;

use myelin_message::StatusCode;
use myelin_observe::messages::{MessageTracing, Wish, check_expression, unknown_service};
use serde_json::{Value, json};

use super::answer::{ApiAnswer, Failure, bad_request, failure, item, list, object};
use super::call::{Call, told};
use super::request::{Caller, text_of};
use super::route::{Access, Body, Field, Route, Shape, field, optional};

/// So many traces a list has where nothing is said, and at most.
const LISTED: (usize, usize) = (50, 1_000);

/// So long a client may wait for a trace that is not there yet.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How often it is looked whether there is one.
const LOOKED: Duration = Duration::from_millis(50);

const ENTRY: &[Field] = &[
    field("id", "integer", "Its number; later traces have higher ones"),
    field("correlationId", "string", "What ties the log lines of the exchange together"),
    field("service", "object", "`kind`, `name`, `file` and `line` of the service"),
    field("began", "string", "When the exchange began (RFC 3339)"),
    field("tookMs", "number", "Until its answer was there"),
    field("status", "integer", "The status of the answer; null where nobody got one"),
    field("faulted", "boolean", "Whether there was a fault"),
    field("summary", "string", "What was decided and asked, in a line"),
];

const WISH: &[Field] = &[
    field("service", "string", "The service, with or without its kind; all where it is missing"),
    field("through", "string", "`sequence NAME` or `endpoint NAME` that the exchange must come to"),
    field("when", "string", "A Synapse expression or XPath over the request, which must be true"),
    field("faulted", "boolean", "Whether only exchanges with a fault are kept"),
    field("next", "integer", "How many exchanges; all where it is missing"),
    field("seconds", "integer", "How long; for good where it is missing"),
];

const SELECTION: &[Field] = &[field("id", "integer", "Its number"), field("service", "string", "As it was asked for")];

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/myelin/traces",
        access: Access::Admin,
        summary: "Lists the message traces that are kept, the newest first; with `after` the later ones, the oldest first.",
        parameters: &[
            optional("service", "Only traces of this service, with or without its kind"),
            optional("faulted", "`true` or `false`: only traces with a fault, or without"),
            optional("limit", "How many at most; 50 where nothing is said"),
            optional("after", "Only traces with a higher number than this"),
            optional("wait", "How many seconds to wait where there is none; 10 at most"),
        ],
        answer: Shape::List(ENTRY),
        handler: traces,
        ..Route::READ
    },
    Route {
        path: "/myelin/traces/selection",
        access: Access::Admin,
        summary: "Lists which exchanges are traced.",
        answer: Shape::List(SELECTION),
        handler: selections,
        ..Route::READ
    },
    Route {
        path: "/myelin/traces/selection",
        summary: "Traces exchanges from now on, until as many came as are wanted, or until it is taken back.",
        body: Body::Json(WISH, 0),
        answer: Shape::Object(&[
            field("id", "integer", "The number by which it is taken back"),
            field("after", "integer", "The number of the last trace that there is"),
        ]),
        handler: select,
        ..Route::CHANGE
    },
    Route {
        method: "DELETE",
        path: "/myelin/traces/selection",
        summary: "Traces no more what a selection asked for, or nothing at all without an id.",
        parameters: &[optional("id", "The number of the selection")],
        handler: deselect,
        ..Route::CHANGE
    },
    Route {
        path: "/myelin/traces/{id}",
        access: Access::Admin,
        summary: "Gives a message trace: each step with what it decided, changed and sent.",
        parameters: &[optional("form", "`text` for people; JSON where nothing is said")],
        answer: Shape::Json,
        handler: trace,
        ..Route::READ
    },
];

fn tracing(call: &Call<'_>) -> Result<Arc<MessageTracing>, Failure> {
    let missing = || failure(StatusCode::SERVICE_UNAVAILABLE, "This process records no message traces");
    call.api.process.message_tracing().ok_or_else(missing)
}

/// A number of the query.
fn number<T: std::str::FromStr>(call: &Call<'_>, name: &str) -> Result<Option<T>, Failure> {
    let parse =
        |text: &str| text.parse().map_err(|_| bad_request(format!("{name} has to be a whole number from 0 on")));
    call.query(name).map(parse).transpose()
}

fn traces(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let tracing = tracing(call)?;
    let faulted = match call.query("faulted") {
        None => None,
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => return Err(bad_request("faulted has to be true or false")),
    };
    let limit = number(call, "limit")?.unwrap_or(LISTED.0).min(LISTED.1);
    let (service, after) = (call.query("service"), number::<u64>(call, "after")?);
    let wait = Duration::from_secs(number(call, "wait")?.unwrap_or_default()).min(LONGEST_WAIT);
    let find = || match after {
        None => tracing.traces(service, faulted, limit),
        Some(after) => {
            let is_asked = |trace: &Arc<_>| is_asked(trace, service, faulted);
            tracing.traces_behind(after).into_iter().filter(is_asked).take(limit).collect()
        }
    };
    let began = call.api.process.monotonic();
    let mut found = find();
    while found.is_empty() && call.api.process.monotonic().saturating_sub(began) < wait {
        std::thread::sleep(LOOKED);
        found = find();
    }
    let secrets = tracing.secrets();
    Ok(list(found.iter().map(|trace| trace.to_list_json(&secrets)).collect()))
}

fn is_asked(trace: &myelin_observe::messages::Trace, service: Option<&str>, faulted: Option<bool>) -> bool {
    service.is_none_or(|service| trace.is_of(service)) && faulted.is_none_or(|faulted| trace.has_faulted() == faulted)
}

fn trace(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let tracing = tracing(call)?;
    let found = call.item.parse().ok().and_then(|id| tracing.trace(id));
    let trace = found.ok_or_else(|| failure(StatusCode::NOT_FOUND, "No trace of that number is kept"))?;
    match call.query("form") {
        None => item(&trace.to_json(&tracing.secrets())),
        Some("text") => {
            Ok(ApiAnswer::bytes("text/plain; charset=UTF-8", trace.to_text(&tracing.secrets()).into_bytes()))
        }
        Some(_) => Err(bad_request("form has to be text")),
    }
}

fn selections(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let views = tracing(call)?.selections();
    let shown = views.iter().map(|view| {
        let Wish { service, through, when, faulted, next, lasts } = &view.wish;
        let seconds = lasts.map(|lasts| lasts.as_secs());
        let mut shown = json!({
            "id": view.id, "service": service, "through": through, "when": when, "faulted": faulted, "next": next,
            "seconds": seconds,
        });
        // What nobody asked for is left out.
        if let Some(members) = shown.as_object_mut() {
            members.retain(|_, value| !value.is_null());
        }
        shown
    });
    Ok(list(shown.collect()))
}

fn select(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let tracing = tracing(call)?;
    let body = call.json()?;
    if let Some(name) = body.keys().find(|name| !WISH.iter().any(|field| field.name == name.as_str())) {
        let name: String = name.chars().take(60).collect();
        return Err(bad_request(format!("{name:?} is no member of a selection")));
    }
    let whole = |name: &str| match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64().and_then(|number| u32::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(bad_request(format!("{name} has to be a whole number from 1 on"))),
        },
    };
    let faulted = match body.get("faulted") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(faulted)) => *faulted,
        Some(_) => return Err(bad_request("faulted has to be true or false")),
    };
    let wish = Wish {
        service: text_of(&body, "service")?,
        through: text_of(&body, "through")?,
        when: text_of(&body, "when")?,
        faulted,
        next: whole("next")?,
        lasts: whole("seconds")?.map(|seconds| Duration::from_secs(seconds.into())),
    };
    let bus = call.api.process.bus();
    let services = bus.services();
    let services = services.iter().map(|service| (service.kind.element(), service.name));
    if let Some(problem) = wish.service.as_deref().and_then(|wanted| unknown_service(wanted, services)) {
        return Err(bad_request(problem));
    }
    let is_step = |through: &str| ["sequence ", "endpoint "].iter().any(|kind| through.starts_with(kind));
    if let Some(through) = wish.through.as_deref().filter(|through| !is_step(through)) {
        let name: String = through.chars().take(60).collect();
        return Err(bad_request(format!("through is `sequence NAME` or `endpoint NAME`, not {name:?}")));
    }
    if let Some(when) = &wish.when {
        check_expression(when, bus.definitions()).map_err(bad_request)?;
    }
    let after = tracing.last_id();
    let id = tracing.select(wish).map_err(bad_request)?;
    item(&object([("id", id.into()), ("after", after.into())]))
}

fn deselect(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let removed = tracing(call)?.deselect(number(call, "id")?);
    if removed == 0 && call.query("id").is_some() {
        return Err(failure(StatusCode::NOT_FOUND, "There is no selection of that number"));
    }
    told("Message", format!("{removed} selections taken back"))
}
