//! `myelin check`: loads without serving and says what runs and what does not: a report for those who move here.

mod html;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use myelin_mediation::{Loaded, Settings, load};

use crate::deployment;
use crate::server::can_monitor;

/// The arguments of `myelin check`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Configuration files, .car archives, or folders: synapse-configs, projects, homes of Micro Integrator
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The deployment.toml that the bus will have: limits, and the passwords that policies refer to
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
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
    let mut settings = Settings::default();
    settings.security.now = Some(SystemTime::now());
    if let Some(path) = &arguments.config {
        let deployment = deployment::read(path)?;
        deployment.apply_mediation(&mut settings)?;
        // The report is about the configuration; this is about what surrounds it.
        deployment.remarks.iter().try_for_each(|remark| writeln!(io::stderr(), "{remark} (a warning)"))?;
    }
    let Loaded { bus, report, .. } = load(&arguments.paths, &settings);
    match arguments.format {
        Format::Text => write!(out, "{}", report.to_text())?,
        Format::Json => writeln!(out, "{:#}", report.to_json())?,
        Format::Html => write!(out, "{}", html::page(&report))?,
    }
    out.flush()?;
    can_monitor(&bus)?;
    Ok(if report.faulty() == 0 && report.ok() > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
