//! `myelin`: arguments in, exit status out.

use std::process::ExitCode;

use clap::Parser;
use myelin_server::Command;

/// A native enterprise service bus that runs Apache Synapse and WSO2 configurations.
#[derive(Parser)]
#[command(name = "myelin", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    Arguments::parse().command.run()
}
