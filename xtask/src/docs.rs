//! `cargo xtask docs`: the pages that are made from the code, and from what was measured.

mod benchmarks;

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::layers;
use crate::lexicon;
use crate::process::{cargo, lines, succeeds};
use crate::workspace::root;

/// Building included.
const DEADLINE: Duration = Duration::from_secs(10 * 60);

#[derive(Args, Default)]
pub(crate) struct Arguments {
    /// Writes nothing, and fails if a page is not what the code says.
    #[arg(long)]
    pub(crate) check: bool,
}

/// Where a page lies, and what makes it.
type Page = (&'static str, fn() -> Result<String>);

/// Writes the pages of mediators, properties, settings and commands, the drawing of the crates, the list of their types
/// and the figures; whether all is well.
///
/// Errors: when the binary does not build, or a file cannot be read or written.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    // What needs no build comes first.
    let pages: [Page; 7] = [
        ("ARCHITECTURE.md", layers::architecture),
        ("docs/lexicon.md", lexicon::page),
        ("docs/benchmarks.md", benchmarks::page),
        ("docs/mediators.md", || Ok(myelin_engine::mediators_markdown())),
        ("docs/properties.md", || Ok(myelin_engine::properties_markdown())),
        ("docs/deployment.md", || output(&["settings"])),
        ("docs/cli.md", command_line),
    ];
    let mut well = true;
    for (name, page) in pages {
        let text = page()?;
        let path = root().join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            println!("docs: {name} is fresh");
        } else if arguments.check {
            println!("docs: {name} is stale; `cargo xtask docs` writes it");
            well = false;
        } else {
            fs::write(&path, text).with_context(|| format!("writing {name}"))?;
            println!("docs: wrote {name}");
        }
    }
    Ok(well)
}

/// The help of the binary and of each of its commands.
fn command_line() -> Result<String> {
    if !succeeds(cargo().args(["build", "--quiet", "--package", "myelin-server"]), DEADLINE)? {
        bail!("the binary does not build");
    }
    let mut page = "# The command line\n\nGenerated from the binary by `cargo xtask docs`.\n".to_owned();
    let overview = help(&[])?;
    page.push_str(&section("myelin", &overview));
    for command in commands(&overview).filter(|command| *command != "help") {
        let text = help(&[command])?;
        page.push_str(&section(&format!("myelin {command}"), &text));
        for part in commands(&text).filter(|part| *part != "help") {
            page.push_str(&section(&format!("myelin {command} {part}"), &help(&[command, part])?));
        }
    }
    Ok(page)
}

fn section(name: &str, help: &str) -> String {
    format!("\n## `{name}`\n\n```\n{help}```\n")
}

/// The names below the heading `Commands:`; longer descriptions are indented further.
fn commands(help: &str) -> impl Iterator<Item = &str> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let entries = list.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    entries.filter_map(|line| line.split_whitespace().next())
}

fn help(command: &[&str]) -> Result<String> {
    output(&[command, &["--help"]].concat())
}

/// What the binary prints.
fn output(arguments: &[&str]) -> Result<String> {
    let mut run: Command = cargo();
    // A terminal's width must not shape the page.
    run.args(["run", "--quiet", "--package", "myelin-server", "--"]).args(arguments).stderr(Stdio::null());
    let mut text = String::new();
    let succeeded = lines(&mut run, DEADLINE, |line| {
        text.push_str(line.trim_end());
        text.push('\n');
    })?;
    if !succeeded {
        bail!("`myelin {}` failed", arguments.join(" "));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_from_the_help() {
        let help =
            "A bus.\n\nUsage: x\n\nCommands:\n  run   Serve\n          more of it\n  help  Print\n\nOptions:\n  -h\n";
        assert_eq!(commands(help).collect::<Vec<_>>(), ["run", "help"]);
    }
}
