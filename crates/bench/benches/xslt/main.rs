//! What transforming a message costs one thread, in turns with other processors: `cargo xtask bench xslt`.
//!
//! Stylesheets are compiled once; what is timed is a message: its bytes are parsed, transformed, and written to bytes.
//! Processors in other languages stand in processes of their own that repeat the work and time it themselves.
//! What counts is the CPU time of the thread, and the median of the rounds. After every turn the last result is compared,
//! in canonical form, with the message in which the names were replaced, which no processor was asked for.

#![expect(clippy::print_stdout, reason = "a benchmark speaks on standard output")]

#[path = "../common/mod.rs"]
mod common;
mod instructions;
#[path = "../common/java.rs"]
mod java;
mod myelin;
mod rival;

use std::path::PathBuf;

use anyhow::bail;
use clap::{Parser, ValueEnum};
use common::{Message, Span};
use myelin::{Myelin, Way};
use myelin_bench::{canonical, payload, statistics::median, units};

/// Transforms messages, in turns with other processors.
#[derive(Parser)]
struct Arguments {
    /// What they do
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, default_values_t = Task::value_variants().to_vec())]
    tasks: Vec<Task>,
    /// Sizes of the messages
    #[arg(long, value_delimiter = ',', value_parser = units::size, default_value = "500,1K,5K,10K,100K")]
    sizes: Vec<u64>,
    /// Rounds in which each processor has one turn
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// How long a turn is to last, in milliseconds of CPU time
    #[arg(long, default_value_t = 50)]
    turn: u64,
    /// Count instructions instead of measuring time
    #[arg(long)]
    instructions: bool,
    /// Only our own, so many times and without a table: what callgrind counts.
    #[arg(long, hide = true)]
    alone: Option<u64>,
    /// Where programs, messages and results are put
    #[arg(long, value_name = "FOLDER", default_value = "target/bench-xslt")]
    folder: PathBuf,
    /// Cargo says so to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

/// How the names of a message are written backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Task {
    /// One template for each name, `for-each`, `value-of`.
    Xslt,
    /// The identity, and six templates that rename.
    XsltIdentity,
    /// Any name, character by character in a recursive template.
    XsltRecursive,
}

/// A processor of stylesheets.
trait Processor {
    fn name(&self) -> &str;

    /// Transforms the message so many times: the nanoseconds of all, and the last result.
    fn run(&mut self, task: Task, message: &Message, repetitions: u64) -> anyhow::Result<(u64, Vec<u8>)>;
}

impl Task {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// From the folder of the workspace.
    fn stylesheet(self) -> &'static str {
        match self {
            Task::Xslt => "examples/xslt/reversed.xsl",
            Task::XsltIdentity => "crates/bench/assets/identity-reversed.xsl",
            Task::XsltRecursive => "crates/bench/assets/recursive.xsl",
        }
    }
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let (root, folder) = common::folders(&arguments.folder)?;
    let [mut ours, by_tree] = [Way::Best, Way::Tree].map(|way| Myelin::new(way, root.clone()));
    if let Some(repetitions) = arguments.alone {
        for (task, size) in arguments.tasks.iter().flat_map(|task| arguments.sizes.iter().map(move |size| (task, size)))
        {
            ours.alone(*task, &Message::new(&folder, *size)?, repetitions)?;
        }
        return Ok(());
    }
    if arguments.instructions {
        return instructions::tables(&arguments, &root, &folder);
    }
    let mut processors: Vec<Box<dyn Processor>> = vec![Box::new(ours), Box::new(by_tree)];
    println!("One thread, CPU time a message in µs, medians of {} rounds in turns.", arguments.rounds);
    for started in [rival::libxslt(&root, &folder), rival::java(&root, &folder)] {
        match started {
            Ok(rivals) => processors.extend(rivals),
            Err(reason) => println!("Left out: {reason:#}."),
        }
    }
    let span = Span { rounds: arguments.rounds, turn: arguments.turn, warm_up: 60 };
    for task in &arguments.tasks {
        let names: Vec<&str> = processors.iter().map(|processor| processor.name()).collect();
        println!("\n`{}`\n\n| size | {} | ours, MB/s |", task.name(), names.join(" | "));
        println!("|---|{}---|", "---|".repeat(names.len()));
        for size in &arguments.sizes {
            let message = Message::new(&folder, *size)?;
            let expected = canonical::form(payload::backwards(&message.bytes))?;
            let times = common::in_turns(&span, &mut processors, |processor, repetitions| {
                let (nanoseconds, result) = processor.run(*task, &message, repetitions)?;
                if canonical::form(result)? != expected {
                    bail!("{} does `{}` wrong at {size} bytes", processor.name(), task.name());
                }
                Ok(nanoseconds)
            })?;
            let speed = *size as f64 / times.first().map_or(f64::NAN, |times| median(times)) * 1e3;
            println!("| {} | {} | {speed:.0} |", units::show_size(*size), common::cells(&times).join(" | "));
        }
    }
    Ok(())
}
