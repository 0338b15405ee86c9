//! What an endpoint is, how another part refers to it, and all that a configuration names.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, LazyLock};

use http::Uri;

use crate::endpoints::group::Group;
use crate::endpoints::health::Health;
use crate::endpoints::member::Member;
use crate::endpoints::policy::EndpointPolicy;
use crate::endpoints::recipients::Recipients;
use crate::endpoints::resolve::{NOT_FOUND, Resolving};
use crate::endpoints::state::Rules;
use crate::endpoints::template::Template;
use crate::endpoints::timeout::Timeout;
use crate::endpoints::wsdl::{DESCRIBED_NOT_READY, Described};
use crate::loader::EndpointId;
use myelin_config::problem::{Place, Problem};
use myelin_flow::counters::EndpointCounters;
use myelin_flow::definitions::Definitions;
use myelin_flow::fault::Fault;
use myelin_flow::reference::EndpointIdentity;
use myelin_flow::sequence::{Block, SequenceId};

/// What a fault is called whose endpoint is not to be tried at the moment.
const BACKEND_NOT_READY: u32 = 303001;

/// An alias of an alias of … deeper than this is a loop.
const ALIAS_LIMIT: usize = 16;

/// A backend, or a rule that finds one.
pub struct Endpoint {
    /// Its name; empty where it has none.
    pub name: Arc<str>,
    /// Where it is defined.
    pub place: Place,
    /// Where its messages go.
    pub kind: EndpointKind,
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
    pub policy: Option<Arc<EndpointPolicy>>,
    /// What is counted of the requests to it.
    pub counters: Arc<EndpointCounters>,
    /// Whether each exchange that goes to it is to be traced.
    pub is_traced: bool,
}

/// How an endpoint finds its address.
pub enum EndpointKind {
    /// A fixed URI, to which the rest of a REST request's path is appended.
    Address {
        /// The URI.
        uri: Uri,
        /// The URI as it is written.
        text: String,
    },
    /// An address that only its channel can read.
    Other(Arc<str>),
    /// A URI with holes, and perhaps a method of its own.
    Http {
        /// The URI with its holes.
        template: Template,
        /// The method of its requests; that of the message where unset.
        method: Option<String>,
    },
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
    /// Nowhere, as what it needs is not there: each message gets this fault.
    Failing(Box<Fault>),
}

impl Endpoint {
    /// Where its description is: that of a `wsdl` endpoint where it says; else, by the custom of Axis2 and others, at its
    /// address with `?wsdl` behind it.
    pub fn description_uri(&self) -> Option<Uri> {
        match &self.kind {
            EndpointKind::Address { text, .. } => format!("{text}?wsdl").parse().ok(),
            EndpointKind::Described(described) => described.uri(),
            _ => None,
        }
    }

    /// Whether a request to it can be made of the message at once: it is a backend, and asks nothing of the body.
    pub(super) fn is_immediate(&self) -> bool {
        let knows_address = matches!(
            self.kind,
            EndpointKind::Address { .. } | EndpointKind::Other(_) | EndpointKind::Http { .. } | EndpointKind::Member(_)
        );
        knows_address && self.properties.is_none() && matches!(self.timeout, Timeout::Fixed(_))
    }

    /// Whether it, or an endpoint that it may lead to, makes each message anew of its XML.
    pub(super) fn may_give_form(&self, definitions: &Definitions, depth: usize) -> bool {
        let of_member = |member: &EndpointRef| {
            let member = member.find(definitions).filter(|_| depth < ALIAS_LIMIT);
            member.is_some_and(|member| member.may_give_form(definitions, depth + 1))
        };
        match &self.kind {
            EndpointKind::Alias(id) => of_member(&EndpointRef::Named(*id)),
            EndpointKind::Group(group) => group.members.iter().any(of_member),
            EndpointKind::Recipients(list) => list.members().iter().any(of_member),
            // Which one, or what it takes, is known when the message is sent.
            EndpointKind::Resolving(_) | EndpointKind::Described(_) => true,
            _ => self.gives_form(),
        }
    }

    /// Whether it makes each message anew of its XML, whatever `messageType` says.
    pub(super) fn gives_form(&self) -> bool {
        self.policy.as_ref().is_some_and(|policy| policy.gives_form())
    }

    /// Whether it stands for an address that only its channel can read, such as a file: nobody answers from there.
    pub(crate) fn is_one_way(&self) -> bool {
        matches!(self.kind, EndpointKind::Other(_))
    }

    /// That it is not to be tried at the moment.
    pub(super) fn not_ready(&self) -> Box<Fault> {
        let stands = match self.health.down() {
            Some(seen) => format!("down, as its monitor finds: {seen}"),
            None => self.health.condition().state.to_string(),
        };
        let code = match self.kind {
            EndpointKind::Described(_) => DESCRIBED_NOT_READY,
            _ => BACKEND_NOT_READY,
        };
        self.sign(Fault::not_ready(code, format!("{self} is {stands}")))
    }

    /// One that takes no message, in the place of one that is faulty or not there: 305100.
    pub fn missing(problem: &Problem) -> Endpoint {
        Endpoint::failing("", Fault::not_ready(NOT_FOUND, ""), problem)
    }

    /// One that takes no message, as what it needs is not there.
    pub(super) fn failing(name: &str, fault: Box<Fault>, problem: &Problem) -> Endpoint {
        Endpoint {
            name: name.into(),
            place: problem.place.clone(),
            kind: EndpointKind::Failing(fault.with_detail(problem.to_string())),
            health: Arc::new(Health::new(Rules::default())),
            properties: None,
            timeout: Timeout::Fixed(None),
            discard: false,
            on_error: None,
            policy: None,
            counters: Arc::default(),
            is_traced: false,
        }
    }

    /// Says in a fault where it happened, and which handler of its own the endpoint has.
    pub(super) fn sign(&self, mut fault: Box<Fault>) -> Box<Fault> {
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
        match &self.kind {
            EndpointKind::Address { text, .. } => Some(text),
            EndpointKind::Other(text) => Some(text),
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
    /// One of the bus, by its number.
    Named(EndpointId),
    /// One that is written in place.
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
            match endpoint.kind {
                EndpointKind::Alias(id) => endpoint = endpoints.get(id)?,
                _ => return Some(endpoint),
            }
        }
        None
    }

    /// Whether it is a list of recipients, as far as that is known while loading: one that is named may not be built yet.
    pub fn is_known_list(&self) -> bool {
        matches!(self, EndpointRef::Inline(endpoint) if matches!(endpoint.kind, EndpointKind::Recipients(_)))
    }
}

/// The named endpoints of a configuration, by number and by name.
#[derive(Default)]
pub struct Endpoints {
    // What is faulty or not there, and is referred to, has one in its place that faults.
    pub(super) list: Vec<Option<Arc<Endpoint>>>,
    pub(super) ids: HashMap<String, EndpointId>,
    /// What is counted, by name; under the empty one of those without, and of addresses that messages bring with them.
    pub(super) counters: BTreeMap<String, Arc<EndpointCounters>>,
}

impl Endpoints {
    /// The endpoints with these numbers and names, and what is counted of all, those inside of others included.
    pub fn new(
        list: Vec<Option<Arc<Endpoint>>>,
        ids: HashMap<String, EndpointId>,
        counters: BTreeMap<String, Arc<EndpointCounters>>,
    ) -> Endpoints {
        Endpoints { list, ids, counters }
    }

    /// What is counted of endpoints without a name.
    pub(super) fn unnamed_counters(&self) -> &Arc<EndpointCounters> {
        static NOBODYS: LazyLock<Arc<EndpointCounters>> = LazyLock::new(Arc::default);
        self.counters.get("").unwrap_or(&NOBODYS)
    }

    /// Those that a configuration defines.
    pub fn of(definitions: &Definitions) -> &Endpoints {
        static NONE: LazyLock<Endpoints> = LazyLock::new(Endpoints::default);
        definitions.table().unwrap_or(&NONE)
    }

    /// The endpoint with that number.
    pub fn get(&self, id: EndpointId) -> Option<&Arc<Endpoint>> {
        self.list.get(id)?.as_ref()
    }

    /// The endpoint with that name.
    pub fn find(&self, name: &str) -> Option<&Arc<Endpoint>> {
        self.get(*self.ids.get(name)?)
    }
}
