//! JSON to XML and back, by the rules of WSO2's Synapse.
//!
//! [`to_xml`] reads a JSON text and writes XML in one pass; [`to_json`] writes an element of a tree as JSON, in one pass too.
//! Nothing recurses, and both stop at the bytes they may make.
//! Where the rules lose something that need not be lost, or would make what is not well-formed, they are mended: `docs/json.md` says each rule and each mending, `docs/compatibility.md` the differences.
//! Source: wso2-synapse `JsonUtil`, `JsonXMLStreamReader`, `JsonXMLStreamWriter`, `JsonReaderDelegate` and `XmlReaderDelegate`.

mod keys;
mod names;
mod primitive;
mod switches;
#[cfg(test)]
mod tests;
mod to_json;
mod to_xml;

pub use names::{decode as key_of_name, name_of_key};
pub use switches::Switches;
pub use to_json::to_json;
pub use to_xml::{Unconverted, to_document, to_xml};

/// The element that an object is at the top of a document, or where an object has no name.
pub(crate) const OBJECT: &str = "jsonObject";
/// The element that an array is at the top of a document, and one in an array.
pub(crate) const ARRAY: &str = "jsonArray";
/// The elements of such an array.
pub(crate) const ELEMENT: &str = "jsonElement";
/// The element that a text, number, `true`, `false` or `null` is at the top of a document; it holds the JSON text.
pub(crate) const VALUE: &str = "jsonValue";
/// The target of the processing instruction that says of which name the array is that begins here.
pub(crate) const MULTIPLE: &str = "xml-multiple";
