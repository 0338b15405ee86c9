//! Compiling stylesheets while the configuration is loaded: what is wrong with one is told where it is used.

use std::collections::HashMap;
use std::sync::Arc;

use memchr::memmem;
use myelin_xslt::{Resolver, Stylesheet, Wanted};

use crate::loader::Loader;
use crate::stylesheets::{Sheet, Shelf, for_stylesheets};
use myelin_config::choice::Choice;
use myelin_config::element::Text;
use myelin_config::problem::{Place, Problem};
use myelin_config::registry::Registry;
use myelin_config::resource::{ENTRY, Resource};

/// The namespace of XSLT.
const XSLT: &str = "http://www.w3.org/1999/XSL/Transform";

/// The stylesheets that were compiled, by their key and what their mediator's `resource` elements name; faulty ones, too.
#[derive(Default)]
struct CompiledSheets(HashMap<SheetKey, Option<Arc<Sheet>>>);

/// A stylesheet's key, and the locations and keys of what its mediator's `resource` elements name.
type SheetKey = (String, Vec<(String, String)>);

/// A `resource` element: the location that stylesheets say, and the key of what is meant.
pub(crate) type Named<'a> = (Text<'a>, Text<'a>);

/// What a stylesheet may import and include: what it may read, and the registry.
struct Compiling<'a> {
    shelf: &'a Shelf,
    registry: &'a Registry,
}

impl Resolver for Compiling<'_> {
    fn resolve(&self, href: &str, base: &str, wanted: Wanted) -> Result<myelin_xslt::Resource, String> {
        if let Some(found) = self.shelf.find(href) {
            return Ok(for_stylesheets(found));
        }
        match self.registry.beside(base, href)? {
            Some(found) => Ok(for_stylesheets(&found)),
            None => self.shelf.resolve(href, base, wanted),
        }
    }
}

impl Loader {
    /// The stylesheet that a fixed key names: a local entry, or a file of the registry.
    ///
    /// Errors: a latent [`Problem`] at the key where there is none, or where it is faulty, as Synapse compiles it when the
    /// first message comes; what is wrong with it is told, too, each with its place in the stylesheet.
    pub fn stylesheet(&mut self, key: Text<'_>, named: &[Named<'_>]) -> Result<Arc<Sheet>, Problem> {
        let name = key.value.trim();
        let resource = self.resource(key)?;
        let shelf = self.shelf(named)?;
        self.sheet(name, &resource, named, &shelf).map_err(|problems| {
            problems.into_iter().for_each(|problem| self.latent(problem));
            key.problem(format!("stylesheet {name:?} is faulty")).latent()
        })
    }

    /// Every stylesheet among the local entries and in the registry, for a key that is worked out for each message.
    ///
    /// What is wrong with one of them is a warning: nobody knows whether it will be asked for.
    /// Errors: a [`Problem`] where a resource is not there.
    pub fn stylesheets(&mut self, named: &[Named<'_>]) -> Result<Choice<Sheet>, Problem> {
        let shelf = self.shelf(named)?;
        let is_stylesheet = |resource: &Resource| memmem::find(&resource.bytes, XSLT.as_bytes()).is_some();
        let mut entries: Vec<(String, Resource)> =
            self.entry_resources.iter().map(|(key, it)| (key.clone(), it.clone())).collect();
        entries.retain(|(_, resource)| is_stylesheet(resource));
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        let mut sheets = HashMap::new();
        for (key, resource) in entries {
            if let Some(sheet) = self.chosen(&key, &resource, named, &shelf) {
                sheets.insert(key, sheet);
            }
        }
        let mut choice = Choice::among(sheets);
        let found: Vec<_> = self.registry.with_extension(&["xsl", "xslt"]).collect();
        for (paths, resource) in found {
            if let Some(sheet) = self.chosen(&resource.uri, &resource, named, &shelf) {
                choice.add(paths, &sheet);
            }
        }
        Ok(choice)
    }

    fn chosen(&mut self, key: &str, resource: &Resource, named: &[Named<'_>], shelf: &Shelf) -> Option<Arc<Sheet>> {
        let sheet = self.sheet(key, resource, named, shelf);
        sheet.map_err(|problems| problems.into_iter().for_each(|problem| self.warning(problem))).ok()
    }

    /// What the stylesheet of a mediator with these `resource` elements may read.
    fn shelf(&self, named: &[Named<'_>]) -> Result<Shelf, Problem> {
        let read = |(location, key): &Named<'_>| Ok((location.value.to_owned(), self.resource(*key)?));
        Ok(Shelf {
            named: named.iter().map(read).collect::<Result<_, Problem>>()?,
            library: Arc::clone(&self.entry_resources),
        })
    }

    /// Compiles a stylesheet, once; what is wrong with it is told the first time.
    fn sheet(
        &mut self,
        key: &str,
        resource: &Resource,
        named: &[Named<'_>],
        shelf: &Shelf,
    ) -> Result<Arc<Sheet>, Vec<Problem>> {
        let named = named.iter().map(|(location, key)| (location.value.to_owned(), key.value.to_owned()));
        let id = (key.to_owned(), named.collect());
        if let Some(known) = self.state::<CompiledSheets>().0.get(&id) {
            return known.clone().ok_or_else(Vec::new);
        }
        let resolver = Compiling { shelf, registry: &self.registry };
        let compiled = Stylesheet::compile(&resource.bytes, &resource.uri, &resolver);
        let sheet = compiled.map(|compiled| Arc::new(Sheet::new(compiled, shelf.clone())));
        self.state::<CompiledSheets>().0.insert(id, sheet.as_ref().ok().cloned());
        if let Ok(sheet) = &sheet {
            sheet.warnings().iter().map(problem).for_each(|warning| self.warning(warning));
        }
        sheet.map_err(|problems| problems.iter().map(problem).collect())
    }
}

/// What is wrong with a stylesheet, as a problem of the configuration.
fn problem(problem: &myelin_xslt::Problem) -> Problem {
    let myelin_xslt::Place { file, line, column } = &problem.place;
    // A part of a file has its lines and columns.
    let file = file.split_once(ENTRY).map_or(file.as_str(), |(file, _)| file);
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let place = Place { file: file.into(), line: number(*line), column: number(*column) };
    Problem::new(place, format!("{} ({})", problem.message, problem.code))
}
