//! What is recorded of messages on their way, for those who ask why one went where it went.
//!
//! [`secrets`] masks what nobody is to read there; logs and answers of the management API go through it as well.

pub mod secrets;
