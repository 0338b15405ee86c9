//! WS-Security 1.0 and 1.1: verifies what comes in and secures what goes out, as a policy says.
//!
//! Nothing here knows of HTTP, of Synapse or of waiting; the time and keys are given.

pub mod algorithm;
pub mod policy;
pub mod vocabulary;
