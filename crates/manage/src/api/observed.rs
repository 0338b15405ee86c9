//! `/myelin/services`, `/myelin/rates` and `/myelin/gauges`: what the console shows of flows and their traffic.

use myelin_engine::observer::{CallFailure, TimeTotals};
use myelin_engine::{ServiceKind, ServiceView};
use myelin_secrets::masked_configuration;
use serde_json::{Map, Value, json};

use super::answer::{ApiAnswer, Failure, item};
use super::call::Call;
use super::endpoints::state_of;
use super::request::Caller;
use super::route::{Route, Shape, field};
use crate::probes::Stage;

pub(super) const ROUTES: &[Route] = &[
    Route {
        path: "/myelin/services",
        summary: "Tells what each service does with messages: routes, steps, endpoints, as `myelin explain` does.",
        answer: Shape::Object(&[
            field("services", "object", "The services, each with an id that lasts as long as its name"),
            field("limits", "object", "Limits in force"),
        ]),
        handler: services,
        ..Route::READ
    },
    Route {
        path: "/myelin/rates",
        summary: "Gives all counters of services, endpoints and faults as they stand: two answers make rates.",
        answer: Shape::Object(&[
            field("milliseconds", "integer", "A clock that never jumps"),
            field("services", "object", "Counters by service"),
            field("endpoints", "object", "Counters and states by endpoint"),
            field("faults", "object", "Counts by code and origin"),
        ]),
        handler: rates,
        ..Route::READ
    },
    Route {
        path: "/myelin/gauges",
        summary: "Tells what is under way now, and what the process takes of its machine.",
        answer: Shape::Json,
        handler: gauges,
        ..Route::READ
    },
];

/// The classes of statuses.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

fn kind_of(kind: ServiceKind) -> &'static str {
    match kind {
        ServiceKind::Proxy => "proxy",
        ServiceKind::Api => "api",
        ServiceKind::InboundEndpoint => "inboundEndpoint",
        ServiceKind::Task => "task",
        ServiceKind::Main => "sequence",
        ServiceKind::Nobody => "none",
    }
}

/// What tells the counters of a service from others: kind, name, and of an API the path of the resource.
fn counters_id(kind: &str, name: &str, address: Option<&str>) -> String {
    match address {
        Some(address) => format!("{kind} {name} {address}"),
        None => format!("{kind} {name}"),
    }
}

fn services(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let bus = call.api.process.bus();
    let mut explained = bus.explain().to_json();
    let told = explained.get_mut("services").and_then(Value::as_array_mut);
    for service in told.into_iter().flatten().filter_map(Value::as_object_mut) {
        let text = |name: &str| service.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (kind, name) = (text("kind"), text("name"));
        let address = service.get("address").and_then(Value::as_str).map(str::to_owned);
        let route = service.get("routes").and_then(|routes| routes.get(0)).and_then(Value::as_str);
        let id = match (kind.as_str(), route) {
            // Resources at one path differ by their methods.
            ("api", Some(route)) => format!("api {name} {route}"),
            _ => format!("{kind} {name}"),
        };
        let state = bus.service_state(&kind, &name);
        let (is_off, is_traced) = state.map_or((false, false), |state| (state.is_off(), state.is_traced()));
        service.insert("id".to_owned(), id.into());
        service.insert("counters".to_owned(), counters_id(&kind, &name, address.as_deref()).into());
        service.insert("active".to_owned(), (!is_off).into());
        service.insert("tracing".to_owned(), is_traced.into());
    }
    masked(&mut explained);
    item(&explained)
}

/// Takes secrets out of all texts: addresses of endpoints may hold passwords.
fn masked(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("://") => *text = masked_configuration(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(masked),
        Value::Object(members) => members.values_mut().for_each(masked),
        _ => {}
    }
}

fn times(times: &TimeTotals) -> Value {
    // JSON has no infinity.
    let buckets = times.buckets.iter().map(|(bound, count)| json!([bound.is_finite().then_some(bound), count]));
    let count: u64 = times.buckets.iter().map(|(_, count)| count).sum();
    json!({ "count": count, "sumSeconds": times.sum.as_secs_f64(), "buckets": buckets.collect::<Vec<_>>() })
}

fn by_class(counts: &[u64; 5]) -> Map<String, Value> {
    CLASSES.into_iter().zip(counts).map(|(class, count)| (class.to_owned(), (*count).into())).collect()
}

fn rates(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let process = &call.api.process;
    let bus = process.bus();
    let services = bus.services().into_iter().map(|ServiceView { kind, name, address, counters }| {
        let (totals, kind) = (counters.totals(), kind_of(kind));
        json!({
            "id": counters_id(kind, name, address.as_deref()),
            "kind": kind,
            "name": name,
            "address": address,
            "exchanges": by_class(&totals.answers),
            "abandoned": totals.abandoned,
            "faults": totals.faults,
            "waitedSeconds": totals.waited.as_secs_f64(),
            "latency": times(&totals.times),
        })
    });
    let services: Vec<Value> = services.collect();
    let states = bus.endpoints();
    let endpoints = bus.endpoint_totals().map(|(name, totals)| {
        let state = states.iter().find(|status| status.name == name && !name.is_empty());
        let failures = CallFailure::ALL.map(CallFailure::name).into_iter().zip(totals.failures);
        let failures: Map<String, Value> = failures.map(|(name, count)| (name.to_owned(), count.into())).collect();
        json!({
            "name": name,
            "kind": state.map(|status| status.kind),
            "state": state.map(state_of),
            "down": state.and_then(|status| status.down.clone()),
            "responses": by_class(&totals.responses),
            "failures": failures,
            "latency": times(&totals.times),
        })
    });
    let endpoints: Vec<Value> = endpoints.collect();
    let faults = call.api.faults.totals().into_iter();
    let faults = faults.map(|((code, origin), count)| json!({ "code": code, "origin": origin, "count": count }));
    let milliseconds = u64::try_from(process.monotonic().as_millis()).unwrap_or(u64::MAX);
    item(&json!({
        "milliseconds": milliseconds,
        "services": services,
        "endpoints": endpoints,
        "faults": faults.collect::<Vec<_>>(),
    }))
}

fn gauges(call: &Call<'_>, _: Option<&Caller>) -> Result<ApiAnswer, Failure> {
    let (gauges, standing) = (call.api.process.gauges(), call.api.process.standing());
    let stage = match standing.stage {
        Stage::Starting => "starting",
        Stage::Serving => "serving",
        Stage::Draining => "stopping",
    };
    item(&json!({
        "stage": stage,
        "clientConnections": gauges.client_connections,
        "exchanges": gauges.exchanges,
        "branches": gauges.branches,
        "backendConnections": { "used": gauges.used_backend_connections, "idle": gauges.idle_backend_connections },
        "waitingForBackends": gauges.waiting_for_backends,
        "waitingWork": gauges.waiting_work,
        "memoryBytes": gauges.memory_bytes,
        "silentThreads": gauges.silent_threads,
        "process": {
            "processorSeconds": gauges.process.processor_time.as_secs_f64(),
            "residentBytes": gauges.process.resident_bytes,
            "openFiles": gauges.process.open_files,
            "fileLimit": gauges.process.file_limit,
        },
        "artefacts": { "running": standing.sound, "faulty": standing.faulty.len() },
        "reloads": { "served": standing.reloads, "refused": standing.refused_reloads },
    }))
}
