//! `myelin test`: golden cases through the real engine.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use myelin_testkit::cases;

/// The arguments of `myelin test`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A folder of cases, or one case
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write what came out into the files that say what was expected
    #[arg(long, env = "UPDATE", value_parser = clap::builder::FalseyValueParser::new())]
    update: bool,
}

/// Runs the cases; success only if there is one and all pass.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let options = cases::Options { update: arguments.update };
    let report = cases::run(&arguments.folder, &options)?;
    write!(out, "{report}")?;
    out.flush()?;
    Ok(if report.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
