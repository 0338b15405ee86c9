//! Sequences, endpoints and entries that keys of the registry name: read when the first of their keys comes up.

use crate::loader::{Entry, Fetched, Loader, Reference};
use myelin_config::element::{Element, Text};
use myelin_config::files;
use myelin_config::included::{Content, Included};
use myelin_config::problem::Problem;
use myelin_config::properties;
use myelin_config::registry;
use myelin_config::resource::Resource;
use myelin_flow::property::ExternalSource;

impl Loader {
    /// The number of the sequence or endpoint that a key of the registry names.
    ///
    /// Errors: a [`Problem`] at the key where there is no such resource, or where it holds something else.
    pub fn fetch(&mut self, key: Text<'_>, kind: &str, number: fn(usize) -> Reference) -> Result<usize, Problem> {
        let name = key.value.trim();
        let resource = self.registered(key, kind)?;
        let text = files::decode(resource.bytes.to_vec()).map_err(|message| key.problem(message))?;
        let element = Element::parse(&resource.uri, text).map_err(|problem| {
            self.problem(problem);
            key.problem(format!("{name:?} is faulty"))
        })?;
        if !element.is(kind) {
            return Err(key.problem(format!("{} holds {}, not <{kind}>", resource.uri, element.tag())));
        }
        let ids = if kind == "sequence" { &mut self.sequences } else { &mut self.endpoints };
        let id = ids.len();
        ids.insert(name.to_owned(), id);
        self.fetched.push(Fetched { key: name.to_owned(), element, id: number(id) });
        Ok(id)
    }

    /// What a resource of the registry holds.
    ///
    /// Errors: a [`Problem`] at the key where there is no such resource.
    pub fn fetch_entry(&self, key: Text<'_>) -> Result<Entry, Problem> {
        let resource = self.registered(key, "local entry")?;
        let included = Included::of(resource).map_err(|message| key.problem(message))?;
        Ok(match included.content {
            Content::Xml(element) => Entry::Xml(element.fragment()),
            Content::Text(text) => Entry::Text(text),
        })
    }

    /// What a fixed key names: a local entry, or a file of the registry.
    ///
    /// Errors: a [`Problem`] at the key where there is none.
    pub fn resource(&self, key: Text<'_>) -> Result<Resource, Problem> {
        let name = key.value.trim();
        if let Some(resource) = self.entry_resources.get(name) {
            return Ok(resource.clone());
        }
        match self.registry.read(name) {
            Ok(Some(resource)) => Ok(resource),
            Ok(None) => Err(key.problem(format!("there is no local entry {name:?}, and no such file in the registry"))),
            Err(message) => Err(key.problem(message)),
        }
    }

    /// A text that expressions read from outside the messages; `None` where there is none.
    ///
    /// Behind an `@` stands the name of a property that a resource of the registry has.
    pub fn external_text(&self, source: ExternalSource, name: &str) -> Option<String> {
        let text = |key: &str| {
            let resource = self.registry.read(key).ok().flatten()?;
            files::decode(resource.bytes.to_vec()).ok()
        };
        match (source, name.split_once('@')) {
            (ExternalSource::File, _) => self.properties.get(name).cloned(),
            (ExternalSource::Registry, None) => text(name),
            (ExternalSource::Registry, Some((key, property))) => {
                // This is where Micro Integrator keeps them.
                let text = text(&format!("{}.properties", key.trim_end_matches('/')))?;
                properties::parse(&text).remove(property)
            }
        }
    }

    fn registered(&self, key: Text<'_>, kind: &str) -> Result<Resource, Problem> {
        let name = key.value.trim();
        if name.starts_with('{') || name.starts_with("${") {
            return Err(key.problem(format!("{name:?}: a key that is worked out is not offered here yet")));
        }
        if name.starts_with("http:") || name.starts_with("https:") {
            return Err(key.problem(format!("{name:?} is not fetched while the configuration is loaded: files are")));
        }
        match self.registry.read(name) {
            Ok(Some(resource)) => Ok(resource),
            Ok(None) if registry::is_key(name) => {
                Err(key.problem(format!("there is no such file in the registry: {name:?}")))
            }
            Ok(None) => Err(key.problem(format!("there is no {kind} {name:?}"))),
            Err(message) => Err(key.problem(message)),
        }
    }
}
