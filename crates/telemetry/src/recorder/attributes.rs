//! What is told of services, requests and answers: the semantic conventions of OpenTelemetry for HTTP, beside the names
//! that WSO2 has.
//!
//! No payload, no property and no header line with a credential is ever an attribute, and no value of a query.
//! Source: semantic conventions 1.37, "HTTP spans"; `SpanTagger` and `TelemetryConstants` of WSO2's Synapse.

use std::borrow::Cow;

use http::Uri;
use myelin_config::problem::Place;
use myelin_engine::observer::ExchangeEnd;
use myelin_engine::position::ServiceIdentity;
use myelin_engine::recorder::{CalledEndpoint, ExchangeStart};
use myelin_engine::transport::{Address, Method, Outgoing, SendErrorKind};
use myelin_message::{HeaderId, Version};

use crate::span::{Attribute, Span, SpanKind};

/// The methods that the conventions know; any other is `_OTHER`, so that names of spans stay few.
const METHODS: [&str; 10] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "QUERY"];

/// What stands in the place of the values of a query.
const HIDDEN: &str = "REDACTED";

/// What is known of a service when an exchange begins.
pub(super) fn of_service(span: &mut Span, start: &ExchangeStart<'_>) {
    let ExchangeStart { service, arrival, request, .. } = start;
    let head = &request.head;
    let target = head.target();
    let is_http = matches!(arrival.transport, "http" | "https" | "local") && !head.method().is_empty();
    of_identity(span, service);
    span.attributes.push(Attribute::text("threadId", thread_name()));
    let correlation = arrival.correlation.as_str();
    span.set("CorrelationId", Some(correlation.to_owned()).filter(|it| !it.is_empty()));
    span.set("myelin.inbound_endpoint", arrival.inbound.map(str::to_owned));
    if !is_http {
        span.kind = if service.kind == "task" { SpanKind::Internal } else { SpanKind::Consumer };
        span.name = Cow::Owned(format!("{} {}", service.kind, service.name));
        span.set("myelin.transport", Some(arrival.transport));
        return;
    }
    let method = method_of(span, head.method());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    span.set("url.path", Some(path.to_owned()));
    span.set("url.query", Some(query).filter(|query| !query.is_empty()).map(without_values));
    span.set("url.scheme", Some(arrival.transport).filter(|transport| *transport != "local"));
    let version = if head.version() == Version::Http10 { "1.0" } else { "1.1" };
    span.set("network.protocol.version", Some(version));
    let host = head.known(HeaderId::Host).map(|host| String::from_utf8_lossy(host).into_owned());
    if let Some(host) = host {
        // `[::1]:8280` has colons of its own.
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port.parse::<u16>().ok()),
            _ => (&*host, None),
        };
        span.set("server.address", Some(name.to_owned()));
        span.attributes.extend(port.map(|port| Attribute::integer("server.port", port)));
    }
    if let Some(peer) = arrival.peer {
        span.set("client.address", Some(peer.ip().to_string()));
        span.set("network.peer.address", Some(peer.ip().to_string()));
        span.attributes.push(Attribute::integer("network.peer.port", peer.port()));
    }
    let agent = head.known(HeaderId::UserAgent).map(|agent| String::from_utf8_lossy(agent).into_owned());
    span.set("user_agent.original", agent);
    // The path of a proxy is one for all its requests; that of an API is known when its resource is chosen.
    let route = match service.kind {
        "proxy" => Some(format!("/services/{}", service.name)),
        _ => None,
    };
    span.name = Cow::Owned(match &route {
        Some(route) => format!("{method} {route}"),
        None => format!("{method} {} {}", service.kind, service.name),
    });
    span.set("http.route", route);
}

/// What is known once the resource of an API is chosen.
pub(super) fn of_route(span: &mut Span, service: &ServiceIdentity) {
    let Some(route) = &service.route else { return };
    let method = span.name.split(' ').next().unwrap_or_default().to_owned();
    span.name = Cow::Owned(format!("{method} {route}"));
    span.set("http.route", Some(route.to_string()));
}

/// What is known of an exchange that has ended.
pub(super) fn of_end(span: &mut Span, end: &ExchangeEnd) {
    let is_http = span.kind == SpanKind::Server;
    match end.status {
        Some(status) if is_http => {
            span.attributes.push(Attribute::integer("http.response.status_code", status.as_u16()));
            span.attributes.push(Attribute::integer("Status code", status.as_u16()));
            if status.is_server_error() {
                span.set("error.type", Some(status.as_str().to_owned()));
                span.error = Some(String::new());
            }
        }
        Some(_) if end.faulted => span.error = Some("a fault that no sequence answered, or one did".to_owned()),
        Some(_) => {}
        None => {
            span.set("error.type", Some("abandoned"));
            span.error = Some("nobody waited for the answer any more".to_owned());
        }
    }
    let waited = i64::try_from(end.waited.as_micros()).unwrap_or(i64::MAX);
    span.attributes.push(Attribute::integer("myelin.backend_wait_us", waited));
}

/// What is known of a request to an endpoint.
pub(super) fn of_call(span: &mut Span, endpoint: CalledEndpoint<'_>, outgoing: &Outgoing) {
    let Outgoing { method, address, head, .. } = outgoing;
    if !endpoint.name.is_empty() {
        span.set("componentName", Some(endpoint.name.to_owned()));
        span.set("myelin.endpoint", Some(endpoint.name.to_owned()));
    }
    span.set("componentType", Some("Endpoint"));
    if let Some(place) = endpoint.place {
        span.set("componentId", Some(place.to_string()));
        span.attributes.extend(place_attributes(place));
    }
    let scheme = address.scheme();
    if !matches!(scheme, "http" | "https" | "local") {
        span.kind = SpanKind::Producer;
        span.name = Cow::Owned(format!("send {}", if endpoint.name.is_empty() { scheme } else { endpoint.name }));
        // An address of another kind may hold a password.
        span.set("myelin.transport", Some(scheme.to_owned()));
        return;
    }
    let method = match method {
        Method::AsCame => head.method(),
        Method::Named(name) => name,
    };
    let method = method_of(span, if method.is_empty() { "POST" } else { method });
    span.name = Cow::Owned(match endpoint.name {
        "" => method.to_owned(),
        name => format!("{method} {name}"),
    });
    if let Address::Uri(uri) = address {
        span.set("url.full", Some(without_secrets(uri)));
        span.set("server.address", uri.host().map(|host| host.trim_matches(['[', ']']).to_owned()));
        let port = uri.port_u16().or(match scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        span.attributes.extend(port.map(|port| Attribute::integer("server.port", port)));
    }
}

/// The element that serves, by WSO2's names and ours.
fn of_identity(span: &mut Span, service: &ServiceIdentity) {
    let kind = match service.kind {
        "proxy" => "Proxy Service",
        "api" => "API",
        "inboundEndpoint" => "Inbound EndPoint",
        "task" => "Task",
        _ => "Sequence",
    };
    span.set("componentName", Some(service.name.to_string()));
    span.set("componentType", Some(kind));
    span.set("componentId", service.place.as_ref().map(ToString::to_string));
    span.set("myelin.service", Some(format!("{} {}", service.kind, service.name)));
    if let Some(place) = &service.place {
        span.attributes.extend(place_attributes(place));
    }
}

/// The file and the line of an element.
pub(super) fn place_attributes(place: &Place) -> [Attribute; 2] {
    [Attribute::text("code.file.path", place.file.to_string()), Attribute::integer("code.line.number", place.line)]
}

/// The method, as the conventions have it.
fn method_of(span: &mut Span, method: &str) -> &'static str {
    let known = METHODS.iter().find(|known| **known == method);
    span.set("http.request.method", Some(*known.unwrap_or(&"_OTHER")));
    if known.is_none() {
        span.set("http.request.method_original", Some(method.to_owned()));
    }
    // What has no name of its own is called after what it speaks.
    known.copied().unwrap_or("HTTP")
}

/// The names of a query, without the values.
fn without_values(query: &str) -> String {
    let hidden = |pair: &str| match pair.split_once('=') {
        Some((name, _)) => format!("{name}={HIDDEN}"),
        // A query that is no list of names may be anything.
        None => HIDDEN.to_owned(),
    };
    query.split('&').map(hidden).collect::<Vec<_>>().join("&")
}

/// A URL without user, password, and values of its query.
fn without_secrets(uri: &Uri) -> String {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let query = uri.query().map(|query| format!("?{}", without_values(query))).unwrap_or_default();
    format!("{}://{host}{}{query}", uri.scheme_str().unwrap_or("http"), uri.path())
}

fn thread_name() -> String {
    std::thread::current().name().unwrap_or("unnamed").to_owned()
}

/// Why a request had no response, in a word of which there are few.
pub(super) fn error_type(kind: SendErrorKind) -> &'static str {
    match kind {
        SendErrorKind::Address => "address",
        SendErrorKind::ConnectFailed => "connect_failed",
        SendErrorKind::ConnectTimeout => "connect_timeout",
        SendErrorKind::ResponseTimeout => "response_timeout",
        SendErrorKind::Closed => "closed",
        SendErrorKind::Protocol => "protocol",
        SendErrorKind::Sending => "sending",
        SendErrorKind::Refused => "refused",
        SendErrorKind::Request(_) => "request_body",
        SendErrorKind::Overloaded => "overloaded",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_of_a_query_and_no_password_is_told() {
        let told = |text: &str| without_secrets(&text.parse().unwrap());
        assert_eq!(told("http://me:hush@a:1/p?key=hush&b&c=d=e"), "http://a:1/p?key=REDACTED&REDACTED&c=REDACTED");
        assert_eq!(told("https://a/p"), "https://a/p");
    }
}
