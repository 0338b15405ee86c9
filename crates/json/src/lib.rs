//! JSON in pieces ([`Reader`]), as a tree over its text ([`Value`]), and Jayway's JSONPath on both ([`Path`], [`Plan`]).
//!
//! [`convert`] makes XML of it and JSON of XML as WSO2's Synapse does.
//! Everything is a pure function of its input: no HTTP, no clock, and of Synapse only those rules.
//! Nothing recurses on what came from outside, and everything that can grow has a limit with an error of its own.

pub mod convert;
pub mod error;
pub mod path;
#[cfg(test)]
mod processor_time;
pub mod reader;
pub mod stream;
pub mod text;
pub mod value;
mod words;

pub use error::{Error, Limit, Place};
pub use path::{Duplicates, Match, Path, Rules};
pub use reader::{Event, Kind, Options, Reader, Step};
pub use stream::{Answer, Found, Plan, Progress, Run};
pub use value::{New, NodeId, Type, Value};
