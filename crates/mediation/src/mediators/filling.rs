//! Texts with holes: what a hole stands in, and how a value is written so that it stays in its place.

mod convert;
mod surroundings;
mod value;

pub(super) use convert::{json_as_xml, markup, xml_as_json};
pub(super) use surroundings::{Around, Language, Surroundings};
pub(super) use value::{escape_xml, write_text, write_value};
