//! How Myelin is measured: a load generator, the backend and the floor to measure against, and the statistics.
//!
//! The parts are commands of the binary `myelin` and a library for its tests and for `cargo xtask bench`:
//! - [`load`] drives an HTTP service, checks every answer and reports rates, latencies and the CPU of its processes;
//! - [`echo`] is the backend that returns what it is sent;
//! - [`stockquote`] is the backend with operations: SimpleStockQuoteService, as the samples of Apache Synapse have it;
//! - [`relay`] copies bytes between two TCP connections and does nothing else: the least a bus can cost;
//! - [`comparison`] lets Myelin and other servers take turns at the same work, and writes [`results`];
//! - [`report`] makes pages, tables and comparisons of folders of [`results`];
//! - [`security`] gives a policy the keys that files hold, and makes some to try it with;
//! - [`suite`] is what the services of WSO2's performance suite are sent, and must answer;
//! - [`convert`] makes results of what other load generators wrote;
//! - [`canonical`], [`payload`], [`procfs`], [`statistics`] and [`units`] are what these stand on.
//!
//! Nothing here knows the bus: it is measured from outside, as any other server is.

pub mod canonical;
mod command;
pub mod comparison;
pub mod convert;
mod deadlines;
pub mod echo;
mod framing;
mod interrupt;
mod listening;
pub mod load;

pub mod payload;
pub mod procfs;
pub mod relay;
pub mod report;
mod request;
pub mod results;
pub mod security;
pub mod statistics;
pub mod stockquote;
pub mod suite;
pub mod units;

pub use command::Command;
pub use listening::Handle;
