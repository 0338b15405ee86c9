//! What a tree is written as once it was changed: what its content type says, whatever it was changed as.

use std::sync::Arc;

use myelin_json::convert::Switches;
use myelin_soap::Envelope;
use myelin_xml::Document;

use super::convert::json_of;
use super::package::Package;
use super::{Unreadable, form_data, wrapped};

/// What a [`Tree`](super::Tree) is written as.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// The XML that it is.
    Xml,
    /// The JSON that its payload stands for.
    Json(Arc<Switches>),
    /// A form of the elements in its payload.
    Form,
    /// The same in parts, with that boundary.
    FormData(Arc<str>),
    /// What stands in the element of text.
    Text,
    /// What stands in the element of bytes.
    Binary,
    /// XML in one part of several.
    Package(Arc<Package>),
}

impl Way {
    /// Whether it is XML as it stands.
    pub(super) fn is_xml(&self) -> bool {
        matches!(self, Way::Xml)
    }

    /// The word between the parts of a document, and how many these are.
    pub(super) fn boundary(&self, document: &Document, envelope: Envelope) -> Option<(&str, usize)> {
        match self {
            Way::FormData(boundary) => Some((boundary, form_data::parts_of(document, envelope).count())),
            Way::Package(package) => Some(package.boundary()),
            _ => None,
        }
    }

    /// The bytes of a document; `xml` are those of it as XML, and `came` those that it was read from.
    ///
    /// Errors: where there is no such form of it.
    pub(super) fn write(
        &self,
        document: &Document,
        envelope: Envelope,
        came: &[u8],
        xml: impl FnOnce() -> Vec<u8>,
    ) -> Result<Vec<u8>, Unreadable> {
        Ok(match self {
            Way::Xml => xml(),
            Way::Json(switches) => json_of(document, envelope, switches)?,
            Way::Form => wrapped::form(document, envelope),
            Way::FormData(boundary) => form_data::write(document, envelope, boundary),
            Way::Text | Way::Binary => wrapped::text(document, envelope),
            Way::Package(package) => package.with(&xml(), came),
        })
    }
}
