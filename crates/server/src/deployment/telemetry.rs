//! Where traces and lines of the log go: `[myelin.opentelemetry]`, WSO2's `[opentelemetry]`, and the variables of the
//! environment that OpenTelemetry has for all programs. What the file says goes first.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Uri};
use myelin_spelling::suggestion;
use myelin_telemetry::sampling::{SAMPLERS, Sampler, TailSampler};
use myelin_telemetry::span::{Attribute, AttributeValue};
use myelin_telemetry::{Destination, Protocol, TelemetryOptions, TracingOptions};
use toml::Value;

use super::file_text::KeyProblem;
use super::own::opentelemetry::{Hidden, OwnCompression, OwnIncoming, OwnOpenTelemetry, OwnProtocol};
use super::values::{find, set};
use super::wso2::{File, wrong};

/// The ports of OTLP, by which a collector is known as one.
const PORTS: [(u16, OwnProtocol); 2] = [(4317, OwnProtocol::Grpc), (4318, OwnProtocol::Http)];

/// The name of the service where nobody gave one.
const SERVICE: &str = "myelin";

/// WSO2's `[opentelemetry]`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Wso2Telemetry {
    enable: Option<bool>,
    url: Option<String>,
    protocol: Option<OwnProtocol>,
    headers: Vec<(String, Hidden)>,
    service_name: Option<String>,
    resource: Vec<(String, String)>,
    /// Why nothing is sent, where the table asks for what the bus does not speak.
    pub(super) refused: Option<KeyProblem>,
}

/// What reads a variable of the environment.
pub(super) type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What makes a secret of a text that may refer to one.
pub(super) type Secrets<'a> = &'a dyn Fn(&str) -> Result<String, String>;

impl Wso2Telemetry {
    /// Reads the table.
    ///
    /// Errors: something is not what it has to be.
    pub(super) fn read(file: &File) -> anyhow::Result<Wso2Telemetry> {
        let mut read = Wso2Telemetry {
            enable: file.flag("opentelemetry.enable")?,
            url: file.text("opentelemetry.url")?,
            service_name: file.text("opentelemetry.service_name")?,
            ..Wso2Telemetry::default()
        };
        if read.url.is_none()
            && let Some(host) = file.text("opentelemetry.host")?
        {
            let port = file.integer("opentelemetry.port")?.unwrap_or(i64::from(PORTS[0].0));
            read.url = Some(format!("http://{host}:{port}"));
        }
        read.protocol = match file.text("opentelemetry.protocol")?.as_deref() {
            None => None,
            Some("grpc") => Some(OwnProtocol::Grpc),
            Some("http") => Some(OwnProtocol::Http),
            Some(other) => {
                let message = format!("opentelemetry.protocol = {other:?}: grpc or http is needed");
                return Err(wrong("opentelemetry.protocol", message));
            }
        };
        let properties = find(file.table(), "opentelemetry.properties").and_then(Value::as_array);
        for (number, table) in properties.into_iter().flatten().enumerate() {
            let text = |key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
            let (name, value) = (text("name").or_else(|| text("header")), text("value").or_else(|| text("key")));
            let (Some(name), Some(value)) = (name, value) else {
                let message = "[[opentelemetry.properties]] needs name and value, both of them texts";
                return Err(wrong(&format!("opentelemetry.properties[{number}]"), message.to_owned()));
            };
            match name.as_str() {
                "resource_attributes" => read.resource.extend(pairs(&value, "resource_attributes")?),
                _ => read.headers.push((name, Hidden(value))),
            }
        }
        let kind = file.text("opentelemetry.type")?.unwrap_or_else(|| "otlp".to_owned()).to_ascii_lowercase();
        let port = read.url.as_deref().and_then(|url| url.parse::<Uri>().ok()?.port_u16());
        let otlp = PORTS.iter().find(|(known, _)| Some(*known) == port);
        read.refused = match (kind.as_str(), otlp) {
            ("otlp", _) => None,
            // Both take OTLP at its own ports.
            ("jaeger", Some((_, protocol))) => {
                read.protocol.get_or_insert(*protocol);
                None
            }
            ("jaeger", None) => Some(
                "Jaeger's own protocol is not spoken: Jaeger takes OTLP at port 4317 since 1.35; set type = \"otlp\" and \
                 url = \"http://HOST:4317\""
                    .to_owned(),
            ),
            ("zipkin", _) => Some(
                "Zipkin's own protocol is not spoken: send OTLP to an OpenTelemetry Collector, which has an exporter for \
                 Zipkin; set type = \"otlp\" and url = \"http://COLLECTOR:4317\""
                    .to_owned(),
            ),
            ("log", _) => Some(
                "spans are not written to a file: set type = \"otlp\" and the url of a collector".to_owned(),
            ),
            (other, _) => Some(format!("there is no type {other:?} here: otlp is{}", suggestion(other, ["otlp"]))),
        }
        .filter(|_| read.enable == Some(true))
        .map(|why| KeyProblem::new("opentelemetry.type", format!("[opentelemetry] no traces are sent: {why}")));
        Ok(read)
    }
}

/// Where traces and logs go; `None` where neither file nor environment asks for it.
///
/// Errors: something is not what it has to be, or a secret is not there.
pub(super) fn options(
    own: &OwnOpenTelemetry,
    wso2: &Wso2Telemetry,
    variable: Variable<'_>,
    secrets: Secrets<'_>,
) -> anyhow::Result<Option<TelemetryOptions>> {
    let named = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let disabled = named("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let by_file = own.enable.or(own.endpoint.as_ref().map(|_| true)).or(wso2.enable);
    let by_environment = !disabled
        && (["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"]
            .iter()
            .any(|name| named(name).is_some())
            || named("OTEL_TRACES_EXPORTER").as_deref() == Some("otlp"));
    let is_refused = wso2.refused.is_some() && own.endpoint.is_none();
    if !by_file.unwrap_or(by_environment) || is_refused {
        return Ok(None);
    }
    let options = all_options(own, wso2, variable, secrets)?;
    Ok((options.traces.is_some() || options.logs.is_some()).then_some(options))
}

/// The options, whether anything asks for them or not.
pub(super) fn all_options(
    own: &OwnOpenTelemetry,
    wso2: &Wso2Telemetry,
    variable: Variable<'_>,
    secrets: Secrets<'_>,
) -> anyhow::Result<TelemetryOptions> {
    let named = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let exported = |name: &str| named(name).map(|value| value != "none");
    let signal = |signal| destination(signal, own, wso2, variable, secrets);
    let traces = own.traces.or_else(|| exported("OTEL_TRACES_EXPORTER")).unwrap_or(true);
    let logs = own.logs.or_else(|| exported("OTEL_LOGS_EXPORTER")).unwrap_or(false);
    let number = |name: &str| -> anyhow::Result<Option<usize>> {
        named(name).map(|value| value.trim().parse().with_context(|| format!("{name}={value:?}"))).transpose()
    };
    let queue = own.queue.map_or_else(|| number("OTEL_BSP_MAX_QUEUE_SIZE"), |it| Ok(Some(it)))?;
    let batch = own.batch.map_or_else(|| number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE"), |it| Ok(Some(it)))?;
    let delay = number("OTEL_BSP_SCHEDULE_DELAY")?.map(|millis| Duration::from_millis(millis as u64));
    let queue = queue.unwrap_or(32_768);
    Ok(TelemetryOptions {
        traces: if traces { Some(signal(Signal::Traces)?) } else { None },
        logs: if logs { Some(signal(Signal::Logs)?) } else { None },
        resource: resource(own, wso2, variable)?,
        tracing: tracing_options(own, variable)?,
        queue,
        batch: batch.unwrap_or(512).clamp(1, queue.max(1)),
        interval: own.interval.or(delay).unwrap_or(Duration::from_secs(1)),
        flush: own.flush.unwrap_or(Duration::from_secs(5)),
    })
}

/// What is sent.
#[derive(Clone, Copy)]
enum Signal {
    Traces,
    Logs,
}

impl Signal {
    /// As variables of the environment have it, and paths of URLs.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Signal::Traces => ("TRACES", "/v1/traces"),
            Signal::Logs => ("LOGS", "/v1/logs"),
        }
    }
}

fn destination(
    signal: Signal,
    own: &OwnOpenTelemetry,
    wso2: &Wso2Telemetry,
    variable: Variable<'_>,
    secrets: Secrets<'_>,
) -> anyhow::Result<Destination> {
    let (name, path) = signal.names();
    // That of the signal goes before that of all.
    let named = |rest: &str| {
        [format!("OTEL_EXPORTER_OTLP_{name}_{rest}"), format!("OTEL_EXPORTER_OTLP_{rest}")]
            .into_iter()
            .find_map(|key| Some((variable(&key).filter(|value| !value.trim().is_empty())?, key)))
    };
    let for_signal = format!("OTEL_EXPORTER_OTLP_{name}_ENDPOINT");
    let by_environment = named("ENDPOINT");
    let (text, key) = match (&own.endpoint, &wso2.url, by_environment) {
        (Some(text), ..) => (text.clone(), "[myelin.opentelemetry] endpoint".to_owned()),
        (None, Some(text), _) => (text.clone(), "[opentelemetry] url".to_owned()),
        (None, None, Some((text, key))) => (text, key),
        (None, None, None) => (String::new(), String::new()),
    };
    let protocol = match (own.protocol, wso2.protocol, named("PROTOCOL")) {
        (Some(protocol), ..) | (None, Some(protocol), _) => protocol,
        (None, None, Some((text, key))) => match text.as_str() {
            "grpc" => OwnProtocol::Grpc,
            "http/protobuf" => OwnProtocol::Http,
            other => bail!("{key}={other:?}: grpc and http/protobuf are spoken"),
        },
        // The usual ports say what is spoken there.
        (None, None, None) => {
            let port = text.parse::<Uri>().ok().and_then(|url| url.port_u16());
            PORTS.iter().find(|(known, _)| Some(*known) == port).map_or(OwnProtocol::Grpc, |(_, protocol)| *protocol)
        }
    };
    let text = match (text.is_empty(), protocol) {
        (true, OwnProtocol::Grpc) => "http://localhost:4317".to_owned(),
        (true, OwnProtocol::Http) => "http://localhost:4318".to_owned(),
        (false, _) => text,
    };
    // A URL that names the path of a signal, as WSO2's do, is that of all signals.
    let is_whole = key == for_signal;
    // As the specification has it, an address without a scheme is one of TLS where it says that it is not insecure.
    let is_secure = named("INSECURE").is_some_and(|(text, _)| text.trim().eq_ignore_ascii_case("false"));
    let text = if is_secure && !text.contains("://") { format!("https://{}", text.trim()) } else { text };
    let url = url(&text, (protocol == OwnProtocol::Http && !is_whole).then_some(path)).with_context(|| key.clone())?;
    let mut headers = Vec::new();
    for (name, Hidden(text)) in own
        .headers
        .iter()
        .chain(wso2.headers.iter().filter(|_| own.headers.is_empty()).map(|(name, value)| (name, value)))
    {
        let value = secrets(text).map_err(|error| anyhow!("OpenTelemetry's header {name}: {error}"))?;
        headers.push(header(name, &value)?);
    }
    if headers.is_empty()
        && let Some((text, key)) = named("HEADERS")
    {
        for (name, value) in pairs(&text, &key)? {
            headers.push(header(&name, &value)?);
        }
    }
    let timeout = match named("TIMEOUT") {
        Some((text, key)) => Some(Duration::from_millis(text.trim().parse().context(key)?)),
        None => None,
    };
    let gzip = match (own.compression, named("COMPRESSION")) {
        (Some(compression), _) => compression == OwnCompression::Gzip,
        (None, Some((text, key))) => match text.as_str() {
            "gzip" => true,
            "none" => false,
            other => bail!("{key}={other:?}: gzip and none are possible"),
        },
        (None, None) => true,
    };
    let (certificate, shows) = certificates(own, &url, &|rest| named(rest).map(|(path, _)| path.into()))?;
    Ok(Destination {
        url,
        protocol: match protocol {
            OwnProtocol::Grpc => Protocol::Grpc,
            OwnProtocol::Http => Protocol::Http,
        },
        headers,
        timeout: own.timeout.or(timeout).unwrap_or(Duration::from_secs(10)),
        gzip,
        roots: certificate.into_iter().collect(),
        shows,
    })
}

/// The roots that a collector is trusted by, and the certificate that it is shown with its key.
type Certificates = (Option<PathBuf>, Option<(PathBuf, PathBuf)>);

/// What the file names of them, or variables of the environment by the ends of their names.
///
/// Errors: a certificate without its key, or one of the file for a collector without TLS.
fn certificates(
    own: &OwnOpenTelemetry,
    url: &Uri,
    named: &dyn Fn(&str) -> Option<PathBuf>,
) -> anyhow::Result<Certificates> {
    if url.scheme_str() != Some("https") {
        // Variables are for all programs, and those with TLS need them.
        let is_named = own.certificate.is_some() || own.client_certificate.is_some() || own.client_key.is_some();
        ensure!(
            !is_named,
            "[myelin.opentelemetry] names certificates, and {} is reached without TLS: the endpoint has to begin with \
             https://",
            url.authority().map_or("", |authority| authority.as_str())
        );
        return Ok((None, None));
    }
    let file = |own: &Option<PathBuf>, rest: &str| own.clone().or_else(|| named(rest));
    let shows = match (file(&own.client_certificate, "CLIENT_CERTIFICATE"), file(&own.client_key, "CLIENT_KEY")) {
        (Some(chain), Some(key)) => Some((chain, key)),
        (None, None) => None,
        _ => bail!(
            "client_certificate and client_key of [myelin.opentelemetry], or OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and \
             OTEL_EXPORTER_OTLP_CLIENT_KEY, are needed together"
        ),
    };
    Ok((file(&own.certificate, "CERTIFICATE"), shows))
}

/// The URL of a collector, with a path behind its own where it does not end in one of OTLP's.
fn url(text: &str, path: Option<&str>) -> anyhow::Result<Uri> {
    let trimmed = text.trim();
    let with_scheme = if trimmed.contains("://") { trimmed.to_owned() } else { format!("http://{trimmed}") };
    let url: Uri = with_scheme.parse().map_err(|error| anyhow!("{text:?} is no URL: {error}"))?;
    ensure!(matches!(url.scheme_str(), Some("http" | "https")), "{text:?}: http:// or https:// is needed");
    ensure!(url.host().is_some_and(|host| !host.is_empty()), "{text:?} names no host");
    ensure!(
        url.authority().is_none_or(|authority| !authority.as_str().contains('@')),
        "the URL holds a user or a password: put it into a header instead"
    );
    let Some(path) = path else { return Ok(url) };
    let own = url.path().trim_end_matches('/');
    let own = own.strip_suffix("/v1/traces").or_else(|| own.strip_suffix("/v1/logs")).unwrap_or(own);
    let mut parts = url.clone().into_parts();
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    parts.path_and_query = Some(PathAndQuery::from_str(&format!("{own}{path}{query}"))?);
    Ok(Uri::from_parts(parts)?)
}

fn header(name: &str, value: &str) -> anyhow::Result<(HeaderName, HeaderValue)> {
    let name: HeaderName =
        name.trim().parse().map_err(|_| anyhow!("OpenTelemetry: {name:?} is no name of a header"))?;
    // What is wrong with a value is not told: it may be a secret.
    let mut value: HeaderValue =
        value.parse().map_err(|_| anyhow!("OpenTelemetry's header {name}: a header cannot hold its value"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn resource(
    own: &OwnOpenTelemetry,
    wso2: &Wso2Telemetry,
    variable: Variable<'_>,
) -> anyhow::Result<myelin_telemetry::span::Resource> {
    let named = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    all.insert("service.name".to_owned(), SERVICE.to_owned());
    all.insert("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    all.insert("telemetry.sdk.language".to_owned(), "rust".to_owned());
    all.insert("telemetry.sdk.name".to_owned(), "myelin".to_owned());
    all.insert("telemetry.sdk.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    all.insert("process.runtime.name".to_owned(), "myelin".to_owned());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    all.insert("host.name".to_owned(), host);
    if let Some(text) = named("OTEL_RESOURCE_ATTRIBUTES") {
        all.extend(pairs(&text, "OTEL_RESOURCE_ATTRIBUTES")?);
    }
    // `SERVICE_NAME` is WSO2's.
    let of_environment = named("OTEL_SERVICE_NAME").or_else(|| named("SERVICE_NAME"));
    all.extend(wso2.resource.iter().cloned());
    all.extend(own.resource.iter().map(|(name, value)| (name.clone(), value.clone())));
    let service = own.service_name.clone().or_else(|| wso2.service_name.clone());
    let service = service.or(of_environment.filter(|_| !own.resource.contains_key("service.name")));
    if let Some(service) = service {
        all.insert("service.name".to_owned(), service);
    }
    let mut attributes: Vec<Attribute> = all
        .into_iter()
        .map(|(name, value)| Attribute { name: name.into(), value: AttributeValue::Text(value.into()) })
        .collect();
    attributes.push(Attribute::integer("process.pid", i64::from(std::process::id())));
    Ok(attributes.into())
}

fn tracing_options(own: &OwnOpenTelemetry, variable: Variable<'_>) -> anyhow::Result<TracingOptions> {
    let named = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let ratio = match (own.ratio, named("OTEL_TRACES_SAMPLER_ARG").filter(|_| own.sampler.is_none())) {
        (Some(ratio), _) => ratio,
        (None, Some(text)) => text.trim().parse().context("OTEL_TRACES_SAMPLER_ARG")?,
        (None, None) => 1.0,
    };
    ensure!((0.0..=1.0).contains(&ratio), "the ratio of traces is {ratio}: a number between 0 and 1 is needed");
    let sampler = match own.sampler.clone().or_else(|| named("OTEL_TRACES_SAMPLER")) {
        // Who says how many means a part of those that begin here.
        None if own.ratio.is_some() => Sampler::named("parentbased_traceidratio", ratio),
        None => Some(Sampler::default()),
        Some(name) => Some(Sampler::named(&name, ratio).ok_or_else(|| {
            let hint = suggestion(&name, SAMPLERS);
            anyhow!("there is no sampler {name:?}: {} are{hint}", SAMPLERS.join(", "))
        })?),
    };
    let mut options = TracingOptions {
        sampler: sampler.unwrap_or_default(),
        tail: TailSampler { faults: own.keep_faults.unwrap_or_default(), slower_than: own.keep_slower },
        ..TracingOptions::default()
    };
    set(&mut options.mediators, own.mediators);
    set(&mut options.spans, own.spans.map(|spans| spans.max(1)));
    set(&mut options.continues, own.incoming.map(|incoming| incoming == OwnIncoming::Continue));
    Ok(options)
}

/// `a=1,b=2`, with percent-encoded values, as W3C Baggage has it.
fn pairs(text: &str, key: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        // The pair is not told: it may be a secret.
        let (name, value) = pair.split_once('=').with_context(|| format!("{key}: NAME=VALUE,… is needed"))?;
        found.push((name.trim().to_owned(), decoded(value.trim())));
    }
    Ok(found)
}

/// A text without percent-encoding; what is none stays.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut place = 0;
    while place < bytes.len() {
        let code = bytes.get(place + 1..place + 3).filter(|_| bytes[place] == b'%');
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        match code {
            Some(byte) => {
                out.push(byte);
                place += 3;
            }
            None => {
                out.push(bytes[place]);
                place += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests;
