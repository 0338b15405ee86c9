//! `cargo xtask bench`: the `dist` binary against other servers, or our XML, XSLT and WS-Security against other libraries, in
//! turns, on this machine; or how many instructions a request takes.

pub(crate) mod instructions;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, Parser};
use myelin_bench::comparison;
use myelin_testkit::wss4j::Wss4j;

use crate::process::{cargo, succeeds};
use crate::workspace::target;

const BUILD_DEADLINE: Duration = Duration::from_secs(20 * 60);
const BENCH_DEADLINE: Duration = Duration::from_secs(60 * 60);

#[derive(Args)]
pub(crate) struct Arguments {
    /// Scenarios and the options of `myelin bench run`, or `xml`, `xslt` or `secure` for libraries in memory; then their options, which `bench -- --help` and `bench xml --help` list. The scenarios `xslt` and `secure` go through the bus as `bench --scenario xslt`. `--instructions` counts the instructions of each request; its options are listed by `bench --instructions --help`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Arguments {
    /// What somebody would write on the command line.
    pub(crate) fn of(words: &[&str]) -> Arguments {
        Arguments { words: words.iter().map(|word| (*word).to_owned()).collect() }
    }
}

/// The comparison's own arguments, read where the binary is known.
#[derive(Parser)]
#[command(name = "cargo xtask bench")]
struct Comparison {
    #[command(flatten)]
    arguments: comparison::Arguments,
}

/// Builds the `dist` binary and runs the comparison, or the bench of libraries in memory; whether our own answers were
/// all right.
///
/// Errors: the binary does not build, or the comparison cannot run.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    if let Some((name @ ("xml" | "xslt" | "secure"), options)) =
        arguments.words.split_first().map(|(first, rest)| (first.as_str(), rest))
    {
        let mut bench = cargo();
        bench.args(["bench", "--package", "myelin-bench", "--bench", name, "--"]).args(options);
        return succeeds(&mut bench, BENCH_DEADLINE);
    }
    if arguments.words.first().is_some_and(|word| word == "--instructions") {
        let words = std::iter::once("bench").chain(arguments.words.iter().map(String::as_str));
        let arguments = instructions::Arguments::parse_from(words);
        // What a user builds from the source, and what CI has built; only the profiler's binary names its functions.
        let profile = if arguments.profile { "profiling" } else { "release" };
        let binary = arguments.binary.clone().map_or_else(|| built(profile), Ok)?;
        return instructions::run(&arguments, &binary);
    }
    let is_named = arguments.words.iter().any(|word| word == "--myelin" || word.starts_with("--myelin="));
    let goes_on = arguments.words.iter().any(|word| word.starts_with("--resume"));
    let binary = if is_named || goes_on { None } else { Some(built("dist")?.into_os_string()) };
    let mut command_line = command_line(binary, &arguments.words);
    // Keys as small as those of the public rounds are made by Java alone, and live as long as its process.
    let names = |word: &str| arguments.words.iter().any(|known| known.contains(word));
    let peer = if names("secure-legacy") && !names("--keys") { Wss4j::start() } else { None };
    if let Some(peer) = &peer {
        command_line.extend([OsString::from("--keys"), peer.keys().into()]);
    }
    compare(command_line, &mut std::io::stdout())
}

/// Runs the comparison that a command line asks for; whether our own answers were all right.
///
/// Errors: the comparison cannot run.
pub(crate) fn compare(command_line: Vec<OsString>, out: &mut dyn Write) -> Result<bool> {
    let comparison = Comparison::parse_from(command_line).arguments;
    Ok(comparison::run(&comparison, out)? == ExitCode::SUCCESS)
}

/// Where cargo puts the binary that is measured, built with that profile.
fn binary(profile: &str) -> PathBuf {
    target().join(profile).join("myelin")
}

/// Builds the binary that is measured, and says where it is.
fn built(profile: &str) -> Result<PathBuf> {
    if !succeeds(cargo().args(["build", "--profile", profile, "--package", "myelin-server"]), BUILD_DEADLINE)? {
        bail!("the binary does not build");
    }
    Ok(binary(profile))
}

/// `binary` is measured, unless the words name another.
fn command_line(binary: Option<OsString>, words: &[String]) -> Vec<OsString> {
    let scenarios = words.iter().take_while(|word| !word.starts_with('-')).count();
    let mut line = vec![OsString::from("bench")];
    line.extend(binary.into_iter().flat_map(|binary| [OsString::from("--myelin"), binary]));
    if scenarios > 0 {
        line.extend([OsString::from("--scenario"), OsString::from(words[..scenarios].join(","))]);
    }
    line.extend(words[scenarios..].iter().map(OsString::from));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_come_first_and_options_behind_them() {
        let words = ["direct", "many", "--rounds", "3"].map(str::to_owned);
        let expected = ["bench", "--myelin", "m", "--scenario", "direct,many", "--rounds", "3"];
        assert_eq!(command_line(Some("m".into()), &words), expected.map(OsString::from));
        Comparison::try_parse_from(command_line(Some("m".into()), &words)).ok().unwrap();
        assert_eq!(command_line(Some("m".into()), &[]), ["bench", "--myelin", "m"].map(OsString::from));
        let named = ["many", "--myelin", "m"].map(str::to_owned);
        assert_eq!(command_line(None, &named), ["bench", "--scenario", "many", "--myelin", "m"].map(OsString::from));
    }
}
