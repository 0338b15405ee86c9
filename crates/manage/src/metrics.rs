//! All metrics of a process, gathered when somebody asks for them.
//!
//! Those that Micro Integrator has bear its names and labels, so that dashboards made for it go on; ours begin with
//! `myelin_`. What can be a label is bounded by the configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::time::UNIX_EPOCH;

use myelin_engine::observer::{Attempt, CallFailure, TimeTotals};
use myelin_engine::{Bus, EndpointState, ServiceKind, ServiceView};
use myelin_telemetry::TelemetryCounts;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::counting::FaultCounters;
use crate::measured::{Gauges, ProcessUsage, Server, Tallies};
use crate::probes::{Stage, Standing};
use crate::tallies::of_tallies;

/// The page in OpenMetrics.
pub(crate) fn page(
    bus: &Bus,
    server: &Server,
    standing: &Standing,
    gauges: &Gauges,
    tallies: &Tallies,
    faults: &FaultCounters,
) -> String {
    let mut families = of_services(bus, standing);
    families.extend(of_endpoints(bus));
    families.extend(of_process(server, standing, gauges, faults));
    families.extend(of_tallies(tallies));
    families.push(of_refusals(bus, tallies));
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Families(families)));
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = encode(&mut page, &registry);
    page
}

/// Metrics that are to be written.
#[derive(Debug)]
struct Families(Vec<Family>);

/// The samples of one name.
#[derive(Debug)]
pub(crate) struct Family {
    /// Of a counter without `_total`.
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    samples: Vec<(Labels, Sample)>,
}

/// Labels with their values.
pub(crate) type Labels = Vec<(&'static str, String)>;

#[derive(Debug)]
pub(crate) enum Sample {
    Count(u64),
    Seconds(f64),
    Level(f64),
    Times(TimeTotals),
}

impl Family {
    pub(crate) fn new(name: &'static str, help: &'static str, kind: MetricType) -> Family {
        Family { name, help, kind, samples: Vec::new() }
    }

    pub(crate) fn with(mut self, labels: Labels, sample: Sample) -> Family {
        self.samples.push((labels, sample));
        self
    }
}

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for family in self.0.iter().filter(|family| !family.samples.is_empty()) {
            let mut metric = encoder.encode_descriptor(family.name, family.help, None, family.kind)?;
            for (labels, sample) in &family.samples {
                if labels.is_empty() {
                    sample.write(&mut metric)?;
                } else {
                    sample.write(&mut metric.encode_family(labels)?)?;
                }
            }
        }
        Ok(())
    }
}

impl Sample {
    fn write(&self, encoder: &mut MetricEncoder<'_>) -> Result<(), fmt::Error> {
        match self {
            Sample::Count(count) => encoder.encode_counter::<NoLabelSet, _, u64>(count, None),
            Sample::Seconds(seconds) => encoder.encode_counter::<NoLabelSet, _, u64>(seconds, None),
            Sample::Level(level) => encoder.encode_gauge(level),
            Sample::Times(times) => {
                let count = times.buckets.iter().map(|(_, count)| count).sum();
                encoder.encode_histogram::<NoLabelSet>(times.sum.as_secs_f64(), count, &times.buckets, None)
            }
        }
    }
}

/// The classes of statuses.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The three metrics that Micro Integrator has of a kind of service: requests, those with a fault, and latencies.
struct Wso2 {
    kind: ServiceKind,
    metrics: [(&'static str, &'static str); 3],
}

/// Source: `MetricConstants` of Micro Integrator's observability handler; the library adds `_total` to counters.
const WSO2: [Wso2; 3] = [
    Wso2 {
        kind: ServiceKind::Proxy,
        metrics: [
            ("wso2_integration_proxy_request_count", "Requests to a proxy service"),
            ("wso2_integration_proxy_request_count_error", "Requests to a proxy service in which there was a fault"),
            ("wso2_integration_proxy_latency_seconds", "Time until the answer of a proxy service was there"),
        ],
    },
    Wso2 {
        kind: ServiceKind::Api,
        metrics: [
            ("wso2_integration_api_request_count", "Requests to a resource of an API"),
            ("wso2_integration_api_request_count_error", "Requests to a resource of an API in which there was a fault"),
            ("wso2_integration_api_latency_seconds", "Time until the answer of a resource of an API was there"),
        ],
    },
    Wso2 {
        kind: ServiceKind::InboundEndpoint,
        metrics: [
            ("wso2_integration_inbound_endpoint_request_count", "Messages of an inbound endpoint"),
            (
                "wso2_integration_inbound_endpoint_request_count_error",
                "Messages of an inbound endpoint in which there was a fault",
            ),
            (
                "wso2_integration_inbound_endpoint_latency_seconds",
                "Time until a message of an inbound endpoint was mediated",
            ),
        ],
    },
];

/// What a kind of service is called, as Micro Integrator says it where it has it.
fn type_of(kind: ServiceKind) -> &'static str {
    match kind {
        ServiceKind::Proxy => "proxy",
        ServiceKind::Api => "api",
        ServiceKind::InboundEndpoint => "inbound-endpoint",
        ServiceKind::Task => "task",
        ServiceKind::Main => "main",
        ServiceKind::Nobody => "none",
    }
}

fn labels_of(service: &ServiceView<'_>) -> Labels {
    let labels = vec![("service_name", service.name.to_owned()), ("service_type", type_of(service.kind).to_owned())];
    labels.into_iter().chain(service.address.clone().map(|address| ("invocation_url", address))).collect()
}

fn of_services(bus: &Bus, standing: &Standing) -> Vec<Family> {
    let services = bus.services();
    let observed: Vec<_> = services.iter().map(|view| (view, labels_of(view), view.counters.totals())).collect();
    let mut families = Vec::new();
    for Wso2 { kind, metrics: [requests, faults, latency] } in WSO2 {
        let mut requests = Family::new(requests.0, requests.1, MetricType::Counter);
        let mut faulted = Family::new(faults.0, faults.1, MetricType::Counter);
        let mut latency = Family::new(latency.0, latency.1, MetricType::Histogram);
        for (_, labels, totals) in observed.iter().filter(|(view, ..)| view.kind == kind) {
            requests = requests.with(labels.clone(), Sample::Count(totals.exchanges()));
            faulted = faulted.with(labels.clone(), Sample::Count(totals.faults));
            latency = latency.with(labels.clone(), Sample::Times(totals.times.clone()));
        }
        families.extend([requests, faulted, latency]);
    }
    let mut ends = Family::new(
        "myelin_exchanges",
        "Exchanges by service and by the class of the answer's status",
        MetricType::Counter,
    );
    let mut waited = Family::new(
        "myelin_endpoint_wait_seconds",
        "Time in which exchanges waited for endpoints",
        MetricType::Counter,
    );
    let mut own = Family::new(
        "myelin_mediation_seconds",
        "Time that exchanges took beside what they waited for endpoints",
        MetricType::Counter,
    );
    let mut bytes = Family::new(
        "myelin_bytes",
        "Bytes that clients of a service sent, and that they got, heads included",
        MetricType::Counter,
    );
    let mut times = Family::new(
        "myelin_exchange_duration_seconds",
        "Time until the answer was there, of services that have no such metric of Micro Integrator's",
        MetricType::Histogram,
    );
    for (view, labels, totals) in &observed {
        let with_status = |status: &str| {
            let mut labels = labels.clone();
            labels.push(("status", status.to_owned()));
            labels
        };
        for (class, count) in CLASSES.into_iter().zip(totals.answers).filter(|(_, count)| *count > 0) {
            ends = ends.with(with_status(class), Sample::Count(count));
        }
        if totals.abandoned > 0 {
            ends = ends.with(with_status("abandoned"), Sample::Count(totals.abandoned));
        }
        waited = waited.with(labels.clone(), Sample::Seconds(totals.waited.as_secs_f64()));
        own = own.with(labels.clone(), Sample::Seconds(totals.own_time().as_secs_f64()));
        for (direction, count) in [("received", totals.received_bytes), ("sent", totals.sent_bytes)] {
            let mut labels = labels.clone();
            labels.push(("direction", direction.to_owned()));
            bytes = bytes.with(labels, Sample::Count(count));
        }
        if !WSO2.iter().any(|wso2| wso2.kind == view.kind) {
            times = times.with(labels.clone(), Sample::Times(totals.times.clone()));
        }
    }
    let mut up = Family::new(
        "wso2_integration_service_up",
        "1 for a service that is served, 0 for one that is faulty",
        MetricType::Gauge,
    );
    let mut known: Vec<(&str, &str)> = services.iter().map(|view| (view.name, type_of(view.kind))).collect();
    known.retain(|(name, _)| !name.is_empty());
    // Of two with one name the first serves and the later is faulty: Prometheus takes one series of each name.
    let mut ups: BTreeMap<(&str, &str), f64> = known.into_iter().map(|service| (service, 1.0)).collect();
    for faulty in &standing.faulty {
        let kind = match faulty.kind.as_str() {
            "inboundEndpoint" => "inbound-endpoint",
            kind @ ("proxy" | "api" | "task") => kind,
            _ => continue,
        };
        ups.entry((&faulty.name, kind)).or_insert(0.0);
    }
    for ((name, kind), level) in ups {
        let labels = vec![("service_name", name.to_owned()), ("service_type", kind.to_owned())];
        up = up.with(labels, Sample::Level(level));
    }
    families.extend([ends, waited, own, bytes, times, up]);
    families
}

fn of_endpoints(bus: &Bus) -> Vec<Family> {
    let mut requests = Family::new(
        "myelin_endpoint_requests",
        "Requests to an endpoint, by the class of the response's status or why there was none; without a name, those \
         to endpoints that have none",
        MetricType::Counter,
    );
    let mut times = Family::new(
        "myelin_endpoint_duration_seconds",
        "Time until an endpoint's response was there, or it was clear that none comes",
        MetricType::Histogram,
    );
    let mut attempts = Family::new(
        "myelin_endpoint_attempts",
        "Attempts to send a message to an endpoint: the first, after another member of a group failed, or once more",
        MetricType::Counter,
    );
    for (name, totals) in bus.endpoint_totals() {
        let sent = totals.requests();
        if sent > 0 {
            let first = sent.saturating_sub(totals.attempts.iter().sum());
            let further = Attempt::ALL.map(Attempt::name).into_iter().zip(totals.attempts);
            for (attempt, count) in std::iter::once(("first", first)).chain(further) {
                let labels = vec![("endpoint", name.to_owned()), ("attempt", attempt.to_owned())];
                attempts = attempts.with(labels, Sample::Count(count));
            }
        }
        let failures = CallFailure::ALL.map(CallFailure::name);
        let outcomes = CLASSES.into_iter().zip(totals.responses).chain(failures.into_iter().zip(totals.failures));
        for (outcome, count) in outcomes.filter(|(_, count)| *count > 0) {
            let labels = vec![("endpoint", name.to_owned()), ("outcome", outcome.to_owned())];
            requests = requests.with(labels, Sample::Count(count));
        }
        if totals.times.buckets.iter().any(|(_, count)| *count > 0) {
            times = times.with(vec![("endpoint", name.to_owned())], Sample::Times(totals.times));
        }
    }
    let mut states = Family::new(
        "myelin_endpoint_state",
        "1 for the state that an endpoint is in: active, timeout, suspended, off, down",
        MetricType::Gauge,
    );
    // What stands in the place of one that is missing has no name.
    for endpoint in bus.endpoints().into_iter().filter(|endpoint| !endpoint.name.is_empty()) {
        let state = match (&endpoint.down, endpoint.state) {
            (_, EndpointState::Off) => "off",
            (Some(_), _) => "down",
            (None, EndpointState::Active) => "active",
            (None, EndpointState::Timeout) => "timeout",
            (None, EndpointState::Suspended) => "suspended",
        };
        states = states.with(vec![("endpoint", endpoint.name), ("state", state.to_owned())], Sample::Level(1.0));
    }
    vec![requests, attempts, times, states]
}

fn of_refusals(bus: &Bus, tallies: &Tallies) -> Family {
    let services = bus.services();
    let nobodys = services.iter().filter(|view| view.kind == ServiceKind::Nobody);
    let without_service = nobodys.map(|view| view.counters.totals().exchanges()).sum();
    let family = Family::new(
        "myelin_refused_requests",
        "Requests that were refused before any service saw them, by the reason",
        MetricType::Counter,
    );
    let counts = tallies.refused_requests.iter().copied().chain([("no_service", without_service)]);
    counts
        .fold(family, |family, (reason, count)| family.with(vec![("reason", reason.to_owned())], Sample::Count(count)))
}

fn of_process(server: &Server, standing: &Standing, gauges: &Gauges, faults: &FaultCounters) -> Vec<Family> {
    let level = |name, help, value: usize| {
        Family::new(name, help, MetricType::Gauge).with(Vec::new(), Sample::Level(value as f64))
    };
    let mut faulted =
        Family::new("myelin_faults", "Faults by ERROR_CODE and whose side they were on", MetricType::Counter);
    for ((code, origin), count) in faults.totals() {
        faulted = faulted.with(vec![("code", code), ("origin", origin.to_owned())], Sample::Count(count));
    }
    let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
    let place = vec![("host", server.host.clone()), ("port", server.port.to_string())];
    let serves = f64::from(u8::from(standing.stage == Stage::Serving));
    let by = |label, value: &str| vec![(label, value.to_owned())];
    let Standing { sound, faulty, reloads, refused_reloads, .. } = standing;
    vec![
        faulted,
        Family::new("wso2_integration_server_up", "1 while the bus takes messages", MetricType::Gauge)
            .with(place, Sample::Level(serves)),
        Family::new("myelin_build_info", "The build of the bus", MetricType::Gauge).with(
            vec![
                ("version", env!("CARGO_PKG_VERSION").to_owned()),
                ("profile", if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned()),
                ("target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)),
            ],
            Sample::Level(1.0),
        ),
        Family::new("wso2_integration_server_version", "The version of the bus", MetricType::Gauge)
            .with(version, Sample::Level(1.0)),
        Family::new("myelin_artefacts", "Artefacts of the configuration that serves", MetricType::Gauge)
            .with(by("state", "running"), Sample::Level(*sound as f64))
            .with(by("state", "faulty"), Sample::Level(faulty.len() as f64)),
        Family::new("myelin_reloads", "Configurations that were loaded while serving", MetricType::Counter)
            .with(by("outcome", "served"), Sample::Count(*reloads))
            .with(by("outcome", "refused"), Sample::Count(*refused_reloads)),
        level("myelin_client_connections", "Open client connections, idle ones included", gauges.client_connections),
        level("myelin_exchanges_under_way", "Requests without an answer", gauges.exchanges),
        level("myelin_branches_under_way", "Flows beside the first one of their request", gauges.branches),
        Family::new(
            "myelin_backend_connections",
            "Connections to backends that are used, or kept idle",
            MetricType::Gauge,
        )
        .with(by("state", "used"), Sample::Level(gauges.used_backend_connections as f64))
        .with(by("state", "idle"), Sample::Level(gauges.idle_backend_connections as f64)),
        level(
            "myelin_waiting_for_backends",
            "Requests that wait for a connection to a backend",
            gauges.waiting_for_backends,
        ),
        level("myelin_waiting_work", "Pieces of long work that wait for their turn", gauges.waiting_work),
        level(
            "myelin_message_memory_bytes",
            "Bytes of bodies and half-read messages that are kept",
            gauges.memory_bytes,
        ),
        level(
            "myelin_silent_threads",
            "Threads that serve and did not say in time what is under way on them",
            gauges.silent_threads,
        ),
    ]
    .into_iter()
    .chain(of_telemetry(&gauges.telemetry))
    .chain(of_machine(server, &gauges.process))
    .collect()
}

/// What became of spans and log records; nothing where none are sent.
fn of_telemetry(counts: &TelemetryCounts) -> Vec<Family> {
    let queues = [("spans", counts.spans), ("logs", counts.logs)];
    let queues: Vec<_> = queues.into_iter().filter_map(|(signal, counts)| Some((signal, counts?))).collect();
    if queues.is_empty() {
        return Vec::new();
    }
    let mut ended =
        Family::new("myelin_telemetry", "Spans and log records, by what became of them", MetricType::Counter);
    let mut waiting = Family::new("myelin_telemetry_waiting", "Spans and log records to be sent", MetricType::Gauge);
    for (signal, counts) in queues {
        for (outcome, count) in [("sent", counts.sent), ("dropped", counts.dropped), ("failed", counts.failed)] {
            let labels = vec![("signal", signal.to_owned()), ("outcome", outcome.to_owned())];
            ended = ended.with(labels, Sample::Count(count));
        }
        waiting = waiting.with(vec![("signal", signal.to_owned())], Sample::Level(counts.waiting as f64));
    }
    vec![ended, waiting]
}

/// What every process tells of itself, by the names that Prometheus' own libraries give it.
///
/// Source: Prometheus, Writing client libraries, Process metrics.
fn of_machine(server: &Server, usage: &ProcessUsage) -> Vec<Family> {
    let started = server.started.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = usage.processor_time.as_secs_f64();
    let level = |name, help, value: Option<f64>| {
        let family = Family::new(name, help, MetricType::Gauge);
        match value {
            Some(value) => family.with(Vec::new(), Sample::Level(value)),
            None => family,
        }
    };
    vec![
        Family::new("process_cpu_seconds", "Processor time of the process, of all its threads", MetricType::Counter)
            .with(Vec::new(), Sample::Seconds(seconds)),
        level("process_start_time_seconds", "When the bus began to serve, since 1970", Some(started.as_secs_f64())),
        level(
            "process_resident_memory_bytes",
            "Memory of the process that is resident",
            usage.resident_bytes.map(|bytes| bytes as f64),
        ),
        level(
            "process_open_fds",
            "Files that the process has open, sockets included",
            usage.open_files.map(|files| files as f64),
        ),
        level("process_max_fds", "Files that the process may have open", usage.file_limit.map(|limit| limit as f64)),
    ]
}
