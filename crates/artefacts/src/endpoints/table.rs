//! The endpoints of a configuration that have names.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use crate::endpoints::Endpoint;
use crate::loader::EndpointId;
use myelin_flow::definitions::Definitions;

/// The named endpoints of a configuration, by number and by name.
#[derive(Default)]
pub struct Endpoints {
    // Faulty ones leave a hole; nothing sound refers to a hole.
    pub(super) list: Vec<Option<Arc<Endpoint>>>,
    pub(super) ids: HashMap<String, EndpointId>,
}

impl Endpoints {
    /// The endpoints with these numbers and names.
    pub fn new(list: Vec<Option<Arc<Endpoint>>>, ids: HashMap<String, EndpointId>) -> Endpoints {
        Endpoints { list, ids }
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
