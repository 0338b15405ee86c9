//! What is recorded of messages on their way, for those who ask why one went where it went.
//!
//! [`messages`] records chosen exchanges step by step; [`steps`] counts what comes to each step while somebody looks;
//! [`secrets`] masks what nobody is to read there.

pub mod messages;
pub mod secrets;
pub mod steps;
