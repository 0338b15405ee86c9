//! Schemas that `<validate>` checks messages by: W3C XML Schema and JSON Schema.
//!
//! What does the checking stands behind [`Schema`], so that nobody else knows whose it is.

mod build;
mod gathering;
mod json;
mod xml;

pub(crate) use gathering::{File, Gathering, Schemas, Source};
pub(crate) use xml::NAMESPACE;

use crate::schemas::json::JsonSchema;
use crate::schemas::xml::{Part, XmlSchema};

/// Something that a document is checked by, on any thread.
pub trait Schema: Send + Sync {
    /// What is wrong with a document, in its order; nothing where it is valid.
    ///
    /// Errors: a sentence, where it cannot be checked at all.
    fn check(&self, text: &str) -> Result<Vec<Complaint>, String>;

    /// How long a text may be, in bytes, that is checked within a millisecond or so, whatever it says.
    fn prompt_bytes(&self) -> usize;
}

/// One thing that is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong.
    pub message: String,
    /// Where in the document, as far as it is known.
    pub place: String,
}
