//! Reading schemas while the configuration is loaded, with what they include and import: by `resource` elements, and
//! from the registry. Nothing is fetched over the network.

use std::collections::HashMap;
use std::sync::Arc;

use myelin_xml::{Document, Kind, Options, WriteOptions, write};

use crate::loader::{Entry, Loader};
use crate::schemas::{File, Gathering, NAMESPACE, Source};
use crate::stylesheets::Named;
use myelin_config::choice::Choice;
use myelin_config::element::Text;
use myelin_config::files;
use myelin_config::problem::Problem;
use myelin_config::resource::Resource;
use myelin_content::text_of;

/// What files of the registry end in whose keys may be worked out.
const EXTENSIONS: [&str; 2] = ["xsd", "json"];

/// A schema that is to be read: its place, what it is called, and its text.
type Waiting = (usize, String, String);

impl Loader {
    /// Adds the schema that a fixed key names, a local entry or a file of the registry; `named` is what `resource` elements
    /// name.
    ///
    /// Errors: a [`Problem`] at the key where there is none, or where it cannot be read with all that it refers to.
    pub fn schema(&self, key: Text<'_>, named: &[Named<'_>], gathering: &mut Gathering) -> Result<Source, Problem> {
        let name = key.value.trim();
        let text = text(self.entry(key)?);
        let uri = self.resource(key).map_or_else(|_| name.to_owned(), |resource| resource.uri.to_string());
        let source = self.gather(&uri, text, named, gathering);
        gathering.check(source).map_err(|message| key.problem(format!("schema {name:?}: {message}")).latent())?;
        Ok(source)
    }

    /// Adds every schema among the local entries and in the registry, for a key that is worked out for each message.
    ///
    /// One that cannot be read is a warning at the key: nobody knows whether it will be asked for.
    pub fn schemas(&mut self, key: Text<'_>, named: &[Named<'_>], gathering: &mut Gathering) -> Choice<Source> {
        let mut found = Vec::new();
        let mut add = |uri: &str, text: String| {
            let source = self.gather(uri, text, named, gathering);
            if let Err(message) = gathering.check(source) {
                found.push(key.problem(format!("schema {uri:?}, which this key may mean: {message}")));
            }
            Arc::new(source)
        };
        let mut entries = HashMap::new();
        for (name, entry) in &self.entries {
            let text = text(entry.clone());
            if is_json(&text) || is_w3c(&text) {
                let uri =
                    self.entry_resources.get(name).map_or_else(|| name.clone(), |resource| resource.uri.to_string());
                entries.insert(name.clone(), add(&uri, text));
            }
        }
        let mut choice = Choice::among(entries);
        for (paths, Resource { uri, bytes, .. }) in self.registry.with_extension(&EXTENSIONS) {
            if let Ok(text) = files::decode(bytes.to_vec()) {
                choice.add(paths, &add(&uri, text));
            }
        }
        found.sort_by(|one, other| one.message.cmp(&other.message));
        found.into_iter().for_each(|problem| self.warning(problem));
        choice
    }

    /// Adds a schema, and all that it refers to.
    fn gather(&self, uri: &str, text: String, named: &[Named<'_>], gathering: &mut Gathering) -> Source {
        if is_json(&text) {
            return gathering.add_json(text);
        }
        let (root, is_new) = gathering.place(uri);
        let mut waiting: Vec<Waiting> = is_new.then(|| (root, uri.to_owned(), text)).into_iter().collect();
        while let Some((place, uri, text)) = waiting.pop() {
            let file = self.read_schema(&uri, &text, named, gathering, &mut waiting);
            gathering.lay(place, file);
        }
        Source::Xml(root)
    }

    /// Reads a W3C XML Schema; what it refers to gets places, and waits there to be read.
    fn read_schema(
        &self,
        uri: &str,
        text: &str,
        named: &[Named<'_>],
        gathering: &mut Gathering,
        waiting: &mut Vec<Waiting>,
    ) -> Result<File, String> {
        let options = Options::default();
        let mut document = Document::parse(text.trim().into(), &options).map_err(|error| format!("{uri}: {error}"))?;
        let root = document.root_element().ok_or("there is no element in it")?;
        if document.qname(root).namespace != NAMESPACE {
            return Err(format!("{uri} is no W3C XML Schema: its root is not <schema> of {NAMESPACE}"));
        }
        let mut refers = Vec::new();
        let references: Vec<_> = document.children(root).filter(|&node| document.kind(node) == Kind::Element).collect();
        for reference in references {
            let name = document.qname(reference);
            let is_import = name.local == "import";
            if name.namespace != NAMESPACE || !(is_import || matches!(name.local, "include" | "redefine")) {
                continue;
            }
            let Some(location) = document.attribute(reference, "", "schemaLocation").map(|it| it.into_owned()) else {
                continue;
            };
            match self.referred(uri, location.trim(), named)? {
                Some(resource) => {
                    let (place, is_new) = gathering.place(&resource.uri);
                    if is_new {
                        waiting.push((place, resource.uri.to_string(), files::decode(resource.bytes.to_vec())?));
                    }
                    let file = Gathering::name(place);
                    document.set_attribute(reference, "", "schemaLocation", "", &file).map_err(|it| it.to_string())?;
                    refers.push(place);
                }
                // As everywhere, the location of an import is a hint; what nobody declares is told when it is used.
                None if is_import => {
                    document.remove_attribute(reference, "", "schemaLocation");
                }
                None => {
                    return Err(format!(
                        "{uri} includes {location:?}, which no resource element names and is not in the registry"
                    ));
                }
            }
        }
        let mut text = Vec::new();
        write(&document, document.document_node(), &WriteOptions::default(), &mut text);
        let namespace = document.attribute(root, "", "targetNamespace").unwrap_or_default().into_owned();
        Ok(File { text, namespace, refers })
    }

    /// What a schema refers to; `None` where there is nothing of that name.
    fn referred(&self, base: &str, location: &str, named: &[Named<'_>]) -> Result<Option<Resource>, String> {
        match named.iter().find(|(known, _)| known.value.trim() == location) {
            Some((_, key)) => self.resource(*key).map(Some).map_err(|problem| problem.message),
            None => self.registry.beside(base, location),
        }
    }
}

fn text(entry: Entry) -> String {
    match entry {
        Entry::Xml(fragment) => text_of(&fragment.document, fragment.node),
        Entry::Text(text) => text,
    }
}

/// Whether a text is a JSON Schema, if it is a schema at all.
fn is_json(text: &str) -> bool {
    !text.trim_start().starts_with('<')
}

/// Whether a text is XML whose root is that of a schema.
fn is_w3c(text: &str) -> bool {
    let document = Document::parse(text.trim().into(), &Options::default()).ok();
    document
        .is_some_and(|document| document.root_element().is_some_and(|root| document.qname(root).namespace == NAMESPACE))
}
