//! What reading XML and asking it costs one thread, in turns with other libraries: `cargo xtask bench xml`.
//!
//! Every library does the same tasks on the same messages, those in other languages in processes of their own that
//! repeat the work and time it themselves. What counts is the CPU time of the thread, and the median of the rounds.
//! Each answer carries a number that all have to agree on, so that nobody wins by doing less.

#![expect(clippy::print_stdout, reason = "a benchmark speaks on standard output")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/java.rs"]
mod java;
mod myelin;
mod quick;
mod rival;

use std::path::PathBuf;

use anyhow::bail;
use clap::{Parser, ValueEnum};
use common::{Message, Span};
use myelin_bench::{statistics::median, units};

/// Reads XML and asks it questions, in turns with other libraries.
#[derive(Parser)]
struct Arguments {
    /// What they do
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, default_values_t = Task::value_variants().to_vec())]
    tasks: Vec<Task>,
    /// Sizes of the messages
    #[arg(long, value_delimiter = ',', value_parser = units::size, default_value = "500,1K,10K,100K,1M")]
    sizes: Vec<u64>,
    /// Rounds in which each library has one turn
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// How long a turn is to last, in milliseconds of CPU time
    #[arg(long, default_value_t = 50)]
    turn: u64,
    /// Where programs and messages are put
    #[arg(long, value_name = "FOLDER", default_value = "target/bench-xml")]
    folder: PathBuf,
    /// Cargo says so to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

/// What is done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Task {
    /// All events, with their namespaces.
    Events,
    /// Events until the first order's symbol is known.
    First,
    /// Events until it is certain that no symbol is NOBODY: all.
    Scan,
    /// A tree.
    Tree,
    /// `//order[1]/symbol = 'IBM'` on a tree that is there.
    Xpath,
    /// A tree, and then the same.
    TreeXpath,
    /// The bytes of a tree that nobody changed.
    Write,
    /// The bytes of a tree in which one text was changed.
    WriteChanged,
}

/// What some repetitions took, and the number that all libraries have to agree on.
struct Turn {
    nanoseconds: u64,
    check: u64,
}

/// A library that can do some of the tasks.
trait Library {
    fn name(&self) -> &str;
    fn can(&self, task: Task) -> bool;
    fn run(&mut self, task: Task, message: &Message, repetitions: u64) -> anyhow::Result<Turn>;
}

impl Task {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Whether the time does not depend on the size, so that a speed would say nothing.
    fn stops_early(self) -> bool {
        matches!(self, Task::First | Task::Xpath)
    }

    /// The number that shows that the work was done: elements, tags written, or the truth of the expression.
    fn check(self, message: &Message) -> u64 {
        let count =
            |wanted: &str| message.bytes.windows(wanted.len()).filter(|part| *part == wanted.as_bytes()).count();
        let ends = count("</") as u64;
        match self {
            Task::Events | Task::Tree => ends,
            Task::First | Task::Xpath | Task::TreeXpath => 1,
            Task::Scan => 0,
            Task::Write | Task::WriteChanged => count("<") as u64,
        }
    }
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let (root, folder) = common::folders(&arguments.folder)?;
    let mut libraries: Vec<Box<dyn Library>> = vec![Box::new(myelin::Myelin::new()?), Box::new(quick::QuickXml)];
    println!("One thread, CPU time a message in µs, medians of {} rounds in turns.", arguments.rounds);
    for started in [rival::libxml2(&root, &folder), rival::java(&root, &folder)] {
        match started {
            Ok(rivals) => libraries.extend(rivals.into_iter().map(|rival| Box::new(rival) as Box<dyn Library>)),
            Err(reason) => println!("Left out: {reason:#}."),
        }
    }
    for task in &arguments.tasks {
        let mut able: Vec<_> = libraries.iter_mut().filter(|library| library.can(*task)).collect();
        let names: Vec<&str> = able.iter().map(|library| library.name()).collect();
        println!("\n`{}`\n\n| size | {} | ours, MB/s |", task.name(), names.join(" | "));
        println!("|---|{}---|", "---|".repeat(names.len()));
        for size in &arguments.sizes {
            let message = Message::new(&folder, *size)?;
            let times = measure(&arguments, *task, &message, &mut able)?;
            let (cells, first) = (common::cells(&times), times.first().map_or(f64::NAN, |times| median(times)));
            let speed =
                if task.stops_early() { "–".to_owned() } else { format!("{:.0}", *size as f64 / first * 1e3) };
            println!("| {} | {} | {speed} |", units::show_size(*size), cells.join(" | "));
        }
    }
    Ok(())
}

/// Nanoseconds a message: a row for each library, a column for each round.
fn measure(
    arguments: &Arguments,
    task: Task,
    message: &Message,
    libraries: &mut [&mut Box<dyn Library>],
) -> anyhow::Result<Vec<Vec<f64>>> {
    let expected = task.check(message);
    let span = Span { rounds: arguments.rounds, turn: arguments.turn, warm_up: 20 };
    common::in_turns(&span, libraries, |library, repetitions| {
        let Turn { nanoseconds, check } = library.run(task, message, repetitions)?;
        if check != expected {
            bail!("{} says {check} to `{}`, and {expected} is right", library.name(), task.name());
        }
        Ok(nanoseconds)
    })
}
