//! `cargo xtask conformance`: runs suites that others made and shows their tables.

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;

use crate::process::{cargo, succeeds};
use crate::root;

/// The first run builds what the tests stand on.
const DEADLINE: Duration = Duration::from_secs(20 * 60);

#[derive(Args)]
pub(crate) struct Arguments {
    /// Which suites; all of them when left out.
    suites: Vec<String>,
    /// Writes the counts to docs/conformance.md, and takes what passes now off the lists of known failures.
    #[arg(long)]
    update: bool,
}

/// Runs the suites; whether all of them went as the lists of known failures say.
///
/// Errors: when a suite is unknown.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let known = suites()?;
    for suite in &arguments.suites {
        ensure!(known.contains(suite), "there is no suite {suite:?}; there are {}", known.join(", "));
    }
    let chosen = if arguments.suites.is_empty() { &known } else { &arguments.suites };
    let mut tests = cargo();
    tests.args(["test", "--package", "myelin-conformance", "--no-fail-fast"]);
    for suite in chosen {
        tests.args(["--test", suite]);
    }
    tests.args(["--", "--nocapture"]);
    if arguments.update {
        tests.env("UPDATE", "1");
    }
    succeeds(&mut tests, DEADLINE)
}

/// The names of all suites: each is an integration test of its own, a file or a folder.
fn suites() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root().join("crates/conformance/tests"))? {
        let path = entry?.path();
        let is_test = path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").is_file();
        if let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|_| is_test) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
