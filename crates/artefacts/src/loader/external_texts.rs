//! Texts outside the messages that expressions may name while serving: all of them are kept, as nothing is looked for then.

use std::sync::Arc;

use crate::loader::Loader;
use myelin_config::choice::Choice;
use myelin_config::files;
use myelin_config::properties;
use myelin_flow::definitions::ExternalTexts;
use myelin_flow::property::ExternalSource;

/// How much of a registry is kept.
const KEPT_BYTES: usize = 64 << 20;

/// What Micro Integrator calls the files with the properties of resources.
const PROPERTIES: &str = ".properties";

impl Loader {
    /// The local entries, and the files of the registry that have one of these extensions; read once for all who ask.
    pub fn keys(&mut self, extensions: &'static [&'static str]) -> Arc<Choice<str>> {
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
    /// Resources that are no texts are left out, and those behind `KEPT_BYTES` of others, which is said in the log.
    pub fn external_texts(&self) -> ExternalTexts {
        let mut kept = ExternalTexts::default();
        if self.names.asks_any_external(ExternalSource::File) {
            kept.file = self.properties.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        }
        if !self.names.asks_any_external(ExternalSource::Registry) {
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
