//! What is recorded of messages on their way, for those who ask why one went where it went.
//!
//! [`messages`] records chosen exchanges step by step; [`secrets`] masks what nobody is to read there.

pub mod messages;
pub mod secrets;
