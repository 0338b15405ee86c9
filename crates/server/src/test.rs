//! `myelin test`: golden cases and unit tests through the real engine.

mod java_string;
mod result;
mod serve;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use myelin_bench::units::address;
use myelin_testkit::{cases, unit_test};

/// The arguments of `myelin test`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A folder of cases or of unit tests that WSO2's tools wrote, or one of these
    #[arg(value_name = "PATH", required_unless_present = "listen")]
    path: Option<PathBuf>,
    /// Run unit tests that clients send to this address, as WSO2's test server does for its Maven plugin and for VS Code
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["path", "junit"], value_parser = address)]
    listen: Option<SocketAddr>,
    /// Write the unit tests' results there as JUnit's XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write what came out into the files that say what was expected
    #[arg(long, env = "UPDATE", value_parser = clap::builder::FalseyValueParser::new())]
    update: bool,
    /// Show the message traces of the cases that fail, or of all
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "failed")]
    trace: Option<Traced>,
}

/// What `--trace` names.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Traced {
    /// The cases that fail
    Failed,
    /// All cases
    All,
}

/// Runs what it finds; success only if there is something and all of it passes.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let Arguments { path, listen, junit, update, trace } = arguments;
    if let Some(address) = listen {
        match serve::serve(*address, out)? {}
    }
    let path = path.as_deref().context("a path to tests, or --listen, is missing")?;
    let traces = match trace {
        None => cases::Traces::None,
        Some(Traced::Failed) => cases::Traces::Failed,
        Some(Traced::All) => cases::Traces::All,
    };
    let cases = match path.is_dir() {
        true => cases::run(path, &cases::Options { update: *update, traces })?,
        false => cases::Report::default(),
    };
    let units = unit_test::run(path)?;
    if let Some(file) = junit {
        std::fs::write(file, units.to_junit()).with_context(|| format!("cannot write {}", file.display()))?;
    }
    if !cases.outcomes.is_empty() || units.suites.is_empty() {
        write!(out, "{cases}")?;
    }
    if !units.suites.is_empty() {
        write!(out, "{units}")?;
    }
    out.flush()?;
    let is_something = !cases.outcomes.is_empty() || !units.suites.is_empty();
    let is_good = is_something && cases.failed() == 0 && units.failed() == 0;
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
