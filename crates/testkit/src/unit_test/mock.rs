//! The services that a unit test pretends: whatever the configuration sends is answered by them, and by nobody else.

use std::cell::RefCell;

use http::StatusCode;
use myelin_engine::transport::{Address, LocalFuture, Method, Outgoing, SendError, SendErrorKind, Sender, Sent};
use myelin_message::{Body, Head, Message};

use super::same::comparable;

/// A service that is pretended.
#[derive(Debug)]
pub(super) struct Service {
    /// The name of the endpoint that it stands in for.
    pub(super) name: String,
    pub(super) port: u16,
    /// The beginning of its paths.
    pub(super) context: String,
    pub(super) resources: Vec<Resource>,
}

/// What a service answers.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) method: String,
    /// The rest of the path, and a query where it has one.
    pub(super) path: String,
    /// What must come for this answer, where that is said.
    pub(super) expected_payload: Option<String>,
    pub(super) expected_headers: Vec<(String, String)>,
    pub(super) status: u16,
    pub(super) payload: Option<String>,
    pub(super) headers: Vec<(String, String)>,
}

/// An endpoint of the configuration, where a service has its name.
#[derive(Debug)]
pub(super) struct Stood {
    /// Its address, as far as that is fixed.
    pub(super) address: String,
    /// Which of the services stands in for it.
    pub(super) service: usize,
}

/// All services of a unit test.
pub(super) struct Mocks {
    pub(super) services: Vec<Service>,
    pub(super) stood: Vec<Stood>,
    /// What was sent and got no answer that the test describes.
    pub(super) strays: RefCell<Vec<String>>,
}

impl Mocks {
    async fn reply(&self, mut outgoing: Outgoing) -> Result<Message, SendError> {
        let method = match &outgoing.method {
            Method::AsCame => outgoing.head.method().to_owned(),
            Method::Named(name) => name.clone(),
        };
        let body = outgoing.body.bytes(u64::MAX).await.unwrap_or_default().to_vec();
        let body = String::from_utf8_lossy(&body).into_owned();
        let Some((service, rest)) = self.service(&outgoing.address) else {
            let message = format!("no mock service stands for {method} {}", outgoing.address);
            self.strays.borrow_mut().push(message.clone());
            return Err(SendError { kind: SendErrorKind::ConnectFailed, message });
        };
        let resource = service.resources.iter().find(|resource| resource.takes(&method, &rest, &outgoing.head, &body));
        match resource {
            Some(resource) => Ok(resource.response()),
            None => {
                let stray =
                    format!("mock service {:?} has no resource for {method} {rest:?} with {body:?}", service.name);
                self.strays.borrow_mut().push(stray);
                Ok(Message::answer(StatusCode::NOT_FOUND, Body::Empty))
            }
        }
    }

    /// The service that stands for an address, and the rest of the path behind what is its own.
    fn service(&self, address: &Address) -> Option<(&Service, String)> {
        let Address::Uri(uri) = address else { return None };
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let own = self.services.iter().find(|service| {
            let is_here = matches!(uri.host(), Some("localhost" | "127.0.0.1"));
            is_here && uri.port_u16() == Some(service.port) && behind(target, &service.context).is_some()
        });
        if let Some(service) = own {
            return Some((service, behind(target, &service.context)?.to_owned()));
        }
        let text = uri.to_string();
        let stood = self.stood.iter().filter(|stood| text.starts_with(&stood.address));
        let stood = stood.max_by_key(|stood| stood.address.len())?;
        let service = self.services.get(stood.service)?;
        // An address that was put together holds the rest behind what was fixed of it.
        Some((service, text[stood.address.len()..].to_owned()))
    }
}

/// What stands behind the beginning of a path.
fn behind<'a>(target: &'a str, context: &str) -> Option<&'a str> {
    let context = context.trim_end_matches('/');
    let rest = target.strip_prefix(context)?;
    (rest.is_empty() || rest.starts_with(['/', '?'])).then_some(rest)
}

impl Resource {
    fn takes(&self, method: &str, rest: &str, head: &Head, body: &str) -> bool {
        let same_path = |one: &str, other: &str| one.trim_matches('/') == other.trim_matches('/');
        let path = if self.path.contains('?') { rest } else { rest.split('?').next().unwrap_or_default() };
        self.method.eq_ignore_ascii_case(method)
            && same_path(path, &self.path)
            && self.expected_payload.as_ref().is_none_or(|payload| comparable(payload) == comparable(body))
            && self.expected_headers.iter().all(|(name, value)| {
                head.first(name).is_some_and(|came| String::from_utf8_lossy(came).trim() == value.trim())
            })
    }

    fn response(&self) -> Message {
        let payload = self.payload.clone().unwrap_or_default();
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        let body = if payload.is_empty() { Body::Empty } else { Body::Bytes(payload.clone().into_bytes()) };
        let mut message = Message::answer(status, body);
        if !payload.is_empty() {
            // Our own types can stand in a head.
            let _ = message.head.set("Content-Type", content_type(&payload).as_bytes());
        }
        for (name, value) in &self.headers {
            // What cannot is left out, as on any wire.
            let _ = message.head.set(name, value.as_bytes());
        }
        message
    }
}

/// What a payload is, where nobody says it.
pub(super) fn content_type(payload: &str) -> &'static str {
    let payload = payload.trim_start();
    if payload.starts_with(['{', '[']) {
        "application/json"
    } else if !payload.starts_with('<') {
        "text/plain"
    } else if payload.contains("http://www.w3.org/2003/05/soap-envelope") {
        "application/soap+xml"
    } else if payload.contains("http://schemas.xmlsoap.org/soap/envelope/") {
        "text/xml"
    } else {
        "application/xml"
    }
}

impl Sender for Mocks {
    fn send<'a>(&'a self, outgoing: Outgoing) -> LocalFuture<'a, Result<Sent, SendError>> {
        Box::pin(async move { self.reply(outgoing).await.map(Sent::Response) })
    }
}
