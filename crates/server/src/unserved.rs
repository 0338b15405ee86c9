//! A configuration that is loaded without being served, for the commands that tell of it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use myelin_engine::{Loaded, Settings, load};

use crate::deployment::{self, ReadOptions, with_excerpt};
use crate::origin::Read;

/// Where a configuration is, and the settings that its bus will have.
#[derive(Debug, clap::Args)]
pub(crate) struct Unserved {
    /// Configuration files, .car archives, or folders: synapse-configs, projects, homes of Micro Integrator
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The deployment.toml that the bus will have: limits, and the passwords that policies refer to
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Treat references to what is not there, and all misspelt names, as problems, where else only a step fails or a setting has no effect
    #[arg(long)]
    strict: bool,
}

impl Unserved {
    /// Loads it as `myelin run` would.
    ///
    /// Errors: the `deployment.toml` cannot be used; whatever else is wrong stands in the report.
    pub(crate) fn load(&self) -> anyhow::Result<Loaded> {
        Ok(self.read()?.loaded)
    }

    /// The same, and what surrounds it.
    pub(crate) fn read(&self) -> anyhow::Result<Read> {
        let mut settings = Settings { is_strict: self.strict, ..Settings::default() };
        settings.security.now = Some(SystemTime::now());
        let options = ReadOptions { is_strict: self.strict, ..ReadOptions::default() };
        let read = self.config.as_deref().map(|path| deployment::read(path, options)).transpose();
        let deployment = read?.unwrap_or_default();
        settings.databases.databases = deployment.databases();
        deployment.apply_mediation(&mut settings)?;
        // The report is about the configuration; this is about what surrounds it.
        let remarks = deployment.remarks.iter().map(with_excerpt);
        remarks.into_iter().try_for_each(|remark| writeln!(io::stderr(), "warning: {remark}"))?;
        Ok(Read { loaded: load(&self.paths, &settings), deployment })
    }
}
