//! Texts outside the messages that expressions may name while serving: all of them are kept, as nothing is looked for then.

use std::collections::HashMap;
use std::sync::Arc;

use myelin_config::registry::path_of;

use crate::property::ExternalSource;

/// The texts of the registry, and what stands in `file.properties`.
#[derive(Debug, Default)]
pub struct ExternalTexts {
    /// By each of their paths; `PATH@NAME` is a property of the resource there.
    pub registry: HashMap<String, Arc<str>>,
    /// What stands in `file.properties`, by its names.
    pub file: HashMap<String, Arc<str>>,
}

impl ExternalTexts {
    /// The text of a name; `None` where there was none when the configuration was loaded.
    pub fn find(&self, source: ExternalSource, name: &str) -> Option<&str> {
        let found = match (source, name.split_once('@')) {
            (ExternalSource::File, _) => self.file.get(name),
            (ExternalSource::Registry, None) => self.registry.get(&path_of(name)?),
            (ExternalSource::Registry, Some((key, property))) => {
                self.registry.get(&format!("{}@{property}", path_of(key.trim_end_matches('/'))?))
            }
        };
        found.map(|text| &**text)
    }
}
