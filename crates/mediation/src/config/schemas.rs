//! Compiling schemas while the configuration is loaded, with what they include and import: by `resource` elements, and
//! from the registry. Nothing is fetched over the network.

use std::collections::HashMap;
use std::fs;

use myelin_xml::{Document, Kind, Options, WriteOptions, write};
use tempfile::TempDir;

use super::element::Text;
use super::loader::{Entry, Loader};
use super::problem::Problem;
use super::stylesheets::Named;
use crate::content::text_of;
use crate::schema::{JsonSchema, NAMESPACE, Part, XmlSchema};

/// How many schemas may belong to one.
const SCHEMAS: usize = 500;

/// How deep schemas may include each other, as the library has it.
const DEPTH: usize = 16;

/// What a key of `<validate>` names.
pub(crate) enum Source {
    /// W3C XML Schema, which counts together with the others of its mediator.
    Xml(Part),
    Json(JsonSchema),
}

/// The schemas of one mediator, gathered in a folder where each finds what it refers to.
pub(crate) struct Gathering<'a> {
    folder: TempDir,
    named: &'a [Named<'a>],
    /// The files in the folder, by what they hold.
    files: HashMap<String, String>,
}

impl Loader {
    /// Begins to gather schemas; `named` is what `resource` elements name.
    ///
    /// Errors: a [`Problem`] at `key`, where there is no room for them.
    pub(crate) fn gather_schemas<'a>(&self, key: Text<'_>, named: &'a [Named<'a>]) -> Result<Gathering<'a>, Problem> {
        let folder = tempfile::tempdir().map_err(|error| key.problem(format!("no folder for schemas: {error}")))?;
        Ok(Gathering { folder, named, files: HashMap::new() })
    }

    /// The schema that a fixed key names: a local entry, or a file of the registry.
    ///
    /// Errors: a [`Problem`] at the key where there is none, or where it is faulty.
    pub(crate) fn schema(&self, key: Text<'_>, gathering: &mut Gathering<'_>) -> Result<Source, Problem> {
        let name = key.value.trim();
        let wrong = |message: String| key.problem(format!("schema {name:?}: {message}"));
        let text = match self.entry(key)? {
            Entry::Xml(fragment) => text_of(&fragment.document, fragment.node),
            Entry::Text(text) => text,
        };
        if !text.trim_start().starts_with('<') {
            return JsonSchema::compile(&text).map(Source::Json).map_err(wrong);
        }
        let uri = self.resource(key).map_or_else(|_| name.to_owned(), |resource| resource.uri.to_string());
        self.lay(&uri, &text, gathering, 0).map(Source::Xml).map_err(wrong)
    }

    /// Lays a schema into the folder, and what it refers to beside it.
    fn lay(&self, uri: &str, text: &str, gathering: &mut Gathering<'_>, depth: usize) -> Result<Part, String> {
        if gathering.files.len() >= SCHEMAS || depth >= DEPTH {
            return Err(format!("more than {SCHEMAS} schemas, or {DEPTH} within each other"));
        }
        let file = format!("{}.xsd", gathering.files.len());
        gathering.files.insert(uri.to_owned(), file.clone());
        let options = Options::default();
        let mut document = Document::parse(text.trim().into(), &options).map_err(|error| format!("{uri}: {error}"))?;
        let root = document.root_element().ok_or("there is no element in it")?;
        if document.qname(root).namespace != NAMESPACE {
            return Err(format!("{uri} is no W3C XML Schema: its root is not <schema> of {NAMESPACE}"));
        }
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
            match self.beside(uri, location.trim(), gathering, depth)? {
                Some(file) => {
                    document.set_attribute(reference, "", "schemaLocation", "", &file).map_err(|it| it.to_string())?;
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
        let mut out = Vec::new();
        write(&document, document.document_node(), &WriteOptions::default(), &mut out);
        fs::write(gathering.folder.path().join(&file), out).map_err(|error| error.to_string())?;
        let namespace = document.attribute(root, "", "targetNamespace").unwrap_or_default().into_owned();
        Ok(Part { file, namespace })
    }

    /// The file in the folder for what a schema refers to; `None` where there is nothing of that name.
    fn beside(
        &self,
        base: &str,
        location: &str,
        gathering: &mut Gathering<'_>,
        depth: usize,
    ) -> Result<Option<String>, String> {
        let named = gathering.named.iter().find(|(known, _)| known.value.trim() == location).map(|(_, key)| *key);
        let resource = match named {
            Some(key) => Some(self.resource(key).map_err(|problem| problem.message)?),
            None => self.registry.beside(base, location)?,
        };
        let Some(resource) = resource else { return Ok(None) };
        if let Some(file) = gathering.files.get(&*resource.uri) {
            return Ok(Some(file.clone()));
        }
        let text = super::decode(resource.bytes.to_vec())?;
        self.lay(&resource.uri, &text, gathering, depth + 1).map(|part| Some(part.file))
    }
}

impl Gathering<'_> {
    /// Compiles what was gathered, as one.
    ///
    /// Errors: a sentence.
    pub(crate) fn compile(self, parts: &[Part]) -> Result<XmlSchema, String> {
        XmlSchema::compile(self.folder.path(), parts)
    }
}
