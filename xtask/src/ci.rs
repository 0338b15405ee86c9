//! `cargo xtask ci`: every check, one after the other, each with its time.

use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;

use crate::process::{cargo, is_installed, succeeds};
use crate::workspace::root;
use crate::{bench, docs, test};

/// Of a single step; tests have a deadline of their own.
const DEADLINE: Duration = Duration::from_secs(15 * 60);

/// The random inputs of a change's tests are those of the change before, so that CI answers for the change alone.
/// Other inputs are for `cargo xtask test`, which takes new ones each time, and for the fuzzers.
const SEED: u64 = 1;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Only these steps, by name.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// How a step went.
enum Outcome {
    Passed,
    Failed,
    Skipped(String),
}

struct Step {
    name: &'static str,
    run: fn() -> Result<Outcome>,
}

/// Cheap ones first: who waits for the result learns early.
const STEPS: &[Step] = &[
    Step { name: "fmt", run: || step(cargo().args(["fmt", "--all", "--check"])) },
    Step { name: "deny", run: deny },
    Step {
        name: "clippy",
        run: || step(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
    },
    Step {
        name: "rustdoc",
        run: || step(cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings")),
    },
    Step { name: "docs", run: docs },
    Step { name: "fuzz", run: fuzz },
    Step { name: "demo", run: || step(cargo().args(["run", "--release", "--", "demo"])) },
    Step { name: "instructions", run: instructions },
];

/// Runs all steps, also behind one that failed, and sums up; whether all of them passed.
///
/// Errors: when the name of a step is unknown.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    for name in &arguments.only {
        anyhow::ensure!(
            name == "test" || STEPS.iter().any(|step| step.name == name),
            "there is no step {name:?}; there are {} and test",
            STEPS.iter().map(|step| step.name).collect::<Vec<_>>().join(", ")
        );
    }
    let chosen = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    let mut report = Vec::new();
    let mut passed = true;
    for step in STEPS.iter().filter(|step| chosen(step.name)) {
        println!("\n== {}", step.name);
        let started = Instant::now();
        let outcome = (step.run)().unwrap_or_else(|error| {
            println!("error: {error:#}");
            Outcome::Failed
        });
        let text = match outcome {
            Outcome::Passed => "passed".to_owned(),
            Outcome::Failed => "FAILED".to_owned(),
            Outcome::Skipped(reason) => format!("skipped: {reason}"),
        };
        passed &= text != "FAILED";
        report.push((step.name, started.elapsed(), text));
    }
    let mut closing = None;
    if chosen("test") {
        println!("\n== test");
        let started = Instant::now();
        let summary = test::run(&test::Arguments::seeded(SEED))?;
        let text = if summary.success() { "passed" } else { "FAILED" };
        passed &= summary.success();
        report.push(("test", started.elapsed(), text.to_owned()));
        closing = Some(summary.line());
    }
    println!("\n== summary");
    for (name, time, outcome) in report {
        println!("{name:12} {:6.1} s  {outcome}", time.as_secs_f64());
    }
    if let Some(line) = closing {
        println!("{line}");
    }
    Ok(passed)
}

fn step(command: &mut std::process::Command) -> Result<Outcome> {
    Ok(if succeeds(command, DEADLINE)? { Outcome::Passed } else { Outcome::Failed })
}

fn docs() -> Result<Outcome> {
    let fresh = docs::run(&docs::Arguments { check: true })?;
    Ok(if fresh { Outcome::Passed } else { Outcome::Failed })
}

fn instructions() -> Result<Outcome> {
    if !is_installed("valgrind") {
        return Ok(Outcome::Skipped("valgrind is not installed (cargo xtask setup)".to_owned()));
    }
    let within = bench::run(&bench::Arguments::of(&["--instructions", "--check"]))?;
    Ok(if within { Outcome::Passed } else { Outcome::Failed })
}

fn deny() -> Result<Outcome> {
    if !is_installed("cargo-deny") {
        return Ok(Outcome::Skipped("cargo-deny is not installed (cargo install cargo-deny)".to_owned()));
    }
    step(cargo().args(["deny", "check"]))
}

/// The fuzz targets are a workspace of their own, so nothing else notices when they no longer build. Their libraries are
/// those of the bus, and are checked once for both.
fn fuzz() -> Result<Outcome> {
    if !root().join("fuzz/Cargo.toml").is_file() {
        return Ok(Outcome::Skipped("there are no fuzz targets".to_owned()));
    }
    step(cargo().args(["check", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target", "--all-targets"]))
}
