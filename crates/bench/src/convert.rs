//! `myelin bench convert`: what other load generators wrote, as results that reports are made of.
//!
//! One file is one turn. What a tool does not tell is not made up: CPU time and memory are missing, and a percentile that
//! is not told is the next larger one that is.

mod samples;
mod summaries;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, bail};
use clap::ValueEnum;

use crate::load::Outcome;
use crate::results::{self, Cell, Folder, Line, Machine, Run, Target, Turn};
use crate::units;

/// The arguments of `myelin bench convert`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// What the tool wrote: a file for each turn, in the order of rounds
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The tool; by default it is told by what it wrote
    #[arg(long, value_name = "TOOL", value_enum)]
    from: Option<Tool>,
    /// Who was measured
    #[arg(long, value_name = "NAME")]
    target: String,
    /// What it did
    #[arg(long, value_name = "NAME", default_value = "direct")]
    scenario: String,
    /// The body of each request
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    size: u64,
    /// Connections that sent; by default what the tool says
    #[arg(long, value_name = "COUNT")]
    concurrency: Option<usize>,
    /// The folder of results; one that was converted before gets these as well
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

/// A load generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tool {
    /// ApacheBench: what `ab` prints
    Ab,
    /// What `wrk --latency` prints
    Wrk,
    /// What `hey -o csv` prints
    Hey,
    /// What `k6 run --summary-export FILE` writes
    K6,
    /// The results file of JMeter, with a line of names (JTL as CSV)
    Jmeter,
    /// The data log of The Grinder
    Grinder,
}

/// How a program says that it converted something, where results name who measured.
const MEASURED_BY: &str = "other tools, converted";

impl Tool {
    /// The tool that writes so.
    fn of(text: &str) -> Option<Tool> {
        let first = text.lines().next().unwrap_or_default();
        if text.contains("This is ApacheBench") || text.contains("Time per request:") {
            Some(Tool::Ab)
        } else if first.starts_with("response-time,") {
            Some(Tool::Hey)
        } else if first.starts_with("timeStamp,") {
            Some(Tool::Jmeter)
        } else if first.starts_with("Thread,") {
            Some(Tool::Grinder)
        } else if text.contains("Thread Stats") && text.contains("Requests/sec:") {
            Some(Tool::Wrk)
        } else if text.trim_start().starts_with('{') && text.contains("http_req") {
            Some(Tool::K6)
        } else {
            None
        }
    }

    fn read(self, text: &str) -> anyhow::Result<Outcome> {
        match self {
            Tool::Ab => summaries::apache_bench(text),
            Tool::Wrk => summaries::wrk(text),
            Tool::K6 => summaries::k6(text),
            Tool::Hey => samples::hey(text),
            Tool::Jmeter => samples::jmeter(text),
            Tool::Grinder => samples::grinder(text),
        }
    }
}

/// Runs `myelin bench convert`.
///
/// Errors: a file cannot be read or is no tool's, the folder holds results of a run of our own, or cannot be written.
pub fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let outcomes = arguments.files.iter().map(|file| read(file, arguments.from).map(|outcome| (file, outcome)));
    let outcomes = outcomes.collect::<anyhow::Result<Vec<_>>>()?;
    let mut folder = folder(arguments)?;
    folder.add_target(Target {
        name: arguments.target.clone(),
        from: arguments.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", "),
        ..Target::default()
    })?;
    for (round, (file, outcome)) in outcomes.into_iter().enumerate() {
        let told = usize::try_from(outcome.connections).ok().filter(|connections| *connections > 0);
        let connections = arguments.concurrency.or(told);
        let cell = Cell {
            scenario: arguments.scenario.clone(),
            size_bytes: arguments.size,
            connections: connections.with_context(|| {
                format!("{} does not say how many connections sent; --concurrency does", file.display())
            })?,
            ..Cell::default()
        };
        folder.add_cell(&cell)?;
        let (target, began) = (arguments.target.clone(), modified(file));
        folder.write(&Line::Turn(Box::new(Turn { cell: cell.clone(), target, round, began, outcome })))?;
        folder.write(&Line::Done { cell })?;
    }
    let path = arguments.out.display();
    writeln!(out, "The results are in {path}. To read them: myelin bench report {path}")?;
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path, tool: Option<Tool>) -> anyhow::Result<Outcome> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let Some(tool) = tool.or_else(|| Tool::of(&text)) else {
        let tools: Vec<&str> = Tool::value_variants().iter().map(|tool| tool.name()).collect();
        bail!("{} is what none of these write: {}", file.display(), tools.join(", "));
    };
    let outcome = tool.read(&text).with_context(|| format!("{} as what {} writes", file.display(), tool.name()))?;
    if outcome.requests + outcome.failures == 0 {
        bail!("{} tells of no request", file.display());
    }
    Ok(outcome)
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Tool::Ab => "ab",
            Tool::Wrk => "wrk",
            Tool::Hey => "hey",
            Tool::K6 => "k6",
            Tool::Jmeter => "jmeter",
            Tool::Grinder => "grinder",
        }
    }
}

/// The folder, with what was converted before.
fn folder(arguments: &Arguments) -> anyhow::Result<Folder> {
    let path = &arguments.out;
    if !path.join("run.json").exists() {
        // Nobody knows on which machine that was.
        let machine = Machine { measured_by: MEASURED_BY.to_owned(), ..Machine::default() };
        return Folder::begin(path, Run::new(arguments.files.len(), 0, Vec::new(), machine));
    }
    let (folder, before) = Folder::resume(path)?;
    if before.run.machine.measured_by != MEASURED_BY {
        bail!("{} holds the results of a run of our own; what is converted goes to another folder", path.display());
    }
    Ok(folder)
}

/// When a file was written, as results have it.
fn modified(file: &Path) -> String {
    let modified = std::fs::metadata(file).and_then(|known| known.modified());
    results::time_of_day(modified.unwrap_or_else(|_| SystemTime::now()))
}

#[cfg(test)]
mod tests;
