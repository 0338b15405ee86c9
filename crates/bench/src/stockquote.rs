//! `myelin stockquote`: SimpleStockQuoteService, the backend of the samples of Apache Synapse and of the first public
//! rounds.
//!
//! It stands at `/services/SimpleStockQuoteService` and knows `getQuote`, `getSimpleQuote`, `getFullQuote`,
//! `getMarketActivity` and `placeOrder`:
//! - in SOAP 1.1 and 1.2, and as plain XML without an envelope; what comes without one is answered without one;
//! - as `…/OPERATION?symbol=IBM` by GET, or by POST with a form; `symbols` repeats for `getMarketActivity`, and
//!   `placeOrder` also takes `quantity` and `price`;
//! - `…?wsdl` describes it;
//! - all of that behind the names of the endpoints in Apache's description, too, such as
//!   `/services/SimpleStockQuoteService.SimpleStockQuoteServiceHttpSoap11Endpoint`.
//!
//! `placeOrder` is answered 202 and has no body; the symbol `ERR` is refused with a fault, as in the original.
//! Answers are in the namespaces of the request: that of the operation (`http://services.samples`, or
//! `http://services.samples/xsd` as in the oldest samples) for it and for `return`, and that of the request's symbol for
//! what is in `return`. So clients of Synapse, which has one namespace, and of WSO2, which has both, are understood alike.
//!
//! With a seed, a quote depends on the seed and the symbol alone, its time stamp included, so that an answer can be
//! compared byte for byte. Without one, the price of a symbol begins somewhere, and walks at random with every quote.

mod arguments;
mod connection;
mod fault;
mod market;
mod reply;
mod service;
mod writing;

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;

use connection::Shared;
use market::Market;
use myelin_soap::Version;
pub use service::PATH;
use service::{Call, Service};

use crate::deadlines::Deadlines;
use crate::listening::{self, Handle};

/// How the service behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Makes quotes depend on this and the symbol alone.
    pub seed: Option<u64>,
    /// Threads, each with its own listener on the same port.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { seed: None, threads: 1 }
    }
}

/// The arguments of `myelin stockquote`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Where to listen; port 0 finds a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9000")]
    pub listen: SocketAddr,
    /// Give the same quote for a symbol each time; another number gives others
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Threads to serve with
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub threads: usize,
}

/// Starts the service on threads of its own.
///
/// Errors: the address cannot be had, or a thread cannot start; the caller's.
pub fn start(address: SocketAddr, options: &Options) -> anyhow::Result<Handle> {
    let seed = options.seed;
    let shared = move || Shared { service: Service::new(Market::new(seed)), deadlines: Deadlines::default() };
    Ok(listening::start("stockquote", address, options.threads, shared, connection::serve)?)
}

/// The body that a service with this seed answers to a SOAP 1.1 request.
pub fn answer(seed: u64, request: &str) -> String {
    let media_type = Version::Soap11.media_type();
    let call = Call { method: "POST", target: PATH, host: "", media_type, body: request.as_bytes().to_vec() };
    Service::new(Market::new(Some(seed))).answer(call).body
}

/// Runs `myelin stockquote` until the process is ended.
///
/// Writes one line, `stockquote ready on http://ADDRESS/services/SimpleStockQuoteService`, when connections are accepted.
/// Errors: as [`start`], or `out` cannot be written.
pub fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let handle = start(arguments.listen, &Options { seed: arguments.seed, threads: arguments.threads })?;
    writeln!(out, "stockquote ready on http://{}{PATH}", handle.address)?;
    out.flush()?;
    handle.wait();
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests;
