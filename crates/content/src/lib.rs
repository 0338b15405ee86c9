//! The forms of a body: XML, JSON, text, a form, parts, binary; how bytes become one, and one becomes bytes again.
//!
//! Pure: bytes in, bytes out. Nothing here knows an exchange, a protocol, or waits.

mod annotation;
mod build;
mod built_body;
mod charset;
pub mod coding;
mod convert;
mod elements;
mod enclosure;
mod form_data;
mod format;
mod fragment;
mod json;
pub mod memory;
mod mime;
mod output_form;
mod package;
mod path_results;
mod text;
mod tree;
mod unreadable;
mod utf8;
mod wrapped;

pub use annotation::Annotation;
pub use build::{build, build_bytes};
pub use built_body::{BuiltBody, Rendering, UnknownForm};
pub use charset::{Charset, Unencodable};
pub use convert::LONG_BYTES as CONVERSION_LONG_BYTES;
pub use elements::{CopyError, Elements};
pub use enclosure::Enclosure;
pub use format::{Content, ContentTypes, Format, charset, remove_charset, write_charset};
pub use fragment::{Fragment, Oversized, graft};
pub use json::{Json, is_json};
pub use mime::{is_parameter, split_parameters, without_parameter};
pub use output_form::OutputForm;
pub use text::{append_text, text_of};
pub use tree::Tree;
pub use unreadable::Unreadable;
pub use utf8::{into_utf8, utf8};
pub use wrapped::of_text as wrapped_text;
