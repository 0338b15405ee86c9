//! `myelin echo`: the backend that answers every request with the request's own body.
//!
//! It has to be cheaper than whatever stands in front of it: one receive and one send for a request that fits the
//! read buffer, and no copy of the body. Bodies up to a bound are read to their end before the answer begins, as
//! ordinary services do (nginx gives up on a request whose answer begins too early); larger ones are streamed back in
//! flat memory.

mod connection;
mod exchange;

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use crate::listening::{self, Handle};
use crate::units;
pub use connection::Options;
use connection::Shared;

/// The arguments of `myelin echo`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Where to listen; port 0 finds a free one
    #[arg(long, value_name = "ADDRESS", value_parser = units::address, default_value = "127.0.0.1:9000")]
    pub listen: SocketAddr,
    /// Hold every answer back so long
    #[arg(long, value_name = "DURATION", value_parser = units::duration, default_value = "0s")]
    pub delay: Duration,
    /// Threads to serve with
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub threads: usize,
    /// Read bodies up to this size whole before answering; larger ones are streamed back
    #[arg(long, value_name = "SIZE", value_parser = units::size, default_value = "2M")]
    pub hold: u64,
    /// Say who answered, by a line `X-Served-By: NAME` in the head of every answer
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub name: Option<String>,
}

/// A name that can stand in a header line.
fn name(text: &str) -> Result<String, String> {
    let is_token = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if is_token { Ok(text.to_owned()) } else { Err(format!("`{text}` is not letters, digits, `-`, `.` and `_`")) }
}

/// Starts the echo on threads of its own.
///
/// Errors: the address cannot be had, or a thread cannot start; the caller's.
pub fn start(address: SocketAddr, options: Options) -> anyhow::Result<Handle> {
    let threads = options.threads;
    let shared = move || Shared::new(options.clone());
    Ok(listening::start("echo", address, threads, shared, connection::serve)?)
}

/// Runs `myelin echo` until the process is ended.
///
/// Writes one line, `echo ready on ADDRESS`, when connections are accepted.
/// Errors: as [`start`], or `out` cannot be written.
pub fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let Arguments { listen, delay, threads, hold: hold_bytes, name } = arguments.clone();
    let handle = start(listen, Options { delay, threads, hold_bytes, name })?;
    writeln!(out, "echo ready on {}", handle.address)?;
    out.flush()?;
    handle.wait();
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests;
