//! From JSON to XML and back, by Synapse's rules: what XPath sees of JSON, and JSONPath of XML.

use myelin_json::convert::{self, Switches};
use myelin_soap::Envelope;
use myelin_xml::{Document, Options};

use crate::memory;
use crate::unreadable::Unreadable;

/// Bodies above this size are converted on another thread: others should not wait so long.
pub const LONG_BYTES: usize = 128 * 1024;

/// What a body may become by being converted: each element of an array repeats the name of it.
pub(super) const LIMIT_BYTES: usize = 64 << 20;

/// The XML that stands for JSON: `jsonObject` …
///
/// Errors: the sender's, where its JSON is deeper or larger than XML may be.
pub(super) fn document_of(json: &[u8], switches: &Switches) -> Result<Document, Unreadable> {
    let memory = (Vec::with_capacity(json.len() * 2), memory::take(json.len()));
    let (options, xml_options) = (myelin_json::Options::default(), Options::default());
    Ok(convert::to_document(json, switches, &options, &xml_options, LIMIT_BYTES, memory)?)
}

/// The JSON that stands for the payload of a message; nothing where there is none.
///
/// Errors: as [`document_of`].
pub(super) fn json_of(document: &Document, envelope: Envelope, switches: &Switches) -> Result<Vec<u8>, Unreadable> {
    let mut json = Vec::with_capacity(document.source().len());
    if let Some(payload) = envelope.payload(document) {
        convert::to_json(document, payload, switches, LIMIT_BYTES, &mut json)?;
    }
    Ok(json)
}
