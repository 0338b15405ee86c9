//! `myelin load`: drives an HTTP service and checks every answer.
//!
//! It shares the machine with what it measures, so it has to be cheap: its own HTTP/1.1 client on bare sockets, one
//! task per connection on single-threaded runtimes, one read buffer per thread, the request built once for all
//! connections, one coarse sweep for all deadlines.
//! A failure never ends a run: it is counted by its kind, and the connection is opened anew.

mod agents;
mod alike;
mod answer;
mod arguments;
mod client;
mod connection;
mod counters;
mod crew;
mod description;
mod failure;
mod histogram;
mod interval_log;
mod mix;
mod outcome;
mod plan;
mod report;
mod request;
mod schedule;
mod secured;
mod stream;
mod target;
mod template;
mod tickets;
mod worker;

#[cfg(test)]
mod tests;

pub use arguments::{Arguments, run};
pub use client::Client;
pub use failure::Failure;
pub(crate) use outcome::histogram as latencies;
pub use outcome::{FailureCount, Latency, Outcome, ProcessCost, RequestOutcome};
pub use plan::{Plan, Progress, Verify};
pub use report::Format;
pub use request::{Request, ThinkTime};
pub use schedule::Ramp;
pub(crate) use stream::connect;
pub use target::Target;
