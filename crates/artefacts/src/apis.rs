//! REST APIs: which one a request is for, and which of its resources.

pub mod build;
mod entrance;
mod handler;
mod mapping;
mod offer;
mod openapi;
mod properties;
mod template;

use std::fmt;
use std::sync::Arc;

pub use entrance::{Apis, Entry, Extent, enter};
pub use handler::{Algorithm, Basic, Cors, Handler, OAuth, Passed, Rules};
pub use mapping::Mapping;
pub use offer::{Address, Bound, Caller, Offer, Offers};
pub use openapi::Definition;
pub use properties::Brought;
pub use template::{Found, Template};

use myelin_config::problem::Place;
use myelin_flow::sequence::SequenceRef;
use myelin_java_text::pattern::Pattern;

/// An API.
pub struct Api {
    /// Its name, with `:v` and its version behind it where it has one.
    pub name: Arc<str>,
    pub place: Place,
    /// The context that it names, without a slash at the end; empty for `/`.
    pub context: Arc<str>,
    /// The start of the paths it is offered at: the context, and the version where it stands behind that.
    pub prefix: String,
    /// Empty where it has none.
    pub version: Arc<str>,
    pub resources: Vec<Resource>,
    /// What stands before the resources, in order.
    pub handlers: Vec<Handler>,
    /// What `?swagger.json` gives.
    pub definition: Definition,
    /// The order in which resources are looked at where the method is `OPTIONS`: first those that name it.
    options_order: Vec<usize>,
    /// As they stand in the configuration.
    order: Vec<usize>,
}

/// A resource of an API.
pub struct Resource {
    pub place: Place,
    pub path: Path,
    /// Empty where all are meant.
    pub methods: Vec<String>,
    /// Whether it is reached over plain HTTP, and over HTTPS.
    pub http: bool,
    pub https: bool,
    /// What `Content-Type` a request with a body has to have, to the letter.
    pub content_type: Option<String>,
    pub user_agent: Option<Pattern>,
    pub in_sequence: Option<SequenceRef>,
    pub out_sequence: Option<SequenceRef>,
    pub fault_sequence: Option<SequenceRef>,
}

/// Which paths a resource is for.
#[derive(Debug)]
pub enum Path {
    Mapping {
        text: String,
        mapping: Mapping,
    },
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

/// What of a request tells its resource, and its mediators where it came from.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    pub method: &'a str,
    /// The path of the request's target, with the query.
    pub path: &'a str,
    /// Where in the path the API's address ends.
    pub start: usize,
    pub secure: bool,
    pub host: Option<&'a str>,
    pub content_type: Option<&'a [u8]>,
    pub user_agent: Option<&'a [u8]>,
    pub has_body: bool,
}

impl<'a> Visit<'a> {
    /// The path behind the API's address, with the query; `/` where there is nothing.
    pub fn sub_path(&self) -> &'a str {
        match &self.path[self.start..] {
            "" => "/",
            rest => rest,
        }
    }
}

/// What a request gets.
#[derive(Debug)]
pub enum Choice<'a> {
    /// The resource of that number.
    Resource(usize, Found<'a>),
    /// No resource has the path.
    Nowhere,
    /// The resource that has the path does not know the method.
    MethodUnknown,
    /// The resource has the path and the method, and wants another type, client or protocol.
    Unfit,
}

impl Api {
    /// An API with these resources and nothing before them.
    pub fn new(name: Arc<str>, place: Place, address: &Address, resources: Vec<Resource>) -> Api {
        let order: Vec<usize> = (0..resources.len()).collect();
        let mut options_order = order.clone();
        options_order.sort_by_key(|&index| !resources[index].lists("OPTIONS"));
        let (context, version) = (address.context.as_str().into(), address.version.as_str().into());
        let prefix = address.prefix.clone();
        let definition = Definition::of(&name, address, &resources);
        Api { name, place, context, prefix, version, resources, handlers: Vec::new(), definition, options_order, order }
    }

    /// Finds the resource for a request.
    ///
    /// Source: compare `API.process` of WSO2's Synapse: the path is only looked for among the resources that take
    /// the request otherwise, so that a method which another resource has makes a path unknown rather than forbidden.
    pub fn choose<'a>(&self, visit: &Visit<'a>) -> Choice<'a> {
        let order = if visit.method == "OPTIONS" { &self.options_order } else { &self.order };
        let takes = |resource: &Resource| resource.takes(visit);
        if let Some((index, found)) = self.find(order, visit.sub_path(), takes) {
            return Choice::Resource(index, found);
        }
        if self.resources.iter().any(takes) {
            return Choice::Nowhere;
        }
        match self.find(order, visit.sub_path(), |_| true) {
            None => Choice::Nowhere,
            Some((index, _)) if self.resources[index].allows(visit.method) => Choice::Unfit,
            Some(_) => Choice::MethodUnknown,
        }
    }

    /// Finds the resource that a request with another method would be for, or that answers `OPTIONS` itself.
    pub fn for_method<'a>(&self, visit: &Visit<'a>, method: &str) -> Choice<'a> {
        let takes = |resource: &Resource| resource.lists("OPTIONS") || resource.allows(method);
        match self.find(&self.options_order, visit.sub_path(), takes) {
            Some((index, found)) => Choice::Resource(index, found),
            None if self.find(&self.order, visit.sub_path(), |_| true).is_some() => Choice::MethodUnknown,
            None => Choice::Nowhere,
        }
    }

    /// The resource with that path among some: by mapping, then by template, then the one for all paths.
    fn find<'a>(
        &self,
        order: &[usize],
        path: &'a str,
        among: impl Fn(&Resource) -> bool,
    ) -> Option<(usize, Found<'a>)> {
        let all = || order.iter().copied().filter(|&index| among(&self.resources[index]));
        let mapped = all().filter_map(|index| match &self.resources[index].path {
            Path::Mapping { mapping, .. } => Some((mapping.fits(path)?, index)),
            _ => None,
        });
        // The first of those that fit best.
        let best = mapped.reduce(|best, other| if other.0 > best.0 { other } else { best });
        let by_template = || {
            all().find_map(|index| match &self.resources[index].path {
                Path::Template(template) => Some((index, template.matches(path)?)),
                _ => None,
            })
        };
        let any = || all().find(|&index| matches!(self.resources[index].path, Path::Any));
        best.map(|(_, index)| (index, Found::new()))
            .or_else(by_template)
            .or_else(|| any().map(|index| (index, Found::new())))
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

    /// Whether a request is for it, its path apart.
    fn takes(&self, visit: &Visit<'_>) -> bool {
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
