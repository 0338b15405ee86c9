//! `cargo xtask fuzz`: lets a fuzz target run for a while, with the toolchain that is there.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use clap::Args;

use crate::process::{cargo, succeeds};
use crate::workspace::root;

/// Everything is built anew with coverage counters.
const BUILD_DEADLINE: Duration = Duration::from_secs(20 * 60);

/// What cargo-fuzz asks the compiler for, less the address sanitizer, which needs a nightly toolchain
/// and finds little where the compiler forbids `unsafe`.
const FLAGS: &str = "--cfg fuzzing -Cdebug-assertions=yes -Ccodegen-units=1 -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Which targets; all of them when left out.
    targets: Vec<String>,
    /// How long each runs.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// Runs the targets one after the other; whether none of them found anything.
///
/// Errors: when a target is unknown or does not build.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let known = targets()?;
    for target in &arguments.targets {
        ensure!(known.contains(target), "there is no target {target:?}; there are {}", known.join(", "));
    }
    let chosen = if arguments.targets.is_empty() { &known } else { &arguments.targets };
    // A target triple keeps the flags from build scripts and macros, which have no counters to be linked with.
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut build = cargo();
    build.args(["build", "--manifest-path", "fuzz/Cargo.toml", "--release", "--target-dir", "fuzz/target"]);
    build.args(["--target", &triple]).env("RUSTFLAGS", FLAGS);
    for target in chosen {
        build.args(["--bin", target]);
    }
    if !succeeds(&mut build, BUILD_DEADLINE)? {
        bail!("the fuzz targets do not build");
    }
    let mut clean = true;
    for target in chosen {
        let folder = |name: &str| -> Result<PathBuf> {
            let path = root().join("fuzz").join(name).join(target);
            std::fs::create_dir_all(&path)?;
            Ok(path)
        };
        let (corpus, artifacts) = (folder("corpus")?, folder("artifacts")?);
        println!("fuzz: {target} for {} s", arguments.seconds);
        let mut run = Command::new(root().join("fuzz/target").join(&triple).join("release").join(target));
        run.arg(format!("-max_total_time={}", arguments.seconds)).arg("-timeout=10").arg("-print_final_stats=1");
        run.arg(format!("-artifact_prefix={}/", artifacts.display())).arg(corpus);
        // What others found worth keeping; new finds go to the first folder only.
        let seeds = root().join("fuzz/seeds").join(target);
        if seeds.is_dir() {
            run.arg(seeds);
        }
        clean &= succeeds(&mut run, Duration::from_secs(arguments.seconds + 120))?;
    }
    Ok(clean)
}

fn targets() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root().join("fuzz/fuzz_targets"))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}
