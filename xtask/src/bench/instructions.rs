//! `cargo xtask bench --instructions`: how many instructions of the bus a request takes, counted by callgrind.
//!
//! Unlike times, this figure does not depend on what else the machine does: two builds, or two machines with the same
//! toolchain, can be compared.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use myelin_bench::units;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::workspace::root;

/// Connections that send at the same time: enough that the bus always has a request to read.
const CONNECTIONS: u64 = 20;
/// Requests that fill pools, caches and buffers before anything is counted.
const WARM_UP_REQUESTS: u64 = 400;
/// Requests whose instructions are counted.
const REQUESTS: u64 = 2000;
/// How long a server may take to start, or callgrind to write what it counted: a guard against hanging.
const DEADLINE: Duration = Duration::from_secs(120);

/// Under callgrind everything takes so long that all services would take turns.
const DEPLOYMENT: &str = "[myelin.work]\ncostly_from = \"1h\"\n";

/// The examples that are measured.
const SCENARIOS: &[Scenario] = &[
    Scenario { name: "direct", example: "direct", proxy: "Direct", header: None },
    Scenario { name: "header", example: "header-routing", proxy: "Orders", header: Some("X-Customer-Class: gold") },
    Scenario { name: "cbr", example: "cbr", proxy: "StockOrders", header: None },
    Scenario { name: "xslt", example: "xslt", proxy: "ReversedOrders", header: None },
];

/// One proxy of an example, which answers each message with that message.
struct Scenario {
    name: &'static str,
    /// The folder below `examples`.
    example: &'static str,
    proxy: &'static str,
    header: Option<&'static str>,
}

/// Counts the instructions of the bus for each request, by callgrind.
#[derive(Parser)]
#[command(name = "cargo xtask bench --instructions")]
pub(super) struct Arguments {
    /// Chooses this measurement.
    #[arg(long, required = true)]
    instructions: bool,
    /// Scenarios; all of direct, header, cbr and xslt when left out
    scenarios: Vec<String>,
    /// Sizes of the messages
    #[arg(long, value_delimiter = ',', value_parser = units::size, default_value = "500,10K")]
    sizes: Vec<u64>,
    /// How often each figure is counted; the median is reported
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Measure this binary; without it the `dist` binary is built and measured
    #[arg(long, value_name = "PATH")]
    pub(super) binary: Option<PathBuf>,
    /// Measure this binary too, in turns with the other, and report the ratio
    #[arg(long, value_name = "PATH")]
    against: Option<PathBuf>,
    /// Fail when a ratio is above this
    #[arg(long, value_name = "RATIO", requires = "against")]
    bound: Option<f64>,
    /// Write the figures to this file as well
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What one cell of the table shows: medians of the rounds.
struct Figure {
    scenario: &'static str,
    size: u64,
    instructions: u64,
    against: Option<u64>,
}

impl Figure {
    /// How many times the instructions of the other binary.
    fn ratio(&self) -> Option<f64> {
        self.against.map(|against| self.instructions as f64 / against as f64)
    }
}

/// Counts, and prints a table; whether no ratio is above the bound.
///
/// Errors: valgrind is missing, a program does not start or end, or an answer is wrong.
pub(super) fn run(arguments: &Arguments, binary: &Path) -> Result<bool> {
    let chosen = chosen(&arguments.scenarios)?;
    ensure!(arguments.rounds > 0, "--rounds must be 1 or more");
    println!("Instructions a request, by callgrind: {CONNECTIONS} connections, {REQUESTS} requests, 1 thread.\n");
    match &arguments.against {
        Some(_) => println!("| scenario | size | against | this | ratio |\n|---|---|---|---|---|"),
        None => println!("| scenario | size | this |\n|---|---|---|"),
    }
    let mut figures = Vec::new();
    for scenario in chosen {
        for &size in &arguments.sizes {
            let figure = figure(arguments, binary, scenario, size)?;
            println!("{}", row(&figure));
            figures.push(figure);
        }
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&report(arguments, binary, &figures))? + "\n";
        fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    let Some(bound) = arguments.bound else { return Ok(true) };
    let above = figures.iter().filter(|figure| figure.ratio().is_some_and(|ratio| ratio > bound));
    let above: Vec<String> =
        above.map(|figure| format!("{} at {}", figure.scenario, units::show_size(figure.size))).collect();
    if !above.is_empty() {
        println!("\nThe ratio is above {bound} for {}.", above.join(", "));
    }
    Ok(above.is_empty())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Scenario>> {
    if names.is_empty() {
        return Ok(SCENARIOS.iter().collect());
    }
    let known = || SCENARIOS.iter().map(|scenario| scenario.name).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        let found = SCENARIOS.iter().find(|scenario| scenario.name == name);
        found.with_context(|| format!("there is no scenario {name:?}; there are {}", known()))
    };
    names.iter().flat_map(|name| name.split(',')).map(|name| find(&name.to_owned())).collect()
}

/// One cell: the binaries take turns, so that nothing of the machine favours one of them.
fn figure(arguments: &Arguments, binary: &Path, scenario: &'static Scenario, size: u64) -> Result<Figure> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for _ in 0..arguments.rounds {
        own.push(count(binary, binary, scenario, size)?);
        if let Some(against) = &arguments.against {
            others.push(count(against, binary, scenario, size)?);
        }
    }
    let against = (!others.is_empty()).then(|| median(&mut others));
    Ok(Figure { scenario: scenario.name, size, instructions: median(&mut own), against })
}

fn median(counts: &mut [u64]) -> u64 {
    counts.sort_unstable();
    counts[counts.len() / 2]
}

fn row(figure: &Figure) -> String {
    let Figure { scenario, size, instructions, .. } = figure;
    let size = units::show_size(*size);
    match figure.against.zip(figure.ratio()) {
        Some((against, ratio)) => format!("| {scenario} | {size} | {against} | {instructions} | {ratio:.4} |"),
        None => format!("| {scenario} | {size} | {instructions} |"),
    }
}

fn report(arguments: &Arguments, binary: &Path, figures: &[Figure]) -> Value {
    let cells = figures.iter().map(|figure| {
        json!({
            "scenario": figure.scenario,
            "size_bytes": figure.size,
            "instructions": figure.instructions,
            "against": figure.against,
            "ratio": figure.ratio(),
        })
    });
    json!({
        "binary": binary,
        "against": arguments.against,
        "connections": CONNECTIONS,
        "requests": REQUESTS,
        "rounds": arguments.rounds,
        "figures": cells.collect::<Vec<_>>(),
    })
}

/// Instructions for each request of one process of `binary`; backend and load generator are those of `tools`.
fn count(binary: &Path, tools: &Path, scenario: &Scenario, size: u64) -> Result<u64> {
    let folder = tempfile::tempdir()?;
    let (_echo, backend) = Server::start(program(tools).args(["echo", "--listen", "127.0.0.1:0"]))?;
    let example = root().join("examples").join(scenario.example);
    for entry in fs::read_dir(&example).with_context(|| format!("reading {}", example.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "xml" || ending == "xsl") {
            let text = fs::read_to_string(&path)?.replace("127.0.0.1:9000", &backend.to_string());
            fs::write(folder.path().join(path.file_name().unwrap_or_default()), text)?;
        }
    }
    let deployment = folder.path().join("deployment.toml");
    fs::write(&deployment, DEPLOYMENT)?;
    let counted = folder.path().join("callgrind");
    let mut valgrind = program(Path::new("valgrind"));
    valgrind.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", counted.display())).arg(binary);
    valgrind.arg("run").arg(folder.path().join("synapse.xml")).args(["--http", "127.0.0.1:0", "--threads", "1"]);
    valgrind.arg("--config").arg(deployment);
    let (bus, address) = Server::start(&mut valgrind)?;
    load(tools, scenario, size, address, WARM_UP_REQUESTS)?;
    control("-z", bus.child.id())?;
    load(tools, scenario, size, address, REQUESTS)?;
    control("-d", bus.child.id())?;
    Ok(total(&counted.with_extension("1"))? / REQUESTS)
}

/// A command that sees nothing of who runs it: the environment lies on the stack of the process and shapes its settings.
fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// Sends the benchmark's messages and has each answer compared with what was sent.
fn load(tools: &Path, scenario: &Scenario, size: u64, address: SocketAddr, requests: u64) -> Result<()> {
    let mut command = program(tools);
    command.arg("load").arg(format!("http://{address}/services/{}", scenario.proxy));
    command.args(["--soap", &size.to_string(), "--verify", "echo", "--format", "json", "--timeout", "120s"]);
    command.args(["--connections", &CONNECTIONS.to_string(), "--requests", &requests.to_string()]);
    command.args(scenario.header.iter().flat_map(|header| ["--header", header]));
    let output = command.output().with_context(|| format!("starting {}", tools.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let outcome: Value = serde_json::from_str(&text).with_context(|| format!("the load generator said {text:?}"))?;
    if !output.status.success() || outcome["failures"] != 0 || outcome["requests"] != requests {
        bail!("{} at {size} bytes: not every answer was right: {text}", scenario.name);
    }
    Ok(())
}

/// Tells callgrind in a running process to zero its counters (`-z`) or to write them (`-d`).
fn control(option: &str, process: u32) -> Result<()> {
    let mut command = program(Path::new("callgrind_control"));
    let output = command.args([option, &process.to_string()]).output().context("valgrind is not installed")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success() && text.contains("OK"), "callgrind_control {option}: {text}");
    Ok(())
}

/// The sum that callgrind wrote, once the file is whole.
fn total(file: &Path) -> Result<u64> {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if let Some(total) = total_of(&text) {
            return Ok(total);
        }
        ensure!(begun.elapsed() < DEADLINE, "callgrind wrote no total to {}", file.display());
        thread::sleep(Duration::from_millis(50));
    }
}

/// The last line but one of what callgrind writes is `totals: 12345`.
fn total_of(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("totals: ")).and_then(|digits| digits.trim().parse().ok())
}

/// A process that serves; ended when dropped.
struct Server {
    child: Child,
}

impl Server {
    /// Starts it, and waits until its first line says at which address it is ready.
    fn start(command: &mut Command) -> Result<(Server, SocketAddr)> {
        let shown = format!("{} {:?}", command.get_program().display(), command.get_args());
        let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("starting {shown}"))?;
        let stdout = child.stdout.take().context("standard output is piped")?;
        let server = Server { child };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let words = line.split_whitespace().map(|word| word.strip_prefix("http://").unwrap_or(word));
        let address = words.filter_map(|word| word.parse().ok()).next();
        Ok((server, address.with_context(|| format!("{shown} did not say where it serves: {line:?}"))?))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
        // Only its remains are left to be collected.
        let _ = self.child.wait();
    }
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
    fn scenarios_are_chosen_by_name() {
        let names = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            chosen(&words).map(|chosen| chosen.iter().map(|scenario| scenario.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), SCENARIOS.len());
        assert_eq!(names(&["xslt", "direct,cbr"]).unwrap(), ["xslt", "direct", "cbr"]);
        assert!(names(&["relay"]).unwrap_err().to_string().contains("there are direct, header, cbr, xslt"));
    }

    #[test]
    fn the_ratio_is_that_of_this_binary_to_the_other() {
        let figure = Figure { scenario: "direct", size: 500, instructions: 30_300, against: Some(30_000) };
        assert_eq!(row(&figure), "| direct | 500 | 30000 | 30300 | 1.0100 |");
        assert_eq!(row(&Figure { against: None, ..figure }), "| direct | 500 | 30300 |");
    }

    #[test]
    fn options_stand_behind_the_choice_of_instructions() {
        let words = ["bench", "--instructions", "direct", "--sizes", "500,1K", "--against", "old", "--bound", "1.01"];
        let arguments = Arguments::try_parse_from(words).ok().unwrap();
        assert_eq!((arguments.sizes, arguments.bound), (vec![500, 1024], Some(1.01)));
        assert!(Arguments::try_parse_from(["bench", "--instructions", "--bound", "1.01"]).is_err());
    }
}
