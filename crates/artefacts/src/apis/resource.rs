//! A resource of an API: its paths, and what else a request has to be like.

use std::fmt;
use std::sync::Arc;

use crate::apis::mapping::Mapping;
use crate::apis::template::Template;
use crate::apis::visit::Visit;
use myelin_flow::cost::ServiceCost;
use myelin_flow::counters::ServiceCounters;
use myelin_flow::position::ServiceIdentity;
use myelin_flow::sequence::SequenceRef;
use myelin_java_text::pattern::Pattern;

/// A resource of an API.
pub struct Resource {
    /// The name of its API, and where it is defined itself.
    pub identity: ServiceIdentity,
    /// The paths that it is for.
    pub path: Path,
    /// Empty where all are meant.
    pub methods: Vec<String>,
    /// Whether requests over plain HTTP are served.
    pub http: bool,
    /// Whether requests over TLS are served.
    pub https: bool,
    /// What `Content-Type` a request with a body has to have, to the letter.
    pub content_type: Option<String>,
    /// What the header `User-Agent` must match.
    pub user_agent: Option<Pattern>,
    /// What its requests run through.
    pub in_sequence: Option<SequenceRef>,
    /// What its responses run through.
    pub out_sequence: Option<SequenceRef>,
    /// What its faults run through.
    pub fault_sequence: Option<SequenceRef>,
    /// How much processor time its exchanges take.
    pub cost: ServiceCost,
    /// What is counted of its exchanges.
    pub counters: Arc<ServiceCounters>,
}

/// Which paths a resource is for.
#[derive(Debug)]
pub enum Path {
    /// Those that fit a `url-mapping`.
    Mapping {
        /// The mapping as it is written.
        text: String,
        /// The mapping as it is compared.
        mapping: Mapping,
    },
    /// Those that a `uri-template` can give.
    Template(Template),
    /// Those that no other resource is for.
    Any,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Path::Mapping { text, .. } => text,
            Path::Template(template) => template.text(),
            Path::Any => "/*",
        })
    }
}

impl Path {
    /// The paths of a URL mapping.
    pub fn mapping(text: &str) -> Path {
        Path::Mapping { text: text.to_owned(), mapping: Mapping::parse(text) }
    }
}

impl Resource {
    /// Whether it names the method.
    pub fn lists(&self, method: &str) -> bool {
        self.methods.iter().any(|known| known == method)
    }

    /// Whether a request of that method may be for it; `OPTIONS` may always ask what it knows.
    pub fn allows(&self, method: &str) -> bool {
        method == "OPTIONS" || self.methods.is_empty() || self.lists(method)
    }

    /// Whether every request that another resource would take is for this one; `is_before` says that it stands before it.
    pub(super) fn hides(&self, other: &Resource, is_before: bool) -> bool {
        let methods = self.methods.is_empty()
            || (!other.methods.is_empty() && other.methods.iter().all(|method| self.lists(method)));
        let protocols = (self.http || !other.http) && (self.https || !other.https);
        let is_open = self.content_type.is_none() && self.user_agent.is_none();
        let paths = match (&self.path, &other.path) {
            // Mappings are looked at first.
            (Path::Mapping { mapping: Mapping::Prefix(segments), .. }, Path::Template(_)) => segments.is_empty(),
            (Path::Template(first), Path::Template(second)) => is_before && first.covers(second),
            _ => false,
        };
        methods && protocols && is_open && paths
    }

    /// Whether a request is for it, its path apart.
    pub(super) fn takes(&self, visit: &Visit<'_>) -> bool {
        let protocol = if visit.secure { self.https } else { self.http };
        // As in Synapse, where `OPTIONS` is welcome whatever else is asked for.
        protocol && (visit.method == "OPTIONS" || self.allows(visit.method) && self.fits(visit))
    }

    fn fits(&self, visit: &Visit<'_>) -> bool {
        let content = match &self.content_type {
            Some(wanted) if visit.has_body => visit.content_type == Some(wanted.as_bytes()),
            _ => true,
        };
        let agent =
            |pattern: &Pattern| visit.user_agent.is_some_and(|agent| pattern.matches(&String::from_utf8_lossy(agent)));
        content && self.user_agent.as_ref().is_none_or(agent)
    }

    /// The methods it answers to, for a header.
    pub fn methods(&self) -> String {
        if self.methods.is_empty() {
            // What Synapse says of a resource that names none.
            return "GET, POST, PUT, DELETE".to_owned();
        }
        let methods = self.methods.iter().map(String::as_str).filter(|&method| method != "OPTIONS");
        methods.collect::<Vec<_>>().join(", ")
    }

    /// The mapping or template as it was written; `/` for a resource that has neither.
    pub fn pattern(&self) -> &str {
        match &self.path {
            Path::Mapping { text, .. } => text,
            Path::Template(template) => template.text(),
            Path::Any => "/",
        }
    }
}
