//! Several servers take turns at the same work: `cargo xtask bench direct`.
//!
//! On a shared machine figures wander by a factor of two, so only what was measured in turns is compared: in every
//! round each contender does the same number of checked requests, rounds begin with another contender each time, and
//! what is reported is the ratio of medians with the p-value of the paired t-test.
//! Every cell starts its contenders anew, so that peak memory belongs to the cell.

mod arguments;
mod configuration;
mod contender;
mod figures;
pub mod instructions;
mod kind;
mod probe;
mod quotes;
mod report;
mod rounds;
mod scenario;
mod secured;
mod task;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::units;
pub use arguments::Arguments;
pub use figures::{Cell, Figures};
pub use kind::Kind;
pub use report::{Environment, Report};
pub use scenario::Scenario;
use task::{Task, tasks};

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

#[cfg(test)]
mod tests;
