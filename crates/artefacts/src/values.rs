//! Values in the configuration: fixed or computed for each message, and the types that they may be given.

mod configured;
mod value_type;

pub(crate) use configured::{ConfiguredValue, embedded_expression};
pub(crate) use value_type::ValueType;
