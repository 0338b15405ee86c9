//! `cargo xtask conformance`: runs suites that others made and shows their tables.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;

use crate::process::{cargo, succeeds};
use crate::sheets;
use crate::workspace::root;

/// The first run builds what the tests stand on.
const DEADLINE: Duration = Duration::from_secs(20 * 60);

/// The suite that is an integration test of its own.
const APART: &str = "synapse";

/// The suite whose data is fetched, and which runs the binary.
const FETCHED: &str = "sheets";

/// The binary that runs stylesheets, where it is not to be built.
const PROGRAM: &str = "MYELIN_PROGRAM";

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
    // The samples of Synapse start programs, and are a test binary of their own.
    let (apart, together): (Vec<&String>, Vec<&String>) = chosen.iter().partition(|suite| *suite == APART);
    let mut well = true;
    if !together.is_empty() {
        let filters: Vec<String> = together.iter().map(|suite| format!("{suite}::")).collect();
        let mut tests = tests("suites", arguments.update);
        if together.iter().any(|suite| *suite == FETCHED) {
            tests.env("MYELIN_SHEETS", sheets::fetch()?).env(PROGRAM, program()?);
        }
        well &= succeeds(tests.args(&filters), DEADLINE)?;
    }
    if !apart.is_empty() {
        well &= succeeds(&mut tests(APART, arguments.update), DEADLINE)?;
    }
    Ok(well)
}

/// The binary as users have it; without optimisation large stylesheets take minutes.
fn program() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os(PROGRAM) {
        return Ok(program.into());
    }
    ensure!(succeeds(cargo().args(["build", "--release", "--bin", "myelin"]), DEADLINE)?, "myelin does not build");
    Ok(root().join("target/release/myelin"))
}

/// The tests of one binary; arguments to be added are parts of their names.
fn tests(binary: &str, update: bool) -> Command {
    let mut tests = cargo();
    tests.args(["test", "--package", "myelin-conformance", "--no-fail-fast", "--test", binary, "--", "--nocapture"]);
    if update {
        tests.env("UPDATE", "1");
    }
    tests
}

/// The names of all suites: each is a module of the integration test `suites`, but for one.
fn suites() -> Result<Vec<String>> {
    let mut names = vec![APART.to_owned()];
    for entry in std::fs::read_dir(root().join("crates/conformance/tests/suites"))? {
        let path = entry?.path();
        let is_module = path.extension().is_some_and(|extension| extension == "rs");
        if let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|name| is_module && *name != "main")
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
