//! What a proxy says about itself: `publishWSDL`, and the parameters that Axis2 heeds in describing a service.

use std::sync::Arc;

use myelin_wsdl::{Form, Links};

use crate::descriptions::{self, RemoteDescription};
use crate::endpoints::absolute;
use crate::inbound::Unread;
use crate::loader::Loader;
use crate::proxies::description::{
    DescriptionLocation, DescriptionSource, ProxyDescription, PublishedDescription, PublishingOptions,
};
use myelin_config::element::Element;
use myelin_config::problem::Problem;

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
    let options = PublishingOptions {
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
    let source = match publish.map(|publish| description_source(publish, &options, loader)) {
        None => Ok(DescriptionSource::Ready(Arc::new(PublishedDescription::unknown(&options)))),
        Some(Err(mut problem)) if is_on("enablePublishWSDLSafeMode") => {
            problem.message.push_str("; the proxy runs and describes itself as one that takes anything");
            loader.warning(problem);
            Ok(DescriptionSource::Ready(Arc::new(PublishedDescription::unknown(&options))))
        }
        Some(source) => source,
    };
    let source = source.unwrap_or_else(|mut problem| {
        // What stands behind the problem was not looked at.
        proxy.child("publishWSDL").into_iter().for_each(Element::forgive);
        problem.message.push_str("; the proxy runs, and ?wsdl is answered with 404");
        loader.warning(problem);
        DescriptionSource::Unreadable
    });
    ProxyDescription { options, source, is_strict: !is_on("disableOperationValidation") }
}

/// Reads a parameter of a proxy, which no channel has read where it is `unread`: one that means nothing is warned of.
pub(super) fn parameter(element: &Element, unread: Option<&Unread<'_>>, loader: &mut Loader) {
    element.attribute("key");
    let name = element.attribute("name").map_or("", |name| name.value);
    if let Some(unread) = unread.filter(|_| !PARAMETERS.contains(&name)) {
        unread.tell("", loader);
    }
}

/// What a parameter says, where it stands; as Axis2 reads it.
fn is_on(proxy: &Element, name: &str) -> Option<bool> {
    let mut all = proxy.children.iter().filter(|child| child.is("parameter"));
    let found = all.find(|child| child.attribute("name").is_some_and(|it| it.value == name))?;
    Some(matches!(found.text().value.to_ascii_lowercase().as_str(), "true" | "yes" | "1"))
}

/// Where the description comes from that a `<publishWSDL>` means.
///
/// Errors: a [`Problem`] where it cannot be read, at its place in the description where that is known.
fn description_source(
    publish: &Element,
    options: &PublishingOptions,
    loader: &mut Loader,
) -> Result<DescriptionSource, Problem> {
    let named = descriptions::named_resources(publish, loader)?;
    let remote = |location| DescriptionSource::Remote(location, RemoteDescription::new(named.clone()));
    let inline = publish.children.iter().find(|child| !child.is("resource"));
    let [endpoint, key, uri] = ["endpoint", "key", "uri"].map(|name| publish.attribute(name));
    if let Some(name) = endpoint {
        return Ok(remote(DescriptionLocation::Endpoint(loader.endpoint_id(name)?)));
    }
    let root = match (key, uri, inline) {
        (Some(key), ..) => loader.resource(key)?,
        (None, Some(uri), _) if uri.value.trim_start().starts_with("http") => {
            let uri = absolute(uri.value).map_err(|message| uri.problem(message))?;
            return Ok(remote(DescriptionLocation::Uri(uri)));
        }
        (None, Some(uri), _) => descriptions::file(uri, loader)?,
        (None, None, Some(inline)) => descriptions::inline(inline)?,
        (None, None, None) => {
            return Err(publish.lacks("<publishWSDL> needs a key, a uri, an endpoint, or a description in it"));
        }
    };
    let documents = descriptions::read(&root, &named, publish, loader)?;
    match PublishedDescription::of(&documents, options) {
        Ok(description) => Ok(DescriptionSource::Ready(Arc::new(description))),
        Err(error) => Err(descriptions::problem(&error, publish)),
    }
}
