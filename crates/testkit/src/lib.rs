//! What the tests of the other crates stand on: raw clients, faulty backends, the case runner.
//!
//! [`cases`] runs golden folders through the real engine with a transport in memory;
//! [`unit_test`] runs the unit tests that WSO2's tools write, with pretended services;
//! [`faulty`] plays backends that stall, reset, lie about lengths or talk too early, each from a script;
//! [`raw`] is a client that sends exactly the bytes it is given;
//! [`wss4j`] is Apache WSS4J, which secures and verifies messages as others do, and [`rampart`] the bus that has it inside;
//! [`collector`] takes traces and logs by OTLP, and can be made to fail;
//! [`scripted`] is the transport of all tests in memory;
//! [`clock`] is time that passes only when everybody waits for it;
//! [`synapse`] is that bus without it, which says what a configuration means; [`service`] a backend that records;
//! [`port`] finds a port for a program that cannot choose one itself, or at which nobody listens;
//! [`eventually`] waits for what others do; [`processor_time`] measures without minding a busy machine; [`skip`] says visibly that a test did not run.
//! Nothing here is used while serving messages, and everything waits with a deadline.

mod archive;
pub mod cases;
pub mod clock;
pub mod collector;
mod eventually;
pub mod faulty;
mod gateway;
pub mod port;
mod processor_time;
pub mod rampart;
pub mod raw;
pub mod scripted;
pub mod service;
mod skip;
pub mod synapse;
mod target;
pub mod unit_test;
mod wire;
pub mod wss4j;

pub use archive::pack;
pub use eventually::eventually;
pub use processor_time::processor_time;
pub use skip::skip;
