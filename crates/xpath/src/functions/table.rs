//! Tables.
use super::{Function, Library, Returns};

const fn new(name: &'static str, least: u8, most: u8, returns: Returns) -> Function {
    Function { name, library: Library::Core, least, most, defaults_to_context: false, returns }
}
const fn ctx(name: &'static str, least: u8, most: u8, returns: Returns) -> Function {
    Function { name, library: Library::Core, least, most, defaults_to_context: true, returns }
}

pub(super) const ALL: [&[Function]; 2] = [&STRINGS, &REST];
use Returns::{Any, Boolean, Nodes, Number, Text};
pub(super) const STRINGS: [Function; 12] = [
    new("concat", 2, 255, Text),
    ctx("string", 0, 1, Text),
    new("contains", 2, 3, Boolean),
    new("starts-with", 2, 3, Boolean),
    new("ends-with", 2, 3, Boolean),
    new("substring-before", 2, 3, Text),
    new("substring-after", 2, 3, Text),
    new("substring", 2, 3, Text),
    ctx("string-length", 0, 1, Number),
    ctx("normalize-space", 0, 1, Text),
    new("translate", 3, 3, Text),
    new("upper-case", 1, 1, Text),
];
const REST: [Function; 21] = [
    new("lower-case", 1, 1, Text),
    new("position", 0, 0, Number),
    new("last", 0, 0, Number),
    new("count", 1, 1, Number),
    new("not", 1, 1, Boolean),
    new("true", 0, 0, Boolean),
    new("false", 0, 0, Boolean),
    new("boolean", 1, 1, Boolean),
    new("exists", 1, 1, Boolean),
    new("empty", 1, 1, Boolean),
    ctx("number", 0, 1, Number),
    ctx("name", 0, 1, Text),
    ctx("local-name", 0, 1, Text),
    ctx("namespace-uri", 0, 1, Text),
    ctx("lang", 1, 2, Boolean),
    ctx("id", 1, 2, Nodes),
    new("sum", 1, 2, Number),
    new("floor", 1, 1, Number),
    new("ceiling", 1, 1, Number),
    new("round", 1, 2, Number),
    new("tokenize", 1, 3, Any),
];
