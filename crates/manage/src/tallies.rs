//! Metrics of the process itself: listeners, memory, threads, logs, limits.

use myelin_engine::observer::{Tally, total};
use prometheus_client::metrics::MetricType;

use crate::measured::Tallies;
use crate::metrics::{Family, Sample};

/// What `[myelin.memory]` says where there is no limit.
const NO_LIMIT: usize = usize::MAX;

/// The limits of the bus and of its parts that messages meet.
const LIMITS: [(&str, Tally); 5] = [
    ("overload", Tally::Overload),
    ("script", Tally::ScriptLimit),
    ("stylesheet", Tally::StylesheetLimit),
    ("template", Tally::TemplateLimit),
    ("sql", Tally::SqlLimit),
];

pub(crate) fn of_tallies(tallies: &Tallies) -> Vec<Family> {
    let mut families = of_listeners(tallies);
    families.extend(of_memory(tallies));
    let counter = |name, help| Family::new(name, help, MetricType::Counter);
    let count = |name, help, count| counter(name, help).with(Vec::new(), Sample::Count(count));
    let mut refused = counter("myelin_refused_clients", "Clients that were refused, by what there was too little of");
    for (reason, count) in &tallies.refused_clients {
        refused = refused.with(vec![("reason", (*reason).to_owned())], Sample::Count(*count));
    }
    let mut limits = counter("myelin_limits_reached", "Messages that met a limit, by whose it was");
    for (limit, tally) in LIMITS {
        limits = limits.with(vec![("limit", limit.to_owned())], Sample::Count(total(tally)));
    }
    let mut cache = counter("myelin_cache_lookups", "Answers that were looked for in caches");
    for (outcome, tally) in [("hit", Tally::CacheHit), ("miss", Tally::CacheMiss)] {
        cache = cache.with(vec![("outcome", outcome.to_owned())], Sample::Count(total(tally)));
    }
    let mut lag = Family::new(
        "myelin_loop_lag_seconds",
        "How late a serving thread was with what was due on it, measured twice a second",
        MetricType::Histogram,
    );
    for (thread, times) in &tallies.lag {
        lag = lag.with(vec![("thread", thread.to_string())], Sample::Times(times.clone()));
    }
    let mut lines = counter("myelin_log_lines", "Lines of the log by their level");
    for (level, count) in &tallies.log_lines {
        lines = lines.with(vec![("level", level.to_ascii_lowercase())], Sample::Count(*count));
    }
    let dropped = counter("myelin_dropped_log_lines", "Lines that were lost because whatever takes them was too slow")
        .with(vec![("log", "log".to_owned())], Sample::Count(tallies.dropped_log_lines))
        .with(vec![("log", "access".to_owned())], Sample::Count(tallies.dropped_access_log_lines));
    families.extend([
        refused,
        limits,
        cache,
        count("myelin_throttled", "Messages that a throttle refused", total(Tally::ThrottleRefusal)),
        count(
            "myelin_resent_requests",
            "Requests that were sent again because a connection that was kept turned out to be closed",
            tallies.resent_requests,
        ),
        count("myelin_failovers", "Messages that were sent to another member of a group", total(Tally::Failover)),
        lag,
        lines,
        dropped,
    ]);
    families
}

fn of_listeners(tallies: &Tallies) -> Vec<Family> {
    let mut open = Family::new("myelin_listener_connections", "Open connections of clients by port", MetricType::Gauge);
    let mut accepted =
        Family::new("myelin_accepted_connections", "Connections of clients by port", MetricType::Counter);
    let mut handshakes =
        Family::new("myelin_tls_handshakes", "Handshakes of TLS with clients by port", MetricType::Counter);
    for listener in &tallies.listeners {
        let labels = || vec![("port", listener.port.to_string())];
        open = open.with(labels(), Sample::Level(listener.open as f64));
        accepted = accepted.with(labels(), Sample::Count(listener.accepted));
        let outcomes = [
            ("full", listener.full_handshakes),
            ("resumed", listener.resumed_handshakes),
            ("failed", listener.failed_handshakes),
        ];
        for (outcome, count) in outcomes {
            let mut labels = labels();
            labels.push(("outcome", outcome.to_owned()));
            handshakes = handshakes.with(labels, Sample::Count(count));
        }
    }
    vec![open, accepted, handshakes]
}

fn of_memory(tallies: &Tallies) -> Vec<Family> {
    let (used, limit) = tallies.memory;
    let level = |name, help| Family::new(name, help, MetricType::Gauge);
    let used = level("myelin_memory_budget_used_bytes", "Memory that all messages take, as far as it is counted")
        .with(Vec::new(), Sample::Level(used as f64));
    let allowed = level("myelin_memory_budget_limit_bytes", "Memory that all messages may take together");
    let allowed = if limit == NO_LIMIT { allowed } else { allowed.with(Vec::new(), Sample::Level(limit as f64)) };
    vec![used, allowed]
}
