//! WS-Security 1.0 and 1.1: verifies what comes in and secures what goes out, as a policy says.
//!
//! Nothing here knows of HTTP, of Synapse or of waiting; the time and keys are given.

pub mod algorithm;
pub mod binary;
pub mod crypto;
pub mod dsig;
pub mod enc;
mod error;
mod findings;
pub mod guard;
pub mod ids;
mod incoming;
pub mod keys;
mod limits;
mod memory;
mod outgoing;
pub mod policy;
mod replay;
#[cfg(test)]
mod samples;
mod side;
mod structure;
pub(crate) mod time;
mod token;
pub mod vocabulary;
mod writing;

pub use error::{Error, FaultCode, Problem, Refusal, Rule};
pub use findings::{Findings, Part, Place, Saml, Timestamp, User};
pub use guard::Guard;
pub use limits::Limits;
pub use replay::Replays;
