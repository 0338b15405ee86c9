//! XSLT: a stylesheet is compiled once and run many times, straight into a byte buffer.
//!
//! XSLT 1.0 is complete, with EXSLT; of 2.0 and 3.0 there is what stylesheets use, and what is missing is a
//! [`Problem`] that names the instruction and its line.
//! A stylesheet reads nothing but what its [`Resolver`] gives it, and stops within its [`Limits`].

mod associated;
mod compile;
mod error;
mod explain;
mod functions;
mod library;
mod name;
mod numbering;
mod options;
mod output;
mod pattern;
mod place;
mod program;
mod resolver;
mod run;
mod scope;
mod stack;
mod stream;
mod stylesheet;
mod transformation;

pub use associated::associated_stylesheet;
pub use error::{Error, Problem};
pub use library::{Library, LibraryCalls, LibraryScope, LibraryStore};
pub use options::{Form, Limits, Message, Options, Outcome, Parameter, ParameterValue, ResultDocument};
pub use output::{Charset, Method, Normalization, OutputProperties, Standalone};
pub use place::Place;
pub use resolver::{NoResolver, Resolver, Resource, Wanted};
pub use stylesheet::{Memory, Stylesheet};
