//! A line of the access log as a JSON object.

use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

use myelin_engine::observer::ServiceCounters;
use myelin_http::Record;
use myelin_secrets::masked_target;
use serde::Serialize;

use crate::exchange_observer::ExchangeNote;

/// The header lines of requests that it holds, in the order in which records have them.
pub(super) const HEADERS: [&str; 3] = ["Host", "User-Agent", "Referer"];

/// The object; what is not known is left out.
#[derive(Serialize)]
struct Line<'a> {
    /// RFC 3339, UTC.
    timestamp: String,
    client: std::net::IpAddr,
    client_port: u16,
    local_port: u16,
    #[serde(skip_serializing_if = "str::is_empty")]
    method: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    target: &'a str,
    protocol: &'a str,
    status: u16,
    received_bytes: u64,
    sent_bytes: u64,
    duration_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    referer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_cipher: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    aborted: bool,
}

/// Writes the object and the end of its line; JSON escapes what could begin another.
pub(super) fn write(out: &mut Vec<u8>, record: &Record, now: Duration, masks_queries: bool) {
    let note = ExchangeNote::of(record);
    let header = |index: usize| record.request_headers.get(index).and_then(Option::as_deref);
    let (method, target) = (String::from_utf8_lossy(record.method()), String::from_utf8_lossy(record.target()));
    let target = if masks_queries { masked_target(&target) } else { Cow::Borrowed(&*target) };
    let correlation = String::from_utf8_lossy(&record.correlation);
    let service = note.and_then(|note| note.service.as_ref()).filter(|service| !service.kind().is_empty());
    let line = Line {
        timestamp: humantime::format_rfc3339_micros(UNIX_EPOCH + now).to_string(),
        client: record.peer.ip(),
        client_port: record.peer.port(),
        local_port: record.local.port(),
        method: &method,
        target: &target,
        protocol: record.protocol,
        status: record.status,
        received_bytes: record.received_bytes,
        sent_bytes: record.sent_bytes,
        duration_seconds: record.duration.as_secs_f64(),
        host: header(0),
        user_agent: header(1),
        referer: header(2),
        service_type: service.map(ServiceCounters::kind),
        service: service.map(|service| &**service.name()),
        endpoint: note.and_then(|note| note.endpoint.as_deref()).filter(|name| !name.is_empty()),
        endpoint_seconds: note.map(|note| note.waited.as_secs_f64()).filter(|waited| *waited > 0.0),
        tls_version: record.tls.map(|tls| tls.version),
        tls_cipher: record.tls.map(|tls| tls.cipher),
        correlation_id: Some(&*correlation).filter(|id| !id.is_empty()),
        trace_id: note.and_then(|note| note.trace).map(|trace| trace.trace_id()),
        aborted: !record.complete,
    };
    // Texts, numbers and flags can always be written.
    let _ = serde_json::to_writer(&mut *out, &line);
    out.push(b'\n');
}
