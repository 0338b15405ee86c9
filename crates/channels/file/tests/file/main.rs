//! The file channel as the bus uses it: real folders, a clock that passes when all wait.

#![expect(clippy::unwrap_used, reason = "what goes wrong in a test ends it")]

mod actions;
mod body;
mod common;
mod polling;
mod processes;
mod sending;
mod settings;
