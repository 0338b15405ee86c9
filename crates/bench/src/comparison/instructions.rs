//! How many instructions of the bus a request takes, counted by callgrind.
//!
//! Unlike times, this figure does not depend on what else the machine does: two builds on machines with the same
//! processor can be compared.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::configuration::{Backends, POOL};
use super::contender::Contender;
use super::probe;
use super::rounds;
use super::scenario::{Besides, Scenario};
use super::server;
use super::task::Task;

/// Connections that send at the same time: enough that the bus always has a request to read.
pub const CONNECTIONS: usize = 20;

/// Requests that fill pools, caches and buffers before anything is counted.
const WARM_UP_REQUESTS: u64 = 400;

/// Requests whose instructions are counted.
const REQUESTS: u64 = 2000;

/// The same where each takes very many.
const FEW_REQUESTS: u64 = 200;

/// How long all requests together may take, or callgrind to write what it counted: a guard against hanging.
const DEADLINE: Duration = Duration::from_secs(300);

/// Under callgrind everything takes so long that all services would take turns.
const SETTINGS: &str = "[myelin.work]\ncostly_from = \"1h\"\n";

/// What a request takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Instructions of the process.
    pub instructions: u64,
    /// How many of them each function takes itself, the largest first; only where they were asked for and the binary
    /// names its functions.
    pub functions: Vec<(String, u64)>,
}

/// Whether the instructions of a scenario can be counted: it asks for no other number of connections or backends, and for no keys.
pub fn is_countable(scenario: Scenario) -> bool {
    !matches!(scenario, Scenario::Many | Scenario::Idle | Scenario::Pool | Scenario::SecureLegacy)
}

/// The sizes of its messages where these are wanted: a question for a quote is as long as it is.
pub fn sizes(scenario: Scenario, wanted: &[u64]) -> anyhow::Result<Vec<u64>> {
    if scenario.asks_for_quotes() { Ok(vec![scenario.payload(0)?.length()]) } else { Ok(wanted.to_vec()) }
}

/// Counts the instructions of the bus in `binary`; backends and load are those of `tools`.
///
/// Errors: valgrind is missing, a program does not start or end, or an answer is wrong.
pub fn count(
    binary: &Path,
    tools: &Path,
    scenario: Scenario,
    size: u64,
    with_functions: bool,
) -> anyhow::Result<Count> {
    let folder = tempfile::tempdir()?;
    let anywhere = (Ipv4Addr::LOCALHOST, 0).into();
    let (echo, quotes) = (server::echo(tools, anywhere, folder.path())?, server::stockquote(tools, folder.path())?);
    let backends = Backends { echo: echo.address, quotes: quotes.address, pool: [echo.address; POOL] };
    let counted = folder.path().join("callgrind");
    let mut valgrind = program("valgrind");
    valgrind.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", counted.display())).arg(binary);
    let bus = Contender::watched(valgrind, scenario, backends, SETTINGS)?;
    let task = Task { scenario, size, connections: CONNECTIONS, idle: 0, rate: None, besides: Besides::default() };
    let answer = probe::probe(&bus, task)?;
    let requests = if scenario.is_secured() { FEW_REQUESTS } else { REQUESTS };
    let process = bus.process().context("the bus has no process")?;
    let send = |requests: u64| rounds::send(&bus, task, &answer, requests, DEADLINE);
    send(WARM_UP_REQUESTS.min(requests))?;
    control("-z", process)?;
    send(requests)?;
    control("-d", process)?;
    let file = counted.with_extension("1");
    let instructions = total(&file)? / requests;
    let functions = if with_functions { functions(&file, requests)? } else { Vec::new() };
    Ok(Count { instructions, functions })
}

/// A command that sees nothing of who runs it: the environment lies on the stack of the process and shapes its settings.
fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command
}

/// Tells callgrind in a running process to zero its counters (`-z`) or to write them (`-d`).
fn control(option: &str, process: u32) -> anyhow::Result<()> {
    let text = output(program("callgrind_control").args([option, &process.to_string()]))?;
    ensure!(text.contains("OK"), "callgrind_control {option}: {text}");
    Ok(())
}

fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().context("valgrind is not installed")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{command:?}: {text}");
    Ok(text)
}

/// The sum that callgrind wrote, once the file is whole.
fn total(file: &PathBuf) -> anyhow::Result<u64> {
    let begun = Instant::now();
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(total) = total_of(&text) {
            return Ok(total);
        }
        ensure!(begun.elapsed() < DEADLINE, "callgrind wrote no total to {}", file.display());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The last line but one of what callgrind writes is `totals: 12345`.
fn total_of(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("totals: ")).and_then(|digits| digits.trim().parse().ok())
}

/// What each function takes itself, for each of so many requests.
fn functions(file: &Path, requests: u64) -> anyhow::Result<Vec<(String, u64)>> {
    let text = output(program("callgrind_annotate").args(["--auto=no", "--threshold=100"]).arg(file))?;
    let total = total_of(&std::fs::read_to_string(file)?).unwrap_or(u64::MAX);
    // Functions that ran when the counters were zeroed are listed with all that they called since.
    let is_own = |(_, instructions): &(&str, u64)| *instructions < total / 2;
    let functions = functions_of(&text).filter(is_own);
    Ok(functions.map(|(name, instructions)| (name.to_owned(), instructions / requests)).collect())
}

/// A line of its table is `1,234 (5.67%)  file:function [object]`.
fn functions_of(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let (digits, rest) = line.trim_start().split_once(" (")?;
        let (_, place) = rest.split_once("%)")?;
        let instructions = digits.replace(',', "").parse().ok()?;
        let place = place.trim_start();
        let name = place.split_once(':').map_or(place, |(_, name)| name);
        let name = name.split(" [").next().unwrap_or(name);
        (name != "PROGRAM TOTALS").then_some((name, instructions))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_there_once_the_file_is_whole() {
        assert_eq!(total_of("events: Ir\nfn=(1)\n12 34\n"), None);
        assert_eq!(total_of("events: Ir\nfn=(1)\n12 34\ntotals: 60610000\n"), Some(60_610_000));
    }

    #[test]
    fn functions_are_named_without_their_files() {
        let table = "\
Ir
--------------------------------------------------------------------------------
79,000,000 (100.0%)  PROGRAM TOTALS
--------------------------------------------------------------------------------
Ir                   file:function
--------------------------------------------------------------------------------
 5,000,000 ( 6.33%)  ./string/memmove.S:__memcpy_avx_unaligned_erms [/usr/lib/libc.so.6]
   900,000 ( 1.14%)  ???:<myelin_http::Client as core::fmt::Debug>::fmt [/target/myelin]
";
        let found: Vec<(&str, u64)> = functions_of(table).collect();
        assert_eq!(
            found,
            [("__memcpy_avx_unaligned_erms", 5_000_000), ("<myelin_http::Client as core::fmt::Debug>::fmt", 900_000)]
        );
    }

    #[test]
    fn what_needs_thousands_of_connections_or_other_backends_is_left_out() {
        assert!(is_countable(Scenario::Direct) && is_countable(Scenario::Secure));
        assert!(!is_countable(Scenario::Many) && !is_countable(Scenario::Pool));
    }
}
