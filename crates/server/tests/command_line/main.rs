//! The binary as its users have it: what its commands print, how they end, and how a process behaves that serves.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

#[path = "../support/mod.rs"]
mod support;

mod commands;
mod home;
mod pages;
mod process;
mod traces;
mod users;
