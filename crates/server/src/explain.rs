//! `myelin explain`: what a configuration will do, without serving it.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;

use crate::unserved::Unserved;

/// The arguments of `myelin explain`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    configuration: Unserved,
    /// Only the service with this name
    #[arg(long, value_name = "NAME")]
    artefact: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
}

/// Loads and tells; success if there is something to tell, even where other artefacts are faulty.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let loaded = arguments.configuration.load()?;
    let explanation = match &arguments.artefact {
        Some(name) => loaded.bus.explain().only(name),
        None => loaded.bus.explain(),
    };
    if explanation.is_empty() {
        match &arguments.artefact {
            Some(name) => bail!("no service named {name:?} runs; `myelin check` reports the reason"),
            None => bail!("no service runs; `myelin check` reports the reasons"),
        }
    }
    match arguments.format {
        Format::Text => write!(out, "{}", explanation.to_text())?,
        Format::Json => writeln!(out, "{:#}", explanation.to_json())?,
    }
    out.flush()?;
    let mut err = io::stderr();
    if loaded.report.faulty() > 0 {
        writeln!(err, "artefacts that do not run: {}; `myelin check` reports the reasons", loaded.report.faulty())?;
    }
    // What a misspelt name stopped or changed is what somebody who asks for an explanation looks for.
    let told = loaded.report.artefacts.iter().flat_map(|it| it.problems.iter().chain(&it.latent).chain(&it.warnings));
    for problem in told.filter(|it| it.suggestion().is_some()) {
        writeln!(err, "{problem}")?;
        problem.excerpt().map_or(Ok(()), |excerpt| write!(err, "{}", excerpt.to_text()))?;
    }
    Ok(ExitCode::SUCCESS)
}
