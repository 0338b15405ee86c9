//! What a proxy says about itself: `?wsdl` and its kin, and which operations it knows.
//!
//! What stands in files is read while the configuration is loaded, and the pages are made then; a description that
//! another server holds is fetched when it is first asked for, and kept.

mod answer;
mod operation;
mod query;

use std::sync::Arc;

use http::Uri;
use myelin_wsdl::{Description, Documents, Form, Links, Options, Published, publish};

pub use answer::answer;
pub use operation::find_operation;
pub use query::MetadataQuery;

use crate::descriptions::RemoteDescription;
use crate::endpoints::EndpointRef;
use crate::loader::EndpointId;
use myelin_flow::definitions::Definitions;

/// What a proxy says about itself.
pub struct ProxyDescription {
    pub(crate) options: PublishingOptions,
    pub(crate) source: DescriptionSource,
    /// Whether SOAP requests that mean no operation of the description are refused.
    pub(crate) is_strict: bool,
}

/// Where a description comes from.
pub(crate) enum DescriptionSource {
    /// It was read, or the proxy publishes none and any operation will do.
    Ready(Arc<PublishedDescription>),
    /// Another server holds it.
    Remote(DescriptionLocation, RemoteDescription<PublishedDescription>),
    /// It could not be read when the configuration was loaded.
    Unreadable,
}

/// Where another server has a description.
pub(crate) enum DescriptionLocation {
    Uri(Uri),
    /// Where an endpoint of the configuration has its own.
    Endpoint(EndpointId),
}

impl DescriptionLocation {
    /// The URI; `None` where the endpoint has no fixed address.
    fn uri(&self, definitions: &Definitions) -> Option<Uri> {
        match self {
            DescriptionLocation::Uri(uri) => Some(uri.clone()),
            DescriptionLocation::Endpoint(id) => EndpointRef::Named(*id).find(definitions)?.description_uri(),
        }
    }
}

/// How a proxy publishes its description.
#[derive(Clone, Debug)]
pub(crate) struct PublishingOptions {
    pub(crate) name: Arc<str>,
    pub(crate) documentation: Option<String>,
    pub(crate) form: Form,
    pub(crate) links: Links,
    pub(crate) keep_policies: bool,
    pub(crate) soap11: bool,
    pub(crate) soap12: bool,
    pub(crate) rest: bool,
    pub(crate) http: bool,
    pub(crate) https: bool,
}

/// A description with the pages that were made of it.
pub(crate) struct PublishedDescription {
    pub(crate) described: Description,
    pub(crate) published: Published,
    /// Whether it was read, and not made up.
    pub(crate) is_real: bool,
}

impl ProxyDescription {
    /// Whether it tells the operations of the proxy.
    pub fn has_operations(&self) -> bool {
        self.published().is_some()
    }

    /// The description that tells operations: one that was read while loading.
    ///
    /// What another server holds counts for none: messages do not wait for it, and nothing may hang on whether somebody
    /// has asked for it before.
    pub(crate) fn published(&self) -> Option<&Arc<PublishedDescription>> {
        match &self.source {
            DescriptionSource::Ready(description) => Some(description).filter(|description| description.is_real),
            DescriptionSource::Remote(..) | DescriptionSource::Unreadable => None,
        }
    }
}

impl PublishedDescription {
    /// Makes the pages of a proxy from the documents of a description.
    ///
    /// Errors: what is wrong with the description.
    pub(crate) fn of(
        documents: &Documents,
        options: &PublishingOptions,
    ) -> Result<PublishedDescription, myelin_wsdl::Error> {
        let described = Description::read(documents)?;
        let published = publish(Some(documents), &described, &options.for_pages());
        Ok(PublishedDescription { described, published, is_real: true })
    }

    /// The pages of a proxy of which nothing is known.
    pub(crate) fn unknown(options: &PublishingOptions) -> PublishedDescription {
        let described = Description::unknown(myelin_flow::reference::ANY_OPERATION);
        let published = publish(None, &described, &options.for_pages());
        PublishedDescription { described, published, is_real: false }
    }
}

impl PublishingOptions {
    fn for_pages(&self) -> Options<'_> {
        Options {
            service: &self.name,
            documentation: self.documentation.as_deref(),
            form: self.form,
            links: self.links,
            keep_policies: self.keep_policies,
            soap11: self.soap11,
            soap12: self.soap12,
            http: self.rest,
            plain: self.http,
            secure: self.https,
        }
    }
}
