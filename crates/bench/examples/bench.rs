//! The commands of this crate as a program of their own, to measure with before, or without, the bus:
//! `cargo run --release -p myelin-bench --example bench -- echo --listen 127.0.0.1:9000`.

use std::io::stdout;
use std::process::ExitCode;

use clap::Parser;
use myelin_bench::{echo, load, relay};

#[derive(Parser)]
#[command(version)]
enum Command {
    /// Drive an HTTP service and check every answer
    Load(Box<load::Arguments>),
    /// Answer every request with its own body
    Echo(echo::Arguments),
    /// Compare servers on this machine
    #[command(subcommand)]
    Bench(myelin_bench::Command),
    /// Copy bytes between two TCP connections
    Relay(relay::Arguments),
}

fn main() -> anyhow::Result<ExitCode> {
    let mut out = stdout();
    match Command::parse() {
        Command::Load(arguments) => load::run(&arguments, &mut out),
        Command::Echo(arguments) => echo::run(&arguments, &mut out),
        Command::Bench(command) => command.run(&mut out),
        Command::Relay(arguments) => relay::run(&arguments, &mut out),
    }
}
