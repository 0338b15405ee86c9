//! `myelin bench`: what it can be asked.

use std::io::Write;
use std::process::ExitCode;

use crate::comparison;
use crate::convert;
use crate::report::{self, compare};

/// What `myelin bench` is asked to do.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Let servers take turns at the same work, check every answer, and write what it costs each of them
    Run(Box<comparison::Arguments>),
    /// List the servers that kits can start, or print what a kit says of itself
    Kits(comparison::KitsArguments),
    /// Make a page with charts, or tables, CSV or JSON, of folders of results
    Report(report::Arguments),
    /// Make results of what other load generators wrote: ab, wrk, hey, k6, JMeter, The Grinder
    Convert(convert::Arguments),
    /// Hold the results of two runs against each other: two days, two machines or two builds
    Compare(compare::Arguments),
}

impl Command {
    /// Does it; what it gives goes to `out`.
    ///
    /// Errors: those of the command.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        match self {
            Command::Run(arguments) => comparison::run(arguments, out),
            Command::Kits(arguments) => comparison::kits(arguments, out),
            Command::Report(arguments) => report::run(arguments, out),
            Command::Convert(arguments) => convert::run(arguments, out),
            Command::Compare(arguments) => compare::run(arguments, out),
        }
    }
}
