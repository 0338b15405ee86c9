//! What sequence templates declare, and what `call-template` gives them.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

pub use crate::definitions::SequenceTemplate;
pub use crate::ids::TemplateId;

use crate::property::{Slot, Value};

/// A parameter as a template declares it.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The slot of its name.
    pub slot: Slot,
    /// Whether it has to be given, unless it has a default.
    pub is_mandatory: bool,
    /// What it is where nobody gives it.
    pub default: Option<Value>,
}

impl Parameter {
    /// Whether a caller has to give it.
    pub fn is_required(&self) -> bool {
        self.is_mandatory && self.default.is_none()
    }
}

/// What a parameter was given.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A value.
    Value(Value),
    /// An expression over the message as it is when somebody reads the parameter: `{{…}}`.
    Deferred(Arc<dyn Deferred>),
}

/// A value that is worked out when somebody reads it: an expression.
pub trait Deferred: Any + fmt::Debug + Send + Sync {}

/// The parameters of one call; flows that go on beside each other share them.
pub type Frame = Arc<[(Slot, Argument)]>;
