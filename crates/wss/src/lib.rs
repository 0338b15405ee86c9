//! WS-Security 1.0 and 1.1: verifies what comes in and secures what goes out, as a policy says.
//!
//! Nothing here knows of HTTP, of Synapse or of waiting; the time and keys are given.

pub mod algorithm;
pub mod crypto;
mod error;
pub mod keys;
mod limits;
pub mod policy;
pub(crate) mod time;
pub mod vocabulary;

pub use error::{Error, FaultCode, Problem, Refusal, Rule};
pub use limits::Limits;
