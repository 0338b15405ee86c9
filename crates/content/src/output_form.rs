//! What a changed tree is written as: what its content type says, whatever it was worked on as.

use std::sync::Arc;

use myelin_json::convert::Switches;
use myelin_soap::Envelope;
use myelin_xml::Document;

use crate::convert::json_of;
use crate::package::Package;
use crate::unreadable::Unreadable;
use crate::{form_data, wrapped};

/// What a [`Tree`](crate::Tree) is written as.
#[derive(Clone, Debug)]
pub enum OutputForm {
    /// XML.
    Xml,
    /// The JSON that its payload converts to.
    Json(Arc<Switches>),
    /// A form with a field for each element in its payload.
    Form,
    /// A form in parts, with that boundary.
    FormData(Arc<str>),
    /// The text in the element that stands for text.
    Text,
    /// The bytes in the element that stands for bytes, in Base64.
    Binary,
    /// A package, in which the XML is one part.
    Package(Arc<Package>),
}

impl OutputForm {
    /// Whether it is XML as it stands.
    pub fn is_xml(&self) -> bool {
        matches!(self, OutputForm::Xml)
    }

    /// The word between the parts of a document, and how many these are.
    pub(super) fn boundary(&self, document: &Document, envelope: Envelope) -> Option<(&str, usize)> {
        match self {
            OutputForm::FormData(boundary) => Some((boundary, form_data::parts_of(document, envelope).count())),
            OutputForm::Package(package) => Some(package.boundary()),
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
            OutputForm::Xml => xml(),
            OutputForm::Json(switches) => json_of(document, envelope, switches)?,
            OutputForm::Form => wrapped::form(document, envelope),
            OutputForm::FormData(boundary) => form_data::write(document, envelope, boundary),
            OutputForm::Text | OutputForm::Binary => wrapped::text(document, envelope),
            OutputForm::Package(package) => package.with(&xml(), came),
        })
    }
}
