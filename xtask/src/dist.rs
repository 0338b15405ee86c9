//! `cargo xtask dist`: the binary that is packaged and measured. It is built, watched while it serves messages, and built
//! again, so that what messages go through is laid out for speed and all else stays out of the way.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bench;
use crate::process::{cargo, succeeds};
use crate::workspace::target;

/// Of one of the two builds: the compiler sees all crates at once.
const BUILD_DEADLINE: Duration = Duration::from_secs(60 * 60);
const MERGE_DEADLINE: Duration = Duration::from_secs(5 * 60);
const HOME_DEADLINE: Duration = Duration::from_secs(60);

/// What was never seen to run is kept apart by the linker too, so that it is not read into memory with its neighbours.
const SECTIONS: &str = "-Clink-arg=-Wl,-z,keep-text-section-prefix";

/// What most messages go through, and what others do: scenarios, and how many requests each of them gets.
/// A message that is only passed on takes so little that it would not weigh beside a stylesheet otherwise.
const WORK: [(&str, &str); 2] = [
    ("direct,direct-api,header,soap-header,cbr", "60000"),
    (
        "relay,built-unchanged,built,cbr-scan,xslt,xslt-identity,xslt-recursive,quote-cbr,quote-xslt,\
         json-to-soap-and-back,payload-20,payload-json,enrich,enrich-json,iterate,iterate-json,clone-2,clone-json,secure",
        "1000",
    ),
];

/// Builds the binary, and the folder for WSO2's extension for VS Code beside it.
///
/// Errors: a part of the compiler is missing, something does not build or start, an answer is wrong, a folder cannot be
/// written.
pub(crate) fn run() -> Result<()> {
    let target = target();
    let work = target.join("dist-profile");
    let tool = merger()?;
    if work.exists() {
        fs::remove_dir_all(&work).with_context(|| format!("emptying {}", work.display()))?;
    }
    let counts = work.join("counts");
    let watched = build(&target.join("dist-watched"), &format!("-Cprofile-generate={}", counts.display()))?;
    for (scenarios, requests) in WORK {
        if !serves(&watched, scenarios, requests, &work.join("served"))? {
            bail!("the watched binary failed requests; {} has what it did", work.join("served").display());
        }
    }
    let profile = work.join("merged.profdata");
    if !succeeds(Command::new(tool).arg("merge").arg("--output").arg(&profile).arg(&counts), MERGE_DEADLINE)? {
        bail!("the counts of the watched binary cannot be merged");
    }
    let built = build(&target.join("dist-final"), &format!("-Cprofile-use={} {SECTIONS}", profile.display()))?;
    // Not where cargo puts what it builds by itself, which would take the place of this one.
    let folder = target.join("packaged");
    let place = folder.join("myelin");
    fs::create_dir_all(&folder).with_context(|| format!("making the folder {}", folder.display()))?;
    fs::copy(&built, &place).with_context(|| format!("copying {} to {}", built.display(), place.display()))?;
    println!("{}", place.display());
    let home = folder.join("vscode-home");
    if !succeeds(Command::new(&place).arg("home").arg(&home).arg("--copy"), HOME_DEADLINE)? {
        bail!("the binary does not make {}", home.display());
    }
    Ok(())
}

/// Builds the binary with flags for the compiler, and says where it is.
fn build(folder: &Path, flags: &str) -> Result<PathBuf> {
    let host = told(Command::new("rustc").arg("-vV"))?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not say its host")?;
    let flags = format!("{} {flags}", std::env::var("RUSTFLAGS").unwrap_or_default());
    let mut command = cargo();
    // With a target that is named, what runs only while building is built without them.
    command
        .args(["build", "--profile", "dist", "--package", "myelin-server", "--bin", "myelin", "--target", host])
        .arg("--target-dir")
        .arg(folder)
        .env("RUSTFLAGS", flags.trim());
    if !succeeds(&mut command, BUILD_DEADLINE)? {
        bail!("the binary does not build");
    }
    Ok(folder.join(host).join("dist/myelin"))
}

/// Lets a binary do scenarios of the benchmark; whether all its answers were right.
fn serves(binary: &Path, scenarios: &str, requests: &str, output: &Path) -> Result<bool> {
    if output.exists() {
        fs::remove_dir_all(output).with_context(|| format!("emptying {}", output.display()))?;
    }
    // Without a warm-up, which would weigh more than the requests that are counted here.
    let mut command_line: Vec<OsString> = ["dist", "--target", "myelin", "--size", "500", "--concurrency", "20"]
        .into_iter()
        .chain(["--warm-up", "0s", "--rounds", "1", "--threads", "1"])
        .chain(["--scenario", scenarios, "--requests", requests])
        .map(OsString::from)
        .collect();
    command_line.extend(["--myelin".into(), binary.into(), "--out".into(), output.into()]);
    bench::compare(command_line, &mut std::io::sink())
}

/// The program that merges what a watched binary has counted: it belongs to the compiler that built it.
fn merger() -> Result<PathBuf> {
    let libraries = told(Command::new("rustc").args(["--print", "target-libdir"]))?;
    let folder = Path::new(libraries.trim()).parent().context("rustc names no folder for its libraries")?;
    let tool = folder.join("bin").join("llvm-profdata");
    if !tool.is_file() {
        bail!("{} is not there: `rustup component add llvm-tools` installs it", tool.display());
    }
    Ok(tool)
}

/// What a program prints.
fn told(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_owned();
    let output = command.output().with_context(|| format!("starting {}", name.display()))?;
    if !output.status.success() {
        bail!("{} failed: {}", name.display(), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
