//! `cargo xtask`: what developers and CI run, in plain Rust.

#![expect(clippy::print_stdout, reason = "a command that people run speaks on standard output")]

mod bench;
mod ci;
mod conformance;
mod dist;
mod docs;
mod fuzz;
mod layers;
mod lexicon;
mod packages;
mod process;
mod setup;
mod sheets;
mod test;
#[cfg(test)]
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Builds, tests and checks Myelin.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Everything CI runs: format, lints, documentation, licences, fuzz targets, the demo, tests.
    Ci(ci::Arguments),
    /// All tests, with a closing list of what was skipped and why.
    Test(test::Arguments),
    /// Writes the pages that are made from the code.
    Docs(docs::Arguments),
    /// Builds the binary that is packaged and measured: twice, the second time for what the first was seen to do.
    Dist,
    /// Compares the `dist` binary with other servers, in turns, or counts its instructions.
    Bench(bench::Arguments),
    /// Conformance suites that others made: xml, c14n, xpath, json, and stylesheets as they are shipped: sheets.
    Conformance(conformance::Arguments),
    /// Lets fuzz targets run for a while.
    Fuzz(fuzz::Arguments),
    /// Installs from Debian's packages what tests and benches need and this machine lacks.
    Setup,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Ci(arguments) => ci::run(&arguments),
        Command::Test(arguments) => test::run(&arguments).map(|summary| summary.success()),
        Command::Docs(arguments) => docs::run(&arguments),
        Command::Dist => dist::run().map(|()| true),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Conformance(arguments) => conformance::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Setup => setup::run().map(|()| true),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
