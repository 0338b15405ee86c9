//! A collector of OpenTelemetry: takes traces and logs by OTLP over gRPC and over HTTP, and decodes them.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use opentelemetry_proto::tonic::collector::logs::v1::{ExportLogsServiceRequest, ExportLogsServiceResponse};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::eventually;

/// How a message of HTTP/2 begins.
const PREFACE: &[u8] = b"PRI * HTTP/2.0";

/// A collector that listens on a free port of this machine until it is dropped.
pub struct Collector {
    /// Where it listens.
    pub address: SocketAddr,
    state: Arc<State>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

/// How a collector treats what comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// It takes everything.
    #[default]
    Well,
    /// It says that it has no room at the moment: 503, or `UNAVAILABLE`.
    Busy,
    /// It refuses for good: 400, or `INVALID_ARGUMENT`.
    Refusing,
    /// It takes one thing less than came.
    Partial,
    /// It reads, and never answers.
    Silent,
    /// It closes connections as soon as something comes.
    Closing,
}

/// What a collector took, and how it behaves.
#[derive(Default)]
struct State {
    mood: Mutex<Mood>,
    spans: Mutex<Vec<CollectedSpan>>,
    logs: Mutex<Vec<CollectedLog>>,
    /// The header lines of each request.
    requests: Mutex<Vec<BTreeMap<String, String>>>,
}

/// A span as a collector has it; identifiers are hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields of OTLP")]
pub struct CollectedSpan {
    pub trace: String,
    pub id: String,
    /// Empty for a span without one.
    pub parent: String,
    pub state: String,
    pub name: String,
    pub kind: String,
    pub begin: u64,
    pub end: u64,
    pub attributes: BTreeMap<String, String>,
    pub events: Vec<(String, BTreeMap<String, String>)>,
    /// Trace and span.
    pub links: Vec<(String, String)>,
    /// What its status says, where that is an error.
    pub error: Option<String>,
    pub resource: BTreeMap<String, String>,
    pub flags: u32,
}

/// A log record as a collector has it; identifiers are hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields of OTLP")]
pub struct CollectedLog {
    pub body: String,
    pub severity: String,
    pub scope: String,
    pub trace: String,
    pub span: String,
    pub attributes: BTreeMap<String, String>,
    pub resource: BTreeMap<String, String>,
}

/// How a request ended.
struct Verdict {
    http: u16,
    grpc: u32,
    message: Vec<u8>,
}

impl Collector {
    /// Starts one.
    ///
    /// Errors: there is no port or no thread to be had.
    pub fn start() -> io::Result<Collector> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let state = Arc::<State>::default();
        let taken = Arc::clone(&state);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("collector".to_owned()).spawn(move || {
            runtime.block_on(async move {
                let serving = async {
                    let Ok(listener) = TcpListener::from_std(listener) else { return };
                    while let Ok((stream, _)) = listener.accept().await {
                        let state = Arc::clone(&taken);
                        tokio::spawn(async move { drop(serve(stream, state).await) });
                    }
                };
                tokio::select! {
                    () = serving => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_timeout(Duration::ZERO);
        })?;
        Ok(Collector { address, state, stop: Some(stop) })
    }

    /// From now on it behaves so.
    pub fn set_mood(&self, mood: Mood) {
        *lock(&self.state.mood) = mood;
    }

    /// The spans that came so far.
    pub fn spans(&self) -> Vec<CollectedSpan> {
        lock(&self.state.spans).clone()
    }

    /// The log records that came so far.
    pub fn logs(&self) -> Vec<CollectedLog> {
        lock(&self.state.logs).clone()
    }

    /// The header lines of each request that came so far.
    pub fn requests(&self) -> Vec<BTreeMap<String, String>> {
        lock(&self.state.requests).clone()
    }

    /// Waits until so many spans have come, and returns them.
    pub fn wait_for_spans(&self, count: usize) -> Vec<CollectedSpan> {
        eventually("spans come to the collector", || self.spans().len() >= count);
        self.spans()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }
}

impl CollectedSpan {
    /// The text of an attribute; empty where there is none.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(mut stream: TcpStream, state: Arc<State>) -> io::Result<()> {
    let mut begin = [0; PREFACE.len()];
    while stream.peek(&mut begin).await? < begin.len() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    if *lock(&state.mood) == Mood::Closing {
        return Ok(());
    }
    if begin == PREFACE { serve_grpc(stream, state).await } else { serve_http(&mut stream, &state).await }
}

async fn serve_grpc(stream: TcpStream, state: Arc<State>) -> io::Result<()> {
    let mut connection = h2::server::handshake(stream).await.map_err(io::Error::other)?;
    while let Some(request) = connection.accept().await {
        let (request, mut respond) = request.map_err(io::Error::other)?;
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let (head, mut body) = request.into_parts();
            let mut data = Vec::new();
            while let Some(piece) = body.data().await {
                let Ok(piece) = piece else { return };
                let _ = body.flow_control().release_capacity(piece.len());
                data.extend_from_slice(&piece);
            }
            let mood = *lock(&state.mood);
            if mood == Mood::Silent {
                std::future::pending::<()>().await;
            }
            if mood == Mood::Closing {
                respond.send_reset(h2::Reason::INTERNAL_ERROR);
                return;
            }
            let is_compressed = data.first() == Some(&1);
            let headers = text_of(&head.headers);
            let is_framed = headers.get("content-type").is_some_and(|it| it == "application/grpc")
                && data.get(1..5).is_some_and(|length| {
                    u32::from_be_bytes(length.try_into().unwrap_or_default()) as usize == data.len() - 5
                });
            let verdict = if is_framed {
                take(&state, head.uri.path(), &data[5..], is_compressed, headers)
            } else {
                Verdict { http: 400, grpc: 13, message: Vec::new() }
            };
            let answer = Response::builder().header("content-type", "application/grpc").body(()).unwrap_or_default();
            let Ok(mut stream) = respond.send_response(answer, false) else { return };
            if verdict.grpc == 0 {
                let length = (verdict.message.len() as u32).to_be_bytes();
                let framed = [&[0][..], &length, &verdict.message].concat();
                let _ = stream.send_data(Bytes::from(framed), false);
            }
            let mut trailers = HeaderMap::new();
            trailers.insert(HeaderName::from_static("grpc-status"), HeaderValue::from(verdict.grpc));
            let _ = stream.send_trailers(trailers);
        });
    }
    Ok(())
}

async fn serve_http(stream: &mut TcpStream, state: &State) -> io::Result<()> {
    let mut data = Vec::new();
    loop {
        let mut lines = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut lines);
        let parsed = request.parse(&data).map_err(io::Error::other)?;
        let whole = if let httparse::Status::Complete(length) = parsed {
            let headers: BTreeMap<String, String> = request
                .headers
                .iter()
                .map(|line| (line.name.to_ascii_lowercase(), String::from_utf8_lossy(line.value).into_owned()))
                .collect();
            let body = headers.get("content-length").and_then(|text| text.parse::<usize>().ok()).unwrap_or_default();
            let path = request.path.unwrap_or_default().to_owned();
            (data.len() >= length + body).then_some((path, headers, length, body))
        } else {
            None
        };
        let Some((path, headers, length, body)) = whole else {
            if stream.read_buf(&mut data).await? == 0 {
                return Ok(());
            }
            continue;
        };
        let mood = *lock(&state.mood);
        match mood {
            Mood::Silent => {}
            Mood::Closing => return Ok(()),
            _ => {
                let is_compressed = headers.get("content-encoding").is_some_and(|coding| coding == "gzip");
                let content = data[length..length + body].to_vec();
                let verdict = take(state, &path, &content, is_compressed, headers);
                data.drain(..length + body);
                let head = format!(
                    "HTTP/1.1 {} Said\r\nContent-Type: application/x-protobuf\r\nContent-Length: {}\r\n\r\n",
                    verdict.http,
                    verdict.message.len()
                );
                stream.try_write(&[head.as_bytes(), &verdict.message].concat())?;
                continue;
            }
        }
        // Whoever is silent reads on.
        let mut rest = [0; 1024];
        while stream.read(&mut rest).await? > 0 {}
        stream.shutdown().await?;
        return Ok(());
    }
}

fn text_of(headers: &HeaderMap) -> BTreeMap<String, String> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// Takes a message, or does what the mood says.
fn take(state: &State, path: &str, data: &[u8], is_compressed: bool, headers: BTreeMap<String, String>) -> Verdict {
    lock(&state.requests).push(headers);
    let mood = *lock(&state.mood);
    match mood {
        Mood::Busy => return Verdict { http: 503, grpc: 14, message: Vec::new() },
        Mood::Refusing => return Verdict { http: 400, grpc: 3, message: Vec::new() },
        _ => {}
    }
    let mut plain = Vec::new();
    let read = match is_compressed {
        true => GzDecoder::new(data).read_to_end(&mut plain),
        false => Read::read_to_end(&mut { data }, &mut plain),
    };
    let refused = i64::from(mood == Mood::Partial);
    let answer = if read.is_err() {
        None
    } else if path.ends_with("/v1/traces") || path.ends_with("trace.v1.TraceService/Export") {
        take_spans(state, &plain, refused)
    } else if path.ends_with("/v1/logs") || path.ends_with("logs.v1.LogsService/Export") {
        take_logs(state, &plain, refused)
    } else {
        return Verdict { http: 404, grpc: 12, message: Vec::new() };
    };
    match answer {
        Some(message) => Verdict { http: 200, grpc: 0, message },
        None => Verdict { http: 400, grpc: 3, message: Vec::new() },
    }
}

fn take_spans(state: &State, data: &[u8], rejected_spans: i64) -> Option<Vec<u8>> {
    let request = ExportTraceServiceRequest::decode(data).ok()?;
    let mut all = lock(&state.spans);
    for group in request.resource_spans {
        let resource = attributes(&group.resource.unwrap_or_default().attributes);
        for span in group.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            all.push(collected(span, &resource));
        }
    }
    let mut answer = ExportTraceServiceResponse::default();
    if rejected_spans > 0 {
        let partial = answer.partial_success.get_or_insert_default();
        (partial.rejected_spans, partial.error_message) = (rejected_spans, "one too many".to_owned());
    }
    Some(answer.encode_to_vec())
}

fn take_logs(state: &State, data: &[u8], rejected_log_records: i64) -> Option<Vec<u8>> {
    let request = ExportLogsServiceRequest::decode(data).ok()?;
    let mut all = lock(&state.logs);
    for group in request.resource_logs {
        let resource = attributes(&group.resource.unwrap_or_default().attributes);
        for scope in group.scope_logs {
            let name = scope.scope.unwrap_or_default().name;
            for record in scope.log_records {
                all.push(CollectedLog {
                    body: record.body.as_ref().map(text).unwrap_or_default(),
                    severity: record.severity_text,
                    scope: name.clone(),
                    trace: hex(&record.trace_id),
                    span: hex(&record.span_id),
                    attributes: attributes(&record.attributes),
                    resource: resource.clone(),
                });
            }
        }
    }
    let mut answer = ExportLogsServiceResponse::default();
    if rejected_log_records > 0 {
        answer.partial_success.get_or_insert_default().rejected_log_records = rejected_log_records;
    }
    Some(answer.encode_to_vec())
}

fn collected(span: Span, resource: &BTreeMap<String, String>) -> CollectedSpan {
    CollectedSpan {
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        state: span.trace_state.clone(),
        kind: SpanKind::try_from(span.kind).map(|kind| kind.as_str_name().to_owned()).unwrap_or_default(),
        name: span.name,
        begin: span.start_time_unix_nano,
        end: span.end_time_unix_nano,
        attributes: attributes(&span.attributes),
        events: span.events.into_iter().map(|event| (event.name, attributes(&event.attributes))).collect(),
        links: span.links.iter().map(|link| (hex(&link.trace_id), hex(&link.span_id))).collect(),
        error: span.status.filter(|status| status.code == 2).map(|status| status.message),
        resource: resource.clone(),
        flags: span.flags,
    }
}

fn attributes(all: &[KeyValue]) -> BTreeMap<String, String> {
    all.iter().map(|it| (it.key.clone(), it.value.as_ref().map(text).unwrap_or_default())).collect()
}

fn text(value: &AnyValue) -> String {
    match &value.value {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::BoolValue(is_so)) => is_so.to_string(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
