//! Reading descriptions while the configuration is loaded, with what they import.

use std::path::Path;

use myelin_wsdl::{Documents, Source, WSDL11, WSDL20, Wanted};

use crate::loader::Loader;
use myelin_config::element::{Element, Text};
use myelin_config::files::decode;
use myelin_config::problem::{Place, Problem};
use myelin_config::resource::{ENTRY, Resource};

/// What the `resource` elements of a description name: locations, and what stands there.
pub(crate) type NamedResources = Vec<(String, Resource)>;

/// The description that a `wsdl` endpoint names by a file, or that stands in it, with what it imports.
///
/// Errors: a [`Problem`] at its place, or at the place in the description that is wrong.
pub(crate) fn of_endpoint(kind: &Element, loader: &mut Loader) -> Result<Documents, Problem> {
    let inside = kind.children.iter().find(|child| !child.is_synapse());
    let root = match (kind.attribute("uri"), inside) {
        (Some(uri), _) => file(uri, loader)?,
        (None, Some(element)) => inline(element)?,
        (None, None) => return Err(kind.lacks("<wsdl> needs a uri, or a description in it")),
    };
    read(&root, &Vec::new(), kind, loader)
}

/// A file that stands in the configuration's folder or above it, or in the registry.
pub(crate) fn file(uri: Text<'_>, loader: &Loader) -> Result<Resource, Problem> {
    let found = loader.registry.find(uri.value.trim()).map_err(|message| uri.problem(message))?;
    found.ok_or_else(|| uri.problem(format!("there is no file {:?}", uri.value.trim())))
}

/// A description that stands in the configuration.
pub(crate) fn inline(element: &Element) -> Result<Resource, Problem> {
    if !matches!(element.namespace.as_deref(), Some(WSDL11 | WSDL20)) {
        return Err(element.problem(format!("{} is no description of WSDL 1.1 or 2.0", element.tag())));
    }
    let uri = format!("{}{ENTRY}{}:{}", element.place.file, element.place.line, element.place.column);
    Ok(Resource::new(&uri, element.standalone().into_bytes()))
}

/// The `resource` elements of a description.
///
/// Errors: a [`Problem`] where one names nothing.
pub(crate) fn named_resources(parent: &Element, loader: &Loader) -> Result<NamedResources, Problem> {
    let all = parent.children.iter().filter(|child| child.is("resource"));
    let read = |it: &Element| Ok((it.required("location")?.value.to_owned(), loader.resource(it.required("key")?)?));
    all.map(read).collect()
}

/// A description with everything it imports that is at hand: the rest stays as it stands, with a warning.
///
/// Errors: a [`Problem`] at its place in the description, or else at `at`.
pub(crate) fn read(
    root: &Resource,
    named: &NamedResources,
    at: &Element,
    loader: &mut Loader,
) -> Result<Documents, Problem> {
    let mut left = Vec::new();
    let find = |wanted: Wanted<'_>| match imported(wanted, named, loader) {
        Ok(Some(resource)) => source(&resource).map_err(|message| left.push(message)).ok(),
        Ok(None) if wanted.location.contains("://") => None,
        Ok(None) => {
            left.push(format!("there is nothing at {:?}, which {} imports", wanted.location, wanted.base));
            None
        }
        Err(message) => {
            left.push(message);
            None
        }
    };
    let root = source(root).map_err(|message| at.problem(message))?;
    let documents = Documents::collect(root, find).map_err(|error| problem(&error, at));
    left.into_iter().for_each(|message| loader.warning(at.problem(message)));
    documents
}

/// What a document imports: what a `resource` names, or what stands beside it in the registry or in its folder.
fn imported(
    Wanted { base, location }: Wanted<'_>,
    named: &NamedResources,
    loader: &Loader,
) -> Result<Option<Resource>, String> {
    if let Some((_, resource)) = named.iter().find(|(name, _)| name == location) {
        return Ok(Some(resource.clone()));
    }
    if location.contains("://") && !location.starts_with("file:") {
        return Ok(None);
    }
    if let Some(found) = loader.registry.beside(base, location)? {
        return Ok(Some(found));
    }
    let file = base.split_once(ENTRY).map_or(base, |(file, _)| file);
    let beside = Path::new(file).parent().map(|folder| folder.join(location));
    beside.and_then(|path| path.to_str().map(|path| loader.registry.find(path))).transpose().map(Option::flatten)
}

/// A document that was read while loading.
pub(crate) fn source(resource: &Resource) -> Result<Source, String> {
    let text = decode(resource.bytes.to_vec()).map_err(|message| format!("{}: {message}", resource.uri))?;
    Ok(Source { uri: resource.uri.to_string(), text })
}

/// What is wrong with a description, at its place in it, or else at `at`.
pub(crate) fn problem(error: &myelin_wsdl::Error, at: &Element) -> Problem {
    if error.line == 0 {
        return at.problem(error.to_string());
    }
    // A part of a file has its lines and columns.
    let file = error.document.split_once(ENTRY).map_or(error.document.as_str(), |(file, _)| file);
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let place = Place { file: file.into(), line: number(error.line), column: number(error.column) };
    Problem::new(place, error.kind.to_string())
}
