//! REST APIs: which one a request is for, and which of its resources.

mod address;
pub mod build;
mod entry;
mod handler;
mod mapping;
mod offer;
mod openapi;
mod properties;
mod resource;
mod resources;
mod template;
mod visit;

use std::sync::Arc;

pub use address::{Address, Bound, Caller};
pub use entry::{Apis, Entry, Extent, decision, enter};
pub use handler::{Algorithm, Basic, Cors, Handler, OAuth, Passed, Rules};
pub use mapping::Mapping;
pub use offer::{Offer, Offers};
pub use openapi::Definition;
pub use properties::Brought;
pub use resource::{Path, Resource};
pub use resources::{Choice, Resources};
pub use template::{Found, Template};
pub use visit::Visit;

use myelin_flow::position::ServiceIdentity;

/// An API.
pub struct Api {
    /// Its name, with `:v` and its version behind it where it has one, and where it is defined.
    pub identity: ServiceIdentity,
    /// The context that it names, without a slash at the end; empty for `/`.
    pub context: Arc<str>,
    /// The start of the paths it is offered at: the context, and the version where it stands behind that.
    pub prefix: String,
    /// Empty where it has none.
    pub version: Arc<str>,
    /// What it offers, in the order in which requests are compared with them.
    pub resources: Resources,
    /// What stands before the resources, in order.
    pub handlers: Vec<Handler>,
    /// What `?swagger.json` gives.
    pub definition: Definition,
}

impl Api {
    /// An API with these resources and nothing before them.
    pub fn new(identity: ServiceIdentity, address: &Address, mut resources: Vec<Resource>) -> Api {
        for Resource { identity, path, .. } in &mut resources {
            identity.route = Some(format!("{}{path}", address.prefix).into());
        }
        let (context, version) = (address.context.as_str().into(), address.version.as_str().into());
        let prefix = address.prefix.clone();
        let definition = Definition::of(&identity.name, address, &resources);
        Api {
            identity,
            context,
            prefix,
            version,
            resources: Resources::new(resources),
            handlers: Vec::new(),
            definition,
        }
    }
}
