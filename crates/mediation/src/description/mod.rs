//! What a proxy says about itself: `?wsdl` and its kin, and which operations it knows.
//!
//! What stands in files is read while the configuration is loaded, and the pages are made then; a description that
//! another server holds is fetched when it is first asked for, and kept.

mod addresses;
mod answer;
mod fetch;
mod operation;
mod question;

use std::sync::Arc;

use myelin_wsdl::{Description, Documents, Form, Links, Options, Published, publish};

pub use addresses::PublicAddresses;
pub(crate) use answer::answer;
pub(crate) use fetch::{Remote, source};
pub(crate) use operation::{Chosen, choose};
pub(crate) use question::Question;

/// The operation of a proxy that publishes no description.
///
/// Source: Synapse's `SynapseConstants.SYNAPSE_OPERATION_NAME`.
pub(crate) const ANY_OPERATION: &str = "mediate";

/// What a proxy says about itself.
pub(crate) struct ProxyDescription {
    pub(crate) how: How,
    pub(crate) origin: Origin,
    /// Whether SOAP requests that mean no operation of the description are refused.
    pub(crate) is_strict: bool,
}

/// Where a description comes from.
pub(crate) enum Origin {
    /// It was read, or the proxy publishes none and any operation will do.
    Ready(Arc<Interface>),
    /// Another server holds it.
    Remote(Remote<Interface>),
    /// It could not be read when the configuration was loaded.
    Unreadable,
}

/// How a proxy describes itself.
#[derive(Clone, Debug)]
pub(crate) struct How {
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
pub(crate) struct Interface {
    pub(crate) described: Description,
    pub(crate) published: Published,
    /// Whether it was read, and not made up.
    pub(crate) is_real: bool,
}

impl ProxyDescription {
    /// The description that tells operations: one that was read while loading.
    ///
    /// What another server holds counts for none: messages do not wait for it, and nothing may hang on whether somebody
    /// has asked for it before.
    pub(crate) fn interface(&self) -> Option<&Arc<Interface>> {
        match &self.origin {
            Origin::Ready(interface) => Some(interface).filter(|interface| interface.is_real),
            Origin::Remote(_) | Origin::Unreadable => None,
        }
    }
}

impl Interface {
    /// Makes the pages of a proxy from the documents of a description.
    ///
    /// Errors: what is wrong with the description.
    pub(crate) fn of(documents: &Documents, how: &How) -> Result<Interface, myelin_wsdl::Error> {
        let described = Description::read(documents)?;
        let published = publish(Some(documents), &described, &how.options());
        Ok(Interface { described, published, is_real: true })
    }

    /// The pages of a proxy of which nothing is known.
    pub(crate) fn unknown(how: &How) -> Interface {
        let described = Description::unknown(ANY_OPERATION);
        let published = publish(None, &described, &how.options());
        Interface { described, published, is_real: false }
    }
}

impl How {
    fn options(&self) -> Options<'_> {
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
