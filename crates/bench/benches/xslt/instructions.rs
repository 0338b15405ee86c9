//! How many instructions a message costs: a figure that does not depend on the machine's mood, counted by callgrind.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use myelin_bench::units;

use super::common::Message;
use super::{Arguments, common};

/// Each is run so many times, and then so many; the difference is free of what happens once.
const FEW: u64 = 3;
const MANY: u64 = 13;

/// Prints a table for each task; libxslt's column only where it is installed.
///
/// Errors: valgrind is missing, or a program under it fails.
pub(super) fn tables(arguments: &Arguments, root: &Path, folder: &Path) -> anyhow::Result<()> {
    let rival = common::compile(root, folder, "libxslt", "xslt-config");
    if let Err(reason) = &rival {
        println!("Left out: {reason:#}.");
    }
    let (root, folder) = (root.canonicalize()?, folder.canonicalize()?);
    println!("Instructions a message, by callgrind.");
    for task in &arguments.tasks {
        println!("\n`{}`\n\n| size | myelin | libxslt |\n|---|---|---|", task.name());
        for size in &arguments.sizes {
            let message = Message::new(&folder, *size)?;
            let ours = each(|repetitions| {
                let (task, size, repetitions) = (task.name(), size.to_string(), repetitions.to_string());
                let mut command = under_callgrind(&std::env::current_exe()?);
                command.args(["--alone", &repetitions, "--tasks", &task, "--sizes", &size]);
                count(&mut command, "")
            })?;
            let theirs = match &rival {
                Ok(program) => {
                    let (stylesheet, result) = (root.join(task.stylesheet()), folder.join("libxslt.result"));
                    let files = [&stylesheet, &message.path, &result].map(|path| path.display().to_string()).join(" ");
                    let line = |repetitions| format!("libxslt {files} {repetitions}\n");
                    let theirs = each(|repetitions| count(&mut under_callgrind(program), &line(repetitions)))?;
                    format!("{theirs} ({:.1}×)", theirs as f64 / ours as f64)
                }
                Err(_) => "–".to_owned(),
            };
            println!("| {} | {ours} | {theirs} |", units::show_size(*size));
        }
    }
    Ok(())
}

/// Instructions a repetition.
fn each(run: impl Fn(u64) -> anyhow::Result<u64>) -> anyhow::Result<u64> {
    Ok(run(MANY)?.saturating_sub(run(FEW)?) / (MANY - FEW))
}

fn under_callgrind(program: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    command
}

/// Runs it to its end, and gives the instructions that callgrind counted.
fn count(command: &mut Command, input: &str) -> anyhow::Result<u64> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("valgrind is not installed")?;
    child.stdin.take().context("standard input is piped")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected =
        said.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, count)| count.trim().parse());
    match collected {
        Some(Ok(count)) if output.status.success() => Ok(count),
        _ => bail!("{command:?} fails: {}", said.lines().last().unwrap_or("it says nothing")),
    }
}
