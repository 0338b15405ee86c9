//! What stylesheets may read: local entries, and what `resource` elements name; never a file or the network.

use std::collections::HashMap;
use std::sync::Arc;

use myelin_xslt::{Resolver, Wanted};

/// A text that is a stylesheet, or that one may read.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// The path of the file it stands in; of a part of one, with [`ENTRY`] and the key of the local entry behind.
    pub(crate) uri: Arc<str>,
    /// As they stand there; a part of a file keeps its lines and columns.
    pub(crate) bytes: Arc<[u8]>,
}

/// Stands before the key of a local entry in the URI of what stands in it.
pub(crate) const ENTRY: &str = "?entry=";

impl Resource {
    pub(crate) fn new(uri: &str, bytes: Vec<u8>) -> Resource {
        Resource { uri: uri.into(), bytes: bytes.into() }
    }
}

impl From<&Resource> for myelin_xslt::Resource {
    fn from(resource: &Resource) -> myelin_xslt::Resource {
        myelin_xslt::Resource { uri: resource.uri.to_string(), bytes: resource.bytes.to_vec() }
    }
}

/// The local entries of a configuration, by their keys.
pub(crate) type Library = HashMap<String, Resource>;

/// What the stylesheet of one mediator may read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf {
    /// What `resource` elements name, by its location.
    pub(crate) named: Vec<(String, Resource)>,
    pub(crate) library: Arc<Library>,
}

impl Shelf {
    /// What a stylesheet means by `href`: a location that a `resource` element names, or the key of a local entry.
    pub(crate) fn find(&self, href: &str) -> Option<&Resource> {
        let named = self.named.iter().find(|(location, _)| location == href).map(|(_, resource)| resource);
        named.or_else(|| self.library.get(href))
    }
}

impl Resolver for Shelf {
    fn resolve(&self, href: &str, _: &str, _: Wanted) -> Result<myelin_xslt::Resource, String> {
        let found = self.find(href).map(myelin_xslt::Resource::from);
        found.ok_or_else(|| format!("{href:?} is neither the location of a <resource> nor the key of a local entry"))
    }
}
