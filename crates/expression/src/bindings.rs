//! What the variables and functions of an expression stand for.

use crate::functions::Function;
use crate::source::{Source, SourceScope};

/// What the variables and functions of one expression stand for, by their slots. The slots of message parts come first
/// and are the same in every expression.
#[derive(Debug, Default)]
pub struct Bindings {
    pub(super) sources: Vec<Source>,
    pub(super) functions: Vec<Function>,
}

impl Bindings {
    /// Whether it asks for parameters of a template.
    pub(super) fn ask_for_parameters(&self) -> bool {
        self.sources.iter().any(Source::is_parameter)
            || self.functions.iter().any(|function| matches!(function, Function::Property(SourceScope::Function)))
    }

    /// Those of an expression that asks nothing but the message.
    pub const NONE: Bindings = Bindings { sources: Vec::new(), functions: Vec::new() };
}
