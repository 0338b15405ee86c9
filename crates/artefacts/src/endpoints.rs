//! Endpoints: where a message is sent to.

mod addressing;
mod authentication;
mod balance;
mod build;
mod checks;
mod deliver;
mod endpoint_template;
mod format;
mod group;
mod health;
mod member;
mod monitor;
mod pending;
mod policy;
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
mod table;
mod template;
mod timeout;
mod wsdl;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use http::Uri;

use crate::endpoints::format::escape;
pub use build::{endpoint, endpoint_reference};
pub use deliver::deliver;
pub use endpoint_template::declare_template;
pub use group::Group;
pub use health::Health;
pub use member::Member;
pub use monitor::Monitor;
pub(crate) use pending::send_branch;
pub use pending::{carry_out, depart};
pub use policy::EndpointPolicy;
pub use recipients::Recipients;
pub use resolve::Resolving;
pub use state::State;
pub use status::EndpointStatus;
pub use table::Endpoints;
pub use template::Template;
pub use timeout::Timeout;
pub use wsdl::Described;

use crate::loader::EndpointId;
use myelin_channel::{Spec, find_scheme, listed};
use myelin_config::problem::Place;
use myelin_content::Format;
use myelin_content::without_parameter;
use myelin_flow::context::RequestContext;
use myelin_flow::definitions::Definitions;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::{Scope, slot};
use myelin_flow::reference::EndpointIdentity;
use myelin_flow::sequence::{Block, SequenceId};
use myelin_flow::transport::Method;
use myelin_message::Address;

/// What a fault is called whose endpoint is not to be tried at the moment.
const BACKEND_NOT_READY: u32 = 303001;

/// And what it is called where no member of several is.
const NONE_READY: u32 = 303000;

/// An alias of an alias of … deeper than this is a loop.
const ALIAS_LIMIT: usize = 16;

/// A backend, or a rule that finds one.
pub struct Endpoint {
    /// Its name; empty where it has none.
    pub name: Arc<str>,
    pub place: Place,
    pub target: Target,
    /// Whether it may be tried; it goes on after a reload.
    pub health: Arc<Health>,
    /// The properties that a message gets which is sent to it.
    pub properties: Option<Block>,
    /// How long the response's head may take.
    pub timeout: Timeout,
    /// Whether a timeout is to run no fault sequence.
    pub discard: bool,
    /// The sequence that handles its failures.
    pub on_error: Option<SequenceId>,
    /// What is done to its requests and responses.
    pub surroundings: Option<Arc<EndpointPolicy>>,
}

/// How an endpoint finds its address.
pub enum Target {
    /// A fixed URI, to which the rest of a REST request's path is appended.
    Address { uri: Uri, text: String },
    /// An address that only its channel can read.
    Other(Arc<str>),
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
        let knows_address =
            matches!(self.target, Target::Address { .. } | Target::Other(_) | Target::Http { .. } | Target::Member(_));
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

impl EndpointIdentity for Endpoint {
    fn name(&self) -> &str {
        &self.name
    }

    fn prefix(&self) -> Option<&str> {
        match &self.target {
            Target::Address { text, .. } => Some(text),
            Target::Other(text) => Some(text),
            _ => None,
        }
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
pub enum EndpointRef {
    Named(EndpointId),
    Inline(Arc<Endpoint>),
}

impl EndpointRef {
    /// The endpoint meant among those that a configuration defines, through aliases.
    pub fn find<'a>(&'a self, definitions: &'a Definitions) -> Option<&'a Arc<Endpoint>> {
        self.find_in(Endpoints::of(definitions))
    }

    /// The endpoint meant among these, through aliases.
    pub fn find_in<'a>(&'a self, endpoints: &'a Endpoints) -> Option<&'a Arc<Endpoint>> {
        let mut endpoint = match self {
            EndpointRef::Named(id) => endpoints.get(*id)?,
            EndpointRef::Inline(endpoint) => endpoint,
        };
        for _ in 0..ALIAS_LIMIT {
            match endpoint.target {
                Target::Alias(id) => endpoint = endpoints.get(id)?,
                _ => return Some(endpoint),
            }
        }
        None
    }

    /// Whether it is a list of recipients, as far as that is known while loading: one that is named may not be built yet.
    pub fn is_known_list(&self) -> bool {
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
fn addressee(exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Address> {
    let to = exchange.to();
    if let Some(Ok(address)) = to.as_deref().and_then(|to| other(to, context.definitions.settings.channels)) {
        return Ok(Address::Other(address));
    }
    match to {
        Some(to) if to.starts_with("http://") || to.starts_with("https://") => parse_uri(&to).map(Address::Uri),
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

/// Checks an address that is no URI of HTTP or of this bus: whether a channel can send to it.
///
/// Shape: `None` where it is such a URI, or none at all, which [`absolute`] says better.
/// Errors: a sentence that says what is wrong with it.
pub fn other(text: &str, channels: &'static [Spec]) -> Option<Result<Arc<str>, String>> {
    let text = text.trim();
    let (scheme, rest) = text.split_once(':')?;
    if matches!(scheme, "http" | "https" | "local") || scheme.is_empty() || scheme.contains('/') || rest.is_empty() {
        return None;
    }
    Some(match find_scheme(channels, scheme) {
        Some(channel) => (channel.check_address)(text).map(|()| text.into()),
        None => {
            let offered = listed(channels.iter().flat_map(|channel| channel.schemes).copied());
            Err(format!("transport {scheme:?} is not offered yet: {offered} are"))
        }
    })
}

/// Reads an absolute `http` or `https` URI, or a `local` one, which names a service of this bus.
///
/// Errors: a sentence that says what is wrong with it.
pub fn absolute(text: &str) -> Result<Uri, String> {
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
