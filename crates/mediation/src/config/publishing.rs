//! What a proxy says about itself: `publishWSDL`, and the parameters that Axis2 heeds in describing a service.

use std::path::Path;
use std::sync::Arc;

use myelin_wsdl::{Documents, Form, Links, WSDL11, WSDL20, Wanted};

use super::element::{Element, Text};
use super::loader::Loader;
use super::problem::{Place, Problem};
use crate::description::{How, Interface, Origin, ProxyDescription, Remote, source};
use crate::endpoint::absolute;
use crate::stylesheet::{ENTRY, Resource};

/// What parameters of a proxy mean something here.
const PARAMETERS: [&str; 9] = [
    "useOriginalwsdl",
    "modifyUserWSDLPortAddress",
    "showAbsoluteSchemaURL",
    "showProxySchemaURL",
    "enablePublishWSDLSafeMode",
    "disableOperationValidation",
    "disableREST",
    "disableSOAP11",
    "disableSOAP12",
];

/// What `resource` elements name: locations, and what stands there.
type Named = Vec<(String, Resource)>;

/// Reads what a proxy says about itself; the second is whether it is offered over plain HTTP, and over HTTPS.
///
/// What cannot be read is a warning: messages do not need it, and whoever asks is told.
pub(super) fn describe(
    proxy: &Element,
    name: &Arc<str>,
    (http, https): (bool, bool),
    loader: &mut Loader,
) -> ProxyDescription {
    let is_on = |parameter| is_on(proxy, parameter).unwrap_or(false);
    let form = match (is_on("useOriginalwsdl"), self::is_on(proxy, "modifyUserWSDLPortAddress")) {
        (false, _) => Form::Own,
        (true, Some(false)) => Form::AsItCame,
        (true, _) => Form::Original,
    };
    let publish = proxy.child("publishWSDL");
    let preserved = publish.and_then(|publish| publish.attribute("preservePolicy"));
    let links = match is_on("showAbsoluteSchemaURL") || is_on("showProxySchemaURL") {
        true => Links::Absolute,
        false => Links::Relative,
    };
    let documentation = proxy.child("description").map(|description| description.text().value.to_owned());
    let how = How {
        name: Arc::clone(name),
        documentation: documentation.filter(|text| !text.is_empty()),
        form,
        links,
        keep_policies: preserved.map_or(form != Form::Own, |text| text.value.trim() == "true"),
        soap11: !is_on("disableSOAP11"),
        soap12: !is_on("disableSOAP12"),
        rest: !is_on("disableREST"),
        http,
        https,
    };
    let origin = match publish.map(|publish| loader.origin(publish, &how)) {
        None => Ok(Origin::Ready(Arc::new(Interface::unknown(&how)))),
        Some(Err(mut problem)) if is_on("enablePublishWSDLSafeMode") => {
            problem.message.push_str("; the proxy runs and describes itself as one that takes anything");
            loader.warning(problem);
            Ok(Origin::Ready(Arc::new(Interface::unknown(&how))))
        }
        Some(origin) => origin,
    };
    let origin = origin.unwrap_or_else(|mut problem| {
        // What stands behind the problem was not looked at.
        proxy.child("publishWSDL").into_iter().for_each(Element::forgive);
        problem.message.push_str("; the proxy runs, and ?wsdl is answered with 404");
        loader.warning(problem);
        Origin::Unreadable
    });
    ProxyDescription { how, origin, is_strict: !is_on("disableOperationValidation") }
}

/// Reads a parameter of a proxy: one that means nothing is warned of.
pub(super) fn parameter(element: &Element, loader: &mut Loader) {
    element.attribute("key");
    let name = element.attribute("name").map_or("", |name| name.value);
    if !PARAMETERS.contains(&name) {
        element.forgive();
        loader.warning(element.problem(format!("parameter {name:?} has no effect")));
    }
}

/// What a parameter says, where it stands; as Axis2 reads it.
fn is_on(proxy: &Element, name: &str) -> Option<bool> {
    let mut all = proxy.children.iter().filter(|child| child.is("parameter"));
    let found = all.find(|child| child.attribute("name").is_some_and(|it| it.value == name))?;
    Some(matches!(found.text().value.to_ascii_lowercase().as_str(), "true" | "yes" | "1"))
}

impl Loader {
    fn origin(&mut self, publish: &Element, how: &How) -> Result<Origin, Problem> {
        let named = self.named(publish)?;
        let ready = |documents: &Documents| match Interface::of(documents, how) {
            Ok(interface) => Ok(Origin::Ready(Arc::new(interface))),
            Err(error) => Err(problem(&error, publish)),
        };
        let inline = publish.children.iter().find(|child| !child.is("resource"));
        let [endpoint, key, uri] = ["endpoint", "key", "uri"].map(|name| publish.attribute(name));
        if let Some(name) = endpoint {
            return Ok(Origin::Remote(Remote::of_endpoint(self.endpoint_id(name)?, named)));
        }
        let root = match (key, uri, inline) {
            (Some(key), ..) => self.resource(key)?,
            (None, Some(uri), _) if uri.value.trim_start().starts_with("http") => {
                let uri = absolute(uri.value).map_err(|message| uri.problem(message))?;
                return Ok(Origin::Remote(Remote::of_uri(uri, named)));
            }
            (None, Some(uri), _) => self.file(uri)?,
            (None, None, Some(inline)) => self.inline(inline)?,
            (None, None, None) => {
                return Err(publish.problem("<publishWSDL> needs a key, a uri, an endpoint, or a description in it"));
            }
        };
        let documents = self.description(&root, &named, publish)?;
        ready(&documents)
    }

    /// The description that a `wsdl` endpoint names by a file, or that stands in it, with what it imports.
    ///
    /// Errors: a [`Problem`] at its place, or at the place in the description that is wrong.
    pub(crate) fn described(&mut self, kind: &Element) -> Result<Documents, Problem> {
        let inline = kind.children.iter().find(|child| !child.is_synapse());
        let root = match (kind.attribute("uri"), inline) {
            (Some(uri), _) => self.file(uri)?,
            (None, Some(inline)) => self.inline(inline)?,
            (None, None) => return Err(kind.problem("<wsdl> needs a uri, or a description in it")),
        };
        self.description(&root, &Vec::new(), kind)
    }

    /// A file that stands in the configuration's folder or above it, or in the registry.
    fn file(&self, uri: Text<'_>) -> Result<Resource, Problem> {
        let found = self.registry.find(uri.value.trim()).map_err(|message| uri.problem(message))?;
        found.ok_or_else(|| uri.problem(format!("there is no file {:?}", uri.value.trim())))
    }

    /// A description that stands in the configuration.
    fn inline(&self, element: &Element) -> Result<Resource, Problem> {
        if !matches!(element.namespace.as_deref(), Some(WSDL11 | WSDL20)) {
            return Err(element.problem(format!("{} is no description of WSDL 1.1 or 2.0", element.tag())));
        }
        let uri = format!("{}{ENTRY}{}:{}", element.place.file, element.place.line, element.place.column);
        Ok(Resource::new(&uri, element.standalone().into_bytes()))
    }

    /// The `resource` elements of a description.
    ///
    /// Errors: a [`Problem`] where one names nothing.
    fn named(&self, parent: &Element) -> Result<Named, Problem> {
        let all = parent.children.iter().filter(|child| child.is("resource"));
        let read = |it: &Element| Ok((it.required("location")?.value.to_owned(), self.resource(it.required("key")?)?));
        all.map(read).collect()
    }

    /// A description with everything it imports that is at hand: the rest stays as it stands, with a warning.
    ///
    /// Errors: a [`Problem`] at its place in the description, or else at `at`.
    fn description(&mut self, root: &Resource, named: &Named, at: &Element) -> Result<Documents, Problem> {
        let mut left = Vec::new();
        let find = |wanted: Wanted<'_>| match self.imported(wanted, named) {
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
        left.into_iter().for_each(|message| self.warning(at.problem(message)));
        documents
    }

    /// What a document imports: what a `resource` names, or what stands beside it in the registry or in its folder.
    fn imported(&self, Wanted { base, location }: Wanted<'_>, named: &Named) -> Result<Option<Resource>, String> {
        if let Some((_, resource)) = named.iter().find(|(name, _)| name == location) {
            return Ok(Some(resource.clone()));
        }
        if location.contains("://") && !location.starts_with("file:") {
            return Ok(None);
        }
        if let Some(found) = self.registry.beside(base, location)? {
            return Ok(Some(found));
        }
        let file = base.split_once(ENTRY).map_or(base, |(file, _)| file);
        let beside = Path::new(file).parent().map(|folder| folder.join(location));
        beside.and_then(|path| path.to_str().map(|path| self.registry.find(path))).transpose().map(Option::flatten)
    }
}

/// What is wrong with a description, at its place in it, or else at `at`.
fn problem(error: &myelin_wsdl::Error, at: &Element) -> Problem {
    if error.line == 0 {
        return at.problem(error.to_string());
    }
    // A part of a file has its lines and columns.
    let file = error.document.split_once(ENTRY).map_or(error.document.as_str(), |(file, _)| file);
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let place = Place { file: file.into(), line: number(error.line), column: number(error.column) };
    Problem { place, message: error.kind.to_string() }
}
