//! `cargo xtask bench --instructions`: how many instructions of the bus a request takes, and whether it is more than it
//! was.

mod record;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use myelin_bench::comparison::Scenario;
use myelin_bench::comparison::instructions::{CONNECTIONS, count, is_countable, sizes};
use myelin_bench::units;
use serde_json::{Value, json};

use crate::workspace::root;
pub(crate) use record::Record;

/// What CI checks: each of these has a bar, and together they go through what most messages go through.
const GATES: [Scenario; 8] = [
    Scenario::Direct,
    Scenario::DirectApi,
    Scenario::Header,
    Scenario::SoapHeader,
    Scenario::Cbr,
    Scenario::CbrScan,
    Scenario::Xslt,
    Scenario::JsonToSoap,
];

/// So often a figure is counted again that is above its bound.
const AGAIN: usize = 3;

/// How many functions a profile shows.
const SHOWN: usize = 40;

/// Counts the instructions of the bus for each request, by callgrind.
#[derive(Parser)]
#[command(name = "cargo xtask bench --instructions")]
pub(super) struct Arguments {
    /// Chooses this measurement.
    #[arg(long, required = true)]
    instructions: bool,
    /// Scenarios; all that can be counted when left out
    #[arg(value_enum, value_delimiter = ',')]
    scenarios: Vec<Scenario>,
    /// Sizes of the messages
    #[arg(long, value_delimiter = ',', value_parser = units::size, default_value = "500")]
    sizes: Vec<u64>,
    /// How often each figure is counted; the lowest is reported, and the highest recorded. Default: 3 with --record, else 1
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    /// Measure this binary; without it the release binary is built and measured
    #[arg(long, value_name = "PATH")]
    pub(super) binary: Option<PathBuf>,
    /// Measure this binary too, in turns with the other, and report the ratio
    #[arg(long, value_name = "PATH")]
    against: Option<PathBuf>,
    /// Fail when a ratio is above this
    #[arg(long, value_name = "RATIO", requires = "against")]
    bound: Option<f64>,
    /// Write the figures to docs/instructions.md
    #[arg(long)]
    record: bool,
    /// Fail when a figure is more than 1 % above that of docs/instructions.md; without scenarios those of CI are checked
    #[arg(long, conflicts_with_all = ["record", "against"])]
    pub(super) check: bool,
    /// Show the functions that take most, in a binary that names its functions
    #[arg(long)]
    pub(super) profile: bool,
    /// Write the figures to this file as well
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Arguments {
    fn rounds(&self) -> u64 {
        self.rounds.unwrap_or(if self.record { 3 } else { 1 })
    }
}

/// What one cell of the table shows: the lowest of the rounds.
struct Figure {
    scenario: Scenario,
    size: u64,
    instructions: u64,
    /// The highest of the rounds.
    highest: u64,
    against: Option<u64>,
    functions: Vec<(String, u64)>,
}

impl Figure {
    /// How many times the instructions of the other binary.
    fn ratio(&self) -> Option<f64> {
        self.against.map(|against| self.instructions as f64 / against as f64)
    }
}

/// Counts, and prints a table; whether no figure is above its bound.
///
/// Errors: valgrind is missing, a program does not start or end, an answer is wrong, or the record cannot be read.
pub(super) fn run(arguments: &Arguments, binary: &Path) -> Result<bool> {
    let path = root().join("docs/instructions.md");
    let record = Record::read(&path)?;
    println!("Instructions a request, by callgrind: {CONNECTIONS} connections, 1 thread.\n");
    match &arguments.against {
        Some(_) => println!("| scenario | size | against | this | ratio |\n|---|---|---|---|---|"),
        None => println!("| scenario | size | this |\n|---|---|---|"),
    }
    let mut figures = Vec::new();
    for scenario in chosen(arguments)? {
        for size in sizes(scenario, &arguments.sizes)? {
            let mut figure = figure(arguments, binary, scenario, size)?;
            // How requests fall together differs from run to run: what is above its bound is counted again.
            for _ in 0..AGAIN {
                if arguments.check && record.is_exceeded(scenario, size, figure.instructions) {
                    let again = count(binary, binary, scenario, size, false)?.instructions;
                    figure.instructions = figure.instructions.min(again);
                }
            }
            println!("{}", row(&figure));
            for (name, instructions) in figure.functions.iter().take(SHOWN) {
                println!("|  | {name} | {instructions} |");
            }
            figures.push(figure);
        }
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&report(arguments, binary, &figures))? + "\n";
        fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    if arguments.record {
        let counted = figures.iter().map(|figure| (figure.scenario, figure.size, figure.highest));
        record.with(counted).write(&path)?;
        println!("\n`cargo xtask docs` judges the bars of docs/benchmarks.md by these figures.");
    }
    Ok(within(arguments, &record, &figures))
}

/// Whether no figure is above its bound; says which are.
fn within(arguments: &Arguments, record: &Record, figures: &[Figure]) -> bool {
    let show = |figure: &Figure| format!("{} at {}", figure.scenario, units::show_size(figure.size));
    if arguments.check && !record.is_comparable() {
        println!("\nNot compared with docs/instructions.md, which was counted with {}.", record.made_with());
        return true;
    }
    let (above, bound): (Vec<String>, String) = match arguments.bound {
        Some(bound) => {
            let above = figures.iter().filter(|figure| figure.ratio().is_some_and(|ratio| ratio > bound));
            (above.map(show).collect(), format!("{bound} times the other binary's"))
        }
        None if arguments.check => {
            let above =
                figures.iter().filter(|figure| record.is_exceeded(figure.scenario, figure.size, figure.instructions));
            (above.map(show).collect(), "more than 1 % above docs/instructions.md".to_owned())
        }
        None => return true,
    };
    if !above.is_empty() {
        println!("\nAbove its bound ({bound}): {}.", above.join(", "));
    }
    above.is_empty()
}

fn chosen(arguments: &Arguments) -> Result<Vec<Scenario>> {
    if let Some(scenario) = arguments.scenarios.iter().find(|scenario| !is_countable(**scenario)) {
        anyhow::bail!("the instructions of {scenario} cannot be counted");
    }
    Ok(match arguments.scenarios.as_slice() {
        [] if arguments.check => GATES.to_vec(),
        [] => Scenario::value_variants().iter().copied().filter(|scenario| is_countable(*scenario)).collect(),
        chosen => chosen.to_vec(),
    })
}

/// One cell: the binaries take turns, so that nothing of the machine favours one of them.
fn figure(arguments: &Arguments, binary: &Path, scenario: Scenario, size: u64) -> Result<Figure> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for _ in 0..arguments.rounds() {
        own.push(count(binary, binary, scenario, size, arguments.profile)?);
        if let Some(against) = &arguments.against {
            others.push(count(against, binary, scenario, size, false)?.instructions);
        }
    }
    let highest = own.iter().map(|count| count.instructions).max().unwrap_or_default();
    let lowest = own.into_iter().min_by_key(|count| count.instructions).context("there is a round at least")?;
    let against = others.into_iter().min();
    Ok(Figure { scenario, size, instructions: lowest.instructions, highest, against, functions: lowest.functions })
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
            "functions": figure.functions,
        })
    });
    json!({
        "binary": binary,
        "against": arguments.against,
        "connections": CONNECTIONS,
        "rounds": arguments.rounds(),
        "figures": cells.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(["bench", "--instructions"].iter().chain(words))
    }

    #[test]
    fn scenarios_are_chosen_by_name() {
        let names = |words: &[&str]| arguments(words).map(|arguments| chosen(&arguments).unwrap());
        assert_eq!(names(&["xslt", "direct,cbr"]).unwrap(), [Scenario::Xslt, Scenario::Direct, Scenario::Cbr]);
        assert_eq!(names(&["--check"]).unwrap(), GATES);
        assert!(names(&[]).unwrap().len() > 20 && names(&["wire"]).is_err());
        assert!(chosen(&arguments(&["many"]).unwrap()).unwrap_err().to_string().contains("many cannot be counted"));
    }

    #[test]
    fn the_ratio_is_that_of_this_binary_to_the_other() {
        let against = Some(30_000);
        let (scenario, functions) = (Scenario::Direct, Vec::new());
        let figure = Figure { scenario, size: 500, instructions: 30_300, highest: 30_300, against, functions };
        assert_eq!(row(&figure), "| direct | 500 | 30000 | 30300 | 1.0100 |");
        let told = |words: &[&str], instructions: u64| {
            within(&arguments(words).unwrap(), &Record::default(), &[Figure { instructions, ..figure_of(&figure) }])
        };
        assert!(told(&["--against", "old", "--bound", "1.02"], 30_300));
        assert!(!told(&["--against", "old", "--bound", "1.02"], 31_300));
        assert_eq!(row(&Figure { against: None, ..figure_of(&figure) }), "| direct | 500 | 30300 |");
    }

    fn figure_of(figure: &Figure) -> Figure {
        Figure { functions: Vec::new(), ..*figure }
    }

    #[test]
    fn options_stand_behind_the_choice_of_instructions() {
        let given = arguments(&["direct", "--sizes", "500,1K", "--against", "old", "--bound", "1.01"]).ok().unwrap();
        assert_eq!((given.sizes, given.bound), (vec![500, 1024], Some(1.01)));
        assert!(arguments(&["--bound", "1.01"]).is_err() && arguments(&["--check", "--record"]).is_err());
    }
}
