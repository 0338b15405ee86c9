//! `myelin check`: loads without serving and says what runs and what does not: a report for those who move here.

mod html;

use std::io::Write;
use std::process::ExitCode;

use myelin_engine::Loaded;

use crate::monitor::can_monitor;
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
    /// A line for each artefact, what is wrong below it
    Text,
    /// One JSON object
    Json,
    /// A page for a browser
    Html,
}

/// Loads and reports; success only if every artefact runs and there is one at all.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let Loaded { bus, report, .. } = arguments.configuration.load()?;
    match arguments.format {
        Format::Text => write!(out, "{}", report.to_text())?,
        Format::Json => writeln!(out, "{:#}", report.to_json())?,
        Format::Html => write!(out, "{}", html::page(&report))?,
    }
    out.flush()?;
    can_monitor(&bus)?;
    Ok(if report.faulty() == 0 && report.ok() > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
