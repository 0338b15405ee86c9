//! `myelin check`: loads without serving and says what runs and what does not: a report for those who move here.

mod html;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use myelin_engine::Loaded;

use crate::certificates::Source;
use crate::deployment::Deployment;
use crate::inbound::can_listen;
use crate::logging::has_colours;
use crate::monitor::can_monitor;
use crate::origin::Read;
use crate::unserved::Unserved;

/// The arguments of `myelin check`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    configuration: Unserved,
    /// How to print the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// A line for each artefact, what is wrong below it; in colours on a terminal, unless NO_COLOR is set
    Text,
    /// One JSON object
    Json,
    /// A page for a browser
    Html,
}

/// Loads and reports; success only if every artefact runs, there is one at all, and nothing else keeps the bus from
/// starting.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let Read { loaded: Loaded { bus, report, .. }, deployment } = arguments.configuration.read()?;
    match arguments.format {
        Format::Text if has_colours(&io::stdout()) => write!(out, "{}", report.to_coloured_text())?,
        Format::Text => write!(out, "{}", report.to_text())?,
        Format::Json => writeln!(out, "{:#}", report.to_json())?,
        Format::Html => write!(out, "{}", html::page(&report))?,
    }
    out.flush()?;
    let certificates = [can_serve_https(&deployment), can_serve_management(&deployment)];
    let refusals: Vec<String> = [can_monitor(&bus), can_listen(&bus)]
        .into_iter()
        .chain(certificates)
        .filter_map(Result::err)
        .map(|error| format!("{error:#}"))
        .collect();
    ensure!(refusals.is_empty(), refusals.join("\n"));
    Ok(if report.faulty() == 0 && report.ok() > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether the key store that a `deployment.toml` names for HTTPS can be used.
///
/// Errors: as [`Source::read`]; a file that is not there, a password that refers to what is not there.
fn can_serve_https(deployment: &Deployment) -> anyhow::Result<()> {
    deployment.https()?.map_or(Ok(()), |(_, store)| Source::Store(store).read().map(drop))
}

/// The same of the management API, which the bus may serve without.
///
/// Errors: as [`can_serve_https`], of `[myelin.management]`.
fn can_serve_management(deployment: &Deployment) -> anyhow::Result<()> {
    let source = deployment.management(&[])?.and_then(|options| options.certificate);
    let read = source.map(|source| source.read().map(drop));
    read.unwrap_or(Ok(())).context("the certificate of the management API")
}
