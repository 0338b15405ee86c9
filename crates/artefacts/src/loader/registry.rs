//! Sequences, endpoints and entries that keys of the registry name: read when the first of their keys comes up.

use crate::loader::latent::Numbered;
use crate::loader::{Entry, Fetched, Loader};
use myelin_config::element::{Element, Text};
use myelin_config::files;
use myelin_config::included::{Content, Included};
use myelin_config::problem::Problem;
use myelin_config::properties;
use myelin_config::registry;
use myelin_config::resource::Resource;
use myelin_flow::property::ExternalSource;
use myelin_spelling::nearest;

/// Stands in place of a file where an artefact is built in.
pub const BUILT_IN: &str = "built in";

impl Loader {
    /// The number of the sequence or endpoint that a key of the registry names, or of one that is built in.
    ///
    /// Errors: a [`Problem`] at the key where there is no such resource, or where it holds something else: latent, as
    /// Synapse looks when a message comes.
    pub(super) fn fetch(&mut self, key: Text<'_>, kind: &Numbered) -> Result<usize, Problem> {
        let name = key.value.trim();
        let element = match built_in(kind, name) {
            Some(element) => element?,
            None => self.fetched_element(key, kind)?,
        };
        let ids = (kind.ids_mut)(self);
        let id = ids.len();
        ids.insert(name.to_owned(), id);
        self.fetched.push(Fetched { key: name.to_owned(), element, id: (kind.number)(id) });
        Ok(id)
    }

    fn fetched_element(&mut self, key: Text<'_>, kind: &Numbered) -> Result<Element, Problem> {
        let known = (kind.ids)(self).iter().filter(|(_, id)| !self.holes.contains_key(&(kind.number)(**id)));
        let resource = self.registered(key, kind.element, known.map(|(name, _)| name.as_str()))?;
        let text = files::decode(resource.bytes.to_vec()).map_err(|message| key.problem(message).latent())?;
        let element = Element::parse(&resource.uri, text).map_err(|problem| {
            self.latent(problem);
            key.problem(format!("{:?} is faulty", key.value.trim())).latent()
        })?;
        if element.is(kind.element) {
            return Ok(element);
        }
        let message = format!("{} holds {}, not <{}>", resource.uri, element.tag(), kind.element);
        Err(key.problem(message).latent())
    }

    /// What a resource of the registry holds.
    ///
    /// Errors: a [`Problem`] at the key where there is no such resource.
    pub fn fetch_entry(&self, key: Text<'_>) -> Result<Entry, Problem> {
        let resource = self.registered(key, "local entry", self.entries.keys().map(String::as_str))?;
        let included = Included::of(resource).map_err(|message| key.problem(message).latent())?;
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
            Ok(None) => {
                let meant = nearest(name, self.entry_resources.keys().map(String::as_str));
                let message = format!("there is no local entry {name:?}, and no such file in the registry");
                Err(key.problem(message).suggesting(meant).latent())
            }
            Err(message) => Err(key.problem(message).latent()),
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

    fn registered<'a>(
        &self,
        key: Text<'_>,
        kind: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Result<Resource, Problem> {
        let name = key.value.trim();
        if name.starts_with('{') || name.starts_with("${") {
            return Err(key.problem(format!("{name:?}: a key that is worked out is not offered here yet")));
        }
        if name.starts_with("http:") || name.starts_with("https:") {
            let message = format!("{name:?} is not fetched while the configuration is loaded: files are");
            return Err(key.problem(message).latent());
        }
        let message = match self.registry.read(name) {
            Ok(Some(resource)) => return Ok(resource),
            Ok(None) if registry::is_key(name) => format!("there is no such file in the registry: {name:?}"),
            Ok(None) => {
                let problem = key.problem(format!("there is no {kind} {name:?}"));
                return Err(problem.suggesting(nearest(name, known)).latent());
            }
            Err(message) => message,
        };
        Err(key.problem(message).latent())
    }
}

/// The sequences that every configuration has where it defines none of that name.
///
/// Source: `SynapseConfigUtils.setDefaultMainSequence` and `setDefaultFaultSequence`.
fn built_in(kind: &Numbered, name: &str) -> Option<Result<Element, Problem>> {
    let text = match name {
        _ if kind.element != "sequence" => return None,
        "main" => r#"<sequence xmlns="http://ws.apache.org/ns/synapse" name="main"><log/><drop/></sequence>"#,
        // Synapse drops the message here; without that, the client gets an answer that tells the fault.
        "fault" => {
            r#"<sequence xmlns="http://ws.apache.org/ns/synapse" name="fault"><log level="full">
                 <property name="MESSAGE" value="Executing default &quot;fault&quot; sequence"/>
                 <property name="ERROR_CODE" expression="get-property('ERROR_CODE')"/>
                 <property name="ERROR_MESSAGE" expression="get-property('ERROR_MESSAGE')"/>
               </log></sequence>"#
        }
        _ => return None,
    };
    Some(Element::parse(&BUILT_IN.into(), text.to_owned()))
}
