//! Placeholders in XML, JSON and text: what stands around each, and how a value is written so that it stays in its place.

mod context;
mod convert;
mod value;

pub(crate) use context::{ContextTracker, PlaceholderContext, TextFormat};
pub(crate) use convert::{json_as_xml, markup, xml_as_json};
pub(crate) use value::{escape_xml, write_text, write_value};
