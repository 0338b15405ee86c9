//! Several servers take turns at the same work: `cargo xtask bench direct`.
//!
//! On a shared machine figures wander by a factor of two, so only what was measured in turns is compared: in every
//! round each contender does the same number of checked requests, rounds begin with another contender each time, and
//! what is reported is the ratio of medians with the p-value of the paired t-test.
//! Every cell starts its contenders anew, so that peak memory belongs to the cell.

mod configuration;
mod contender;
mod probe;
mod quotes;
mod report;
mod rounds;
mod scenario;
mod secured;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};

use crate::units;

pub use contender::Kind;
pub use report::{Environment, Report};
pub use rounds::{Cell, Figures};
pub use scenario::Scenario;

/// The arguments of a comparison.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The binary `myelin`, which is a contender, the relay and the echo
    #[arg(long, value_name = "FILE")]
    pub myelin: PathBuf,
    /// Who takes part, where it can; the first is what the others are compared with
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        value_enum,
        default_value = "myelin,direct,nginx,haproxy,relay"
    )]
    pub contenders: Vec<Kind>,
    /// What they do
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, default_value = "direct,header,many,idle")]
    pub scenario: Vec<Scenario>,
    /// Body sizes, but for `many`, `idle` and the quotes
    #[arg(
        long,
        value_name = "SIZES",
        value_delimiter = ',',
        value_parser = units::size,
        default_value = "500,1K,10K,100K,1M"
    )]
    pub sizes: Vec<u64>,
    /// Connections, but for `many` and `idle`
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "20,160,640")]
    pub connections: Vec<usize>,
    /// Rounds in which each contender has one turn
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    pub rounds: usize,
    /// Requests in a turn; by default fewer for larger bodies
    #[arg(long, value_name = "COUNT")]
    pub requests: Option<u64>,
    /// Threads or workers of each contender
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    pub threads: usize,
    /// The script that starts Apache Synapse, for the contender `synapse`: `FILE HOME pt CONFIGURATION PORT`
    #[arg(long, value_name = "FILE")]
    pub synapse: Option<PathBuf>,
    /// The script that starts Apache Synapse with Rampart, for the contender `rampart`: `FILE HOME KEYS PORT BACKEND`
    #[arg(long, value_name = "FILE")]
    pub rampart: Option<PathBuf>,
    /// The keys of `secure-legacy`: the folder that the peer in tests/interop/wss4j makes
    #[arg(long, value_name = "FOLDER")]
    pub keys: Option<PathBuf>,
    /// How long a contender that compiles while it runs is driven before it is measured
    #[arg(long, value_name = "DURATION", value_parser = units::duration, default_value = "40s")]
    pub warm_up: Duration,
    /// Where comparison.md, comparison.csv and comparison.json are written
    #[arg(long, value_name = "FOLDER", default_value = "target/comparison")]
    pub output: PathBuf,
}

/// One combination of scenario, size and connections.
#[derive(Clone, Copy, Debug)]
struct Task {
    scenario: Scenario,
    size: u64,
    connections: usize,
    idle: usize,
}

/// Runs the comparison, prints its tables to `out` and writes its files.
///
/// Returns failure when a request to the first contender failed.
/// Errors: nobody of the contenders can be started, the folder cannot be written.
pub fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let report = compare(arguments)?;
    std::fs::create_dir_all(&arguments.output)
        .with_context(|| format!("cannot make the folder {}", arguments.output.display()))?;
    let write = |name: &str, text: String| {
        let path = arguments.output.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    let markdown = report.markdown();
    out.write_all(markdown.as_bytes())?;
    write("comparison.md", markdown)?;
    write("comparison.csv", report.csv())?;
    write("comparison.json", serde_json::to_string_pretty(&report)?)?;
    writeln!(out, "\nWritten to {}", arguments.output.display())?;
    Ok(if report.first_is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the comparison and gives its figures; progress goes to standard error.
///
/// Contenders whose program is not installed are left out, which the report says.
/// Errors: nobody is left, a contender does not become ready, the arguments make no sense.
pub fn compare(arguments: &Arguments) -> anyhow::Result<Report> {
    if arguments.rounds == 0 || arguments.sizes.is_empty() || arguments.connections.is_empty() {
        bail!("a comparison needs rounds, sizes and connections");
    }
    // The echo and the contenders inherit the limit; 10,000 clients and as many backend connections need it.
    let files = rounds::raise_files();
    let mut progress = std::io::stderr();
    let mut report = Report::new(arguments, files);
    let present: Vec<Kind> = arguments
        .contenders
        .iter()
        .copied()
        .filter(|kind| report.environment.versions.contains_key(kind.name()))
        .collect();
    if present.is_empty() {
        bail!("none of the contenders is installed");
    }
    let tasks = tasks(arguments);
    for (index, task) in tasks.iter().enumerate() {
        let Task { scenario, size, connections, .. } = task;
        // Nobody depends on this line.
        let _ = writeln!(
            progress,
            "{}/{}: {scenario}, {} over {connections} connections",
            index + 1,
            tasks.len(),
            units::show_size(*size)
        );
        let taking_part = present.iter().copied().filter(|kind| kind.can(*scenario)).filter(|kind| {
            let needed = kind.files(task.connections + task.idle);
            let enough = needed <= files;
            if !enough {
                let (name, missing) = (kind.name(), &mut report.environment.missing);
                missing.push(format!("{name} in {scenario} (needs {needed} open files, {files} are allowed)"));
            }
            enough
        });
        let taking_part: Vec<Kind> = taking_part.collect();
        let cell = rounds::measure(arguments, *task, &taking_part, &mut report)?;
        report.cells.push(cell);
    }
    Ok(report)
}

fn tasks(arguments: &Arguments) -> Vec<Task> {
    let mut tasks = Vec::new();
    for scenario in &arguments.scenario {
        // A question for a quote is as long as it is.
        let quote = [scenario.payload(1024).map_or(0, |payload| payload.length())];
        let (sizes, connections, idle) = match scenario {
            Scenario::Many => (&[1024][..], &[2560][..], 0),
            Scenario::Idle => (&[1024][..], &[500][..], 9500),
            scenario if scenario.asks_for_quotes() => (&quote[..], &arguments.connections[..], 0),
            _ => (&arguments.sizes[..], &arguments.connections[..], 0),
        };
        for size in sizes {
            for connections in connections {
                tasks.push(Task { scenario: *scenario, size: *size, connections: *connections, idle });
            }
        }
    }
    tasks
}

#[cfg(test)]
mod tests;
