//! A text of the configuration that something refers to: a local entry, or a file of the registry.

use std::sync::Arc;

/// A text that is a part of the configuration, or that one refers to.
#[derive(Clone, Debug)]
pub struct Resource {
    /// The path of the file it stands in; of a part of one, with [`ENTRY`] and the key of the local entry behind.
    pub uri: Arc<str>,
    /// As they stand there; a part of a file keeps its lines and columns.
    pub bytes: Arc<[u8]>,
}

/// Stands before the key of a local entry in the URI of what stands in it.
pub const ENTRY: &str = "?entry=";

impl Resource {
    /// The bytes of a resource with that URI.
    pub fn new(uri: &str, bytes: Vec<u8>) -> Resource {
        Resource { uri: uri.into(), bytes: bytes.into() }
    }
}
