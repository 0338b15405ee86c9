//! Texts outside the messages that expressions may name while serving: all of them are kept, as nothing is looked for then.

use std::collections::HashMap;
use std::sync::Arc;

use super::choice::Choice;
use super::files;
use super::loader::Loader;
use super::properties;
use super::registry::path_of;
use crate::property::Outside;

/// How much of a registry is kept.
const KEPT_BYTES: usize = 64 << 20;

/// What Micro Integrator calls the files with the properties of resources.
const PROPERTIES: &str = ".properties";

/// The texts of the registry, and what stands in `file.properties`.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// By each of their paths; `PATH@NAME` is a property of the resource there.
    registry: HashMap<String, Arc<str>>,
    file: HashMap<String, Arc<str>>,
}

impl Kept {
    /// The text of a name; `None` where there was none when the configuration was loaded.
    pub(crate) fn find(&self, outside: Outside, name: &str) -> Option<&str> {
        let found = match (outside, name.split_once('@')) {
            (Outside::File, _) => self.file.get(name),
            (Outside::Registry, None) => self.registry.get(&path_of(name)?),
            (Outside::Registry, Some((key, property))) => {
                self.registry.get(&format!("{}@{property}", path_of(key.trim_end_matches('/'))?))
            }
        };
        found.map(|text| &**text)
    }
}

impl Loader {
    /// The local entries, and the files of the registry that have one of these extensions; read once for all who ask.
    pub(crate) fn keys(&mut self, extensions: &'static [&'static str]) -> Arc<Choice<str>> {
        if let Some(known) = self.keys.get(extensions) {
            return Arc::clone(known);
        }
        let entries = self.entries.iter().map(|(key, entry)| (key.clone(), entry.clone().text().into())).collect();
        let mut keys = Choice::among(entries);
        for (paths, resource) in self.registry.with_extension(extensions) {
            let Ok(text) = files::decode(resource.bytes.to_vec()) else { continue };
            keys.add(paths, &text.into());
        }
        let keys = Arc::new(keys);
        self.keys.insert(extensions, Arc::clone(&keys));
        keys
    }

    /// What expressions may name while serving, where one of them works out a name.
    ///
    /// Resources that are no texts are left out, and those behind [`KEPT_BYTES`] of others, which is said in the log.
    pub(super) fn kept(&self) -> Kept {
        let mut kept = Kept::default();
        if self.names.asks_any(Outside::File) {
            kept.file = self.properties.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        }
        if !self.names.asks_any(Outside::Registry) {
            return kept;
        }
        let mut bytes = 0;
        for (paths, resource) in self.registry.all() {
            bytes += resource.bytes.len();
            if bytes > KEPT_BYTES {
                tracing::warn!(
                    "the registry holds more than {KEPT_BYTES} bytes: expressions that work out names do not find \
                     {} and what is behind it",
                    resource.uri
                );
                break;
            }
            let Ok(text) = files::decode(resource.bytes.to_vec()) else { continue };
            let text: Arc<str> = text.into();
            for path in paths {
                if let Some(resource) = path.strip_suffix(PROPERTIES) {
                    for (name, value) in properties::parse(&text) {
                        kept.registry.entry(format!("{resource}@{name}")).or_insert_with(|| value.into());
                    }
                }
                // What was deployed comes before files at the same path.
                kept.registry.entry(path).or_insert_with(|| Arc::clone(&text));
            }
        }
        kept
    }
}
