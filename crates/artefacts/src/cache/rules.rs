//! The rules of a cache for requests and answers; its size is not among them.

use crate::cache::identity::Generator;
use myelin_java_text::pattern::Pattern;

/// How requests get their keys, which answers are kept, and how they are given again.
#[derive(Debug)]
pub(crate) struct Rules {
    pub generator: Generator,
    /// The pattern of statuses whose answers are kept.
    pub statuses: Pattern,
    /// Whether `Cache-Control` and `ETag` are heeded.
    pub control: bool,
    /// Whether they say how old they are.
    pub age: bool,
}
