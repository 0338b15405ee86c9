//! A bus that serves over real sockets, before backends that are faulty or healthy.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

#[path = "../support/mod.rs"]
mod support;

mod admin;
mod balance;
mod caching;
mod canary;
mod codings;
mod descriptions;
mod early;
mod failures;
mod faults;
mod files;
mod inbound;
mod isolation;
mod local;
mod logs;
mod looking;
mod management;
mod monitors;
mod operating;
mod prometheus;
mod rampart;
mod relay;
mod reload;
mod routing;
mod security;
mod smuggling;
#[cfg(feature = "sql")]
mod sql;
mod telemetry;
mod tls;
mod two_channels;
