//! What stylesheets may read: local entries, and what `resource` elements name; never a file or the network.

use std::sync::Arc;

use myelin_xslt::{Resolver, Wanted};

use crate::loader::EntryResources;
use myelin_config::resource::Resource;

/// A resource as stylesheets are given it.
pub(crate) fn for_stylesheets(resource: &Resource) -> myelin_xslt::Resource {
    myelin_xslt::Resource { uri: resource.uri.to_string(), bytes: resource.bytes.to_vec() }
}

/// What the stylesheet of one mediator may read.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    /// What `resource` elements name, by its location.
    pub named: Vec<(String, Resource)>,
    /// The local entries, by their keys.
    pub library: Arc<EntryResources>,
}

impl Shelf {
    /// What a stylesheet means by `href`: a location that a `resource` element names, or the key of a local entry.
    pub fn find(&self, href: &str) -> Option<&Resource> {
        let named = self.named.iter().find(|(location, _)| location == href).map(|(_, resource)| resource);
        named.or_else(|| self.library.get(href))
    }
}

impl Resolver for Shelf {
    fn resolve(&self, href: &str, _: &str, _: Wanted) -> Result<myelin_xslt::Resource, String> {
        let found = self.find(href).map(for_stylesheets);
        found.ok_or_else(|| format!("{href:?} is neither the location of a <resource> nor the key of a local entry"))
    }
}
