//! `cargo xtask test`: all tests, and at the end what did not run.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use crate::process::{cargo, lines};

/// Building included; on two cores all of it takes a fraction.
const DEADLINE: Duration = Duration::from_secs(25 * 60);

#[derive(Args, Default)]
pub(crate) struct Arguments {
    /// Only this package; all of the workspace when left out.
    #[arg(short, long)]
    package: Option<String>,
    /// What the random inputs of property tests are made from; another number each time when left out.
    #[arg(long)]
    seed: Option<u64>,
    /// Only tests whose name contains this.
    filter: Option<String>,
}

impl Arguments {
    /// All tests, with these random inputs.
    pub(crate) fn seeded(seed: u64) -> Arguments {
        Arguments { seed: Some(seed), ..Arguments::default() }
    }
}

/// What all test binaries reported together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Summary {
    pub(crate) fn success(&self) -> bool {
        self.failed == 0
    }

    /// The closing line, in the shape that CI reads.
    pub(crate) fn line(&self) -> String {
        format!("{} passed, {} failed", self.passed, self.failed)
    }

    /// Adds what one line of a test binary's output says, if it is the line that sums up.
    fn add(&mut self, line: &str) {
        // `test result: ok. 3 passed; 0 failed; …`
        let Some(result) = line.trim_start().strip_prefix("test result: ") else { return };
        let count = |word: &str| {
            let before = result.split(word).next().unwrap_or_default();
            let digits = before.trim_end().rsplit(|other: char| !other.is_ascii_digit()).next();
            digits.and_then(|digits| digits.parse::<u64>().ok()).unwrap_or_default()
        };
        self.passed += count(" passed;");
        self.failed += count(" failed;");
    }
}

/// Runs the tests, streams their output, lists what was skipped, and ends with `N passed, N failed`.
///
/// Errors: when cargo cannot be run or takes too long.
pub(crate) fn run(arguments: &Arguments) -> Result<Summary> {
    let skipped = std::env::temp_dir().join(format!("myelin-skipped-{}", std::process::id()));
    fs::write(&skipped, "").with_context(|| format!("writing {}", skipped.display()))?;
    let mut command = cargo();
    command.args(["test", "--no-fail-fast"]).env("MYELIN_SKIPPED", &skipped);
    match &arguments.package {
        Some(package) => command.args(["--package", package]),
        None => command.arg("--workspace"),
    };
    command.args(&arguments.filter);
    command.envs(arguments.seed.map(|seed| ("PROPTEST_RNG_SEED", seed.to_string())));
    let mut summary = Summary::default();
    let result = lines(&mut command, DEADLINE, |line| {
        println!("{line}");
        summary.add(line);
    });
    let list = fs::read_to_string(&skipped).unwrap_or_default();
    // Only a leftover in the temporary folder if it cannot be removed.
    let _ = fs::remove_file(&skipped);
    println!();
    println!("skipped: {}", list.lines().count());
    for line in list.lines() {
        println!("  {line}");
    }
    let succeeded = match result {
        Ok(succeeded) => succeeded,
        Err(error) => {
            println!("error: {error:#}");
            false
        }
    };
    if !succeeded && summary.failed == 0 {
        // What does not build, or dies without a result, has not passed.
        println!("error: the tests did not build, or one ended without a result");
        summary.failed = 1;
    }
    println!("{}", summary.line());
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_binaries_are_summed() {
        let mut summary = Summary::default();
        summary.add("test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        summary.add("test something ... ok");
        summary.add("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(summary, Summary { passed: 15, failed: 2 });
        assert_eq!(summary.line(), "15 passed, 2 failed");
        assert!(!summary.success());
    }
}
