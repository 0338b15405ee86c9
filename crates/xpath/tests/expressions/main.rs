//! Expressions from text to value: on trees, and on the parser's events.

mod common;
mod functions;
mod later;
mod limits;
mod recommendation;
mod stream;
mod values;
