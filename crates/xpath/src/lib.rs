//! XPath: expressions are compiled once and run many times, over the tree or over the parser's events.
//!
//! XPath 1.0 is complete. Of 2.0 and later there is what configurations and stylesheets use; a host says by
//! [`Version`] by which rules an expression runs, and in either case may write what the later versions added.

mod analysis;
mod arithmetic;
pub mod ast;
mod collation;
mod compare;
mod comparisons;
mod context;
mod environment;
mod error;
mod evaluate;
mod expression;
mod function;
mod functions;
mod lexer;
mod names;
mod node_test;
mod parser;
mod pattern;
mod run;
pub mod stream;
pub mod types;
mod value;

pub use collation::Collation;
pub use comparisons::{ConditionPart, Side};
pub use context::{Context, Host, Limits, Meter, NoHost, SharedContext, Start};
pub use environment::{Argument, Declared, Environment, Version};
pub use error::{Error, SyntaxError};
pub use expression::Expression;
pub use function::{Function, Library, Returns};
pub use names::NameTable;
pub use pattern::{Pattern, Segment, Segments};
pub use value::{
    Array, Atomic, Closure, Decimal, Distinct, Duration, FunctionItem, Item, List, Map, Moment, Node, NodeRef, QName,
    Value,
};
