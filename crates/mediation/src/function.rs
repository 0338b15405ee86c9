//! Sequence templates: sequences with parameters, which `call-template` gives.

use std::sync::Arc;

use crate::expression::Expression;
use crate::property::{Slot, Value};
use crate::sequence::Sequence;

/// Which of the bus's sequence templates.
pub(crate) type FunctionId = usize;

/// A sequence template.
pub(crate) struct Function {
    pub(crate) parameters: Arc<[Parameter]>,
    pub(crate) sequence: Sequence,
}

/// A parameter as a template declares it.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) slot: Slot,
    pub(crate) is_mandatory: bool,
    /// What it is where nobody gives it.
    pub(crate) default: Option<Value>,
}

/// What a parameter was given.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    Value(Value),
    /// An expression over the message as it is when somebody reads the parameter: `{{…}}`.
    Later(Arc<Expression>),
}

/// The parameters of one call; flows that go on beside each other share them.
pub(crate) type Frame = Arc<[(Slot, Argument)]>;
