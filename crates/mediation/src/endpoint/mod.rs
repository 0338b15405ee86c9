//! Endpoints: where a message is sent to.

mod addressing;
mod authentication;
mod balance;
mod blueprint;
mod build;
mod charset;
mod checks;
mod deliver;
mod departure;
mod format;
mod group;
mod health;
mod member;
mod monitor;
mod recipients;
mod replay;
mod request;
mod resolve;
mod rules;
mod session;
mod sessions;
mod soap_fault;
mod state;
mod status;
mod surroundings;
mod template;
mod timeout;
mod wsdl;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use http::Uri;

pub(crate) use blueprint::Blueprint;
pub(crate) use build::{endpoint, endpoint_reference};
pub(crate) use charset::Charset;
pub(crate) use deliver::deliver;
pub(crate) use departure::{Departure, depart};
use format::escape;
pub(crate) use group::Group;
pub(crate) use health::Health;
pub(crate) use member::Member;
pub use monitor::{Monitor, MonitorSettings};
pub(crate) use recipients::Recipients;
pub(crate) use resolve::Resolving;
pub use state::State;
pub use status::EndpointStatus;
pub(crate) use surroundings::Surroundings;
pub(crate) use template::Template;
pub(crate) use timeout::Timeout;
pub(crate) use wsdl::Described;

use crate::bus::Bus;
use crate::config::Place;
use crate::content::without_parameter;
use crate::exchange::{Exchange, Format};
use crate::fault::{Fault, Outcome};
use crate::property::{Scope, slot};
use crate::sequence::{Block, SequenceId};
use crate::transport::Method;

/// Which of the bus's named endpoints.
pub(crate) type EndpointId = usize;

/// What a fault is called whose endpoint is not to be tried at the moment.
const BACKEND_NOT_READY: u32 = 303001;

/// And what it is called where no member of several is.
const NONE_READY: u32 = 303000;

/// An alias of an alias of … deeper than this is a loop.
const ALIAS_LIMIT: usize = 16;

/// A backend, or a rule that finds one.
pub(crate) struct Endpoint {
    /// Its name; empty where it has none.
    pub(crate) name: Arc<str>,
    pub(crate) place: Place,
    pub(crate) target: Target,
    /// Whether it may be tried; it goes on after a reload.
    pub(crate) health: Arc<Health>,
    /// The properties that a message gets which is sent to it.
    pub(crate) properties: Option<Block>,
    /// How long the response's head may take.
    pub(crate) timeout: Timeout,
    /// Whether a timeout is to run no fault sequence.
    pub(crate) discard: bool,
    /// The sequence that handles its failures.
    pub(crate) on_error: Option<SequenceId>,
    /// What is done to its requests and responses.
    pub(crate) surroundings: Option<Arc<Surroundings>>,
}

/// How an endpoint finds its address.
pub(crate) enum Target {
    /// A fixed URI, to which the rest of a REST request's path is appended.
    Address { uri: Uri, text: String },
    /// A URI with holes, and perhaps a method of its own.
    Http { template: Template, method: Option<String> },
    /// Where the message is addressed.
    Default,
    /// One of several hosts, at the path the message is addressed to.
    Member(Member),
    /// Another endpoint.
    Alias(EndpointId),
    /// The endpoint that an expression names.
    Resolving(Resolving),
    /// One of several endpoints.
    Group(Group),
    /// All of several endpoints.
    Recipients(Recipients),
    /// A port that a description tells.
    Described(Arc<Described>),
}

impl Endpoint {
    /// Whether a request to it can be made of the message at once: it is a backend, and asks nothing of the body.
    fn is_immediate(&self) -> bool {
        let knows_address = matches!(self.target, Target::Address { .. } | Target::Http { .. } | Target::Member(_));
        knows_address && self.properties.is_none() && matches!(self.timeout, Timeout::Fixed(_))
    }

    /// That it is not to be tried at the moment.
    fn not_ready(&self) -> Box<Fault> {
        let stands = match self.health.down() {
            Some(seen) => format!("down, as its monitor finds: {seen}"),
            None => self.health.condition().state.to_string(),
        };
        let code = match self.target {
            Target::Described(_) => wsdl::DESCRIBED_NOT_READY,
            _ => BACKEND_NOT_READY,
        };
        self.sign(Fault::not_ready(code, format!("{self} is {stands}")))
    }

    /// Says in a fault where it happened, and which handler of its own the endpoint has.
    fn sign(&self, mut fault: Box<Fault>) -> Box<Fault> {
        fault.trail.push(self.to_string());
        if let Some(handler) = self.on_error {
            fault.handlers.get_or_insert_default().insert(0, handler);
        }
        fault
    }
}

/// As the trail of a fault and the log name it.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.name.is_empty() { "" } else { " " };
        write!(f, "endpoint{space}{} ({})", self.name, self.place)
    }
}

/// A reference to an endpoint.
#[derive(Clone)]
pub(crate) enum EndpointRef {
    Named(EndpointId),
    Inline(Arc<Endpoint>),
}

impl EndpointRef {
    /// The endpoint meant, through aliases.
    pub(crate) fn find<'a>(&'a self, bus: &'a Bus) -> Option<&'a Arc<Endpoint>> {
        let mut endpoint = match self {
            EndpointRef::Named(id) => bus.endpoint(*id)?,
            EndpointRef::Inline(endpoint) => endpoint,
        };
        for _ in 0..ALIAS_LIMIT {
            match endpoint.target {
                Target::Alias(id) => endpoint = bus.endpoint(id)?,
                _ => return Some(endpoint),
            }
        }
        None
    }

    /// Whether it is a list of recipients, as far as that is known while loading: one that is named may not be built yet.
    pub(crate) fn is_known_list(&self) -> bool {
        matches!(self, EndpointRef::Inline(endpoint) if matches!(endpoint.target, Target::Recipients(_)))
    }
}

/// The address with the rest of the request's path behind it.
///
/// SOAP's address is the endpoint alone, so a POST of SOAP gets nothing appended (Synapse asks whether the request
/// is a REST one); two slashes become one, two queries are joined.
fn address(exchange: &Exchange, endpoint: &Endpoint, uri: &Uri, text: &str) -> Outcome<Uri> {
    let is_soap = matches!(exchange.format, Format::Soap11 | Format::Soap12);
    let gets_soap = endpoint.surroundings.as_ref().is_some_and(|surroundings| surroundings.is_soap());
    if gets_soap || (is_soap && exchange.message.head.method() == "POST") {
        return Ok(uri.clone());
    }
    let Some(postfix) = exchange.postfix() else { return Ok(uri.clone()) };
    let joined = match (text.ends_with('/'), &*postfix) {
        (_, "") => return Ok(uri.clone()),
        (_, rest) if rest.starts_with('?') && text.contains('?') => format!("{text}&{}", &rest[1..]),
        (_, rest) if rest.starts_with('?') => format!("{text}{rest}"),
        (true, rest) => format!("{text}{}", rest.trim_start_matches('/')),
        (false, rest) if rest.starts_with('/') => format!("{text}{rest}"),
        (false, rest) => format!("{text}/{rest}"),
    };
    parse_uri(&joined)
}

/// Where the message itself says it goes.
fn addressee(exchange: &Exchange) -> Outcome<Uri> {
    match exchange.to() {
        Some(to) if to.starts_with("http://") || to.starts_with("https://") => parse_uri(&to),
        Some(to) => Err(Fault::bus("The message is not addressed to a backend").with_detail(format!("To is {to:?}"))),
        None => Err(Fault::bus("The message is not addressed to a backend").with_detail("To is not set")),
    }
}

/// A URI that was put together while serving.
fn parse_uri(text: &str) -> Outcome<Uri> {
    match absolute(text) {
        Ok(uri) => Ok(uri),
        Err(message) => {
            Err(Fault::bus("The address of the backend is not valid").with_detail(format!("{text:?}: {message}")))
        }
    }
}

/// Reads an absolute `http` or `https` URI, or a `local` one, which names a service of this bus.
///
/// Errors: a sentence that says what is wrong with it.
pub(crate) fn absolute(text: &str) -> Result<Uri, String> {
    let text = text.trim();
    let text: Cow<'_, str> = match text.split_once('#') {
        // A fragment never leaves the client (RFC 9110 §4.2.5).
        Some((before, _)) => before.into(),
        None => text.into(),
    };
    let scheme = text.split(':').next().unwrap_or_default();
    if !matches!(scheme, "http" | "https" | "local") || !text[scheme.len()..].starts_with("://") {
        return Err(match text.split_once(':') {
            Some((scheme, _)) if !scheme.is_empty() && !scheme.contains('/') => {
                format!("transport {scheme:?} is not offered yet: http, https and local are")
            }
            _ => format!("{text:?} is not an absolute http or https URI"),
        });
    }
    match text.parse::<Uri>() {
        // A password in it would stand in logs, too; it is not repeated here.
        Ok(uri) if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
            Err("an address with a user in it is not offered: <authentication> in an http endpoint says who calls"
                .into())
        }
        Ok(uri) if uri.host().is_some_and(|host| !host.is_empty()) => Ok(uri),
        Ok(_) => Err(format!("{text:?} names no host")),
        Err(error) => Err(format!("{text:?} is not a URI: {error}")),
    }
}

fn method(exchange: &Exchange, own: Option<&str>) -> Outcome<Method> {
    if let Some(own) = own {
        return Ok(if own == exchange.message.head.method() { Method::AsCame } else { Method::Named(own.to_owned()) });
    }
    let came = exchange.message.head.method();
    match exchange.properties.get(Scope::Axis2, slot::HTTP_METHOD) {
        Some(value) => {
            let text = value.text();
            if text == came {
                return Ok(Method::AsCame);
            }
            if !myelin_message::is_token(text.as_bytes()) {
                return Err(Fault::bus("HTTP_METHOD is no method").with_detail(format!("it is {text:?}")));
            }
            Ok(Method::Named(text.into_owned()))
        }
        // A response that is sent on has no method of its own; Synapse then takes POST.
        None if came.is_empty() => Ok(Method::Named("POST".to_owned())),
        None => Ok(Method::AsCame),
    }
}

/// Writes an action that a `header` mediator set where SOAP over HTTP carries it.
fn set_action(exchange: &Exchange, message: &mut myelin_message::Message) -> Outcome<()> {
    let Some(action) = exchange.properties.get(Scope::Addressing, slot::ACTION) else { return Ok(()) };
    let action = action.text();
    if action.contains(['"', '\\']) {
        return Err(Fault::bus("An action was to be set that could end its own quotes"));
    }
    match Format::of(message.head.known(myelin_message::HeaderId::ContentType)) {
        Format::Soap11 => message.head.set("SOAPAction", format!("\"{action}\"").as_bytes())?,
        Format::Soap12 => {
            let value = message.head.known(myelin_message::HeaderId::ContentType).unwrap_or_default();
            let value = String::from_utf8_lossy(value).into_owned();
            let value = format!("{}; action=\"{action}\"", without_parameter(&value, "action"));
            message.head.set("Content-Type", value.as_bytes())?;
        }
        _ => {}
    }
    Ok(())
}
