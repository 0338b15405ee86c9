//! What local entries and resources of the registry hold.

use std::collections::HashMap;

use myelin_config::resource::Resource;
use myelin_content::Fragment;

/// The local entries of a configuration as they stand in their files, by their keys.
pub type EntryResources = HashMap<String, Resource>;

/// What a local entry holds.
#[derive(Clone, Debug)]
pub enum Entry {
    /// An element.
    Xml(Fragment),
    /// Anything else.
    Text(String),
}

impl Entry {
    /// Its text: of XML what stands between the tags.
    pub fn text(self) -> String {
        match self {
            Entry::Text(text) => text,
            Entry::Xml(fragment) => fragment.document.string_value(fragment.node).into_owned(),
        }
    }
}
