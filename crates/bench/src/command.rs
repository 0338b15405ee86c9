//! `myelin bench`: what it can be asked.

use std::io::Write;
use std::process::ExitCode;

use crate::comparison;

/// What `myelin bench` is asked to do.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Let servers take turns at the same work, check every answer, and write what it costs each of them
    Run(Box<comparison::Arguments>),
    /// List the servers that kits can start, or print what a kit says of itself
    Kits(comparison::KitsArguments),
}

impl Command {
    /// Does it; what it gives goes to `out`.
    ///
    /// Errors: those of the command.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
        match self {
            Command::Run(arguments) => comparison::run(arguments, out),
            Command::Kits(arguments) => comparison::kits(arguments, out),
        }
    }
}
