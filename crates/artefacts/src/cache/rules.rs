//! What a cache is told about requests and answers, besides how much it keeps.

use crate::cache::identity::Generator;
use myelin_java_text::pattern::Pattern;

/// What requests are known by, which answers are kept, and how they are given again.
#[derive(Debug)]
pub(crate) struct Rules {
    pub generator: Generator,
    /// What their statuses match.
    pub statuses: Pattern,
    /// Whether `Cache-Control` and `ETag` are heeded.
    pub control: bool,
    /// Whether they say how old they are.
    pub age: bool,
}
