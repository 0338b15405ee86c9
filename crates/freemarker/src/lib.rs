//! FreeMarker: a template is compiled once and run many times, over data that the caller shows it.
//!
//! What is offered is the language as of FreeMarker 2.3.30 without anything that reaches outside of the template:
//! no files, no classes, no settings of a server. What is missing is refused while compiling, with its place.
//! A run is a pure function of its data, stops within its [`Limits`], and recurses on nothing without a bound.

mod builtin;
mod builtins;
mod decimal;
mod error;
mod escape;
mod formats;
mod json;
mod machine;
mod moment;
mod names;
mod parse;
mod pattern;
mod run;
mod scan;
mod stack;
mod syntax;
mod template;
mod value;
mod xml;

pub use decimal::Decimal;
pub use error::{Error, ErrorKind, Place};
pub use escape::Format;
pub use json::Json;
pub use machine::{Limits, Options};
pub use moment::{Moment, Part};
pub use syntax::Template;
pub use value::{Hash, List, Member, Members, Object, Range, Text, Value};
pub use xml::Xml;
