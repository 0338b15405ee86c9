//! Connectors: operations that are templates in the configuration language, in an archive or a folder.
//!
//! Shape: `connector.xml` names the connector and its components, which are folders; the `component.xml` of each names
//! its operations and their files, which hold a `<template>` each.
//! Only what a configuration calls is built: what the rest needs is not asked.
//! Source: WSO2's connectors and `SynapseLibrary`; compare `LibDeployerUtils`.

use std::collections::HashMap;
use std::path::Path;

use crate::archive::{Archive, INSIDE};
use crate::element::Element;
use crate::files;
use crate::problem::Problem;
use crate::sources::Sources;

/// The file that says what a connector consists of.
pub const CONNECTOR: &str = "connector.xml";

/// The connector that is built in, whatever archive of it lies there.
pub const BUILT_IN: &str = "http";

/// A connector.
pub struct Library {
    /// What its operations begin with.
    pub name: String,
    /// The package that the names of its templates begin with.
    pub package: String,
    /// The templates of its operations.
    pub templates: HashMap<String, Result<Element, Problem>>,
}

/// A file of a connector, by its path, with what it holds.
type Found = (String, Vec<u8>);

/// The connectors of a configuration, by their names.
pub type Libraries = HashMap<String, Library>;

impl Library {
    /// Reads an archive; `None` for that of a connector that is built in.
    ///
    /// Errors: a sentence, where it is no archive, or holds no connector.
    pub fn read(path: &str, bytes: &[u8]) -> Result<Option<Library>, String> {
        let archive = Archive::open(bytes)?;
        Library::of(&|name| {
            let bytes = archive.read(name)?;
            Ok(bytes.map(|bytes| (format!("{path}{INSIDE}{name}"), bytes)))
        })
    }

    /// The same of a folder that holds what an archive would.
    ///
    /// Errors: as [`Library::read`].
    pub fn read_folder(folder: &Path, sources: &Sources) -> Result<Option<Library>, String> {
        Library::of(&|name| {
            if name.split(['/', '\\']).any(|part| part == "..") {
                return Err(format!("{name:?} leads out of the folder"));
            }
            let file = folder.join(name.trim_start_matches('/'));
            if !sources.has_file(&file) {
                return Ok(None);
            }
            let bytes = files::bytes(&file, sources).map_err(|problem| problem.message)?;
            Ok(Some((file.display().to_string(), bytes)))
        })
    }

    /// Reads a connector whose files have names, paths and contents.
    fn of(read: &dyn Fn(&str) -> Result<Option<Found>, String>) -> Result<Option<Library>, String> {
        let element = |name: &str| -> Result<Option<Result<Element, Problem>>, String> {
            let Some((path, bytes)) = read(name)? else { return Ok(None) };
            files::decode(bytes).map(|text| Some(Element::parse(&path.into(), text)))
        };
        let sound = |name: &str| match element(name)? {
            Some(root) => root.map(Some).map_err(|problem| problem.to_string()),
            None => Ok(None),
        };
        let root = sound(CONNECTOR)?.ok_or("it holds no connector.xml")?;
        let component = named(&root, "component").next().ok_or("its connector.xml names no component")?;
        let attribute = |name: &str| component.attribute(name).map_or("", |value| value.value.trim()).to_owned();
        let (name, package) = (attribute("name"), attribute("package"));
        if name.is_empty() {
            return Err("its connector.xml gives the connector no name".to_owned());
        }
        if name == BUILT_IN {
            return Ok(None);
        }
        let mut templates = HashMap::new();
        for folder in named(component, "dependency") {
            let folder = folder.attribute("component").map_or("", |folder| folder.value.trim());
            let Some(parts) = sound(&format!("{folder}/component.xml"))? else { continue };
            for part in named(&parts, "subComponents").flat_map(|parts| named(parts, "component")) {
                let operation = part.attribute("name").map_or("", |name| name.value.trim());
                let Some(file) = named(part, "file").next() else { continue };
                let file = format!("{folder}/{}", file.text().value);
                let template = element(&file)?.ok_or_else(|| format!("it holds no {file}"))?;
                templates.insert(operation.to_owned(), template);
            }
        }
        Ok(Some(Library { name, package, templates }))
    }

    /// The name that the template of an operation has among all.
    pub fn qualified(&self, operation: &str) -> String {
        format!("{}.{}.{operation}", self.package, self.name)
    }
}

fn named<'a>(parent: &'a Element, name: &'a str) -> impl Iterator<Item = &'a Element> {
    parent.children.iter().filter(move |child| child.name == name)
}
