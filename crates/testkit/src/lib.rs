//! What the tests of the other crates stand on: raw clients, rude backends, the case runner.
//!
//! [`cases`] runs golden folders through the real engine with a transport in memory;
//! [`unit_test`] runs the unit tests that WSO2's tools write, with pretended services;
//! [`rude`] plays backends that stall, reset, lie about lengths or talk too early, each from a script;
//! [`raw`] is a client that sends exactly the bytes it is given;
//! [`wss4j`] is Apache WSS4J, which secures and verifies messages as others do, and [`rampart`] the bus that has it inside;
//! [`clock`] is time that passes only when everybody waits for it;
//! [`synapse`] is that bus without it, which says what a configuration means; [`service`] a backend that records;
//! [`port`] finds a port for a program that cannot choose one itself, or at which nobody listens;
//! [`skip`] says visibly that a test did not run.
//! Nothing here is used while serving messages, and everything waits with a deadline.

pub mod cases;
pub mod clock;
mod gateway;
pub mod port;
pub mod rampart;
pub mod raw;
pub mod rude;
pub mod service;
mod skip;
pub mod synapse;
mod target;
pub mod unit_test;
mod wire;
pub mod wss4j;

pub use skip::skip;
